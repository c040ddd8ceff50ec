"""Metric against joules per token: cells, the front, and digital baselines."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from oscsim.design.pareto import ParetoPoint
from oscsim.errors import SpecError
from oscsim.report.axis_words import direction, metric_words
from oscsim.report.canvas import INK, MARKERS, plain
from oscsim.report.column import column, legend, legend_mm
from oscsim.report.numbers import quantity
from oscsim.report.study_figures import SHADES

BASELINES = {"same model, digital": "^", "digital softmax of the same size": "v"}
FRONT, BEHIND, CLOSE = "on the front", "behind, within error", "#b8b8b8"
LEAST_RANGE = 1.5
"""Of the joules on the axis: closer ones are as good as equal."""

MOST_POINTS = 1500
"""Of a model that are drawn one by one; more become an image."""


def front_figure(
    points: Sequence[ParetoPoint], metric: str, links: Mapping[int, str] | None = None
) -> Figure:
    """Draw every priced cell in the plane of joules per token and metric.

    Median joules: their assumption ranges are wider and mostly common to all points,
    so that they are left to the tables. Cells on the front are filled and have 95 %
    intervals over chips; those behind it within error are grey; others are open.
    Triangles are digital baselines: the digital model at the price of digital logic.
    Steps join what nothing is better and cheaper than.

    Parameters
    ----------
    points : sequence of ParetoPoint
        From `oscsim.design.pareto.pareto`.
    metric : str
        What is measured.
    links : mapping of int to str, optional
        Address behind a point by its number, in an SVG.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no cell has a price.
    """
    names = sorted({p.name for p in points if p.kind == "cell"})
    if not names:
        raise SpecError("nothing to draw: no cell of the sweep has a price")
    kinds = [kind for kind in BASELINES if any(p.kind == kind for p in points)]
    with column(62.0 + legend_mm([*names, *kinds, FRONT, BEHIND])) as figure:
        ax = figure.subplots()
        for number, name in enumerate(names):
            _draw_cells(ax, points, name, number, links or {})
        for kind in kinds:
            found = [p for p in points if p.kind == kind]
            for filled in found:
                at, style = ([filled.joules[1]], [filled.metric]), BASELINES[kind]
                ax.plot(*at, style, color=INK, mfc=_fill(filled, INK), ms=5)
            ax.plot([], [], BASELINES[kind], color=INK, mfc="white", ms=5, label=kind)
        _draw_front(ax, points)
        ax.set_xscale("log")
        _ticks(ax)
        ax.set_xlabel("energy per token, system total (median)")
        ax.set_ylabel(f"{metric_words(metric)}\n({direction(metric)})")
        legend(figure, ax)
    return figure


def _draw_cells(
    ax: Axes,
    points: Sequence[ParetoPoint],
    name: str,
    number: int,
    links: Mapping[int, str],
) -> None:
    shade, marker = SHADES[number % len(SHADES)], MARKERS[number % len(MARKERS)]
    of = [k for k, p in enumerate(points) if p.kind == "cell" and p.name == name]
    of.sort(key=lambda k: points[k].is_front)
    drawn = ax.scatter(
        [points[k].joules[1] for k in of],
        [points[k].metric for k in of],
        s=14,
        marker=marker,
        edgecolors=shade,
        facecolors=[_fill(points[k], shade) for k in of],
        linewidths=0.8,
        rasterized=len(of) > MOST_POINTS,
        zorder=3,
    )
    drawn.set_urls([links.get(k) for k in of])
    ax.plot(
        [],
        [],
        marker=marker,
        color=shade,
        mfc="white",
        ls="none",
        ms=4,
        label=plain(name),
    )


def _fill(point: ParetoPoint, shade: str) -> str:
    if point.is_front:
        return shade
    return CLOSE if point.is_within_error else "white"


def _draw_front(ax: Axes, points: Sequence[ParetoPoint]) -> None:
    front = [p for p in points if p.is_front]
    joules = [p.joules[1] for p in front]
    metric = [p.metric for p in front]
    ax.plot(
        joules,
        metric,
        color=INK,
        lw=0.7,
        ls="--",
        drawstyle="steps-post",
    )
    ax.plot([], [], color=INK, lw=0.7, ls="--", marker="o", ms=4, label=FRONT)
    if any(p.kind == "cell" and p.is_within_error and not p.is_front for p in points):
        ax.plot([], [], color=INK, mfc=CLOSE, ls="none", marker="o", ms=4, label=BEHIND)
    ax.errorbar(
        joules,
        metric,
        yerr=np.nan_to_num([p.half_width for p in front]),
        color="#7d7d7d",
        ls="none",
        elinewidth=0.6,
        capsize=1.5,
        zorder=1,
    )


def _ticks(ax: Axes) -> None:
    low, high = ax.get_xlim()
    widen = max(1.0, LEAST_RANGE * low / high) ** 0.5
    low, high = low / widen, high * widen
    ax.set_xlim(low, high)
    if high / low < 5:
        ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    else:
        subs = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)
        ax.xaxis.set_major_locator(LogLocator(subs=subs, numticks=8))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: quantity(x, "J")))
