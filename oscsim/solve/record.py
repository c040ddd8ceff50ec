"""What the kernels keep of a state: saved rows, order parameters, failures."""

import math

from oscsim._jit import kernel
from oscsim.physics.field import Params, order
from oscsim.typing import FloatArray, IntArray


@kernel(allocates=False)
def save(
    y: FloatArray,
    n_copies: int,
    trajectory: int,
    oscillator: int,
    row: int,
    saved: FloatArray,
) -> None:
    """Copy a state into ``saved`` (n_trajectories, n_saved, n, d), fillers left out."""
    d = saved.shape[3]
    width = y.shape[0] // (d * n_copies)
    n = min(width, saved.shape[2] - oscillator)
    for m in range(min(n_copies, saved.shape[0] - trajectory)):
        for a in range(d):
            first = (a * n_copies + m) * width
            for i in range(n):
                saved[trajectory + m, row, oscillator + i, a] = y[first + i]


@kernel(allocates=False)
def record(
    y: FloatArray,
    params: Params,
    n_copies: int,
    trajectory: int,
    oscillator: int,
    row: int,
    is_end: bool,
    saved: FloatArray,
    observed: FloatArray,
) -> None:
    """Save the state, or its order parameter if asked for, and the end alone."""
    if observed.shape[1] == 0:
        save(y, n_copies, trajectory, oscillator, row, saved)
        return
    width = y.shape[0] // (saved.shape[3] * n_copies)
    for m in range(min(n_copies, saved.shape[0] - trajectory)):
        observed[trajectory + m, row] = order(y, params, m * width, width)
    if is_end:
        save(y, n_copies, trajectory, oscillator, 1, saved)


@kernel(allocates=False)
def note_failures(
    y: FloatArray, n_copies: int, d: int, oscillator: int, step: int, status: IntArray
) -> None:
    """Write step and first failed oscillator of every copy that holds a NaN.

    ``status`` (n_copies, 2) keeps what it has. A copy among others is put on a
    point where it cannot fail again soon.
    """
    width = y.shape[0] // (d * n_copies)
    for m in range(n_copies):
        failed = _first_failed(y, n_copies, m, d)
        if failed < 0:
            continue
        if status[m, 0] < 0:
            status[m, 0] = step
            status[m, 1] = oscillator + failed
        if n_copies > 1:
            for a in range(d):
                first = (a * n_copies + m) * width
                for i in range(first, first + width):
                    y[i] = 1.0 if d > 1 and a == 0 else 0.0


@kernel(allocates=False)
def _first_failed(y: FloatArray, n_copies: int, m: int, d: int) -> int:
    """Return the first oscillator of a copy that is not finite, or -1."""
    width = y.shape[0] // (d * n_copies)
    for i in range(width):
        for a in range(d):
            if not abs(y[(a * n_copies + m) * width + i]) < math.inf:
                return i
    return -1
