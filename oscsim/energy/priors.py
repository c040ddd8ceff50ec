"""The prior of a number that is known by a median and two ends."""

import numpy as np
from scipy.special import ndtr

from oscsim.typing import FloatArray

Z90 = 1.2815515655446004
"""90th percentile of the standard normal distribution."""


def quantile(
    z: FloatArray, value: float, low: float, high: float, most: float | None = None
) -> FloatArray:
    """Map standard normal scores to draws of a prior.

    Split log-normal with median ``value`` through the p10 ``low`` and the p90
    ``high``: ``value (high/value)^(z/z90)`` above the median,
    ``value (low/value)^(-z/z90)`` below. If ``low`` is not positive, the triangular
    distribution on [low, high] with mode ``value``; then low and high are the ends
    of the range. What would be above ``most`` is ``most``.

    Parameters
    ----------
    z : FloatArray
        Standard normal scores, any shape.
    value, low, high : float
        ``low <= value <= high``; equal ends mean exact.
    most : float, optional
        No draw is above it; ``most >= high``.

    Returns
    -------
    FloatArray
        In the unit of ``value``, shape of ``z``.
    """
    if low == high:
        return np.full(z.shape, value)
    found: FloatArray
    if low <= 0:
        found = _triangular(ndtr(z), low, value, high)
    else:
        spread = np.where(z > 0, high / value, value / low)
        found = value * spread ** (z / Z90)
    return found if most is None else np.minimum(found, most)


def _triangular(u: FloatArray, low: float, mode: float, high: float) -> FloatArray:
    turn = (mode - low) / (high - low)
    rising = low + np.sqrt(u * (high - low) * (mode - low))
    falling = high - np.sqrt((1 - u) * (high - low) * (high - mode))
    result: FloatArray = np.where(u < turn, rising, falling)
    return result
