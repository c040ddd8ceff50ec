"""A design sheet: one page that works offline."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from oscsim.design.cheapest import cheapest
from oscsim.design.pareto import (
    ParetoPoint,
    own_fronts,
    unpriced_axes,
    unpriced_reasons,
)
from oscsim.design.rule import DesignRule
from oscsim.design.surrogate import surrogates
from oscsim.report import sheet_sections as parts
from oscsim.report.axis_words import metric_words, named
from oscsim.report.cheapest_table import cheapest_section
from oscsim.report.conditions import said_conditions
from oscsim.report.loss_figure import LEAST_R2
from oscsim.report.markup import paragraph
from oscsim.report.rule_terminal import unpriced_words
from oscsim.report.sheet_cells import DeviceOf, cell_title, cells_section
from oscsim.report.sheet_data import embedded, sheet_data
from oscsim.report.sheet_drawing import linked_drawing
from oscsim.report.sheet_families import families_section
from oscsim.report.sheet_figures import Drawn, key_of, numbers_of, places_of
from oscsim.report.sheet_laws import laws_table
from oscsim.report.sheet_points_table import points_table
from oscsim.report.sheet_predictor import no_predictor, predictor
from oscsim.report.unswept_words import unswept_words

MOST_DETAILED = 1000
"""Cells whose details a page holds; of more, those that its figures show."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:"
)
"""The page may load nothing."""


def page(
    rule: DesignRule,
    content: dict[str, Any],
    front: tuple[ParetoPoint, ...],
    device_of: DeviceOf,
    drawn: Sequence[Drawn],
) -> str:
    """Return the design sheet as one HTML page.

    Parameters
    ----------
    rule, content, front, device_of
        As for `oscsim.report.sheet.write_sheet`.
    drawn : sequence of Drawn
        The figures.
    """
    table = rule.table
    detailed = _detailed(rule, front)
    grids, why_not = surrogates(table)
    has_controls = bool(grids) and bool(table.axes or len(grids) > 1)
    predict = (
        predictor(rule, grids, why_not) if has_controls else no_predictor(rule, why_not)
    )
    rules = parts.rules_section(rule) + _unswept(content)
    rules += points_table(table, detailed)
    sections = {
        "predict": ("Prediction", predict),
        "rules": ("Good enough", rules),
        "losses": ("Loss against each number", _losses(rule, drawn, detailed)),
        "families": ("Dimension and trainings", families_section(rule, drawn)),
        "best": ("Which model is best", _best(rule, drawn)),
        "choices": ("Choices, least loss first", parts.rankings_section(rule)),
        "together": ("Worse together", parts.together_section(content)),
        "cost": (
            "What a loss costs",
            cheapest_section(cheapest(table, rule.losses), detailed),
        ),
        "energy": ("Metric against energy", _front(rule, drawn, front, detailed)),
        "cells": ("Cells", cells_section(table, detailed, device_of)),
        "models": ("Models and versions", parts.models_table(rule) + _about(rule)),
    }
    shown = {name: part for name, part in sections.items() if part[1]}
    script = ""
    if has_controls:
        data = embedded(sheet_data(rule, grids, detailed))
        script = (
            f'<script type="application/json" id="grids">{data}</script>\n'
            f"<script>\n{_file('sheet_reading.js')}</script>\n"
            f"<script>\n{_file('sheet.js')}</script>\n"
        )
    script += f"<script>\n{_file('sheet_points.js')}</script>"
    body = "\n".join(
        f'<section id="{name}">\n<h2>{title}</h2>\n{part}\n</section>'
        for name, (title, part) in shown.items()
    )
    text = Template(_file("page.html")).substitute(
        title=escape(f"Design sheet: {table.name}"),
        subtitle=escape(_subtitle(rule)),
        sections=f"{_contents(shown)}\n{body}\n{script}",
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<link rel="icon" href="data:,">\n'
        f"<style>\n{_file('sheet.css')}</style>\n</head>"
    )
    return text.replace("</head>", head, 1)


def _unswept(content: dict[str, Any]) -> str:
    said = unswept_words(content["on_not_swept"])
    return "".join(paragraph(f"{one[0].upper()}{one[1:]}.") for one in said)


def _file(name: str) -> str:
    return files("oscsim.report").joinpath(name).read_text(encoding="utf-8")


def _contents(shown: dict[str, tuple[str, str]]) -> str:
    links = "".join(
        f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in shown.items()
    )
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _subtitle(rule: DesignRule) -> str:
    table = rule.table
    n = sum(not about["is_twin"] for about in table.subjects.values())
    chips = sorted({len(cell.values) for cell in table.cells})
    many = str(chips[0]) if len(chips) == 1 else f"{chips[0]} to {chips[-1]}"
    conditions = said_conditions(table)
    left = f"; {table.missing:,} cells have no results yet" if table.missing else ""
    return (
        f"{len(table.cells):,} cells of {n} model{'s' * (n > 1)}, {many} "
        f"chip{'s' * (chips[-1] > 1)} each{left}. Simulated hardware; intervals are "
        "95 % over chips on the same items."
        + (f" Run with {conditions}." if conditions else "")
    )


def _about(rule: DesignRule) -> str:
    said = ", ".join(f"{name} {v}" for name, v in rule.table.versions.items())
    return paragraph(f"Written by {said}.", "faint")


def _losses(rule: DesignRule, drawn: Iterable[Drawn], detailed: list[int]) -> str:
    names = _titles(rule)
    kept = set(detailed)
    found = []
    for one in (d for d in drawn if d.kind == "loss"):
        caption = (
            f"Loss against {named(one.axis)}. Points: mean over chips with 95 % "
            "intervals; each leads to its cell. Thick lines: a fitted law that "
            "holds within scatter; thin ones: a law that only describes, or, without "
            f"one of R² above {LEAST_R2:g}, straight from point to "
            "point. Linear within ±1 %, logarithmic beyond."
        )
        if "relative_diffusion" in one.axis:
            caption += (
                " The law is a power of the alignment lost to noise, 1 - A_d(|h|/D) "
                "(von Mises-Fisher), averaged over the drives |h| of each model."
            )
        figure = linked_drawing(one.figure, one.name, caption, names, kept)
        found.append(
            f"<div>{figure}{parts.curve_table(rule, one.axis, detailed)}</div>"
        )
    if not found:
        return ""
    return f'<div class="figures">{"".join(found)}</div>{laws_table(rule)}'


def _titles(rule: DesignRule) -> dict[int, str]:
    """Return what the cells are, by number."""
    word = metric_words(rule.table.metric)
    return {k: f"{cell_title(c)} {word}" for k, c in enumerate(rule.table.cells)}


def _best(rule: DesignRule, drawn: Iterable[Drawn]) -> str:
    if not rule.optima:
        return ""
    found = [
        linked_drawing(
            one.figure,
            one.name,
            f"Above, the best d_osc against {named(one.axis)}, and those that are "
            "not worse beyond the 95 % intervals of the paired difference over chips "
            "and over items. Below, by how much each model is behind the best. Other "
            "numbers are held as for the rules.",
            {},
            set(),
        )
        for one in drawn
        if one.kind == "best"
    ]
    figures = f'<div class="figures">{"".join(found)}</div>' if found else ""
    note = (
        "Each checkpoint alone: what another training of it would change is not in "
        "these intervals."
    )
    whole = paragraph(note) + figures + parts.optima_table(rule)
    if any(one.family.has_trainings for one in rule.families):
        return parts.folded("Each checkpoint alone", whole)
    return whole


def _front(
    rule: DesignRule,
    drawn: Iterable[Drawn],
    front: tuple[ParetoPoint, ...],
    detailed: list[int],
) -> str:
    if not front:
        said = "No cell and no digital baseline of this sweep has a price"
        why = "; ".join(unpriced_reasons(rule.table))
        return paragraph(f"{said}: {why}." if why else f"{said}.")
    names = _titles(rule)
    found = [
        linked_drawing(
            one.figure,
            one.name,
            "Every priced cell; filled: on the front, where nothing is better and "
            "cheaper, with 95 % over chips; grey: behind it, but not told apart from "
            "the best that is as cheap, over chips and items. Joules are "
            "medians: their p10..p90 "
            "assumption ranges, in the table, are wider and mostly common to all "
            "points. Triangles: the digital model at the estimated price of digital "
            "logic. Cells lead to their details.",
            names,
            set(detailed),
        )
        for one in drawn
        if one.kind == "front"
    ]
    if not found:
        found = [
            paragraph(
                "No cell of this sweep has a price. These are the digital baselines "
                "alone.",
                "note",
            )
        ]
    table = rule.table
    reasons = unpriced_reasons(table)
    for said in unpriced_words(unpriced_axes(table), reasons, len(table.cells)):
        found.append(paragraph(said, "note"))
    shown = "".join(found) + parts.front_table(rule, front, detailed)
    own = own_fronts(table)
    if not own:
        return shown
    words = paragraph("The front of each model on the substrate alone:")
    return shown + words + parts.front_table(rule, own, detailed)


def _detailed(rule: DesignRule, front: tuple[ParetoPoint, ...]) -> list[int]:
    """Return the numbers of the cells that the page has details of."""
    cells = rule.table.cells
    if len(cells) <= MOST_DETAILED:
        return list(range(len(cells)))
    numbers, places = numbers_of(rule), places_of(rule)
    found = {numbers[id(c)] for one in rule.rules for c in parts.cells_of(rule, one)}
    found |= {
        cell.number
        for one in cheapest(rule.table, rule.losses)
        for cell in (one.found, one.certain, one.least)
        if cell is not None
    }
    found |= {places[key_of(p.name, p.point)] for p in front if p.is_front and p.point}
    return sorted(found)[:MOST_DETAILED]
