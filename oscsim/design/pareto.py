"""Accuracy against energy and latency: which cells nothing else beats."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from oscsim.design.axes import Value
from oscsim.design.replicates import half_width
from oscsim.design.table import SweepTable
from oscsim.typing import FloatArray

SAME = 1e-9
"""Relative difference of joules that is none."""


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
    is_within_error : bool
        Whether the metric does not tell it apart from the best point that is as
        cheap or cheaper: of a point behind the front, whether it may be on it; of
        one on it, whether what it costs more may buy nothing. By the 95 % Student
        intervals of the paired difference over chips and over items.
    """

    name: str
    kind: str
    point: dict[str, Value]
    metric: float
    half_width: float
    joules: tuple[float, float, float]
    latency_s: float | None
    is_front: bool
    is_within_error: bool = False


@dataclass(frozen=True, eq=False)
class _Measured:
    """A point with what its errors come from: chips, or one number, and items."""

    point: ParetoPoint
    chips: Mapping[int, float]
    items: FloatArray


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
    found: list[_Measured] = []
    for cell in table.cells:
        if cell.joules is not None and np.isfinite(cell.values).all():
            counted = table.known[cell.subject].counted
            point = ParetoPoint(
                cell.subject,
                "cell",
                cell.point,
                math.fsum(cell.values) / len(cell.values),
                half_width(cell.values),
                cell.joules,
                cell.latency_s,
                False,
            )
            chips = dict(zip(cell.chips.tolist(), cell.values.tolist(), strict=True))
            found.append(_Measured(point, chips, cell.items[counted]))
    for name, content in table.subjects.items():
        known = table.known[name]
        for kind, joules in content["baselines"].items():
            if content["is_twin"] or not kind.startswith("digital softmax"):
                point = ParetoPoint(
                    name, kind, {}, known.value, math.nan, tuple(joules), None, False
                )
                found.append(_Measured(point, {}, known.digital[known.counted]))
    return _with_front(found, 1.0 if table.is_loss_bits else -1.0)


def unpriced_axes(table: SweepTable) -> tuple[str, ...]:
    """Return the axes that change no joules of any cell.

    Prices of a device are kept as they are when a sweep changes its numbers: more
    bits or less noise are then as cheap as what the device has.

    Parameters
    ----------
    table : SweepTable
        The cells; none of them may have a price.
    """
    priced = [cell for cell in table.cells if cell.joules is not None]
    found = []
    for name in table.axes:
        of: dict[tuple[str, frozenset[tuple[str, Value]]], list[float]] = {}
        for cell in priced:
            others = frozenset((n, v) for n, v in cell.point.items() if n != name)
            if cell.joules is not None:
                of.setdefault((cell.subject, others), []).append(cell.joules[1])
        several = [joules for joules in of.values() if len(joules) > 1]
        if several and all(max(j) <= (1 + SAME) * min(j) for j in several):
            found.append(name)
    return tuple(found)


def _with_front(points: list[_Measured], sign: float) -> tuple[ParetoPoint, ...]:
    def order(one: _Measured) -> tuple[float, float, str]:
        return one.point.joules[1], sign * one.point.metric, one.point.name

    best: _Measured | None = None
    done = []
    for one in sorted(points, key=order):
        is_front = best is None or sign * one.point.metric < sign * best.point.metric
        better, worse = (one, best) if is_front else (best, one)
        is_open = (
            better is not None
            and worse is not None
            and not _is_worse(worse, better, sign)
        )
        done.append(replace(one.point, is_front=is_front, is_within_error=is_open))
        if is_front:
            best = one
    return tuple(done)


def _is_worse(worse: _Measured, better: _Measured, sign: float) -> bool:
    """Whether a difference of the metric is beyond error, over chips and items."""
    if worse.chips or better.chips:
        common = sorted(
            set(worse.chips or better.chips) & set(better.chips or worse.chips)
        )
        ends = [
            np.array([one.chips.get(n, one.point.metric) for n in common])
            for one in (worse, better)
        ]
        if not _is_above(sign * (ends[0] - ends[1])):
            return False
    if len(worse.items) != len(better.items):
        return True
    return _is_above(sign * (worse.items - better.items))


def _is_above(differences: FloatArray) -> bool:
    half = half_width(differences)
    return bool(differences.mean() - half > 0) if math.isfinite(half) else False
