"""Bits per byte against joules per token, for softmax and for oscillators."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, PALE, blank
from oscsim.study.equal_accuracy import Part, Point

NANO = 1e9
NAMES = {"substrate": "oscillators", "digital": "same model, digital"}
MODES = {
    "": ("softmax", "D", "-"),
    "int8": ("softmax, 8 bits", ".", "--"),
    "int8-table": ("softmax, 8 bits, table exponential", "P", "-."),
}
"""Label, marker and line of softmax on each data path; "" is floating point."""
BEYOND = "int4-table"
EDGE, HEADROOM = 0.97, 0.12


def equal_accuracy_figure(
    points: Sequence[Point], others: Sequence[Point] = ()
) -> Figure:
    """Draw every family as a curve over d_osc, softmax over width.

    Nominal joules per token (logarithmic axis) of the whole system on the left
    and of the attention stage on the right; bits per byte of the digital models,
    of oscillators in floating point, of softmax on data paths of few bits too.
    Softmax of 4 bits, far worse than all, stands at the upper edge with its bits.
    Dotted lines are the bits of softmax models in floating point.

    Parameters
    ----------
    points : sequence of Point
        From `oscsim.study.equal_accuracy.price_models`.
    others : sequence of Point
        Models of one d_osc on another device, drawn as crosses.
    """
    parts: tuple[tuple[Part, str], ...] = (
        ("system", "system total"),
        ("attention", "attention stage alone"),
    )
    with blank(7.4, 4.4) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, (part, title) in zip(axes, parts, strict=True):
            _families(ax, points, part)
            _softmax(ax, points, part)
            _beyond(ax, points, part)
            for number, other in enumerate(others):
                label = f"oscillators, d_osc {other.model.d_osc} on {other.device}"
                ax.plot(
                    _nj(other, part),
                    other.model.bits,
                    "X",
                    color=INK,
                    ms=6,
                    label="" if number else label,
                )
            ax.margins(x=0.09)
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.grid(color=PALE, lw=0.6)
            ax.set_axisbelow(True)
            ax.set_title(title)
            ax.set_xlabel("nJ per token, nominal (log axis)")
        axes[0].set_ylabel("bits per byte, digital model")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _families(ax: Axes, points: Sequence[Point], part: Part) -> None:
    floating = [p for p in points if p.way != "softmax" and not p.model.mode]
    families = {(p.way, p.model.p): None for p in floating}
    order = sorted(families, key=lambda f: (f[0] != "substrate", -(f[1] or 0)))
    for number, (way, power) in enumerate(order):
        family = sorted(
            (p for p in floating if (p.way, p.model.p) == (way, power)),
            key=lambda point: point.model.d_osc or 0,
        )
        ax.plot(
            [_nj(point, part) for point in family],
            [point.model.bits for point in family],
            color=BLUE if way == "substrate" else ORANGE,
            ls=LINES[number],
            marker=MARKERS[number],
            ms=4.5,
            label=f"{NAMES[way]}, p = {power}",
        )
        if way == "substrate":
            for point in family:
                ax.annotate(
                    str(point.model.d_osc),
                    (_nj(point, part), point.model.bits),
                    xytext=(5, 3),
                    textcoords="offset points",
                    fontsize=8,
                )


def _softmax(ax: Axes, points: Sequence[Point], part: Part) -> None:
    for mode, (label, marker, line) in MODES.items():
        found = sorted(
            (p for p in points if (p.way, p.model.mode) == ("softmax", mode)),
            key=lambda point: point.model.width,
        )
        if not found:
            continue
        widths = ", ".join(str(p.model.width) for p in found)
        ax.plot(
            [_nj(point, part) for point in found],
            [point.model.bits for point in found],
            color=INK,
            marker=marker,
            ls=line,
            ms=6,
            mfc="white",
            label=label if mode else f"{label}, width {widths}",
        )
        for point in found if not mode else ():
            ax.axhline(point.model.bits, color=INK, lw=0.8, ls=LINES[3])


def _beyond(ax: Axes, points: Sequence[Point], part: Part) -> None:
    found = [p for p in points if (p.way, p.model.mode) == ("softmax", BEYOND)]
    across = ax.get_xaxis_transform()
    for number, point in enumerate(found):
        ax.plot(
            [_nj(point, part)],
            [EDGE],
            "^",
            color=INK,
            ms=6,
            mfc="white",
            transform=across,
            label="" if number else "softmax, 4 bits, table: beyond the axis",
        )
        ax.annotate(
            f"{point.model.bits:.2f}",
            (_nj(point, part), EDGE),
            xycoords=across,
            xytext=(0, -13),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
        )
    if found:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + HEADROOM * (high - low))


def _nj(point: Point, part: Part) -> float:
    return float(getattr(point, part).nominal_j() * NANO)
