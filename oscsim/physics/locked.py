"""Fixed points of driven, detuned oscillators on the sphere."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.closed_form import norm
from oscsim.typing import FloatArray

_ITERATIONS = 60
_TOLERANCE = 1e-10


@kernel
def locked_states(
    h: FloatArray, omega: FloatArray, state: FloatArray, rate: FloatArray
) -> None:
    """Write every stable fixed point z* and the rate lambda = h . z* (rad/s).

    Omega z* + h = lambda z*. The flow is conformal, so nearby states approach
    z* at the rate lambda from all sides alike, turning about it. Found by
    z <- (h + Omega z) / |h + Omega z|, which gains a factor of at least
    |Omega| / lambda a turn; ``rate`` is 0 where 60 turns leave more than 1e-10:
    the detuning is then of the size of the drive, or there is none.
    """
    scratch = np.empty(h.shape[1])
    for i in range(h.shape[0]):
        rate[i] = _lock(h[i], omega[i], state[i], scratch)


@kernel
def _lock(
    h: FloatArray, omega: FloatArray, z: FloatArray, scratch: FloatArray
) -> float:
    """Write one fixed point; return its rate, or 0 if it was not found."""
    length = norm(h)
    if not 0.0 < length < math.inf:
        return 0.0
    for k in range(h.shape[0]):
        z[k] = h[k] / length
    for _ in range(_ITERATIONS):
        if _turn(h, omega, z, scratch) < _TOLERANCE:
            along = 0.0
            for k in range(h.shape[0]):
                along += h[k] * z[k]
            return max(along, 0.0)
    return 0.0


@kernel
def _turn(h: FloatArray, omega: FloatArray, z: FloatArray, pull: FloatArray) -> float:
    """Replace z by (h + Omega z) / |h + Omega z|; return the largest change."""
    d = h.shape[0]
    for j in range(d):
        total = h[j]
        for k in range(d):
            total += omega[j, k] * z[k]
        pull[j] = total
    scale = norm(pull)
    moved = 0.0 if scale > 0.0 else math.inf
    for k in range(d):
        new = pull[k] / scale
        moved = max(moved, abs(new - z[k]))
        z[k] = new
    return moved
