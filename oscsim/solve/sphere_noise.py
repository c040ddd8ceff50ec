"""Noisy time steps on a product of spheres."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.lohe import LoheParams, lohe_diffuse, lohe_drift, retract
from oscsim.physics.sincos import sincos
from oscsim.typing import FloatArray

# No step is longer, as without noise (length 2 before going back to the sphere).
_LONGEST = math.sqrt(3.0)
_SHORTEST_SQUARE, _LONGEST_SQUARE = 1e-2, 1e2


def kick_deviation(diffusion: FloatArray, dt: float, d: int) -> FloatArray:
    r"""Return the deviation of a random turn per tangent direction (rad).

    A turn by |v| along the great circle of a tangent Gaussian v of variance s per
    direction has, on a harmonic of degree l, the mean

    .. math:: 1 - \frac{\lambda s}{2} + \frac{\lambda^2 s^2}{8}
              - (d - 2) \frac{\lambda s^2}{12}, \qquad \lambda = l (l + d - 2) ,

    to second order, and Brownian motion exp(-lambda D dt). So s = 2 D dt would
    diffuse too fast by the relative amount (d-2) D dt / 3;
    s = 2 D dt exp(-(d-2) D dt / 3) does not, up to dt^2. On the circle (and for
    phases, d = 2) the turn is exact.

    Parameters
    ----------
    diffusion : FloatArray
        D (rad^2/s).
    dt : float
        Step (s).
    d : int
        Components of a unit vector, 2 for phases.

    Returns
    -------
    FloatArray
        Same shape as ``diffusion``.

    References
    ----------
    .. [1] Helgason (1984), Groups and Geometric Analysis, chapter I: the mean
       over a geodesic sphere is a function of the Laplacian.
    """
    variance = 2.0 * diffusion * dt
    return np.asarray(np.sqrt(variance * np.exp((2 - d) / 6.0 * variance)))


@kernel(allocates=False)
def sphere_step(
    is_heun: bool,
    t: float,
    z: FloatArray,
    params: LoheParams,
    dt: float,
    work: FloatArray,
) -> int:
    """Advance by one step with the noise of work[5]; return a failure, or -1.

    Euler-Maruyama turns along the great circle of drift and tangent noise
    together, which on the circle is its step for phases. Heun makes half a step
    of drift, the turn of the noise, and half a step with the drift found where
    the first drift would lead. Expanding the mean of a smooth function in dt
    shows the former to be weakly of first order, the latter of second.
    """
    rate, v, ahead = work[0], work[1], work[4]
    h = z.dtype.type(dt)
    for q in range(2 if is_heun else 1):
        lohe_drift(t + q * dt, z if q == 0 else ahead, params, rate)
        _limit(rate, params, dt)
        if q == 1:
            break
        if is_heun:
            _shift(z, params, 0.5 * dt, rate)
        lohe_diffuse(z, params, work[5], v)
        if not is_heun:
            for i in range(z.shape[0]):
                v[i] += h * rate[i]
        _turn(z, v, params, work[3])
        for i in range(z.shape[0]):
            ahead[i] = z[i]
        if is_heun:
            _shift(ahead, params, 0.5 * dt, rate)
    return _shift(z, params, 0.5 * dt if is_heun else 0.0, rate)


@kernel(allocates=False)
def _limit(rate: FloatArray, params: LoheParams, dt: float) -> None:
    """Make a rate NaN that would move an oscillator too far in one step."""
    d, n = params.field.shape
    move, square = rate.reshape(d, n), params.scratch[0]
    most = rate.dtype.type((_LONGEST / dt) * (_LONGEST / dt))
    for i in range(n):
        square[i] = move[0, i] * move[0, i] + move[1, i] * move[1, i]
    for a in range(2, d):
        for i in range(n):
            square[i] += move[a, i] * move[a, i]
    n_bad = 0
    for i in range(n):
        n_bad += not square[i] <= most
    if n_bad > 0:
        for i in range(n):
            if not square[i] <= most:
                move[0, i] = math.nan


@kernel(allocates=False)
def _shift(z: FloatArray, params: LoheParams, dt: float, rate: FloatArray) -> int:
    """Move by dt times the rate and go back to the sphere; return a failure, or -1."""
    h = z.dtype.type(dt)
    for i in range(z.shape[0]):
        z[i] += h * rate[i]
    return retract(
        z.reshape(params.field.shape),
        params.scratch[0],
        z.dtype.type(_SHORTEST_SQUARE),
        z.dtype.type(_LONGEST_SQUARE),
    )


@kernel(allocates=False)
def _turn(z: FloatArray, v: FloatArray, params: LoheParams, room: FloatArray) -> None:
    """Follow the great circle: z <- cos|v| z + sin|v| v / |v| for tangent v."""
    d, n = params.field.shape
    x, step, angle = z.reshape(d, n), v.reshape(d, n), params.scratch[0]
    s, c = room[:n], room[n : 2 * n]
    for i in range(n):
        angle[i] = step[0, i] * step[0, i] + step[1, i] * step[1, i]
    for a in range(2, d):
        for i in range(n):
            angle[i] += step[a, i] * step[a, i]
    for i in range(n):
        angle[i] = math.sqrt(angle[i])
    sincos(angle, s, c)
    zero, one = z.dtype.type(0.0), z.dtype.type(1.0)
    for i in range(n):
        s[i] = s[i] / angle[i] if angle[i] > zero else one
    for a in range(d):
        for i in range(n):
            x[a, i] = c[i] * x[a, i] + s[i] * step[a, i]
