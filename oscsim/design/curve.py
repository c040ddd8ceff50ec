"""Loss against one hardware number: monotone, and the largest value allowed."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression

from oscsim.design.bounds import bounds, whole
from oscsim.design.replicates import RESAMPLES, Interval, resampled, stretched
from oscsim.errors import SpecError
from oscsim.typing import BoolArray, FloatArray

Better: TypeAlias = Literal["smaller", "larger"]
"""Which values of a hardware number lose less."""

MOST_BY_LOG = 0.2
"""Loss from which on nothing is read by its logarithm: losses level off there."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss of one model against one number, over chips.

    Attributes
    ----------
    values : FloatArray, shape (n,)
        Rising values of the number.
    losses : FloatArray, shape (chips, n)
        Loss of each chip at each of them.
    better : {"smaller", "larger"}
        Which values are expected to lose less.
    """

    values: FloatArray
    losses: FloatArray
    better: Better

    def __post_init__(self) -> None:
        if len(self.values) < 2 or not (np.diff(self.values) > 0).all():
            raise SpecError(
                f"a curve needs two rising values at least, got {list(self.values)}"
            )

    @property
    def mean(self) -> FloatArray:
        """Mean loss over chips, shape (n,)."""
        mean: FloatArray = self.losses.mean(axis=0)
        return mean

    @property
    def monotone(self) -> FloatArray:
        """The nearest curve that only rises, or only falls (isotonic regression)."""
        return _monotone(self.mean, self.better)

    @property
    def wiggle(self) -> float:
        """Largest difference between the mean and the monotone curve."""
        return float(np.abs(self.mean - self.monotone).max())

    def allowed(self, loss: float, *, resamples: int = RESAMPLES) -> Interval:
        """Return the value at which the loss is reached, with its interval.

        Of numbers of which smaller is better the largest value that loses no
        more; of others the smallest. Read off the chord between the two stored
        values around it, as everything between stored cells is
        (`oscsim.design.reading`): of the logarithm of the loss where `by_log` says
        so, in `log_position`; otherwise of the loss, in `position`.

        Parameters
        ----------
        loss : float
            Most that may be lost.
        resamples : int
            Bootstrap resamples over chips.

        Returns
        -------
        Interval
            ``inf``, or ``-inf``, where every stored value is good enough or none
            is, whichever way the end lies: nothing is extrapolated, and an end
            of the interval beyond the stored values is infinite too.

        Notes
        -----
        The interval holds the scatter over chips and what the chord may miss. A
        curve that bends one way only lies between the chord and the lines
        through the next pair of stored values on either side: the interval ends
        where the nearest of those meets the loss, plus the scatter there. If there
        is only one such line, the other end is as far away; if there is none, the
        ends are the two stored values. No end passes a stored value that is surely
        too bad, or surely good enough, by itself (`oscsim.design.bounds.bounds`).
        """

        def reached(mean: FloatArray) -> FloatArray:
            monotone = _monotone(mean, self.better)
            found = _crossing(self.values, monotone, loss, self.better)
            where = [
                x if math.isinf(x) else float(position(np.array([x]), self.values)[0])
                for x in found
            ]
            return np.array(where)

        value, *ends = reached(self.mean)
        if len(self.losses) < 2:
            return Interval(self._inside(value), math.nan, math.nan)
        n = len(self.losses)
        draws = resampled(n, resamples)
        again = np.array([reached(self.losses[rows].mean(axis=0)) for rows in draws])
        low = stretched(ends[0], again[:, 1], n).low
        high = stretched(ends[1], again[:, 2], n).high
        low, high = self._bounded(loss, value, low, high)
        return Interval(*map(self._inside, (value, low, high)))

    def allowed_whole(self, loss: float, found: Interval) -> Interval:
        """Return what `allowed` found for a loss as whole numbers that are allowed."""
        _, bad = self._sure(loss)
        return whole(found, bad, is_up=self.better == "larger")

    def _sure(self, loss: float) -> tuple[float | None, float | None]:
        step = 1 if self.better == "smaller" else -1
        return bounds(self.values[::step], self.losses[:, ::step], loss)

    def _bounded(
        self, loss: float, value: float, low: float, high: float
    ) -> tuple[float, float]:
        """Return ends (positions) that pass no value that is sure by itself."""
        sure = self._sure(loss)
        least, most = sure if self.better == "smaller" else sure[::-1]
        if least is not None:
            at = position(np.array([least]), self.values)
            low = min(max(low, float(at[0])), value)
        if most is not None:
            at = position(np.array([most]), self.values)
            high = max(min(high, float(at[0])), value)
        return low, high

    def _inside(self, at: float) -> float:
        """Return the value at a position, infinite beyond the stored ones."""
        where = position(self.values)
        first, *_, last = where
        slack = 1e-9 * (last - first)
        if not first - slack <= at <= last + slack:
            return math.copysign(math.inf, at - first)
        near = int(np.argmin(np.abs(where - at)))
        if abs(where[near] - at) <= slack:
            return float(self.values[near])
        return value_at(float(at), self.values)


def position(values: FloatArray, scale: FloatArray | None = None) -> FloatArray:
    """Return where values stand on the axis on which a curve is interpolated.

    Numbers that span more than a decade stand by their logarithm, 0 as far
    below the smallest positive value as the next one is above it; others as
    they are.

    Parameters
    ----------
    values : FloatArray
        Any within the range of ``scale``.
    scale : FloatArray, optional
        Rising values that fix the axis; ``values`` by default.
    """
    scale = values if scale is None else scale
    if not is_log(scale):
        return np.asarray(values, np.float64)
    positive = scale[scale > 0]
    least = positive[0]
    step = math.log(positive[1] / least) if len(positive) > 1 else 1.0
    safe = np.maximum(values, least)
    below = (np.minimum(values, least) / least - 1) * step
    where: FloatArray = np.log(safe / least) + below
    return where


def value_at(at: float, scale: FloatArray) -> float:
    """Return the value at a position, the inverse of `position`.

    Parameters
    ----------
    at : float
        A position on the axis of ``scale``.
    scale : FloatArray
        Rising values that fix the axis.
    """
    if not is_log(scale):
        return float(at)
    positive = scale[scale > 0]
    least = float(positive[0])
    step = math.log(positive[1] / least) if len(positive) > 1 else 1.0
    return least * math.exp(at) if at >= 0 else least * (1 + at / step)


def is_log(scale: FloatArray) -> bool:
    """Return whether values stand by their logarithm: none negative, > a decade."""
    positive = scale[scale > 0]
    return bool(scale[0] >= 0 and len(positive) > 1 and positive[-1] > 10 * positive[0])


def by_log(low: FloatArray, high: FloatArray) -> BoolArray:
    """Return whether what is between two losses is read by their logarithm.

    Both are positive, and the smaller is at most `MOST_BY_LOG`: small losses follow
    power laws, of which a chord of the logarithm misses less, and large ones level
    off, of which a straight one does.

    Parameters
    ----------
    low, high : FloatArray
        Shares of the digital metric at neighbouring values, in any order.
    """
    least = np.minimum(low, high)
    found: BoolArray = (least > 0) & (least <= MOST_BY_LOG)
    return found


def log_position(
    values: FloatArray, better: Better | None, scale: FloatArray
) -> FloatArray:
    """Return where values stand if the loss is read by its logarithm.

    By their own logarithm if smaller ones are better, so that a power law is
    straight, and NaN from 0 downwards; otherwise in `position`, in which bits
    that each halve the loss are straight.

    Parameters
    ----------
    values : FloatArray
        Any within the range of ``scale``.
    better : {"smaller", "larger"} or None
        Which values lose less; None of a number without a good end.
    scale : FloatArray
        Rising values that fix the axis.
    """
    if better != "smaller":
        return position(values, scale)
    where: FloatArray = np.log(
        values, out=np.full(len(values), np.nan), where=values > 0
    )
    return where


def _monotone(mean: FloatArray, better: Better) -> FloatArray:
    fitted: FloatArray = isotonic_regression(mean, increasing=better == "smaller").x
    return fitted


def _crossing(
    values: FloatArray, loss: FloatArray, limit: float, better: Better
) -> tuple[float, float, float]:
    """Return up to (from) which value a monotone loss is allowed, and its ends."""
    step = 1 if better == "smaller" else -1
    x, y = values[::step], loss[::step]
    if y[0] > limit:
        return (-step * math.inf,) * 3
    if y[-1] <= limit:
        return (step * math.inf,) * 3
    k = int(np.argmax(y > limit))
    where = log_position(x, better, values)
    ends = slice(k - 1, k + 1)
    is_by_log = bool(by_log(*y[ends]) and np.isfinite(where[ends]).all())
    if is_by_log:
        known = (y > 0) & np.isfinite(where)
        y = np.log(y, out=np.full(len(y), np.nan), where=known)
        goal = math.log(limit)
    else:
        where, goal = position(x, values), limit

    def back(at: float) -> float:
        if is_by_log and better == "smaller":
            return math.exp(at)
        return value_at(at, values)

    found = _triangle(where, y, goal, k)
    middle, one, other = (back(at) for at in found)
    return middle, min(one, other), max(one, other)


def _triangle(
    where: FloatArray, y: FloatArray, goal: float, k: int
) -> tuple[float, float, float]:
    """Return where the chord to point k meets a goal, and where the truth may.

    ``y`` is NaN at points that say nothing.
    """
    a, b = float(where[k - 1]), float(where[k])
    share = float((goal - y[k - 1]) / (y[k] - y[k - 1]))
    chord = a + share * (b - a)
    near = []
    for i, j, flat in ((k - 2, k - 1, b), (k + 1, k, a)):
        if not 0 <= i < len(y) or math.isnan(y[i]):
            continue
        rise = (y[j] - y[i]) / (where[j] - where[i])
        climbs = rise * (y[k] - y[k - 1]) * (b - a) > 0
        at = float(where[j] + (goal - y[j]) / rise) if climbs else flat
        near.append(float(np.clip(at, min(a, b), max(a, b))) - chord)
    if not near:
        return chord, a, b
    if len(near) == 1:
        near = [-abs(near[0]), abs(near[0])]
    low = chord + max((d for d in near if d < 0), default=0.0)
    high = chord + min((d for d in near if d > 0), default=0.0)
    return chord, max(min(a, b), low), min(max(a, b), high)
