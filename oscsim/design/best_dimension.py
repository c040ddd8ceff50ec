"""Which d_osc of a family is best, with the scatter between trainings in it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from oscsim.design.table import CellResult, paired
from oscsim.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class BestDimension:
    """The best d_osc of a family at one value of a number.

    Attributes
    ----------
    d_osc : int
        Whose trainings have the best mean.
    metric : float
        Mean over its trainings and chips.
    trainings : int
        How many they are.
    undecided : tuple of int
        Others that are not worse beyond the 95 % interval of the difference, with
        items, chips and trainings in it; its 2.5 % are shared among the others.
    undecided_alone : tuple of int
        The same of these trainings, as if there were no others: with items and
        chips in it only.
    """

    d_osc: int
    metric: float
    trainings: int
    undecided: tuple[int, ...]
    undecided_alone: tuple[int, ...]

    @property
    def stands(self) -> bool:
        """Whether it is better than every other d_osc over trainings too."""
        return not self.undecided


def best_dimension(
    cells: Mapping[int, Sequence[CellResult]],
    counted: BoolArray,
    *,
    is_loss_bits: bool,
) -> BestDimension | None:
    """Return the best d_osc, and which others are not told apart from it.

    The difference of two dimensions a and b is that of their means over trainings,
    item by item and chip by chip. Its variance has three parts, of items, of chips
    and of trainings, ``s^2 (1/n_a + 1/n_b)`` with s^2 pooled over all dimensions
    that have several; Student's t takes the degrees of freedom of their sum [1]_.
    Each of n - 1 comparisons with the best has a chance of .025 / (n - 1) to tell
    wrongly.

    Parameters
    ----------
    cells : mapping of int to sequence of CellResult
        One cell a training by d_osc, all at the same point.
    counted : BoolArray, shape (items,)
        Items that the metric is taken over.
    is_loss_bits : bool
        Whether more of the metric is worse.

    Returns
    -------
    BestDimension or None
        None with fewer than two dimensions, or if none has two trainings: nothing
        is known of others then.

    Notes
    -----
    Trainings of all dimensions are taken to scatter alike, which those with one
    training need. Of five equal dimensions at least one is told apart in .05 to .07 of
    the trials (1 or 3 trainings each). Where two trainings against one are all there
    is, their scatter has one degree of freedom, for which the sum is too sure: .09 to
    .12 instead of .05.

    References
    ----------
    .. [1] Welch (1947), Biometrika 34, 28-35.
    """
    spread, freedom = pooled([[c.values.mean() for c in own] for own in cells.values()])
    if len(cells) < 2 or not freedom:
        return None
    sign = 1.0 if is_loss_bits else -1.0
    every = [cell for own in cells.values() for cell in own]
    chips, _ = paired(every, [cell.values for cell in every])
    means, start = {}, 0
    for d_osc, own in cells.items():
        here = chips[:, start : start + len(own)].mean(axis=1)
        items = np.mean([cell.items[counted] for cell in own], axis=0)
        means[d_osc] = (sign * here, sign * items)
        start += len(own)
    metric = {
        d: float(np.mean([c.values.mean() for c in own])) for d, own in cells.items()
    }
    best = min(cells, key=lambda d: sign * metric[d])
    undecided, alone = [], []
    for d_osc in cells:
        if d_osc == best:
            continue
        more = sign * (metric[d_osc] - metric[best])
        parts = [
            _part(one - other)
            for one, other in zip(means[d_osc], means[best], strict=True)
        ]
        between = 1 / len(cells[d_osc]) + 1 / len(cells[best])
        if not is_above(more, parts, len(cells) - 1):
            alone.append(d_osc)
        parts.append((spread**2 * between, freedom))
        if not is_above(more, parts, len(cells) - 1):
            undecided.append(d_osc)
    return BestDimension(
        d_osc=best,
        metric=metric[best],
        trainings=len(cells[best]),
        undecided=tuple(undecided),
        undecided_alone=tuple(alone),
    )


def pooled(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Return the deviation within groups and its degrees of freedom, (0, 0) of none."""
    freedom = sum(len(group) - 1 for group in groups)
    if not freedom:
        return 0.0, 0
    squares = sum(float(((g - np.mean(g)) ** 2).sum()) for g in map(np.array, groups))
    return math.sqrt(squares / freedom), freedom


def _part(differences: FloatArray) -> tuple[float, int]:
    """Return the squared standard error of a mean and its degrees of freedom."""
    n = len(differences)
    return (float(differences.var(ddof=1)) / n, n - 1) if n > 1 else (math.inf, 1)


def is_above(
    mean: float, parts: Sequence[tuple[float, int]], comparisons: int = 1
) -> bool:
    """Whether the 95 % interval of a mean whose variance has parts is above 0.

    Parameters
    ----------
    mean : float
        The mean.
    parts : sequence of (float, int)
        Variance of it and degrees of freedom, source by source; an infinite one
        where a source has a single value.
    comparisons : int
        How many means share the 2.5 % above.
    """
    variance = sum(part for part, _ in parts)
    if not math.isfinite(variance):
        return False
    if variance == 0:
        return mean > 0
    freedom = variance**2 / sum(part**2 / n for part, n in parts)
    return mean > float(stdtrit(freedom, 1 - 0.025 / comparisons)) * math.sqrt(variance)
