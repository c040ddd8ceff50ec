"""Phases on the torus."""

import math
from typing import Any, NamedTuple

from numba.extending import overload

from oscsim._jit import FORWARDED, kernel
from oscsim.physics.coupling import Coupling, Uniform, acting, couple, coupling_member
from oscsim.physics.sincos import sincos
from oscsim.typing import FloatArray


class KuramotoParams(NamedTuple):
    """What the kernels on the torus read.

    ``Network.params`` puts several networks, or parts of one, on the first axis;
    ``kuramoto_member`` takes one out, without that axis.

    Attributes
    ----------
    omega : FloatArray, shape (n_members, n)
        Natural frequencies (rad/s).
    field : FloatArray, shape (n_members, 2, n) or (n_members, 2, 0)
        Drive of every oscillator (rad/s), zero for a free one; left out if the
        weights are equal and no oscillator is driven.
    shil : FloatArray, shape (n_members, 2, n) or (n_members, 2, 0)
        Sub-harmonic injection I cos(psi), I sin(psi) (rad/s), if any.
    lag : FloatArray, shape (3,)
        Cosine and sine of the lag of all edges; 1 if every edge has its own, else 0.
    coupling : Coupling
        What oscillators do to each other.
    scratch : FloatArray, shape (4, n)
        Room for cosine and sine, and for both turned by the lag.
    mean : FloatArray, shape (5 or 6, n_rows)
        Room for what acts on every oscillator.
    """

    omega: FloatArray
    field: FloatArray
    shil: FloatArray
    lag: FloatArray
    coupling: Coupling
    scratch: FloatArray
    mean: FloatArray


@kernel
def kuramoto_member(
    params: KuramotoParams, k: int, scratch: FloatArray, mean: FloatArray
) -> KuramotoParams:
    """Return the parameters of the k-th network, with their own scratch room."""
    b = k % params.omega.shape[0]
    return KuramotoParams(
        params.omega[b],
        params.field[b],
        params.shil[b],
        params.lag,
        coupling_member(params.coupling, k),
        scratch,
        mean,
    )


@kernel(allocates=False, inlined=True)
def kuramoto_drift(
    t: float, theta: FloatArray, params: KuramotoParams, out: FloatArray
) -> None:
    """Write omega_i + g_iy cos(theta_i) - g_ix sin(theta_i) - I_i sin(2 theta_i - psi).

    g_i = h_i + sum_j K_ij (cos, sin)(theta_j - lag_ij): sine and cosine are
    taken once per oscillator (Sakaguchi & Kuramoto 1986 for the lag).
    """
    n = theta.shape[0]
    c, s = params.scratch[0], params.scratch[1]
    sincos(theta, s, c)
    shown = params.scratch[0:2]
    if params.lag[1] != 0.0 or params.lag[0] != 1.0:
        shown = params.scratch[2:4]
        for i in range(n):
            shown[0, i] = c[i] * params.lag[0] + s[i] * params.lag[1]
            shown[1, i] = s[i] * params.lag[0] - c[i] * params.lag[1]
    _turn(params.coupling, params, shown, c, s, out)
    shil = params.shil
    if shil.shape[1] > 0:
        for i in range(n):
            injected = (s[i] + s[i]) * c[i] * shil[0, i]
            out[i] -= injected - (c[i] - s[i]) * (c[i] + s[i]) * shil[1, i]


@kernel(allocates=False)
def _turn_by_each(
    params: KuramotoParams,
    shown: FloatArray,
    c: FloatArray,
    s: FloatArray,
    out: FloatArray,
) -> None:
    """Write omega_i + g_iy c_i - g_ix s_i; ``shown`` is (cos, sin) with the lag."""
    n = out.shape[0]
    couple(params.coupling, shown, params.field, params.mean)
    drive = acting(params.coupling, params.field, params.mean)
    if params.lag[2] != 0.0:
        for i in range(n):
            drive[0, i] += drive[1, n + i]
            drive[1, i] -= drive[0, n + i]
    omega, x, y = params.omega, drive[0], drive[1]
    for i in range(n):
        out[i] = omega[i] + y[i] * c[i] - x[i] * s[i]


@kernel(allocates=False)
def _turn_by_all(
    params: KuramotoParams,
    shown: FloatArray,
    c: FloatArray,
    s: FloatArray,
    out: FloatArray,
) -> None:
    """Write the same for equal weights, without storing g."""
    omega, field, strength = params.omega, params.field, params.coupling.weights[0]
    x, y, field_x, field_y = shown[0], shown[1], field[0], field[1]
    zero = x.dtype.type(0.0)
    total_x, total_y = zero, zero
    for i in range(x.shape[0]):
        total_x += x[i]
        total_y += y[i]
    if field.shape[1] == 0:
        for i in range(x.shape[0]):
            g_x, g_y = strength * (total_x - x[i]), strength * (total_y - y[i])
            out[i] = omega[i] + g_y * c[i] - g_x * s[i]
    else:
        for i in range(x.shape[0]):
            g_x = field_x[i] + strength * (total_x - x[i])
            g_y = field_y[i] + strength * (total_y - y[i])
            out[i] = omega[i] + g_y * c[i] - g_x * s[i]


def _turn(
    coupling: Coupling,
    params: KuramotoParams,
    shown: FloatArray,
    c: FloatArray,
    s: FloatArray,
    out: FloatArray,
) -> None:
    is_uniform = isinstance(coupling, Uniform)
    (_turn_by_all if is_uniform else _turn_by_each)(params, shown, c, s, out)


@overload(_turn, jit_options=FORWARDED)
def _turn_in_kernels(coupling, params, shown, c, s, out):  # type: ignore[no-untyped-def]
    is_uniform = coupling.instance_class is Uniform
    chosen: Any = _turn_by_all if is_uniform else _turn_by_each
    return lambda coupling, params, shown, c, s, out: chosen(params, shown, c, s, out)


@kernel(allocates=False)
def kuramoto_advance(
    theta: FloatArray,
    params: KuramotoParams,
    dt: float,
    drifted: FloatArray,
    diffused: FloatArray,
) -> int:
    """Add one step in place; return the first oscillator that failed, or -1.

    A step fails where the drift, natural rotation aside, moves a phase by more
    than half a turn: no method is stable there, though phases stay finite. All
    phases that failed become NaN.
    """
    h = theta.dtype.type(dt)
    half_turn = theta.dtype.type(math.pi)
    limit = theta.dtype.type(math.inf)
    n_bad = 0
    for i in range(theta.shape[0]):
        is_right = abs(drifted[i] - params.omega[i] * h) <= half_turn
        theta[i] += drifted[i] + diffused[i]
        n_bad += not (is_right and abs(theta[i]) < limit)
    failed = -1
    if n_bad > 0:
        for i in range(theta.shape[0] - 1, -1, -1):
            is_right = abs(drifted[i] - params.omega[i] * h) <= half_turn
            if not (is_right and abs(theta[i]) < limit):
                theta[i], failed = math.nan, i
    return failed


@kernel(allocates=False)
def kuramoto_map(theta: FloatArray, params: KuramotoParams, move: FloatArray) -> int:
    """Add a move of any size; return the first phase that is not finite, or -1."""
    failed = -1
    for i in range(theta.shape[0]):
        theta[i] += move[i]
        if failed < 0 and not abs(theta[i]) < math.inf:
            failed = i
    return failed


@kernel(allocates=False)
def kuramoto_order(
    theta: FloatArray, params: KuramotoParams, first: int, n: int
) -> float:
    """Return |mean of exp(i theta)| over n oscillators from ``first`` on."""
    c, s = params.scratch[0], params.scratch[1]
    sincos(theta, s, c)
    x, y = 0.0, 0.0
    for i in range(first, first + n):
        x += c[i]
        y += s[i]
    return 1.0 if n == 1 else min(math.sqrt(x * x + y * y) / n, 1.0)
