"""Curves of the studies: convergence, and points on curves of a theory."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oscsim.errors import SpecError
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank
from oscsim.study.convergence import Convergence, share_within
from oscsim.typing import FloatArray

SHADES = (INK, BLUE, ORANGE, "#7d7d7d", "#2f7d6b", "#a0629a")


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
