"""Which two hardware numbers are worse together, and which matters most."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import sobol_indices, uniform

from oscsim.design.axes import Value, field_of
from oscsim.design.curve import position, value_at
from oscsim.design.lines import BETTER
from oscsim.design.reading import Reading
from oscsim.design.replicates import RESAMPLES, Interval, interval
from oscsim.design.response import response_surface
from oscsim.design.rule import DesignRule
from oscsim.design.table import SweepTable, paired
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

SOBOL_POINTS = 2048


@dataclass(frozen=True)
class Interaction:
    """Two numbers at their worst values, together and apart.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    axes : tuple of str
        The two.
    values : tuple of float
        Their worst values.
    apart, together : float
        Loss beyond that at the best values: sum of each alone, and of both.
    excess : Interval
        Together less apart, with its interval over chips: above 0 they make each
        other worse.
    """

    subject: str
    axes: tuple[str, str]
    values: tuple[float, float]
    apart: float
    together: float
    excess: Interval


@dataclass(frozen=True, eq=False)
class Sobol:
    """Shares of the variance of the loss over the box of a sweep.

    Every number is uniform in its `oscsim.design.curve.position` (by logarithm where
    it spans more than a decade). Between cells the loss is what
    `oscsim.design.reading.Reading` reads, as in rules and on the design sheet.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    axes : tuple of str
        The numbers.
    first, total : FloatArray, shape (n,)
        Sobol indices [1]_: by a number alone, and with all its interactions.
    surface_r2 : float or None
        None of a full grid. Otherwise the loss is a quadratic surface, and this is
        what it foretells of cells left out.

    References
    ----------
    .. [1] Saltelli et al. (2010), Computer Physics Communications 181, 259.
    """

    subject: str
    axes: tuple[str, ...]
    first: FloatArray
    total: FloatArray
    surface_r2: float | None = None


def interactions(
    rule: DesignRule, *, resamples: int = RESAMPLES
) -> tuple[Interaction, ...]:
    """Return every pair of numbers of every model, the largest excess first.

    Parameters
    ----------
    rule : DesignRule
        Gives the cells and where other axes are held.
    resamples : int
        Bootstrap resamples over chips.
    """
    found = []
    for subject in rule.table.subjects:
        rules = [r for r in rule.rules if r.subject == subject]
        for one, other in itertools.combinations(rules, 2):
            ends = [_ends(r.curve.values, r.axis) for r in (one, other)]
            held = {**one.held, **other.held}
            cells = _corners(rule.table, subject, (one.axis, other.axis), ends, held)
            if cells is not None:
                found.append(
                    _interaction(
                        subject, (one.axis, other.axis), ends, cells, resamples
                    )
                )
    return tuple(sorted(found, key=lambda pair: -pair.excess.value))


def _ends(values: FloatArray, axis: str) -> tuple[float, float]:
    """Return the best and the worst value."""
    low, high = float(values[0]), float(values[-1])
    return (low, high) if BETTER[field_of(axis)] == "smaller" else (high, low)


def _corners(
    table: SweepTable,
    subject: str,
    axes: tuple[str, str],
    ends: list[tuple[float, float]],
    held: Mapping[str, Value],
) -> FloatArray | None:
    """Return losses (chips, 4) at best-best, worst-best, best-worst, worst-worst."""
    found = []
    for b, a in itertools.product((0, 1), repeat=2):
        point = dict(held) | {axes[0]: ends[0][a], axes[1]: ends[1][b]}
        cell = table.cell(
            subject, {n: table.axis(n)[0] for n in table.single_axes} | point
        )
        if cell is None or not np.isfinite(cell.values).all():
            return None
        found.append(cell)
    losses, common = paired(found, [table.loss(cell) for cell in found])
    return losses if len(common) else None


def _interaction(
    subject: str,
    axes: tuple[str, str],
    ends: list[tuple[float, float]],
    corners: FloatArray,
    resamples: int,
) -> Interaction:
    def excess(mean: FloatArray) -> float:
        best, one, other, both = mean
        return float(both - one - other + best)

    best, one, other, both = corners.mean(axis=0)
    return Interaction(
        subject=subject,
        axes=axes,
        values=(ends[0][1], ends[1][1]),
        apart=float(one + other - 2 * best),
        together=float(both - best),
        excess=interval(corners, excess, resamples=resamples)
        if len(corners) > 1
        else Interval(excess(corners.mean(axis=0)), np.nan, np.nan),
    )


def sobol(
    table: SweepTable,
    subject: str,
    axes: tuple[str, ...],
    held: Mapping[str, Value],
    seed: int = 0,
) -> Sobol:
    """Return Sobol indices of the loss of a model over a full grid.

    Parameters
    ----------
    table : SweepTable
        The cells.
    subject : str
        Name of the checkpoint.
    axes : tuple of str
        Numeric axes, all combinations of which were run.
    held : mapping of str to value
        Where the other axes are.
    seed : int
        Of the sampling.

    Raises
    ------
    SpecError
        If there are fewer than two axes, or a combination is missing: told before
        anything of the size of the grid is made where there are fewer cells.
    """
    if len(axes) < 2:
        raise SpecError(f"Sobol indices need two axes at least, got {len(axes)}")
    values = [np.array(sorted(float(v) for v in table.axis(name))) for name in axes]
    fixed: dict[str, Value] = {n: table.axis(n)[0] for n in table.single_axes}
    fixed |= {name: value for name, value in held.items() if name not in axes}
    size = math.prod(len(v) for v in values)
    there = sum(cell.subject == subject for cell in table.cells)
    if there < size:
        raise SpecError(
            f"a full grid of {', '.join(axes)} has {size:,} combinations, {subject} "
            f"has {there:,} cells"
        )
    loss = np.full([len(v) for v in values], np.nan)
    for at in np.ndindex(loss.shape):
        chosen = {n: float(v[k]) for n, v, k in zip(axes, values, at, strict=True)}
        cell = table.cell(subject, fixed | chosen)
        if cell is not None:
            loss[at] = table.loss(cell).mean()
    if np.isnan(loss).any():
        raise SpecError(
            f"{int(np.isnan(loss).sum())} of {loss.size} combinations of "
            f"{', '.join(axes)} have no value for {subject}"
        )
    if np.ptp(loss) == 0:
        raise SpecError(f"the loss of {subject} is the same everywhere")
    reading = Reading(
        tuple(values), tuple(BETTER.get(field_of(name)) for name in axes), loss
    )

    def between(places: FloatArray) -> FloatArray:
        points = [
            [value_at(float(at), v) for at in column]
            for column, v in zip(places, values, strict=True)
        ]
        return reading.at(np.array(points).T)[None]

    where = [position(v) for v in values]
    box = [uniform(w[0], w[-1] - w[0]) for w in where]
    first, total = _indices(between, box, seed)
    return Sobol(subject, axes, first, total)


def sobol_of_surface(
    table: SweepTable, subject: str, axes: tuple[str, ...], seed: int = 0
) -> Sobol:
    """Return Sobol indices of a quadratic surface through scattered cells.

    Parameters
    ----------
    table, subject, axes, seed
        As `sobol`; combinations need not be complete, and there are no other
        axes.

    Raises
    ------
    SpecError
        As `oscsim.design.response.response_surface`.
    """
    surface = response_surface(table, subject, axes)
    first, total = _indices(
        lambda x: surface.at_shares(x.T)[None], [uniform(0, 1) for _ in axes], seed
    )
    return Sobol(subject, axes, first, total, surface.r2)


def _indices(
    loss: Callable[[FloatArray], FloatArray], dists: list[Any], seed: int
) -> tuple[FloatArray, FloatArray]:
    found = sobol_indices(
        func=loss, n=SOBOL_POINTS, dists=dists, rng=np.random.default_rng(seed)
    )
    return np.asarray(found.first_order).ravel(), np.asarray(found.total_order).ravel()
