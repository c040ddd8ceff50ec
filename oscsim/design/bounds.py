"""Stored values that are surely too bad, or surely good enough, for a loss."""

import math

import numpy as np

from oscsim.design.replicates import Interval, half_widths
from oscsim.typing import FloatArray


def bounds(
    values: FloatArray, losses: FloatArray, limit: float
) -> tuple[float | None, float | None]:
    """Return the last value that is surely good enough and the first surely too bad.

    A value is surely good enough if the 95 % Student interval of its loss, and those
    of all better values, lie at or below the limit; surely too bad if its interval,
    and those of all worse values, lie above it. Of a loss that rises along the
    values each is wrong in at most 2.5 % of the cases, however many values there
    are: the nearest value on the wrong side of the truth must be wrong itself.

    Parameters
    ----------
    values : FloatArray, shape (n,)
        The best first.
    losses : FloatArray, shape (chips, n)
        Loss of each chip at each of them.
    limit : float
        Most that may be lost.

    Returns
    -------
    good, bad : float or None
        None if there is no such value, as of one chip.
    """
    mean = losses.mean(axis=0)
    spread = np.array(half_widths(list(losses.T)))
    if not np.isfinite(spread).all():
        return None, None
    is_good, is_bad = mean + spread <= limit, mean - spread > limit
    n_good = int(np.logical_and.accumulate(is_good).sum())
    n_bad = int(np.logical_and.accumulate(is_bad[::-1]).sum())
    return (
        float(values[n_good - 1]) if n_good else None,
        float(values[-n_bad]) if n_bad else None,
    )


def whole(found: Interval, bad: float | None, *, is_up: bool) -> Interval:
    """Return what is good enough in whole numbers, rounded to the good side.

    Parameters
    ----------
    found : Interval
        What is good enough; a billionth past a whole number counts as that, and
        infinite ends stay.
    bad : float or None
        The first value that is surely too bad: no end is there.
    is_up : bool
        Whether more is better.
    """
    sign = 1 if is_up else -1

    def rounded(value: float) -> float:
        if not math.isfinite(value):
            return value
        end = math.ceil(sign * value - 1e-9)
        if bad is not None:
            end = max(end, math.floor(sign * bad) + 1)
        return float(sign * end)

    return Interval(*map(rounded, found))
