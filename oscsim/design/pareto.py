"""Accuracy against energy and latency: which cells nothing else beats."""

import math
from dataclasses import dataclass, replace

import numpy as np

from oscsim.design.axes import Value
from oscsim.design.replicates import half_width
from oscsim.design.table import SweepTable


@dataclass(frozen=True)
class ParetoPoint:
    """A cell, or something digital, in the plane of metric and energy.

    Attributes
    ----------
    name : str
        Of the checkpoint.
    kind : str
        ``"cell"``, or what is done digitally.
    point : dict
        Value of every axis; empty for what is digital.
    metric : float
        Mean over chips.
    half_width : float
        Half its 95 % Student interval over chips; NaN of fewer than two chips.
    joules : tuple of float
        p10, p50 and p90 of the system total per token.
    latency_s : float or None
        Per token on the substrate.
    is_front : bool
        Whether no other point is better in the metric and as cheap at its median,
        or cheaper and as good.
    """

    name: str
    kind: str
    point: dict[str, Value]
    metric: float
    half_width: float
    joules: tuple[float, float, float]
    latency_s: float | None
    is_front: bool


def pareto(table: SweepTable) -> tuple[ParetoPoint, ...]:
    """Return every cell that has a price, and every digital baseline.

    Parameters
    ----------
    table : SweepTable
        The cells.

    Returns
    -------
    tuple of ParetoPoint
        By rising joules; cells on devices without prices are not in it.
    """
    found = []
    for cell in table.cells:
        if cell.joules is not None and np.isfinite(cell.values).all():
            found.append(
                ParetoPoint(
                    cell.subject,
                    "cell",
                    cell.point,
                    math.fsum(cell.values) / len(cell.values),
                    half_width(cell.values),
                    cell.joules,
                    cell.latency_s,
                    False,
                )
            )
    for name, content in table.subjects.items():
        for kind, joules in content["baselines"].items():
            if content["is_twin"] or not kind.startswith("digital softmax"):
                value = table.known[name].value
                found.append(
                    ParetoPoint(
                        name, kind, {}, value, math.nan, tuple(joules), None, False
                    )
                )
    return _with_front(table, found)


def _with_front(
    table: SweepTable, points: list[ParetoPoint]
) -> tuple[ParetoPoint, ...]:
    sign = 1.0 if table.is_loss_bits else -1.0
    ordered = sorted(points, key=lambda p: (p.joules[1], sign * p.metric, p.name))
    best, done = math.inf, []
    for point in ordered:
        if sign * point.metric < best:
            best = sign * point.metric
            done.append(replace(point, is_front=True))
        else:
            done.append(point)
    return tuple(done)
