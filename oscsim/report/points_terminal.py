"""The points of a sweep that is no grid, best first, on a terminal."""

import math
from typing import TYPE_CHECKING

from rich.table import Table

from oscsim.design.replicates import half_width
from oscsim.design.said import said_number
from oscsim.design.table import SweepTable
from oscsim.report.axis_words import said_point

if TYPE_CHECKING:
    from rich.console import Console

MOST_POINTS = 20


def print_points(console: "Console", table: SweepTable) -> None:
    """Print what the points of a list or a hypercube lose, the least first.

    Of a grid nothing: its rules and rankings say it.
    """
    if table.spec.get("design", "grid") == "grid":
        return
    good = [cell for cell in table.cells if not math.isnan(cell.values.mean())]
    good.sort(key=lambda cell: float(table.loss(cell).mean()))
    grid = Table(
        title="points by their loss, least first", caption="+-: 95 % over chips"
    )
    digital = f"digital {table.metric}"
    for name in ("model", digital, "point", table.metric, "loss, %"):
        grid.add_column(name, overflow="fold")
    for cell in good[:MOST_POINTS]:
        loss = table.loss(cell)
        spread = half_width(loss)
        around = "" if math.isnan(spread) else f" +- {said_number(100 * spread, 2)}"
        grid.add_row(
            cell.subject,
            f"{table.known[cell.subject].value:.4f}",
            said_point(cell.point),
            f"{cell.values.mean():.4f}",
            f"{said_number(100 * float(loss.mean()))}{around}",
        )
    console.print(grid)
    left = len(good) - MOST_POINTS
    if left > 0:
        console.print(f"and {left:,} more (--out: sweep.nc)")
    if len(good) < len(table.cells):
        console.print(f"{len(table.cells) - len(good):,} failed")
