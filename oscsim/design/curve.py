"""Loss against one hardware number: monotone, and the largest value allowed."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression

from oscsim.design.replicates import RESAMPLES, Interval, interval
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

Better: TypeAlias = Literal["smaller", "larger"]
"""Which values of a hardware number lose less."""


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

    def at(self, value: float) -> float:
        """Return the monotone loss between stored values.

        Straight between neighbours in `position`.

        Raises
        ------
        SpecError
            If ``value`` lies outside the stored values.
        """
        if not self.values[0] <= value <= self.values[-1]:
            raise SpecError(
                f"{value:g} lies outside the values that were run, "
                f"{self.values[0]:g} to {self.values[-1]:g}"
            )
        where = position(self.values)
        return float(
            np.interp(position(np.array([value]), self.values)[0], where, self.monotone)
        )

    def allowed(self, loss: float, *, resamples: int = RESAMPLES) -> Interval:
        """Return the value at which the loss is reached, with its interval.

        Of numbers of which smaller is better the largest value that loses no
        more; of others the smallest.

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
            is, whichever way the end lies: nothing is extrapolated.
        """
        where = position(self.values)

        def reached(mean: FloatArray) -> float:
            at = _crossing(where, _monotone(mean, self.better), loss, self.better)
            return at if math.isinf(at) else value_at(at, self.values)

        if len(self.losses) < 2:
            value = reached(self.mean)
            return Interval(value, math.nan, math.nan)
        return interval(self.losses, reached, resamples=resamples)


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


def _monotone(mean: FloatArray, better: Better) -> FloatArray:
    fitted: FloatArray = isotonic_regression(mean, increasing=better == "smaller").x
    return fitted


def _crossing(
    where: FloatArray, loss: FloatArray, limit: float, better: Better
) -> float:
    """Return the position up to which (from which) a monotone loss is allowed."""
    if better == "larger":
        return -_crossing(-where[::-1], loss[::-1], limit, "smaller")
    if loss[0] > limit:
        return -math.inf
    if loss[-1] <= limit:
        return math.inf
    k = int(np.argmax(loss > limit))
    share = (limit - loss[k - 1]) / (loss[k] - loss[k - 1])
    return float(where[k - 1] + share * (where[k] - where[k - 1]))
