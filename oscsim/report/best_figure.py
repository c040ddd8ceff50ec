"""Which dimension is best at which value of a hardware number."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oscsim.design.curve import position
from oscsim.design.lines import line
from oscsim.design.optimum import Optimum
from oscsim.design.rule import DesignRule
from oscsim.errors import SpecError
from oscsim.report.axis_words import metric_words, words
from oscsim.report.canvas import INK, LINES, MARKERS, plain
from oscsim.report.column import column, legend, legend_mm
from oscsim.report.loss_figure import label_of, rules_along, scale_values
from oscsim.report.study_figures import SHADES


def optima_along(rule: DesignRule, axis: str) -> list[Optimum]:
    """Return the best models along a number, by rising value."""
    return sorted((o for o in rule.optima if o.axis == axis), key=lambda o: o.value)


def metrics_along(rule: DesignRule, axis: str) -> dict[str, dict[float, np.ndarray]]:
    """Return the metric of every chip by model and value of a number."""
    held = {**rules_along(rule, axis)[0].held} if rules_along(rule, axis) else {}
    return {
        one.subject: {
            float(cell.point[axis]): cell.values
            for cell in line(rule.table, one.subject, axis, held)
        }
        for one in rules_along(rule, axis)
    }


def best_figure(rule: DesignRule, axis: str) -> Figure:
    """Draw the best d_osc against a number, and how far the others are behind.

    Above, the d_osc of the best model (filled) and of those that are not worse
    beyond the 95 % intervals of the paired difference (open). Below, by how much the
    metric of each model is worse than the best one's; linear near 0.

    Parameters
    ----------
    rule : DesignRule
        From `oscsim.design.rule.fit_rule`.
    axis : str
        The number.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If fewer than two dimensions were run along it.
    """
    rules, optima = rules_along(rule, axis), optima_along(rule, axis)
    dimensions = sorted({one.d_osc for one in rules if one.d_osc})
    if len(dimensions) < 2 or not optima:
        raise SpecError(
            f"nothing to draw: the best d_osc along {axis} needs two dimensions at "
            f"least, got {dimensions}"
        )
    scale = np.array([one.value for one in optima])
    with column(82.0 + legend_mm([label_of(one) for one in rules])) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.5])
        _draw_best(above, rule, optima, dimensions, scale)
        _draw_behind(below, rule, axis, scale)
        scale_values(below, scale)
        below.set_xlabel(words(axis))
        legend(figure, below)
    return figure


def _draw_best(
    ax: Axes,
    rule: DesignRule,
    optima: list[Optimum],
    dimensions: list[int],
    scale: np.ndarray,
) -> None:
    where = position(scale)
    best = [one.d_osc or np.nan for one in optima]
    ax.plot(where, best, "o", color=INK, ms=4.5)
    open_at = [
        (at, rule.table.d_osc(name))
        for at, one in zip(where, optima, strict=True)
        for name in one.undecided
    ]
    if open_at:
        x, y = zip(*open_at, strict=True)
        ax.plot(x, y, "o", color=INK, mfc="white", ms=4.5)
    ax.set_title("filled: best; open: not told apart from it", loc="left", fontsize=6.5)
    ax.set_yscale("log", base=2)
    ax.set_yticks(dimensions, [f"{d}" for d in dimensions])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(dimensions[0] / 1.5, dimensions[-1] * 1.5)
    ax.grid(axis="y", color="#d9d9d9", lw=0.4)
    ax.set_axisbelow(True)
    ax.set_ylabel("best d_osc")


def _draw_behind(ax: Axes, rule: DesignRule, axis: str, scale: np.ndarray) -> None:
    sign = 1.0 if rule.table.is_loss_bits else -1.0
    best = {one.value: one.metric for one in optima_along(rule, axis)}
    for number, (name, metrics) in enumerate(metrics_along(rule, axis).items()):
        values = np.array([value for value in metrics if value in best])
        behind = [sign * (metrics[v].mean() - best[v]) for v in values]
        d_osc = rule.table.d_osc(name)
        ax.plot(
            position(values, scale),
            behind,
            color=SHADES[number % len(SHADES)],
            ls=LINES[number % len(LINES)],
            lw=0.8,
            marker=MARKERS[number % len(MARKERS)],
            ms=3.5,
            label=plain(f"{name} (d_osc {d_osc})" if d_osc else name),
        )
    ax.set_yscale("symlog", linthresh=0.01, linscale=0.6)
    top = ax.get_ylim()[1]
    ticks = [t for t in (0, 0.01, 0.03, 0.1, 0.3, 1, 3) if t <= max(top, 0.01)]
    ax.set_ylim(-0.002, max(top, 0.012))
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="y", color="#d9d9d9", lw=0.4)
    ax.set_axisbelow(True)
    ax.set_ylabel(f"{metric_words(rule.table.metric)}\nbehind the best")
