"""Curves of the studies: robustness and convergence."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oscsim.errors import SpecError
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.report.run_figures import METRICS
from oscsim.study.convergence import Convergence, share_within
from oscsim.study.robustness import SETTLING, Robustness, Row
from oscsim.typing import FloatArray

ASIDE = 1.04
"""Factor between the markers of one model and the next on the logarithmic axis."""

SHADES = (INK, BLUE, ORANGE, "#7d7d7d", "#2f7d6b", "#a0629a")


def robustness_figure(
    results: Sequence[Robustness], reference: Sequence[Row] = ()
) -> Figure:
    """Draw the metric against the strength of each perturbation and against T.

    Accuracy in percent, or bits per byte of language models. One panel a kind,
    one line a checkpoint with its smallest and largest redraw, moved aside a
    little so that none hides another; a thin horizontal line in its colour is
    its digital model. Reference rows are thin dotted lines with open markers.

    Parameters
    ----------
    results : sequence of Robustness
        At least one, all with the same kinds.
    reference : sequence of Row
        Figures from elsewhere to compare with, in the same metric.

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
    scale = 1.0 if first.metric == "bits_per_byte" else 100.0
    columns = min(2, len(kinds))
    lines = math.ceil(len(kinds) / columns)
    with blank(7.4, 2.5 * lines + 0.9) as figure:
        axes = figure.subplots(lines, columns, squeeze=False, sharey=True)
        for ax, kind in zip(axes.flat, kinds, strict=False):
            for number, result in enumerate(results):
                shade = SHADES[number % len(SHADES)]
                label = "" if number else "digital, in the colour of its model"
                level = scale * result.digital
                ax.axhline(level, color=shade, lw=0.7, label=label or "_", zorder=1)
            _draw_curves(ax, [r for r in rows if r.kind == kind], scale, bold=True)
            elsewhere = [r for r in reference if r.kind == kind]
            _draw_curves(ax, elsewhere, scale, bold=False)
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


def _draw_curves(ax: Axes, rows: Sequence[Row], scale: float, *, bold: bool) -> None:
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
            [row.value * ASIDE ** (number - (len(names) - 1) / 2) for row in mine],
            scale * mean,
            yerr=scale * np.maximum(spread, 0.0) if bold else None,
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


def convergence_figure(curves: Sequence[Convergence]) -> Figure:
    """Draw the share of oscillators near their fixed point against |h| T.

    One column a drive |h|, one style a dimension. Lines are the closed form,
    points the sample; the lower panels are their difference in standard
    errors with lines at 2 and 4, and say how many lie beyond 2 and how many
    are expected there by chance.

    Parameters
    ----------
    curves : sequence of Convergence
        One a dimension and drive, all within the same angle.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no curve, or their angles differ.
    """
    if not curves:
        raise SpecError("nothing to draw: got 0 curves, give at least one")
    angles = {curve.within_rad for curve in curves}
    if len(angles) > 1:
        raise SpecError(f"curves must share one angle, got {sorted(angles)}")
    within = angles.pop()
    drives = list(dict.fromkeys(curve.h_norm for curve in curves))
    with blank(0.9 + 3.6 * len(drives), 5.0) as figure:
        axes = figure.subplots(
            2,
            len(drives),
            sharex=True,
            sharey="row",
            squeeze=False,
            gridspec_kw={"height_ratios": [2.4, 1]},
        )
        for (above, below), drive in zip(axes.T, drives, strict=True):
            _draw_shares(above, below, [c for c in curves if c.h_norm == drive])
            above.set_title(f"drive |h| = {drive:g} rad/s")
            below.set_xlabel("|h| T (dimensionless)")
        axes[0, 0].set_ylabel(f"within {within:g} rad (%)")
        first = [c for c in curves if c.h_norm == drives[0]]
        axes[0, 0].legend(
            handles=[_key(k, f"d = {c.d_osc}") for k, c in enumerate(first)],
            loc="upper left",
            handlelength=4.5,
            title="lines: closed form",
            title_fontsize=8.0,
        )
        axes[1, 0].set_ylabel("z-score")
        figure.supxlabel(said_of_scores(curves), fontsize=8.5)
    return figure


def said_of_scores(curves: Sequence[Convergence]) -> str:
    """Return how many z-scores lie beyond 2, and how many chance puts there.

    A standard normal is beyond 2 with probability 2 (1 - Phi(2)) = 0.0455.
    """
    scores = np.concatenate([curve.z_scores() for curve in curves])
    scores = scores[np.isfinite(scores)]
    beyond = int(np.count_nonzero(np.abs(scores) > 2))
    expected = math.erfc(math.sqrt(2)) * len(scores)
    return f"{beyond} of {len(scores)} z-scores beyond 2, {expected:.1f} by chance"


def _draw_shares(above: Axes, below: Axes, curves: Sequence[Convergence]) -> None:
    longest = max(float(c.h_norm * c.times.max()) for c in curves)
    fine = np.linspace(0.0, longest, 400)
    for number, curve in enumerate(curves):
        shade, marker = SHADES[number % len(SHADES)], MARKERS[number % len(MARKERS)]
        line = LINES[number % len(LINES)]
        exact = 100 * share_within(curve.d_osc, fine, curve.within_rad)
        above.plot(fine, exact, color=shade, ls=line)
        at = curve.h_norm * curve.times
        above.plot(at, 100 * curve.measured, marker, color=shade, ms=5)
        below.plot(at, curve.z_scores(), marker, color=shade, ms=4)
    below.axhline(0, color=INK, lw=0.8)
    for bound, width in ((2, 0.5), (4, 1.0)):
        for sign in (-1, 1):
            below.axhline(sign * bound, color=INK, lw=width, ls=":")
    below.set_ylim(-6, 6)


def _key(number: int, label: str, *, marked: bool = True) -> Line2D:
    """Return what stands in the legend for the line and the markers of a case."""
    return Line2D(
        [],
        [],
        color=SHADES[number % len(SHADES)],
        ls=LINES[number % len(LINES)],
        marker=MARKERS[number % len(MARKERS)] if marked else "",
        ms=4.5,
        lw=1.2,
        label=label,
    )


class Agreement(NamedTuple):
    """Points that were measured and the curve they should lie on.

    Attributes
    ----------
    label : str
        Name in the legend.
    x, measured : FloatArray, shape (n,)
        Points.
    curve_x, exact : FloatArray, shape (m,)
        Curve.
    error : FloatArray or None
        Standard errors of the points.
    """

    label: str
    x: FloatArray
    measured: FloatArray
    curve_x: FloatArray
    exact: FloatArray
    error: FloatArray | None = None


def agreement_figure(
    found: Sequence[Agreement], *, x_label: str, y_label: str
) -> Figure:
    """Draw measured points on curves of a theory; a case may be a curve alone.

    Parameters
    ----------
    found : sequence of Agreement
        Points and the curve, one a case; whiskers are 2 standard errors.
    x_label, y_label : str
        What the axes are, with units.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is nothing to draw.
    """
    if not found:
        raise SpecError("nothing to draw: got 0 curves, give at least one")
    with blank(5.2, 3.4) as figure:
        ax = figure.subplots()
        keys = []
        for number, one in enumerate(found):
            shade = SHADES[number % len(SHADES)]
            line = LINES[number % len(LINES)]
            ax.plot(one.curve_x, one.exact, color=shade, ls=line, lw=1.2)
            keys.append(_key(number, one.label, marked=len(one.x) > 0))
            if len(one.x) == 0:
                continue
            ax.errorbar(
                one.x,
                one.measured,
                yerr=None if one.error is None else 2 * np.asarray(one.error),
                color=shade,
                ls="none",
                marker=MARKERS[number % len(MARKERS)],
                ms=4.5,
                capsize=2.5,
            )
        ax.set_xlabel(x_label)
        ax.set_ylabel(y_label)
        figure.legend(
            handles=keys,
            loc="outside upper center",
            ncols=min(3, len(found)),
            handlelength=4.5,
            title="lines: theory, points: measured",
            title_fontsize=8.0,
        )
    return figure
