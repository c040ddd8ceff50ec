"""Phases in single precision that keep counting.

Near 20000 rad float32 resolves .002 rad, and steps shorter than half of that are
lost. So phases are added up in float64, and the field is evaluated in float32 at
what is left of them after whole turns.
"""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.typing import FloatArray

_TURN = 2.0 * math.pi
_PER_RAD = 1.0 / _TURN
_LARGEST = float(np.finfo(np.float32).max)


@kernel(reassociate=False, allocates=False)
def unwind(total: FloatArray, theta: FloatArray) -> None:
    """Write the phases less whole turns, in [-pi, pi]."""
    for i in range(theta.shape[0]):
        theta[i] = total[i] - _TURN * np.rint(total[i] * _PER_RAD)


@kernel(reassociate=False, allocates=False)
def carry(
    drifted: FloatArray, diffused: FloatArray, total: FloatArray, theta: FloatArray
) -> int:
    """Add a step to the totals; return the first phase that failed, or -1.

    The step is in ``theta`` already, which says what failed, and is replaced by
    the total less whole turns. A total beyond float32 fails too.
    """
    n_bad = 0
    for i in range(theta.shape[0]):
        total[i] += np.float64(drifted[i]) + np.float64(diffused[i])
        n_bad += not (abs(theta[i]) < math.inf and abs(total[i]) <= _LARGEST)
    failed = -1
    if n_bad > 0:
        for i in range(theta.shape[0] - 1, -1, -1):
            if not (abs(theta[i]) < math.inf and abs(total[i]) <= _LARGEST):
                total[i], failed = math.nan, i
    unwind(total, theta)
    return failed
