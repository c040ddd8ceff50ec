"""Unit vectors on a product of spheres."""

import math
from typing import NamedTuple

from oscsim._jit import kernel
from oscsim.typing import FloatArray


class LoheParams(NamedTuple):
    """What the kernels on the sphere read; the state is the flat (n, d) array.

    Attributes
    ----------
    omega : FloatArray, shape (n, d, d) or (0, d, d)
        Antisymmetric rotation rates (rad/s); no matrices stands for zero.
    field : FloatArray, shape (n, d)
        Drive of every oscillator (rad/s), zero for a free one.
    """

    omega: FloatArray
    field: FloatArray


@kernel
def lohe_drift(t: float, z: FloatArray, params: LoheParams, out: FloatArray) -> None:
    """Write dz_i/dt = Omega_i z_i + h_i - <z_i, h_i> z_i."""
    n, d = params.field.shape
    is_rotating = params.omega.shape[0] > 0
    for i in range(n):
        first = i * d
        along = 0.0
        for a in range(d):
            along += z[first + a] * params.field[i, a]
        for a in range(d):
            out[first + a] = params.field[i, a] - along * z[first + a]
        if is_rotating:
            for a in range(d):
                turn = 0.0
                for b in range(d):
                    turn += params.omega[i, a, b] * z[first + b]
                out[first + a] += turn


@kernel
def lohe_diffuse(
    z: FloatArray, params: LoheParams, noise: FloatArray, out: FloatArray
) -> None:
    """Write the tangent part of the noise, b_i - <z_i, b_i> z_i."""
    n, d = params.field.shape
    for i in range(n):
        first = i * d
        along = 0.0
        for a in range(d):
            along += z[first + a] * noise[first + a]
        for a in range(d):
            out[first + a] = noise[first + a] - along * z[first + a]


@kernel
def lohe_advance(
    z: FloatArray,
    params: LoheParams,
    dt: float,
    drifted: FloatArray,
    diffused: FloatArray,
) -> int:
    """Add one step and return to the sphere; return a failed oscillator, or -1.

    Dividing by the length is the closest-point retraction. A step fails where it
    left the sphere so far (length outside [1/2, 2]) that going back to it is no
    longer a correction.
    """
    n, d = params.field.shape
    failed = -1
    for i in range(n):
        first = i * d
        square = 0.0
        for a in range(d):
            z[first + a] += drifted[first + a] + diffused[first + a]
            square += z[first + a] * z[first + a]
        if failed < 0 and not 0.25 <= square <= 4.0:
            failed = i
        scale = 1.0 / math.sqrt(square)
        for a in range(d):
            z[first + a] *= scale
    return failed
