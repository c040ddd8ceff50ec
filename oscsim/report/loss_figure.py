"""Loss against one hardware number, model by model, with the fitted law."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oscsim.design.axis_rule import AxisRule, disturbance
from oscsim.design.curve import is_log, position, value_at
from oscsim.design.replicates import half_width
from oscsim.design.rule import DesignRule
from oscsim.errors import SpecError
from oscsim.report.axis_words import words
from oscsim.report.canvas import LINES, MARKERS, plain
from oscsim.report.column import column, legend, legend_mm
from oscsim.report.study_figures import SHADES
from oscsim.typing import FloatArray

LINEAR_PERCENT = 1.0
"""Losses within this stand on a linear scale, others on a logarithmic one."""

LEAST_R2 = 0.9
"""A law that explains less of the variance of the loss is not drawn."""

TICKS = (-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100, 200, 500)


def rules_along(rule: DesignRule, axis: str) -> list[AxisRule]:
    """Return the rules of one number, by d_osc and name of the model."""
    found = [one for one in rule.rules if one.axis == axis]
    return sorted(found, key=lambda one: (one.d_osc or 0, one.subject))


def loss_figure(
    rule: DesignRule, axis: str, links: Mapping[str, list[str]] | None = None
) -> Figure:
    """Draw the loss of every model against one number.

    Points are means over chips with 95 % Student intervals. Thick lines are the
    fitted laws that hold within scatter, over what they were fitted to; of noise
    the law is in the alignment lost, ``1 - A_d(|h|/D)``. A law that only
    describes is thin. A model without a law, or with a poor one, has thin straight
    lines between its points.

    Parameters
    ----------
    rule : DesignRule
        From `oscsim.design.rule.fit_rule`.
    axis : str
        The number.
    links : mapping of str to list of str, optional
        Address behind each point of a model, in an SVG.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no model has a rule for it.
    """
    rules = rules_along(rule, axis)
    if not rules:
        raise SpecError(f"nothing to draw: {axis} has no rule")
    with column(58.0 + legend_mm([label_of(one) for one in rules])) as figure:
        ax = figure.subplots()
        for number, one in enumerate(rules):
            _draw(ax, rule, one, number, (links or {}).get(one.subject))
        _scale_losses(ax, min(float(_ends(one)[0].min()) for one in rules))
        scale_values(ax, np.unique(np.concatenate([r.curve.values for r in rules])))
        ax.set_xlabel(words(axis))
        ax.set_ylabel("loss (% of the digital metric)")
        legend(figure, ax)
    return figure


def law_line(rule: AxisRule, whole: DesignRule) -> tuple[FloatArray, FloatArray] | None:
    """Return the fitted law over the number itself, None without a good one.

    Parameters
    ----------
    rule : AxisRule
        With its law.
    whole : DesignRule
        Gives the drives of the model.

    Returns
    -------
    values, loss : FloatArray, shape (n,)
        The number, within what was fitted, and the loss as a share.
    """
    law, scale = rule.law, rule.curve.values
    stored = disturbance(rule, whole.table)
    if law is None or stored is None or not law.r2 >= LEAST_R2:
        return None
    where = position(scale)
    at = np.linspace(where[0], where[-1], 241)
    values = np.array([value_at(float(x), scale) for x in at])
    # Ends stay ends whatever the logarithms round to.
    values = np.clip(values, scale[0], scale[-1])
    dense = disturbance(rule, whole.table, values)
    if dense is None:
        return None
    reference = int(np.argmin(stored[0]))
    x = dense[0] - stored[0][reference]
    slack = 1e-9 * law.x.max()
    inside = (x >= law.x.min() - slack) & (x <= law.x.max() + slack)
    lost = law.amplitude.value * x[inside] ** law.exponent.value
    return values[inside], rule.curve.mean[reference] + lost


def _draw(
    ax: Axes, whole: DesignRule, rule: AxisRule, number: int, links: list[str] | None
) -> None:
    curve, scale = rule.curve, rule.curve.values
    shade, line = SHADES[number % len(SHADES)], LINES[number % len(LINES)]
    marker = MARKERS[number % len(MARKERS)]
    fitted = law_line(rule, whole)
    width = 1.2 if rule.law is not None and rule.law.holds else 0.65
    width = 0.65 if fitted is None else width
    if fitted is None:
        ax.plot(position(scale), 100 * curve.mean, color=shade, ls=line, lw=width)
    else:
        values, loss = fitted
        ax.plot(position(values, scale), 100 * loss, color=shade, ls=line, lw=width)
    ax.errorbar(
        position(scale),
        100 * curve.mean,
        yerr=100 * (_ends(rule)[1] - curve.mean),
        color=shade,
        ls="none",
        elinewidth=0.7,
        capsize=1.8,
    )
    points = ax.scatter(
        position(scale), 100 * curve.mean, s=14, color=shade, marker=marker, zorder=3
    )
    if links is not None:
        points.set_urls(links)
    # Only for the legend: line and marker in one.
    ax.plot(
        [],
        [],
        color=shade,
        ls=line,
        lw=width,
        marker=marker,
        ms=3.5,
        label=plain(label_of(rule)),
    )


def label_of(rule: AxisRule) -> str:
    """Return how a legend calls the model of a rule."""
    return f"{rule.subject} (d_osc {rule.d_osc})" if rule.d_osc else rule.subject


def _ends(rule: AxisRule) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of the loss over chips."""
    mean = rule.curve.mean
    spread = np.nan_to_num([half_width(losses) for losses in rule.curve.losses.T])
    return mean - spread, mean + spread


def _scale_losses(ax: Axes, least: float) -> None:
    high = ax.get_ylim()[1]
    ax.set_yscale("symlog", linthresh=LINEAR_PERCENT, linscale=0.6)
    low = min(1.15 * 100 * least, -0.15)
    ax.set_ylim(low, max(1.25 * high, 1.25 * LINEAR_PERCENT))
    bottom, top = ax.get_ylim()
    ticks = [tick for tick in TICKS if bottom <= tick <= top]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="y", color="#d9d9d9", lw=0.4)
    ax.set_axisbelow(True)


def scale_values(ax: Axes, scale: FloatArray) -> None:
    """Put stored values under an axis of positions; of many, some."""
    where = position(scale)
    step = -(-len(scale) // 9)
    said = [f"{value:g}" for value in scale[::step]]
    ax.set_xticks(where[::step], said, fontsize=7.0 if len(said) < 8 else 6.0)
    ax.xaxis.set_minor_locator(NullLocator())
    if is_log(scale) and scale[0] == 0:
        # The 0 is no point of a logarithmic axis: the gap says so.
        ax.axvline(0.5 * (where[0] + where[1]), color="#9a9a9a", lw=0.5, ls=":")
