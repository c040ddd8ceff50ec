"""Fixed-step methods, generic in the vector field."""

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.field import Params, advance, diffuse, drift, member, move, order
from oscsim.physics.tile import LINE
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes
from oscsim.typing import FloatArray, IntArray

METHODS = {"rk4": 0, "heun": 1, "euler-maruyama": 2, "map": 3}
_RK4, _HEUN, _MAP = METHODS["rk4"], METHODS["heun"], METHODS["map"]
N_WORK = 6


@kernel(allocates=False, inlined=True)
def increments(
    method: int,
    t: float,
    y: FloatArray,
    params: Params,
    dt: float,
    is_noisy: bool,
    work: FloatArray,
) -> None:
    """Write drift and noise increments of one step into work[0] and work[1].

    The noise increment sqrt(2 D) dB is in work[5]. Classical Runge-Kutta has
    four stages; stochastic Heun averages both ends of the step, which makes its
    limit the Stratonovich solution (Rumelin 1982; Kloeden & Platen 1992, section
    8.2); Euler-Maruyama and the map have one. On the sphere the tangent noise of
    Euler-Maruyama is Ito, and going back to the sphere supplies the drift
    -(d-1) D z that turns it into the Brownian motion of the other methods.
    """
    drifted, diffused, k, g, stage, noise = (
        work[0],
        work[1],
        work[2],
        work[3],
        work[4],
        work[5],
    )
    n_stages = 4 if method == _RK4 else 2 if method == _HEUN else 1
    for q in range(n_stages):
        at = t if q == 0 else t + (dt if q == n_stages - 1 else 0.5 * dt)
        x = y if q == 0 else stage
        drift(at, x, params, k)
        if is_noisy:
            diffuse(x, params, noise, diffused if q == 0 else g)
        weight, reach = _tableau(method, q, dt)
        is_last = q == n_stages - 1
        _add_stage(q == 0, is_last, weight, reach, y, k, drifted, stage)
        if is_noisy and not is_last:
            for i in range(y.shape[0]):
                stage[i] += diffused[i]
    if is_noisy and n_stages == 2:
        half = y.dtype.type(0.5)
        for i in range(y.shape[0]):
            diffused[i] = half * (diffused[i] + g[i])


@kernel(allocates=False)
def _tableau(method: int, q: int, dt: float) -> tuple[float, float]:
    """Return the weight of stage q in the step, and where the next stage is."""
    if method == _RK4:
        is_end = q == 0 or q == 3  # noqa: PLR1714 - a set is slow in kernels
        return dt / (6.0 if is_end else 3.0), (dt if q == 2 else 0.5 * dt)
    return (0.5 * dt if method == _HEUN else dt), dt


@kernel(allocates=False, inlined=True)
def _add_stage(
    is_first: bool,
    is_last: bool,
    weight: float,
    reach: float,
    y: FloatArray,
    k: FloatArray,
    total: FloatArray,
    stage: FloatArray,
) -> None:
    """Add weight k to the increment and go to the next stage, y + reach k."""
    w, r = y.dtype.type(weight), y.dtype.type(reach)
    if is_first:
        for i in range(y.shape[0]):
            total[i] = w * k[i]
    else:
        for i in range(y.shape[0]):
            total[i] += w * k[i]
    if not is_last:
        for i in range(y.shape[0]):
            stage[i] = y[i] + r * k[i]


@kernel(allocates=False)
def fill_noise(
    words: IntArray,
    step: int,
    first: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write one normal number per component, times the oscillator's deviation.

    ``out`` is (d, n): components of the oscillators first .. first + n - 1. On the
    torus (d = 1) two oscillators share a block, on the sphere each has ceil(d/2) of
    its own, so that a number depends on the key, the step and the oscillator alone.
    ``counters`` is (2, LANES): step and index.
    """
    d, n = out.shape
    for lane in range(LANES):
        counters[0, lane] = np.uint64(step)
    if d == 1:
        _fill_circle(words, first, deviation, counters, lanes, out[0])
        return
    blocks = (d + 1) // 2
    for start in range(0, n, LANES):
        n_used = min(LANES, n - start)
        for block in range(blocks):
            for lane in range(LANES):
                at = (first + start + lane) * blocks + block
                counters[1, lane] = np.uint64(at)
            uniform_lanes(words, counters[0], counters[1], lanes[0], lanes[1])
            normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
            for a in range(2 * block, min(d, 2 * block + 2)):
                values = lanes[2 + a - 2 * block]
                row, spread = out[a, start:], deviation[start:]
                for lane in range(n_used):
                    row[lane] = spread[lane] * values[lane]


@kernel(allocates=False)
def _fill_circle(
    words: IntArray,
    first: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write the noise of phases, those 64 apart in a group of 128 from one block."""
    n, group = out.shape[0], 2 * LANES
    for start in range(first - first % group, first + n, group):
        for lane in range(LANES):
            counters[1, lane] = np.uint64(start // 2 + lane)
        uniform_lanes(words, counters[0], counters[1], lanes[0], lanes[1])
        normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
        if start >= first and start + group <= first + n:
            for half in range(2):
                at = start - first + half * LANES
                row, spread, values = out[at:], deviation[at:], lanes[2 + half]
                for lane in range(LANES):
                    row[lane] = spread[lane] * values[lane]
        else:
            for i in range(max(start, first), min(first + n, start + group)):
                value = lanes[2 + (i - start) // LANES, (i - start) % LANES]
                out[i - first] = deviation[i - first] * value


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
def _park(y: FloatArray, n_copies: int, m: int, d: int) -> None:
    """Put a failed copy on a point where it cannot fail again soon."""
    width = y.shape[0] // (d * n_copies)
    for a in range(d):
        first = (a * n_copies + m) * width
        for i in range(first, first + width):
            y[i] = 1.0 if d > 1 and a == 0 else 0.0


@kernel(allocates=False)
def _draw(
    words: IntArray,
    step: int,
    trajectory: int,
    oscillator: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    ambient: FloatArray,
    n_copies: int,
    noise: FloatArray,
) -> None:
    """Write the noise of one step for all copies; ``ambient`` (d, n) is room."""
    d, width = ambient.shape
    if n_copies == 1:
        room = noise.reshape(d, width)
        fill_noise(
            words[trajectory], step, oscillator, deviation, counters, lanes, room
        )
        return
    for m in range(n_copies):
        at = min(trajectory + m, words.shape[0] - 1)
        fill_noise(words[at], step, oscillator, deviation, counters, lanes, ambient)
        for a in range(d):
            row = noise[(a * n_copies + m) * width :]
            for i in range(width):
                row[i] = ambient[a, i]


@kernel(allocates=False)
def _record(
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
    """Save the state, or its order parameter and at the end the state."""
    if observed.shape[1] == 0:
        save(y, n_copies, trajectory, oscillator, row, saved)
        return
    width = y.shape[0] // (saved.shape[3] * n_copies)
    for m in range(min(n_copies, saved.shape[0] - trajectory)):
        observed[trajectory + m, row] = order(y, params, m * width, width)
    if is_end:
        save(y, n_copies, trajectory, oscillator, 1, saved)


@kernel
def room_like(given: FloatArray) -> FloatArray:
    """Return zeros of the shape of ``given`` that begin where a cache line does.

    Vectors that straddle two lines cost as much as the arithmetic of a small network.
    """
    room = np.zeros(given.size + LINE // given.itemsize, given.dtype)
    start = -room.ctypes.data % LINE // given.itemsize
    return room[start : start + given.size].reshape(given.shape)


@kernel
def integrate(
    method: int,
    params: Params,
    dt: float,
    start_step: int,
    n_steps: int,
    last_step: int,
    save_every: int,
    n_copies: int,
    tasks: IntArray,
    deviation: FloatArray,
    words: IntArray,
    y: FloatArray,
    saved: FloatArray,
    observed: FloatArray,
    status: IntArray,
) -> None:
    """Advance some tasks by ``n_steps`` steps from ``start_step`` on.

    A task is one state: row k of ``y`` (n_tasks, n_state), holding ``n_copies``
    trajectories side by side. ``tasks`` (n_tasks, 3) has its first trajectory, its
    first oscillator and its place in the stack of parameters; ``status`` (n_tasks,
    n_copies, 2) gets the failing step and oscillator; the state of a trajectory
    that failed is meaningless from then on.
    ``words`` (n_trajectories, 4) addresses the noise, ``deviation`` (n_members, n)
    is sqrt(2 D dt), n = 0 without noise. ``saved`` (n_trajectories, n_saved, n, d)
    gets every ``save_every``-th state and that of ``last_step``; if ``observed``
    (n_trajectories, n_saved) is not empty it gets the order parameter instead.
    """
    d = saved.shape[3]
    width = y.shape[1] // (d * n_copies)
    is_noisy = deviation.shape[1] > 0
    work = room_like(np.zeros((N_WORK, y.shape[1]), y.dtype))
    scratch, mean = room_like(params.scratch), room_like(params.mean)
    ambient = np.zeros((d, width), y.dtype)
    lanes = np.empty((5, LANES))
    counters = np.empty((2, LANES), np.uint64)
    for k in range(tasks.shape[0]):
        trajectory, oscillator, place = tasks[k, 0], tasks[k, 1], tasks[k, 2]
        own, state = member(params, place, scratch, mean), y[k]
        spread = deviation[place % deviation.shape[0]]
        for step in range(start_step, start_step + n_steps):
            if n_copies == 1 and status[k, 0, 0] >= 0:
                break
            if is_noisy:
                _draw(
                    words,
                    step,
                    trajectory,
                    oscillator,
                    spread,
                    counters,
                    lanes,
                    ambient,
                    n_copies,
                    work[5],
                )
            increments(method, step * dt, state, own, dt, is_noisy, work)
            failed = _finish(method, state, own, dt, work)
            if failed >= 0:
                m = failed // width
                if status[k, m, 0] < 0:
                    status[k, m, 0] = step + 1
                    status[k, m, 1] = oscillator + failed % width
                if n_copies == 1:
                    break
                _park(state, n_copies, m, d)
            done = step + 1
            if done % save_every == 0 or done == last_step:
                row = (done + save_every - 1) // save_every
                _record(
                    state,
                    own,
                    n_copies,
                    trajectory,
                    oscillator,
                    row,
                    done == last_step,
                    saved,
                    observed,
                )


@kernel(allocates=False)
def _finish(
    method: int, y: FloatArray, params: Params, dt: float, work: FloatArray
) -> int:
    """Add the increments to the state; return a failed oscillator, or -1."""
    if method == _MAP:
        return move(y, params, work[0])
    return advance(y, params, dt, work[0], work[1])
