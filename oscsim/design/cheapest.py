"""What a loss costs: the cheapest cell of each model that loses no more."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oscsim.design.axes import Value
from oscsim.design.pareto import SAME, is_free
from oscsim.design.replicates import half_width
from oscsim.design.table import CellResult, SweepTable


@dataclass(frozen=True)
class PricedCell:
    """A cell with what it loses and costs.

    Attributes
    ----------
    number : int
        Place among the cells of the table.
    point : dict
        Value of every axis.
    loss : float
        Share of the digital metric, mean over chips.
    half_width : float
        Half its 95 % Student interval over chips; NaN of one chip.
    joules : tuple of float
        p10, p50 and p90 of the system total per token.
    latency_s : float or None
        Per token on the substrate.
    """

    number: int
    point: dict[str, Value]
    loss: float
    half_width: float
    joules: tuple[float, float, float]
    latency_s: float | None

    def is_certain(self, most: float) -> bool:
        """Return whether its loss is told apart from a limit: its upper end is below.

        Never of one chip.
        """
        return self.loss + self.half_width < most


@dataclass(frozen=True)
class Cheapest:
    """The cheapest cell of a model that loses at most so much.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    most : float
        Share of the digital metric that may be lost.
    found : PricedCell or None
        The cheapest whose mean loss is at most that.
    certain : PricedCell or None
        The cheapest whose loss is told apart from it; may be ``found``.
    least : PricedCell or None
        The one that loses least, whatever it costs; None if none has a price.
    why_none : str
        Why no cell of the model has a price; empty if one has.
    """

    subject: str
    most: float
    found: PricedCell | None
    certain: PricedCell | None
    least: PricedCell | None
    why_none: str


def cheapest(table: SweepTable, losses: Sequence[float]) -> tuple[Cheapest, ...]:
    """Return the cheapest cell of each model for each loss, all axes free.

    Parameters
    ----------
    table : SweepTable
        The cells.
    losses : sequence of float
        Shares of the digital metric that may be lost.

    Returns
    -------
    tuple of Cheapest
        By model, then by loss, of every model that was swept.

    Notes
    -----
    By the median of joules. Of cells that cost the same to 1e-9: of those that state
    the fewest numbers that no joules follow (points of a list leave them out) the one
    that loses least, or, if others differ from it in such numbers alone, the one of
    these that loses most: it asks least. Only cells that were run, nothing between
    them. The cheapest of many cells whose mean is within a limit is there by its luck
    with chips too, which its interval does not hold: ``certain`` asks for more.
    """
    found: list[Cheapest] = []
    for subject, content in table.subjects.items():
        if content["is_twin"]:
            continue
        cells = [
            (number, cell)
            for number, cell in enumerate(table.cells)
            if cell.subject == subject and np.isfinite(cell.values).all()
        ]
        priced = [
            one for number, cell in cells if (one := _priced(table, number, cell))
        ]
        priced.sort(key=lambda one: one.joules[1])
        why = "" if priced else _why_none([cell for _, cell in cells])
        least = min(priced, key=lambda one: one.loss, default=None)
        for most in losses:
            within = [one for one in priced if one.loss <= most]
            certain = [one for one in within if one.is_certain(most)]
            parts = _first(within), _first(certain), least
            found.append(Cheapest(subject, most, *parts, why))
    return tuple(found)


def _priced(table: SweepTable, number: int, cell: CellResult) -> PricedCell | None:
    if cell.joules is None:
        return None
    losses = table.loss(cell)
    mean = math.fsum(losses) / len(losses)
    spread = half_width(losses)
    rest = (spread, cell.joules, cell.latency_s)
    return PricedCell(number, dict(cell.point), mean, *rest)


def _first(cells: Sequence[PricedCell]) -> PricedCell | None:
    """Return the cheapest of cells in order of joules, of equal ones the laxest."""
    if not cells:
        return None
    most = (1 + SAME) * cells[0].joules[1]
    equal = [cell for cell in cells if cell.joules[1] <= most]
    best = min(equal, key=lambda cell: (_n_free(cell), cell.loss))
    alike = [
        cell
        for cell in equal
        if _n_free(cell) == _n_free(best) and _paid(cell) == _paid(best)
    ]
    return max(alike, key=lambda cell: cell.loss)


def _n_free(cell: PricedCell) -> int:
    return sum(map(is_free, cell.point))


def _paid(cell: PricedCell) -> dict[str, Value]:
    """Return the values of the axes that joules may follow."""
    return {name: v for name, v in cell.point.items() if not is_free(name)}


def _why_none(cells: Sequence[CellResult]) -> str:
    if not cells:
        return "no cell has a value"
    return "; ".join(dict.fromkeys(c.why_unpriced or "none is stored" for c in cells))
