"""What coupling errors cost, and how far they turn h, against anchors averaged."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.errors import SpecError
from oscsim.report.canvas import INK, LINES, MARKERS, blank, labelled, plain
from oscsim.report.study_figures import SHADES
from oscsim.study.mismatch_table import KINDS, MismatchByContext


def mismatch_figure(results: Sequence[MismatchByContext]) -> Figure:
    """Draw the loss, and the first-order angle, by position in the window.

    One column a model. Above, the loss over the relative variance of a
    coupling, exp(s^2) - 1, which is one curve where the loss is of second
    order; static errors are filled, redrawn ones open and dashed; whiskers are
    2 standard errors. Below, the median angle by which errors of relative
    deviation 1 turn h, layer by layer, and the first layer's first value
    falling as one over the square root of the anchors averaged.

    Parameters
    ----------
    results : sequence of MismatchByContext
        Models, all with the same bins and strengths, each above 0.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no result, they differ in bins or strengths, or a strength
        is 0.
    """
    _require(results)
    n = len(results)
    with blank(1.2 + 2.3 * n, 5.0) as figure:
        axes = figure.subplots(2, n, squeeze=False, sharex=True)
        for (above, below), result in zip(axes.T, results, strict=True):
            above.set_title(plain(result.checkpoint))
            _draw_loss(above, result)
            _draw_turn(below, result)
            ticks = [f"{a}-{b}" for a, b in zip(result.first, result.last, strict=True)]
            below.set_xticks(range(len(ticks)), ticks)
            below.tick_params(axis="x", labelrotation=30)
            for ax in (above, below):
                ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        for ax in axes[1, 1:]:
            ax.sharey(axes[1, 0])
        axes[1, 0].autoscale(axis="y")
        axes[1, 0].set_ylim(bottom=0.0)
        axes[0, 0].set_ylabel("loss / (exp(s²) - 1)\n(bits per byte; own scales)")
        axes[1, 0].set_ylabel("angle of h over relative\ndeviation of w (rad)")
        figure.supxlabel(
            "position in the window = anchors averaged (dimensionless)", fontsize=9.0
        )
        figure.legend(
            *labelled(figure), loc="outside upper center", ncols=3, handlelength=3.5
        )
    return figure


def _draw_loss(ax: Axes, result: MismatchByContext) -> None:
    number = len(result.strengths)
    place = np.arange(len(result.last))
    for k, kind in enumerate(KINDS):
        is_static = kind == "static"
        for n, s in enumerate(result.strengths):
            unit = np.expm1(s * s)
            shade = SHADES[n % len(SHADES)]
            aside = 0.12 * (n - (number - 1) / 2) + (-0.03 if is_static else 0.03)
            ax.errorbar(
                place + aside,
                result.mean[k, n] / unit,
                yerr=2 * result.error[k, n] / unit,
                color=shade,
                ls="-" if is_static else "--",
                lw=1.0,
                marker=MARKERS[n % len(MARKERS)],
                ms=4.5,
                mfc=shade if is_static else "white",
                capsize=1.5,
                elinewidth=0.8,
                label=f"{kind}, s = {s:g}",
            )
    ax.axhline(0.0, color=INK, lw=0.5)


def _draw_turn(ax: Axes, result: MismatchByContext) -> None:
    place = np.arange(len(result.last))
    for layer, turn in enumerate(result.turn):
        ax.plot(
            place,
            turn,
            color=INK,
            ls=LINES[layer % len(LINES)],
            marker=MARKERS[(layer + 3) % len(MARKERS)],
            ms=4.5,
            lw=1.2,
            mfc=INK if layer % 2 == 0 else "white",
            label=f"layer {layer + 1}",
        )
    middle = (np.array(result.first) + np.array(result.last)) / 2
    falling = result.turn[0, 0] * np.sqrt(middle[0] / middle)
    ax.plot(
        place,
        falling,
        color=INK,
        ls=":",
        lw=0.9,
        label="layer 1 if it fell as 1 / sqrt(anchors)",
    )


def _require(results: Sequence[MismatchByContext]) -> None:
    if not results:
        raise SpecError("nothing to draw: got 0 results, give at least one")
    first = results[0]
    for other in results:
        has_same = np.array_equal(other.strengths, first.strengths)
        if other.last != first.last or not has_same:
            raise SpecError(
                f"{other.checkpoint} has bins to {other.last} and strengths "
                f"{other.strengths.tolist()}, {first.checkpoint} others: give results "
                "of one study"
            )
    if not (first.strengths > 0).all():
        raise SpecError(
            "the loss is drawn over the variance of a coupling: strengths must be "
            f"above 0, got {first.strengths.tolist()}"
        )
