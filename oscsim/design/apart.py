"""Whether two results differ beyond the scatter of their chips and items."""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from oscsim.typing import BoolArray, FloatArray


def is_apart(chips: FloatArray, items: FloatArray) -> bool:
    """Return whether one paired difference is above 0, as `are_apart`."""
    return bool(are_apart([chips], [items])[0])


def are_apart(chips: Sequence[FloatArray], items: Sequence[FloatArray]) -> BoolArray:
    """Return whether paired differences of a metric are above 0.

    The lower end of a 95 % Student interval whose variance is the sum of that over
    chips and that over items, ``s_c^2 / n_c + s_i^2 / n_i``, with the degrees of
    freedom of Welch and Satterthwaite: other chips and other items may both move
    the mean.

    Parameters
    ----------
    chips : sequence of FloatArray, shape (n_c,)
        Of each pair, the differences over chips; all as long. Empty where neither
        has chips: then only items count.
    items : sequence of FloatArray, shape (n_i,)
        The differences over items; empty where they were not measured on the same
        ones: then only chips count.

    Returns
    -------
    BoolArray, shape (pairs,)
        False where a variance is asked for and there is one chip or item only.
    """
    rows = [np.stack(one) for one in (chips, items) if len(one[0])]
    if any(one.shape[1] < 2 for one in rows) or not rows:
        return np.zeros(len(chips), bool)
    variances = [one.var(axis=1, ddof=1) / one.shape[1] for one in rows]
    total = np.sum(variances, axis=0)
    spread = np.sum(
        [v**2 / (one.shape[1] - 1) for v, one in zip(variances, rows, strict=True)],
        axis=0,
    )
    freedom = np.divide(total**2, spread, out=np.full(len(total), 1.0), where=total > 0)
    half = stdtrit(freedom, 0.975) * np.sqrt(total)
    above: BoolArray = rows[0].mean(axis=1) - half > 0
    return above
