"""Perplexity of oscillator models against their dimension, ours and published."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.study.published_scaling import PUBLISHED_SCALING
from oscsim.study.scaling_study import Level, ScalingStudy

SHADES = (BLUE, ORANGE, "#2f7d6b")
GREY = "#7d7d7d"
LEVELS, FITS = (LINES[0], LINES[2], LINES[3]), (LINES[1], LINES[4], LINES[5])
"""Line styles of softmax models and of fitted curves, none in both."""


def scaling_figure(study: ScalingStudy) -> Figure:
    """Draw our families beside softmax models, and the published gaps apart.

    Left: perplexity per byte against d_osc; whiskers are the 95 % interval of the
    difference from the softmax twin; thin curves the fit with a floor; horizontal
    lines softmax models. Right: published perplexity per word above softmax with
    the published power law, open markers where it was not fitted.

    Parameters
    ----------
    study : ScalingStudy
        Of `oscsim.study.scaling_study.scaling_study`.

    Returns
    -------
    Figure
    """
    with blank(8.4, 4.5) as figure:
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.35, 1]})
        _draw_softmax(left, study)
        for number, family in enumerate(study.families):
            levels = [level for level in study.levels if level.p == family.p]
            _draw_family(left, levels, number)
            if family.floored is not None:
                d = np.geomspace(family.dimensions[0], family.dimensions[-1], 200)
                shade, line = SHADES[number % 3], FITS[number % 3]
                label = f"P_inf + C d_osc^-alpha, p = {family.p}"
                left.plot(
                    d, family.floored.at(d), color=shade, ls=line, lw=0.9, label=label
                )
        dimensions = [level.d_osc for level in study.levels if level.d_osc]
        _name_axes(left, dimensions)
        left.set_ylabel("perplexity per byte")
        left.set_title(f"ours: enwik8, width {study.width}")
        left.set_yscale("log")
        left.yaxis.set_major_locator(MaxNLocator(7))
        left.yaxis.set_major_formatter(ScalarFormatter())
        left.yaxis.set_minor_locator(NullLocator())
        figure.legend(
            *left.get_legend_handles_labels(),
            loc="outside upper left",
            ncols=3,
            handlelength=3.5,
            title="whiskers: 95 % of the difference from the softmax twin",
            title_fontsize=8.0,
        )
        _draw_published(right)
    return figure


def _draw_family(ax: Axes, levels: list[Level], number: int) -> None:
    value = np.array([level.perplexity for level in levels])
    ends = np.array([level.gap95 for level in levels])
    gap = np.array([level.gap for level in levels])
    spread = np.maximum([gap - ends[:, 0], ends[:, 1] - gap], 0.0)
    ax.errorbar(
        [level.d_osc or 0 for level in levels],
        value,
        yerr=spread,
        color=SHADES[number % 3],
        ls="none",
        marker=MARKERS[number % len(MARKERS)],
        ms=5,
        capsize=3,
        label=f"oscillators, p = {levels[0].p}",
    )


def _draw_softmax(ax: Axes, study: ScalingStudy) -> None:
    widths = [level for level in study.levels if level.d_osc is None]
    for number, level in enumerate(sorted(widths, key=lambda one: -one.width)):
        ax.axhline(
            level.perplexity,
            color=INK if level.width == study.width else GREY,
            ls=LEVELS[number % 3],
            lw=1.1,
            label=f"softmax, width {level.width}",
        )


def _draw_published(ax: Axes) -> None:
    for number, found in enumerate(PUBLISHED_SCALING):
        shade, marker = (INK, GREY)[number % 2], MARKERS[-1 - number]
        inside = [d for d in found.gaps if d <= found.fitted_to]
        beyond = [d for d in found.gaps if d > found.fitted_to]
        ax.plot(
            inside, [found.gaps[d] for d in inside], marker, color=shade, ms=5, ls=""
        )
        ax.plot(
            beyond,
            [found.gaps[d] for d in beyond],
            marker,
            color=shade,
            mfc="none",
            ms=5,
            ls="",
        )
        d = np.array([inside[0], inside[-1]], float)
        ax.plot(
            d,
            found.amplitude * d**-found.alpha,
            color=shade,
            ls=LINES[number],
            marker=marker,
            markevery=[],
            lw=1.1,
            label=plain(f"{found.text}: alpha {found.alpha:.3f}"),
        )
    ax.set_yscale("log")
    ticks = (0.2, 0.5, 1, 2, 5, 10)
    ax.yaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_yticklabels([f"{tick:g}" for tick in ticks])
    ax.set_ylim(0.15, 30)
    _name_axes(ax, list(PUBLISHED_SCALING[0].gaps))
    ax.set_ylabel("perplexity per word above softmax")
    ax.set_title("published: words, other texts and budget")
    ax.legend(loc="upper right", handlelength=3.5)


def _name_axes(ax: Axes, dimensions: list[int]) -> None:
    ax.set_xscale("log")
    ticks = sorted(set(dimensions))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("components d_osc of an oscillator")
