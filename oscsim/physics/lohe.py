"""Unit vectors on a product of spheres."""

import math
from typing import Any, NamedTuple

from oscsim._jit import kernel
from oscsim.physics.coupling import Coupling, acting, couple, coupling_member
from oscsim.typing import FloatArray


class LoheParams(NamedTuple):
    """What the kernels on the sphere read.

    The state is flat with the oscillators innermost: component a of oscillator i
    is at a n + i, so that loops over oscillators run through memory in order.
    ``Network.params`` puts several networks, or parts of one, on the first axis;
    ``lohe_member`` takes one out, without that axis.

    Attributes
    ----------
    omega : FloatArray, shape (n_members, d, d, n) or (n_members, 0, d, n)
        Antisymmetric rotation rates (rad/s); no matrices stands for zero.
    field : FloatArray, shape (n_members, d, n)
        Drive of every oscillator (rad/s), zero for a free one.
    coupling : Coupling
        What oscillators do to each other.
    scratch : FloatArray, shape (1, n)
        Room for one number per oscillator.
    mean : FloatArray, shape (d + max(d, 3), n)
        Room for what acts on every oscillator.
    """

    omega: FloatArray
    field: FloatArray
    coupling: Coupling
    scratch: FloatArray
    mean: FloatArray


@kernel
def lohe_member(
    params: LoheParams, k: int, scratch: FloatArray, mean: FloatArray
) -> LoheParams:
    """Return the parameters of the k-th network, with their own scratch room."""
    b = k % params.field.shape[0]
    return LoheParams(
        params.omega[b],
        params.field[b],
        coupling_member(params.coupling, k),
        scratch,
        mean,
    )


@kernel(allocates=False)
def lohe_drift(t: float, z: FloatArray, params: LoheParams, out: FloatArray) -> None:
    """Write Omega_i z_i + g_i - <z_i, g_i> z_i, g_i = h_i + sum_j K_ij z_j."""
    d, n = params.field.shape
    x, rate, omega = z.reshape(d, n), out.reshape(d, n), params.omega
    couple(params.coupling, x, params.field, params.mean)
    drive = acting(params.coupling, params.field, params.mean)
    _tangent(x, drive, params.scratch[0], rate)
    if omega.shape[0] > 0:
        for a in range(d):
            for b in range(d):
                for i in range(n):
                    rate[a, i] += omega[a, b, i] * x[b, i]


@kernel(allocates=False)
def _tangent(
    z: FloatArray, vector: FloatArray, along: FloatArray, out: FloatArray
) -> None:
    """Write the part of ``vector`` at right angles to every z_i, all (d, n)."""
    d, n = z.shape
    if d == 2:
        _tangent_on_circle(z[0], z[1], vector[0], vector[1], out[0], out[1])
        return
    _inner_products(z, vector, along)
    for a in range(d):
        for i in range(n):
            out[a, i] = vector[a, i] - along[i] * z[a, i]


@kernel(allocates=False)
def _tangent_on_circle(
    x: FloatArray,
    y: FloatArray,
    u: FloatArray,
    v: FloatArray,
    out_x: FloatArray,
    out_y: FloatArray,
) -> None:
    """Write the same for two components, the products kept in registers."""
    for i in range(x.shape[0]):
        along = x[i] * u[i] + y[i] * v[i]
        out_x[i] = u[i] - along * x[i]
        out_y[i] = v[i] - along * y[i]


@kernel(allocates=False)
def _inner_products(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Write <a_i, b_i> for every i, both (d, n) with d >= 2."""
    d, n = a.shape
    for i in range(n):
        out[i] = a[0, i] * b[0, i] + a[1, i] * b[1, i]
    for k in range(2, d):
        for i in range(n):
            out[i] += a[k, i] * b[k, i]


@kernel(allocates=False)
def lohe_diffuse(
    z: FloatArray, params: LoheParams, noise: FloatArray, out: FloatArray
) -> None:
    """Write the tangent part of the noise, b_i - <z_i, b_i> z_i."""
    d, n = params.field.shape
    _tangent(z.reshape(d, n), noise.reshape(d, n), params.scratch[0], out.reshape(d, n))


@kernel(allocates=False)
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
    for i in range(z.shape[0]):
        z[i] += drifted[i] + diffused[i]
    return retract(
        z.reshape(params.field.shape),
        params.scratch[0],
        z.dtype.type(0.25),
        z.dtype.type(4.0),
    )


@kernel(allocates=False)
def lohe_map(z: FloatArray, params: LoheParams, move: FloatArray) -> int:
    """Add a move of any size and divide by the length; return a failure, or -1."""
    for i in range(z.shape[0]):
        z[i] += move[i]
    return retract(
        z.reshape(params.field.shape),
        params.scratch[0],
        z.dtype.type(1e-30),
        z.dtype.type(1e30),
    )


@kernel(allocates=False)
def retract(z: FloatArray, square: FloatArray, least: Any, most: Any) -> int:
    """Divide by the lengths; return the first whose square is out of bounds, or -1.

    All that are out of bounds become NaN.
    """
    d, n = z.shape
    one = z.dtype.type(1.0)
    _inner_products(z, z, square)
    failed, n_bad = -1, 0
    for i in range(n):
        n_bad += not (least <= square[i] <= most)
    if n_bad > 0:
        failed = _mark_outside(square, least, most)
    for i in range(n):
        square[i] = one / math.sqrt(square[i])
    for a in range(d):
        for i in range(n):
            z[a, i] *= square[i]
    return failed


@kernel(allocates=False)
def _mark_outside(values: FloatArray, least: float, most: float) -> int:
    """Make what is out of bounds NaN; return the first of it."""
    failed = -1
    for i in range(values.shape[0] - 1, -1, -1):
        if not least <= values[i] <= most:
            values[i], failed = math.nan, i
    return failed


@kernel(allocates=False)
def lohe_order(z: FloatArray, params: LoheParams, first: int, n: int) -> float:
    """Return |mean of z| over n oscillators from ``first`` on."""
    d, width = params.field.shape
    square = 0.0
    for a in range(d):
        total = 0.0
        for i in range(a * width + first, a * width + first + n):
            total += z[i]
        square += (total / n) * (total / n)
    return 1.0 if n == 1 else min(math.sqrt(square), 1.0)
