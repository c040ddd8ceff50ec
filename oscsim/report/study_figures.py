"""Curves of the studies: robustness and convergence."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.errors import SpecError
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.report.run_figures import METRICS
from oscsim.study.robustness import SETTLING, Robustness, Row
from oscsim.typing import FloatArray

SHADES = (INK, BLUE, ORANGE, "#7d7d7d", "#2f7d6b", "#a0629a")


class Convergence(NamedTuple):
    """Share of oscillators near their fixed point, measured and exact.

    Attributes
    ----------
    d_osc : int
        Dimension of the oscillators.
    drive_time : FloatArray, shape (n,)
        |h| T, dimensionless.
    measured : FloatArray, shape (n,)
        Share in a sample.
    exact : FloatArray, shape (n,)
        Probability from the closed form.
    sample : int
        Oscillators in the sample.
    """

    d_osc: int
    drive_time: FloatArray
    measured: FloatArray
    exact: FloatArray
    sample: int


def robustness_figure(
    results: Sequence[Robustness], reference: Sequence[Row] = ()
) -> Figure:
    """Draw accuracy against the strength of each perturbation and against T.

    One panel a kind, one line a checkpoint with its smallest and largest
    redraw; reference rows are thin lines with open markers.

    Parameters
    ----------
    results : sequence of Robustness
        At least one, all with the same kinds.
    reference : sequence of Row
        Figures from elsewhere to compare with.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no result, or the results differ in kind or metric.
    """
    if not results:
        raise SpecError("nothing to draw: got 0 results, give at least one")
    first = results[0]
    for other in results[1:]:
        if (other.kinds, other.metric) != (first.kinds, first.metric):
            raise SpecError(
                f"{other.checkpoint} has kinds {', '.join(other.kinds)} and metric "
                f"{other.metric}; give results of one study"
            )
    rows = [row for result in results for row in result.rows()]
    kinds = list(dict.fromkeys(row.kind for row in rows))
    columns = min(2, len(kinds))
    lines = math.ceil(len(kinds) / columns)
    with blank(7.4, 2.5 * lines + 0.9) as figure:
        axes = figure.subplots(lines, columns, squeeze=False, sharey=True)
        for ax, kind in zip(axes.flat, kinds, strict=False):
            _draw_curves(ax, [r for r in rows if r.kind == kind], bold=True)
            _draw_curves(ax, [r for r in reference if r.kind == kind], bold=False)
            _name_axes(ax, kind, [r.value for r in rows if r.kind == kind])
        for ax in axes.flat[len(kinds) :]:
            ax.set_visible(False)
        for ax in axes[:, 0]:
            ax.set_ylabel(METRICS[first.metric])
        labelled: dict[str, Artist] = {}
        for ax in axes.flat:
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                labelled.setdefault(label, handle)
        figure.legend(
            list(labelled.values()),
            list(labelled),
            loc="outside upper center",
            ncols=3 if len(labelled) > 4 else 2,
        )
    return figure


def _draw_curves(ax: Axes, rows: Sequence[Row], *, bold: bool) -> None:
    names = list(dict.fromkeys(row.checkpoint for row in rows))
    for number, name in enumerate(names):
        mine = [row for row in rows if row.checkpoint == name]
        mean = np.array([row.mean for row in mine])
        spread = [
            [row.mean - row.low for row in mine],
            [row.high - row.mean for row in mine],
        ]
        shade = SHADES[number % len(SHADES)]
        ax.errorbar(
            [row.value for row in mine],
            100 * mean,
            yerr=100 * np.maximum(spread, 0.0) if bold else None,
            color=shade,
            ls=LINES[number % len(LINES)] if bold else ":",
            lw=1.5 if bold else 0.8,
            marker=MARKERS[number % len(MARKERS)],
            ms=4.5 if bold else 8,
            mfc=shade if bold else "none",
            capsize=2.5,
            label=plain(name),
        )


def _name_axes(ax: Axes, kind: str, values: Sequence[float]) -> None:
    ax.set_xscale("log")
    if kind == SETTLING:
        ax.set_title("random start, read after T")
        ax.set_xlabel("settling time T (model time units)")
    else:
        ax.set_title(f"{kind} perturbed")
        ax.set_xlabel("strength s (dimensionless)")
    ticks = sorted(set(values))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def convergence_figure(curves: Sequence[Convergence], within_rad: float) -> Figure:
    """Draw the share of oscillators near their fixed point against |h| T.

    Lines are the closed form, points a sample; the lower panel is their
    difference in standard errors, which holds within +-4.

    Parameters
    ----------
    curves : sequence of Convergence
        One a dimension.
    within_rad : float
        Angle that counts as near (rad).

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no curve.
    """
    if not curves:
        raise SpecError("nothing to draw: got 0 curves, give at least one")
    named: Mapping[int, str] = {c.d_osc: f"d = {c.d_osc}" for c in curves}
    with blank(5.4, 4.6) as figure:
        above, below = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": [2.4, 1]}
        )
        for number, curve in enumerate(curves):
            shade, marker = SHADES[number % len(SHADES)], MARKERS[number % len(MARKERS)]
            line = LINES[number % len(LINES)]
            above.plot(curve.drive_time, 100 * curve.exact, color=shade, ls=line)
            above.plot(
                curve.drive_time,
                100 * curve.measured,
                marker,
                color=shade,
                ms=5,
                label=named[curve.d_osc],
            )
            below.plot(curve.drive_time, z_scores(curve), marker, color=shade, ms=4)
        above.set_ylabel(f"within {within_rad:g} rad (%)")
        above.plot([], [], color=INK, label="closed form")
        above.legend(loc="lower right")
        below.axhline(0, color=INK, lw=0.8)
        for bound in (-4, 4):
            below.axhline(bound, color=INK, lw=0.8, ls=":")
        below.set_ylim(-6, 6)
        below.set_ylabel("z-score")
        below.set_xlabel("drive times time, |h| T (dimensionless)")
    return figure


def z_scores(curve: Convergence, fewest: float = 10.0) -> FloatArray:
    """Return (measured - exact) in standard errors.

    NaN where fewer than ``fewest`` oscillators are expected on either side,
    since the normal law does not hold there.

    Parameters
    ----------
    curve : Convergence
        Measured and exact shares.
    fewest : float
        Smallest expected number on either side.
    """
    spread = np.sqrt(curve.exact * (1 - curve.exact) / curve.sample)
    usable = curve.sample * np.minimum(curve.exact, 1 - curve.exact) >= fewest
    z: FloatArray = np.full(len(spread), np.nan)
    z[usable] = (curve.measured - curve.exact)[usable] / spread[usable]
    return z
