"""What a design sheet says, section by section."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from oscsim.design.axis_rule import AxisRule
from oscsim.design.lines import line
from oscsim.design.pareto import ParetoPoint
from oscsim.design.replicates import Interval, half_width
from oscsim.design.rule import DesignRule
from oscsim.design.table import CellResult
from oscsim.report.axis_words import (
    fixed_interval,
    metric_words,
    named,
    said_point,
    said_value,
)
from oscsim.report.markup import Content, items, paragraph, table
from oscsim.report.numbers import quantity
from oscsim.report.rule_words import said_allowed, said_interval
from oscsim.report.sheet_cells import link_to, percent_of

MOST_ROWS = 200
"""Rows of the table of the front and of optima; CSV files have all."""


def said_rule(one: AxisRule, loss: float) -> str:
    """Return what is good enough for a loss: a sign, the number, its interval."""
    found = said_allowed(one, loss)
    if math.isinf(one.allowed[loss].value):
        return found.replace("+-", "±")
    return f"{'≤' if one.curve.better == 'smaller' else '≥'} {found}"


def held_words(one: AxisRule) -> str:
    """Return where the other numbers of a rule are held."""
    return said_point(one.held) or "-"


def rules_section(rule: DesignRule) -> str:
    """Return the rule table."""
    if not rule.rules:
        return paragraph(
            "No number was run at two values or more with all others held: there is "
            "no rule."
        )
    header = (
        "model",
        "d_osc",
        f"{metric_words(rule.table.metric)}, digital",
        "number",
        "others held at",
        *(f"loss ≤ {100 * loss:.3g} %" for loss in rule.losses),
    )
    rows = [
        (
            one.subject,
            str(one.d_osc or "-"),
            f"{rule.table.known[one.subject].value:.4f}",
            named(one.axis),
            held_words(one),
            *(said_rule(one, loss) for loss in rule.losses),
        )
        for one in ordered(rule)
    ]
    return (
        paragraph(
            "What each number may be so that no more than this share of the digital "
            "metric is lost. Read off the nearest monotone curve through the stored "
            "cells, and between two of them as the sliders above read: by the "
            "logarithm of the loss (and of numbers of which less is better) where "
            "both are positive and the smaller is at most 20 %, else straight. "
            "Brackets: 95 % interval over chips, widened by what reading between "
            "stored cells may miss if the curve bends one way there; < or >: beyond "
            "what was run. None: the least loss that was seen, ± 95 % over chips, and "
            "where. Bits are rounded up to whole ones. Nothing is extrapolated."
        )
        + table(header, rows)
        + _wiggles(rule)
    )


def _wiggles(rule: DesignRule) -> str:
    """Say where the monotone curve is not the data."""
    worst = [one for one in rule.rules if one.curve.wiggle > 0.005]
    return items(
        f"{one.subject}, {one.axis}: the loss is not monotone, the curve misses it by "
        f"up to {percent_of(one.curve.wiggle)}"
        for one in worst
    ).replace("<p>-</p>", "")


def ordered(rule: DesignRule) -> list[AxisRule]:
    """Return the rules by number, d_osc and name of the model."""
    return sorted(rule.rules, key=lambda one: (one.axis, one.d_osc or 0, one.subject))


def curve_table(rule: DesignRule, axis: str, detailed: Sequence[int]) -> str:
    """Return the points of a loss figure, with links to their cells."""
    numbers = {id(cell): k for k, cell in enumerate(rule.table.cells)}
    rows: list[list[Content]] = []
    for one in (r for r in ordered(rule) if r.axis == axis):
        for cell in cells_of(rule, one):
            losses, number = rule.table.loss(cell), numbers[id(cell)]
            spread = half_width(losses)
            around = f" ± {percent_of(spread)}" if math.isfinite(spread) else ""
            rows.append(
                [
                    link_to(number, one.subject, detailed),
                    str(one.d_osc or "-"),
                    said_value(cell.point[axis]),
                    f"{cell.values.mean():.4f}",
                    f"{percent_of(float(losses.mean()))}{around}",
                ]
            )
    header = ("model", "d_osc", axis, metric_words(rule.table.metric), "loss")
    return folded("Numbers of this figure", table(header, rows, numbers=(2, 3, 4)))


def cells_of(rule: DesignRule, one: AxisRule) -> list[CellResult]:
    """Return the cells behind the points of a rule's curve."""
    return line(rule.table, one.subject, one.axis, one.held)


def optima_table(rule: DesignRule) -> str:
    """Return the best model at each value of each number."""
    header = (
        "number",
        "value",
        "best model",
        "d_osc",
        metric_words(rule.table.metric),
        "not told apart from it",
    )
    rows = [
        (
            one.axis,
            said_value(one.value),
            one.best,
            str(one.d_osc or "-"),
            f"{one.metric:.4f}",
            ", ".join(one.undecided) or "none",
        )
        for one in rule.optima
    ]
    return _first(table(header, rows[:MOST_ROWS], numbers=(1, 3, 4)), len(rows))


def rankings_section(rule: DesignRule) -> str:
    """Return a table for each choice without an order, least loss first."""
    found = []
    for one in rule.rankings:
        held = said_point(one.held)
        where = f", others held at {held}" if held else ""
        rows = [
            (
                str(value),
                said_interval(Interval(*(100 * part for part in loss))),
            )
            for value, loss in one.places
        ]
        header = (one.axis, "loss, % of the digital metric")
        found.append(
            paragraph(f"{one.subject}, by {named(one.axis)}{where}")
            + table(header, rows)
        )
    return "".join(found)


def _first(found: str, n: int) -> str:
    if n <= MOST_ROWS:
        return found
    return found + paragraph(f"The first {MOST_ROWS} of {n:,}; the CSV file has all.")


def together_section(content: dict[str, Any]) -> str:
    """Return interactions and Sobol indices."""
    rows = []
    for pair in content["interactions"]:
        low = pair["excess"]
        found = Interval(*(float("nan") if end is None else end for end in low))
        rows.append(
            (
                pair["model"],
                " and ".join(
                    f"{n} {said_value(v)}"
                    for n, v in zip(pair["axes"], pair["values"], strict=True)
                ),
                percent_of(pair["apart"]),
                percent_of(pair["together"]),
                fixed_interval(Interval(*(100 * part for part in found)), 2),
                _said_excess(found),
            )
        )
    header = (
        "model",
        "at their worst",
        "apart",
        "together",
        "excess, %",
        "so they are",
    )
    found_rows = table(header, rows, numbers=(2, 3, 4)) if rows else ""
    shares = [
        f"{one['model']}: "
        + ", ".join(
            f"{name} {first:.2f} (with interactions {total:.2f})"
            for name, first, total in zip(
                one["axes"], one["first"], one["total"], strict=True
            )
        )
        + (
            ""
            if one["surface_r2"] is None
            else f"; of a quadratic surface that foretells {one['surface_r2']:.0%} of "
            "the variance of cells left out"
        )
        for one in content["sobol"]
    ]
    parts = []
    if found_rows:
        parts.append(
            paragraph(
                "Loss beyond that at the best values, in % of the digital metric: the "
                "sum of each number alone at its worst, and of both "
                "together. Excess: together less apart, with its 95 % interval over "
                "chips."
            )
            + found_rows
        )
    if shares:
        parts.append(
            "<h3>Sobol indices: which number matters most</h3>"
            + paragraph(
                "Shares of the variance of the loss over the whole box of the sweep, "
                "every number uniform on its axis, read between cells as the sliders "
                "do."
            )
            + items(shares)
        )
    if content.get("why_no_sobol"):
        parts.append(
            paragraph("Without Sobol indices:")
            + items(f"{name}: {why}" for name, why in content["why_no_sobol"].items())
        )
    return "".join(parts)


def _said_excess(found: Interval) -> str:
    if found.low > 0:
        return "worse together"
    if found.high < 0:
        return "less bad together"
    return "not told apart from additive"


def front_table(
    rule: DesignRule, points: Sequence[ParetoPoint], detailed: Sequence[int]
) -> str:
    """Return the front and every digital baseline, with links to cells."""
    at = {
        (c.subject, tuple(sorted(c.point.items(), key=str))): k
        for k, c in enumerate(rule.table.cells)
    }
    rows: list[list[Content]] = []
    for p in points:
        if p.kind == "cell" and not p.is_front and not p.is_within_error:
            continue
        number = at.get((p.name, tuple(sorted(p.point.items(), key=str))), -1)
        where = said_point(p.point) or p.kind
        low, middle, high = (quantity(j, "J") for j in p.joules)
        around = f" ± {p.half_width:.4f}" if math.isfinite(p.half_width) else ""
        rows.append(
            [
                link_to(number, p.name, detailed),
                where,
                _said_place(p),
                f"{p.metric:.4f}{around}",
                middle,
                f"{low}..{high}",
                "-" if p.latency_s is None else quantity(p.latency_s, "s"),
            ]
        )
    header = (
        "model",
        "what",
        "front",
        metric_words(rule.table.metric),
        "energy per token, p50",
        "p10..p90",
        "time per token",
    )
    return _first(table(header, rows[:MOST_ROWS], numbers=(3, 4, 5, 6)), len(rows))


def _said_place(point: ParetoPoint) -> str:
    if point.is_front:
        said = "on the front"
        return f"{said}, open: as the cheaper one" if point.is_within_error else said
    return "behind, within error" if point.is_within_error else "behind it"


def models_table(rule: DesignRule) -> str:
    """Return the models of a sweep and their digital results."""
    results = rule.table
    header = ("model", "d_osc", f"{metric_words(results.metric)}, digital", "role")
    rows = [
        (
            name,
            str(results.d_osc(name) or "-"),
            f"{results.known[name].value:.4f}",
            "twin for comparison, digital only" if about["is_twin"] else "swept",
        )
        for name, about in sorted(
            results.subjects.items(),
            key=lambda one: (results.d_osc(one[0]) or 0, one[0]),
        )
    ]
    return table(header, rows, numbers=(1, 2))


def folded(title: str, content: str) -> str:
    """Return content that opens when its title is chosen."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"
