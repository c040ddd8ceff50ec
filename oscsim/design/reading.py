"""The loss between the stored cells of a full grid: one reading for all that ask."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from oscsim.design.curve import Better, by_log, log_position, position
from oscsim.typing import FloatArray, IntArray

Sides: TypeAlias = tuple[int | None, ...]
"""Of each axis: the lower end of a box (0), its upper end (1), or free between."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Loss over a full grid of hardware numbers, and between its cells.

    Along one axis, between two stored values: the logarithm of the loss is linear
    in `oscsim.design.curve.log_position` where both losses are positive and the
    smaller is at most `oscsim.design.curve.MOST_BY_LOG`, and the lower value is
    positive too if smaller ones are better; otherwise the loss is linear in
    `oscsim.design.curve.position`. This is how `oscsim.design.curve.Curve.allowed`
    reads.

    Attributes
    ----------
    values : tuple of FloatArray
        Rising values of each axis, two at least.
    better : tuple of {"smaller", "larger"} or None
        Which of them lose less; None of an axis without a good end.
    loss : FloatArray, shape (n_1, ..)
        Share of the digital metric, one a cell.

    Notes
    -----
    Inside a box of cells, and on each of its faces: if every edge is read by the
    logarithm, so is all of it, as multilinear. Otherwise the faces are read first
    and blended linearly in `position` (the Boolean sum of Gordon and Hall [1]_: each
    axis blended, less what was counted twice), which is multilinear where all edges
    are straight. A face is read from its own corners alone, so that neighbouring
    boxes agree: the reading is continuous over the whole grid, does not depend on
    the order of the axes, and has the rule's chords on all edges. It is not
    continuous in the stored losses, where one of them passes 0 or `MOST_BY_LOG`, and
    it may leave the range of the corners of a box that is blended. Cost is
    O(5^axes).

    References
    ----------
    .. [1] Gordon and Hall (1973), Numerische Mathematik 21, 109.
    """

    values: tuple[FloatArray, ...]
    better: tuple[Better | None, ...]
    loss: FloatArray

    def at(self, points: FloatArray) -> FloatArray:
        """Return the loss at points, shape (n,).

        Parameters
        ----------
        points : FloatArray, shape (n, axes)
            Value of every axis, within what was run.
        """
        axes = range(len(self.values))
        places = [self._place(n, points[:, n]) for n in axes]
        corners: dict[Sides, FloatArray] = {
            sides: self.loss[tuple(places[n].below + sides[n] for n in axes)]
            for sides in itertools.product((0, 1), repeat=len(axes))
        }
        return _Box(tuple(places), corners).read()

    def left_out(self) -> FloatArray:
        """Return what is read at stored cells as if they had not been run, less them.

        Each inner cell is read from its two neighbours along one axis, for every
        axis; shape (misses,).
        """
        misses = [np.zeros(0)]
        for axis, (values, better) in enumerate(
            zip(self.values, self.better, strict=True)
        ):
            where, logs = position(values), log_position(values, better, values)
            for k in range(1, len(values) - 1):
                low, here, high = (
                    np.take(self.loss, k + step, axis).ravel() for step in (-1, 0, 1)
                )
                ends = np.array([where, logs])[:, [k - 1, k, k + 1]]
                share, log_share = (ends[:, 1] - ends[:, 0]) / (ends[:, 2] - ends[:, 0])
                misses.append(_chord(low, high, share, log_share) - here)
        return np.concatenate(misses)

    def _place(self, axis: int, numbers: FloatArray) -> "_Place":
        values, better = self.values[axis], self.better[axis]
        where, at = position(values), position(numbers, values)
        below = np.clip(np.searchsorted(where, at, side="right") - 1, 0, len(where) - 2)
        logs = log_position(values, better, values)
        return _Place(
            below=below,
            share=_share(where, at, below),
            log_share=_share(logs, log_position(numbers, better, values), below),
        )


@dataclass(frozen=True, eq=False)
class _Place:
    """Where points stand between two stored values of one axis.

    ``log_share`` is NaN where the lower value has no logarithm.
    """

    below: IntArray
    share: FloatArray
    log_share: FloatArray


@dataclass(frozen=True, eq=False)
class _Box:
    """The boxes around points, one a point, with the losses of their corners."""

    places: tuple[_Place, ...]
    corners: Mapping[Sides, FloatArray]

    def read(self) -> FloatArray:
        """Return the loss at the points."""
        return self._face((None,) * len(self.places), {})

    def _face(self, sides: Sides, known: dict[Sides, FloatArray]) -> FloatArray:
        """Return the loss on a face, at the free coordinates of the points."""
        free = tuple(n for n, side in enumerate(sides) if side is None)
        if not free:
            return self.corners[sides]
        if sides not in known:
            known[sides] = self._blended(sides, free, known)
            ends = list(itertools.product((0, 1), repeat=len(free)))
            losses = np.array([self.corners[_held(sides, free, end)] for end in ends])
            shares = np.array([self.places[n].log_share for n in free])
            kept = np.isfinite(shares).all(axis=0)
            cube = losses.reshape(*[2] * len(free), -1)
            for axis in range(len(free)):
                edges = by_log(cube.take(0, axis), cube.take(1, axis))
                kept &= edges.reshape(-1, len(kept)).all(axis=0)
            known[sides][kept] = _by_log(losses[:, kept], ends, shares[:, kept])
        return known[sides]

    def _blended(
        self, sides: Sides, free: tuple[int, ...], known: dict[Sides, FloatArray]
    ) -> FloatArray:
        """Return the Boolean sum of the faces of a face."""
        total = np.zeros(len(self.places[0].share))
        for size in range(1, len(free) + 1):
            sign = 1 if size % 2 else -1
            for some in itertools.combinations(free, size):
                shares = np.array([self.places[n].share for n in some])
                for end in itertools.product((0, 1), repeat=size):
                    part = self._face(_held(sides, some, end), known)
                    total += sign * _weight(shares, end) * part
        return total


def _share(where: FloatArray, at: FloatArray, below: IntArray) -> FloatArray:
    """Return how far points are from one stored place to the next, 0 to 1."""
    found: FloatArray = (at - where[below]) / (where[below + 1] - where[below])
    return found


def _chord(
    low: FloatArray, high: FloatArray, share: float, log_share: float
) -> FloatArray:
    """Return the loss between two stored values of one axis, others held."""
    found: FloatArray = low + share * (high - low)
    kept = by_log(low, high) & math.isfinite(log_share)
    both = np.array([low[kept], high[kept]])
    found[kept] = _by_log(both, [(0,), (1,)], np.full((1, int(kept.sum())), log_share))
    return found


def _held(sides: Sides, axes: tuple[int, ...], end: tuple[int, ...]) -> Sides:
    found = list(sides)
    for axis, side in zip(axes, end, strict=True):
        found[axis] = side
    return tuple(found)


def _weight(shares: FloatArray, end: tuple[int, ...]) -> FloatArray:
    """Return the weight of a corner, shares of shape (axes, n)."""
    upper = np.array(end, bool)[:, None]
    weight: FloatArray = np.where(upper, shares, 1 - shares).prod(axis=0)
    return weight


def _by_log(
    losses: FloatArray, ends: list[tuple[int, ...]], shares: FloatArray
) -> FloatArray:
    """Return the exponential of the multilinear logarithm, losses (corners, n)."""
    total = np.zeros(losses.shape[1])
    for loss, end in zip(losses, ends, strict=True):
        total += _weight(shares, end) * np.log(loss)
    found: FloatArray = np.exp(total)
    return found
