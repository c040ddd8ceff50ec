"""The gap to softmax against d_osc at each value of a number, and the best d_osc."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oscsim.design.curve import position
from oscsim.design.family_rule import FamilyAt, FamilyRule
from oscsim.errors import SpecError
from oscsim.report.axis_words import words
from oscsim.report.canvas import INK, LINES, MARKERS
from oscsim.report.column import column, legend, legend_mm
from oscsim.report.family_csv import law_points
from oscsim.report.family_words import said_alpha
from oscsim.report.loss_figure import scale_values
from oscsim.report.study_figures import SHADES

LINEAR = 0.1
"""Gaps within this stand on a linear scale, others on a logarithmic one."""

TICKS = (-3, -1, -0.3, -0.1, 0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
OPENABLE = MARKERS[:5]
"""Markers that look different when they are open."""

STEP = 1.02
"""Points of one d_osc stand aside by this factor from value to value."""


def gap_figure(rule: FamilyRule) -> Figure:
    """Draw gaps with their laws above, and the best d_osc below.

    Above, perplexity per byte above the softmax twin against d_osc, one style a value
    of the number, with 95 % intervals; lines are
    the laws where there are any, over what was fitted. Below, the best d_osc over
    trainings (filled) and those not told apart from it (open). A panel that has no
    content is left out.

    Parameters
    ----------
    rule : FamilyRule
        Of `oscsim.design.family_rule.family_rules`.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If the family has neither gaps nor two trainings of a d_osc.
    """
    has_gap = not rule.why_no_gap
    has_best = any(place.best is not None for place in rule.places)
    if not has_gap and not has_best:
        raise SpecError(
            f"nothing to draw: {rule.family.name} along {rule.axis} has neither "
            f"softmax twins nor two trainings of a d_osc, got {rule.family.members}"
        )
    labels = [_label(place) for place in rule.places] if has_gap else []
    height = 58.0 * has_gap + 34.0 * has_best + 8.0 + legend_mm(labels)
    with column(height) as figure:
        ratios = [1.6] * has_gap + [1.0] * has_best
        axes = np.atleast_1d(figure.subplots(len(ratios), 1, height_ratios=ratios))
        if has_gap:
            _draw_gaps(axes[0], rule)
            legend(figure, axes[0])
        if has_best:
            _draw_best(axes[-1], rule)
    return figure


def _label(place: FamilyAt) -> str:
    law = None if place.gap is None else place.gap.law
    said = "no law" if law is None else f"alpha {said_alpha(law)}"
    return f"{place.value:g}: {said}"


def _draw_gaps(ax: Axes, rule: FamilyRule) -> None:
    dimensions = sorted({d for place in rule.places for d in place.levels})
    middle = (len(rule.places) - 1) / 2
    low = high = 0.0
    for number, place in enumerate(rule.places):
        gap = place.gap
        if gap is None:
            continue
        shade, line = SHADES[number % len(SHADES)], LINES[number % len(LINES)]
        marker = OPENABLE[number % len(OPENABLE)]
        points = law_points(place)
        if points is not None:
            ax.plot(*points, color=shade, ls=line, lw=0.9)
        value, ends = np.split(np.array(list(gap.gaps.values())), [1], axis=1)
        where = np.array(list(gap.gaps)) * STEP ** (number - middle)
        ax.errorbar(
            where,
            value[:, 0],
            yerr=np.abs(ends - value).T,
            color=shade,
            ls="none",
            elinewidth=0.6,
            capsize=1.5,
            marker=marker,
            ms=3.2,
            mfc="white" if points is None else shade,
        )
        # Only for the legend: line and marker in one.
        ax.plot(
            [],
            [],
            color=shade,
            ls="none" if points is None else line,
            lw=0.9,
            marker=marker,
            ms=3.2,
            mfc="white" if points is None else shade,
            label=_label(place),
        )
        low, high = min(low, ends.min()), max(high, ends.max())
    ax.axhline(0.0, color=INK, lw=0.5)
    ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
    ax.set_ylim(1.3 * low - 0.02, 1.4 * max(high, LINEAR))
    ticks = [t for t in TICKS if 1.3 * low - 0.02 <= t <= 1.4 * max(high, LINEAR)]
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="y", color="#d9d9d9", lw=0.4)
    ax.set_axisbelow(True)
    ax.set_xscale("log", base=2)
    ax.set_xticks(dimensions, [str(d) for d in dimensions])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("components d_osc of an oscillator")
    ax.set_ylabel("perplexity per byte\nabove softmax")
    ax.set_title(f"{rule.family.name}; by {words(rule.axis)}", loc="left", fontsize=6.5)


def _draw_best(ax: Axes, rule: FamilyRule) -> None:
    places = [place for place in rule.places if place.best is not None]
    scale = np.array([place.value for place in places])
    for at, place in zip(position(scale), places, strict=True):
        best = place.best
        if best is not None:
            undecided = list(best.undecided)
            ax.plot([at] * len(undecided), undecided, "o", color=INK, mfc="white", ms=4)
            ax.plot(at, best.d_osc, "o", color=INK, ms=4)
    dimensions = sorted({d for place in rule.places for d in place.levels})
    ax.set_title(
        "filled: best over trainings; open: not told apart from it",
        loc="left",
        fontsize=6.5,
    )
    ax.set_yscale("log", base=2)
    ax.set_yticks(dimensions, [str(d) for d in dimensions])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(dimensions[0] / 1.5, dimensions[-1] * 1.5)
    ax.grid(axis="y", color="#d9d9d9", lw=0.4)
    ax.set_axisbelow(True)
    ax.set_ylabel("best d_osc")
    scale_values(ax, scale)
    ax.set_xlabel(words(rule.axis))
