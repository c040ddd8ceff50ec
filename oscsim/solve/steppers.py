"""Fixed-step methods, generic in the vector field."""

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.field import Params, advance, diffuse, drift
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes
from oscsim.typing import FloatArray, IntArray

METHODS = {"rk4": 0, "heun": 1, "euler-maruyama": 2}
_RK4, _HEUN = METHODS["rk4"], METHODS["heun"]
N_WORK = 6


@kernel
def _rk4(t: float, y: FloatArray, params: Params, dt: float, work: FloatArray) -> None:
    """Write the increment of the classical fourth-order method into work[0]."""
    total, k, stage = work[0], work[1], work[2]
    n = y.shape[0]
    drift(t, y, params, k)
    for i in range(n):
        total[i] = dt / 6.0 * k[i]
        stage[i] = y[i] + 0.5 * dt * k[i]
    drift(t + 0.5 * dt, stage, params, k)
    for i in range(n):
        total[i] += dt / 3.0 * k[i]
        stage[i] = y[i] + 0.5 * dt * k[i]
    drift(t + 0.5 * dt, stage, params, k)
    for i in range(n):
        total[i] += dt / 3.0 * k[i]
        stage[i] = y[i] + dt * k[i]
    drift(t + dt, stage, params, k)
    for i in range(n):
        total[i] += dt / 6.0 * k[i]


@kernel
def _heun(t: float, y: FloatArray, params: Params, dt: float, work: FloatArray) -> None:
    """Write drift and noise increments of stochastic Heun into work[0], work[1].

    The noise increment sqrt(2 D) dB is in work[5]. Averaging both ends of the
    step makes the limit the Stratonovich solution (Kloeden & Platen 1992,
    section 8.2 and Rumelin 1982).
    """
    drifted, diffused, k, g, stage, noise = (
        work[0],
        work[1],
        work[2],
        work[3],
        work[4],
        work[5],
    )
    n = y.shape[0]
    drift(t, y, params, drifted)
    diffuse(y, params, noise, diffused)
    for i in range(n):
        stage[i] = y[i] + dt * drifted[i] + diffused[i]
    drift(t + dt, stage, params, k)
    diffuse(stage, params, noise, g)
    for i in range(n):
        drifted[i] = 0.5 * dt * (drifted[i] + k[i])
        diffused[i] = 0.5 * (diffused[i] + g[i])


@kernel
def _euler_maruyama(
    t: float, y: FloatArray, params: Params, dt: float, work: FloatArray
) -> None:
    """Write drift and noise increments of Euler-Maruyama into work[0], work[1].

    The noise increment is in work[5]. On the sphere the tangent noise is Ito
    here; going back to the sphere supplies the drift -(d-1) D z that turns it
    into the Brownian motion of the other methods.
    """
    drift(t, y, params, work[0])
    diffuse(y, params, work[5], work[1])
    for i in range(y.shape[0]):
        work[0, i] *= dt


@kernel
def _fill_noise(
    words: IntArray,
    step: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write one normal number per component of the state, times its deviation.

    ``counters`` is (2, LANES): step and index. Component i comes from half of
    block i // 2, so it depends on the key and the step alone.
    """
    n = out.shape[0]
    for lane in range(LANES):
        counters[0, lane] = np.uint64(step)
    for first in range(0, n, 2 * LANES):
        for lane in range(LANES):
            counters[1, lane] = np.uint64(first // 2 + lane)
        uniform_lanes(words, counters[0], counters[1], lanes[0], lanes[1])
        normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
        for i in range(first, min(n, first + 2 * LANES)):
            out[i] = deviation[i] * lanes[2 + (i - first) % 2, (i - first) // 2]


@kernel
def integrate(
    method: int,
    params: Params,
    dt: float,
    n_steps: int,
    save_every: int,
    deviation: FloatArray,
    words: IntArray,
    y: FloatArray,
    saved: FloatArray,
) -> tuple[int, int]:
    """Advance one trajectory; return (failing step, oscillator), or (-1, -1).

    ``y`` (n_state,) is advanced in place. ``saved`` (n_saved, n_state) gets the
    start, every ``save_every``-th state and the last. ``deviation`` (n_state,)
    is sqrt(2 D dt), empty without noise.
    """
    n_state = y.shape[0]
    work = np.zeros((N_WORK, n_state))
    lanes = np.empty((5, LANES))
    counters = np.empty((2, LANES), np.uint64)
    is_noisy = deviation.shape[0] > 0
    saved[0] = y
    row = 1
    for step in range(n_steps):
        if is_noisy:
            _fill_noise(words, step, deviation, counters, lanes, work[5])
        t = step * dt
        if method == _RK4:
            _rk4(t, y, params, dt, work)
            for i in range(n_state):
                work[1, i] = 0.0
        elif method == _HEUN:
            _heun(t, y, params, dt, work)
        else:
            _euler_maruyama(t, y, params, dt, work)
        failed = advance(y, params, dt, work[0], work[1])
        if failed >= 0:
            return step + 1, failed
        if (step + 1) % save_every == 0 or step + 1 == n_steps:
            for i in range(n_state):
                saved[row, i] = y[i]
            row += 1
    return -1, -1
