"""The points of a sweep that is no grid, as a table of a design sheet."""

import math
from collections.abc import Sequence

from oscsim.design.replicates import half_width
from oscsim.design.table import SweepTable
from oscsim.report.axis_words import metric_words, said_point
from oscsim.report.markup import Content, paragraph, table
from oscsim.report.sheet_cells import link_to, percent_of

MOST_POINTS = 20


def points_table(results: SweepTable, detailed: Sequence[int]) -> str:
    """Return what the points of a list or a hypercube lose, the least first.

    Parameters
    ----------
    results : SweepTable
        All cells; of a grid nothing is returned, its rules say it.
    detailed : sequence of int
        Numbers of the cells that the page has details of.
    """
    if results.spec.get("design", "grid") == "grid":
        return ""
    good = [
        (float(results.loss(cell).mean()), number)
        for number, cell in enumerate(results.cells)
        if not math.isnan(cell.values.mean())
    ]
    rows: list[list[Content]] = []
    for loss, number in sorted(good)[:MOST_POINTS]:
        cell = results.cells[number]
        spread = half_width(results.loss(cell))
        around = f" ± {percent_of(spread)}" if math.isfinite(spread) else ""
        rows.append(
            [
                link_to(number, cell.subject, detailed),
                said_point(cell.point),
                f"{cell.values.mean():.4f}",
                f"{percent_of(loss)}{around}",
            ]
        )
    many = "Points"
    if len(good) > MOST_POINTS:
        many = f"{MOST_POINTS} of {len(good):,} points"
    header = ("model", "point", metric_words(results.metric), "loss")
    words = f"{many} by their loss, the least first, with 95 % over chips:"
    return paragraph(words) + table(header, rows, numbers=(2, 3))
