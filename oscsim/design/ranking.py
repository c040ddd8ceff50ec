"""Choices without an order, such as digital layers, by what they lose."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from oscsim.design.axes import Value, field_of
from oscsim.design.lines import BETTER
from oscsim.design.replicates import Interval, interval
from oscsim.design.table import CellResult, SweepTable


@dataclass(frozen=True)
class Ranking:
    """Choices without an order, such as which layers stay digital, by their loss.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    axis : str
        What is chosen.
    held : dict
        Values of the other axes.
    places : tuple of (value, Interval)
        Every choice with the loss over chips, least first.
    """

    subject: str
    axis: str
    held: Mapping[str, Value]
    places: tuple[tuple[Value, Interval], ...]


def rankings(
    table: SweepTable, held: Mapping[str, Value], resamples: int
) -> Iterator[Ranking]:
    """Yield the choices of every axis without a good end, model by model."""
    fixed = {name: table.axis(name)[0] for name in table.single_axes}
    for subject in table.subjects:
        for axis in held:
            if field_of(axis) in BETTER:
                continue
            others = {name: value for name, value in held.items() if name != axis}
            places = []
            for value in table.axis(axis):
                cell = table.cell(subject, fixed | others | {axis: value})
                if cell is not None and np.isfinite(cell.values).all():
                    places.append((value, _loss(table, cell, resamples)))
            if len(places) > 1:
                places.sort(key=lambda place: place[1].value)
                yield Ranking(subject, axis, others, tuple(places))


def _loss(table: SweepTable, cell: CellResult, resamples: int) -> Interval:
    loss = table.loss(cell)
    if len(loss) < 2:
        return Interval(float(loss[0]), math.nan, math.nan)
    return interval(loss[:, None], lambda mean: float(mean[0]), resamples=resamples)
