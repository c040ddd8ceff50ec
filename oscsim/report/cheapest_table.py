"""What a loss costs: a table on a terminal, a section of a sheet, and CSV."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from oscsim.design.cheapest import Cheapest, PricedCell
from oscsim.report.axis_words import said_point
from oscsim.report.markup import Content, items, paragraph, table
from oscsim.report.numbers import quantity
from oscsim.report.rule_csv import written
from oscsim.report.sheet_cells import link_to

if TYPE_CHECKING:
    from rich.console import Console

HEADER = (
    "model",
    "loss at most",
    "cheapest cell",
    "its loss",
    "below it",
    "energy per token, p50 (p10..p90)",
    "time per token",
)
TITLE = "what a loss costs: the cheapest cell that was run"
CAPTION = (
    "surely: the upper end of its 95 % interval over chips is below the limit; where "
    "that of the cheapest is not, the cheapest that surely is follows"
)


def print_cheapest(console: "Console", found: Sequence[Cheapest]) -> None:
    """Print the table, and which models have no price; nothing where none has."""
    if all(one.why_none for one in found):
        return
    grid = Table(title=TITLE, caption=CAPTION)
    for name in HEADER:
        is_place = name == "cheapest cell"
        grid.add_column(name, overflow="fold", min_width=24 if is_place else None)
    for _, row in _rows(found):
        grid.add_row(*row)
    console.print(grid)
    for said in _without(found):
        console.print(f"note: {said}")


def cheapest_section(found: Sequence[Cheapest], detailed: Sequence[int]) -> str:
    """Return the table as HTML, with links to the cells that the page details.

    Empty where no model has a price.
    """
    if all(one.why_none for one in found):
        return ""
    rows: list[list[Content]] = []
    for cell, row in _rows(found):
        model, limit, where, *rest = row
        place = where if cell is None else link_to(cell.number, where, detailed)
        rows.append([model, limit, place, *rest])
    words = (
        "Of each model the cheapest cell, by its median of joules, that loses at most "
        "so much of the digital metric; every number is free. Surely: the upper end of "
        "its 95 % interval over chips is below the limit. Where that of the cheapest "
        "is not, the cheapest that surely is follows. Only cells that were run: one "
        "between them may do for less. Of cells that cost the same and differ in "
        "numbers that no joules follow it is the one that asks least of these."
    )
    left = list(_without(found))
    return (
        paragraph(words)
        + table(HEADER, rows, numbers=(3, 5, 6))
        + (items(left) if left else "")
    )


def cheapest_csv(found: Sequence[Cheapest]) -> bytes:
    """Return one row a model, loss and kind of cell.

    ``kind`` is ``cheapest`` or ``certain``: the cheapest whose loss is told apart
    from the limit. Without numbers where there is none; then ``least_loss`` says
    what a priced cell loses at least, or ``why_no_price`` why there is none.
    """
    axes = list(dict.fromkeys(n for one in found for c in _cells(one) for n in c.point))
    header = (
        "model",
        "loss_at_most",
        "kind",
        *axes,
        "loss",
        "half_width",
        "is_certain",
        "joules_p10",
        "joules_p50",
        "joules_p90",
        "latency_s",
        "least_loss",
        "why_no_price",
    )
    rows: list[list[Any]] = []
    for one in found:
        for kind, cell in (("cheapest", one.found), ("certain", one.certain)):
            numbers: list[Any] = [None] * (len(axes) + 7)
            if cell is not None:
                numbers = [
                    *(cell.point.get(name) for name in axes),
                    cell.loss,
                    cell.half_width,
                    int(cell.is_certain(one.most)),
                    *cell.joules,
                    cell.latency_s,
                ]
            least = None if one.least is None else one.least.loss
            rest = (least, one.why_none)
            rows.append([one.subject, one.most, kind, *numbers, *rest])
    return written(header, rows)


def _cells(one: Cheapest) -> list[PricedCell]:
    return [cell for cell in (one.found, one.certain) if cell is not None]


def _rows(found: Sequence[Cheapest]) -> list[tuple[PricedCell | None, list[str]]]:
    """Return the cell and the texts of each row."""
    rows: list[tuple[PricedCell | None, list[str]]] = []
    for one in found:
        head = [one.subject, f"{100 * one.most:g} %"]
        if one.found is None:
            if one.least is not None:
                where = said_point(one.least.point) or "as it is"
                said = f"none; least at {where}"
                rows.append((one.least, [*head, said, _loss(one.least), *["-"] * 3]))
            continue
        for cell in dict.fromkeys(map(id, _cells(one))):
            kept = next(c for c in _cells(one) if id(c) == cell)
            rows.append((kept, [*head, *_row(kept, one.most)]))
        if one.certain is None:
            rows.append((None, [*head, "none is surely below", *["-"] * 4]))
    return rows


def _row(cell: PricedCell, most: float) -> list[str]:
    low, middle, high = (quantity(j, "J") for j in cell.joules)
    return [
        said_point(cell.point) or "as it is",
        _loss(cell),
        "surely" if cell.is_certain(most) else "not told apart",
        f"{middle} ({low}..{high})",
        "-" if cell.latency_s is None else quantity(cell.latency_s, "s"),
    ]


def _loss(cell: PricedCell) -> str:
    around = ""
    if math.isfinite(cell.half_width):
        around = f" ± {100 * cell.half_width:.2f}"
    return f"{100 * cell.loss:.2f}{around} %"


def _without(found: Sequence[Cheapest]) -> dict[str, None]:
    """Return which models have no price and why, each once."""
    return dict.fromkeys(
        f"{one.subject} has no price: {one.why_none}" for one in found if one.why_none
    )
