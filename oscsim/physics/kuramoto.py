"""Phases on the torus."""

import math
from typing import NamedTuple

from oscsim._jit import kernel
from oscsim.typing import FloatArray


class KuramotoParams(NamedTuple):
    """What the kernels on the torus read.

    Attributes
    ----------
    omega : FloatArray, shape (n,)
        Natural frequencies (rad/s).
    field : FloatArray, shape (n, 2)
        Drive of every oscillator (rad/s), zero for a free one.
    """

    omega: FloatArray
    field: FloatArray


@kernel
def kuramoto_drift(
    t: float, theta: FloatArray, params: KuramotoParams, out: FloatArray
) -> None:
    """Write dtheta_i/dt = omega_i + h_iy cos(theta_i) - h_ix sin(theta_i)."""
    for i in range(theta.shape[0]):
        pull = params.field[i, 1] * math.cos(theta[i])
        pull -= params.field[i, 0] * math.sin(theta[i])
        out[i] = params.omega[i] + pull


@kernel
def kuramoto_diffuse(
    theta: FloatArray, params: KuramotoParams, noise: FloatArray, out: FloatArray
) -> None:
    """Write the noise unchanged: it is additive on the torus."""
    for i in range(theta.shape[0]):
        out[i] = noise[i]


@kernel
def kuramoto_advance(
    theta: FloatArray,
    params: KuramotoParams,
    dt: float,
    drifted: FloatArray,
    diffused: FloatArray,
) -> int:
    """Add one step in place; return the first oscillator that failed, or -1.

    A step fails where the drift, natural rotation aside, moves a phase by more
    than half a turn: no method is stable there, though phases stay finite.
    """
    failed = -1
    for i in range(theta.shape[0]):
        is_right = abs(drifted[i] - params.omega[i] * dt) <= math.pi
        theta[i] += drifted[i] + diffused[i]
        if failed < 0 and not (is_right and abs(theta[i]) < math.inf):
            failed = i
    return failed
