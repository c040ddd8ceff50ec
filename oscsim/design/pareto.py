"""Accuracy against energy and latency: which cells nothing else beats."""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oscsim.design.apart import are_apart, is_apart
from oscsim.design.axes import SETS, Value, field_of
from oscsim.design.replicates import half_widths
from oscsim.design.table import SweepTable
from oscsim.energy.device_remarks import FREE
from oscsim.typing import FloatArray, IntArray

SAME = 1e-9
"""Relative difference of joules that is none."""

TOGETHER = 4096
"""Points that are compared with the front at a time."""


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
        one on it, whether what it costs more may buy nothing. By the 95 % interval
        of the paired difference, over chips and items together.
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


class _Measured(NamedTuple):
    """A point with what its errors come from: chips, or one number, and items."""

    name: str
    kind: str
    point: dict[str, Value]
    metric: float
    half_width: float
    joules: tuple[float, float, float]
    latency_s: float | None
    chips: IntArray
    values: FloatArray
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
    return _with_front([*_cells(table), *_baselines(table)], _sign(table))


def own_fronts(table: SweepTable) -> tuple[ParetoPoint, ...]:
    """Return what is on the front of each model's own cells, digital ways left out.

    Where a digital way is better and cheaper than every cell, this still says which
    hardware is worth its joules.

    Parameters
    ----------
    table : SweepTable
        The cells.

    Returns
    -------
    tuple of ParetoPoint
        Model after model, each by rising joules; ``is_front`` and
        ``is_within_error`` are among the cells of the model.
    """
    sign = _sign(table)
    kept: dict[str, list[_Measured]] = {name: [] for name in table.subjects}
    for one in sorted(_cells(table), key=lambda p: _place(p, sign)):
        own = kept[one.name]
        if not own or sign * one.metric < sign * own[-1].metric:
            own.append(one)
    return tuple(point for own in kept.values() for point in _with_front(own, sign))


def _sign(table: SweepTable) -> float:
    return 1.0 if table.is_loss_bits else -1.0


def _place(point: _Measured, sign: float) -> tuple[float, float, str]:
    """Return what orders points: the cheaper first, of these the better."""
    return point.joules[1], sign * point.metric, point.name


@functools.lru_cache(maxsize=1)
def _cells(table: SweepTable) -> list[_Measured]:
    priced = [
        (cell, cell.joules)
        for cell in table.cells
        if cell.joules is not None and np.isfinite(cell.values).all()
    ]
    spreads = half_widths([cell.values for cell, _ in priced])
    return [
        _Measured(
            cell.subject,
            "cell",
            cell.point,
            math.fsum(cell.values) / len(cell.values),
            spread,
            joules,
            cell.latency_s,
            cell.chips,
            cell.values,
            cell.items[table.known[cell.subject].counted],
        )
        for (cell, joules), spread in zip(priced, spreads, strict=True)
    ]


def _baselines(table: SweepTable) -> list[_Measured]:
    found = []
    nothing, no_chips = np.empty(0), np.empty(0, np.int64)
    for name, content in table.subjects.items():
        known = table.known[name]
        for kind, joules in content["baselines"].items():
            if content["is_twin"] or not kind.startswith("digital softmax"):
                rest = (math.nan, tuple(joules), None, no_chips, nothing)
                items = known.digital[known.counted]
                found.append(_Measured(name, kind, {}, known.value, *rest, items))
    return found


def is_free(axis: str) -> bool:
    """Return whether an axis sets a field that no price follows."""
    field = field_of(axis)
    return SETS.get(field, field) in FREE


def unpriced_axes(table: SweepTable) -> tuple[str, ...]:
    """Return the axes that change no joules of any cell.

    Prices follow bits where a law for them has a source (`oscsim.energy.bit_laws`),
    and time, but neither noise nor mismatch: less of these is as cheap as more.
    Cells that differ in an axis alone show it; where there are none, as in a latin
    hypercube, the field decides (`oscsim.energy.device_remarks.FREE`). An axis that
    points of a list leave out is one too.

    Parameters
    ----------
    table : SweepTable
        The cells; none of them may have a price.
    """
    priced = [(cell, cell.joules[1]) for cell in table.cells if cell.joules is not None]
    if not priced:
        return ()
    joules = np.array([middle for _, middle in priced])
    subjects = _numbered([cell.subject for cell, _ in priced])
    axes = {
        name: _numbered([cell.point.get(name) for cell, _ in priced])
        for name in dict.fromkeys(name for cell, _ in priced for name in cell.point)
    }
    axes = {name: codes for name, codes in axes.items() if codes.any()}
    found = []
    for name in axes:
        others = [subjects, *(codes for n, codes in axes.items() if n != name)]
        order = np.lexsort(others)
        is_new = np.any([np.diff(codes[order]) != 0 for codes in others], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
        least, most = (
            of.reduceat(joules[order], starts) for of in (np.minimum, np.maximum)
        )
        if len(starts) == len(priced):
            changes_none = is_free(name)
        else:
            changes_none = bool((most <= (1 + SAME) * least).all())
        if changes_none:
            found.append(name)
    return tuple(found)


def unpriced_cells(table: SweepTable) -> int:
    """Return how many cells have a result and no price where others have one."""
    measured = [cell for cell in table.cells if np.isfinite(cell.values).all()]
    without = sum(cell.joules is None for cell in measured)
    return without if without < len(measured) else 0


def unpriced_reasons(table: SweepTable) -> dict[str, int]:
    """Return why cells with a result have no price, with how many, most first."""
    found = Counter(cell.why_unpriced for cell in table.cells if cell.why_unpriced)
    return dict(found.most_common())


def _numbered(values: Sequence[Value | None]) -> IntArray:
    """Return a number for every value, the same for equal ones."""
    known: dict[Value | None, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values])


def _with_front(found: list[_Measured], sign: float) -> tuple[ParetoPoint, ...]:
    points = sorted(found, key=lambda p: _place(p, sign))
    fronts: list[tuple[_Measured, list[int]]] = []
    is_front, is_open = [False] * len(points), [False] * len(points)
    for k, point in enumerate(points):
        if fronts and not sign * point.metric < sign * fronts[-1][0].metric:
            fronts[-1][1].append(k)
            continue
        is_front[k] = True
        is_open[k] = bool(fronts) and not _is_worse(fronts[-1][0], point, sign)
        fronts.append((point, []))
    for best, behind in fronts:
        beaten = _are_worse([points[k] for k in behind], best, sign)
        for k, is_beaten in zip(behind, beaten, strict=True):
            is_open[k] = not is_beaten
    return tuple(
        ParetoPoint(*point[:7], on, maybe)
        for point, on, maybe in zip(points, is_front, is_open, strict=True)
    )


def _are_worse(points: list[_Measured], best: _Measured, sign: float) -> list[bool]:
    """Whether each point is worse than the best beyond error.

    Points with the chips and items of the best are compared together.
    """
    alike = [
        k
        for k, point in enumerate(points)
        if len(point.items) == len(best.items)
        and np.array_equal(point.chips, best.chips)
    ]
    found: dict[int, bool] = {}
    for first in range(0, len(alike), TOGETHER):
        some = alike[first : first + TOGETHER]
        chips = [sign * (points[k].values - best.values) for k in some]
        items = [sign * (points[k].items - best.items) for k in some]
        is_worse = are_apart(chips, items).tolist()
        found |= dict(zip(some, is_worse, strict=True))
    return [
        found[k] if k in found else _is_worse(point, best, sign)
        for k, point in enumerate(points)
    ]


def _is_worse(worse: _Measured, better: _Measured, sign: float) -> bool:
    """Whether a difference of the metric is beyond error, over chips and items."""
    both = (worse, better)
    chips: FloatArray = np.empty(0)
    if any(len(one.chips) for one in both):
        common = functools.reduce(
            np.intersect1d, [one.chips for one in both if len(one.chips)]
        )
        if not len(common):
            return False
        ends = [
            one.values[np.searchsorted(one.chips, common)]
            if len(one.chips)
            else np.full(len(common), one.metric)
            for one in both
        ]
        chips = sign * (ends[0] - ends[1])
    items: FloatArray = np.empty(0)
    if len(worse.items) == len(better.items):
        items = sign * (worse.items - better.items)
    return is_apart(chips, items)
