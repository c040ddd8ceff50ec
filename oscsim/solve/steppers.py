"""Fixed-step methods, generic in the vector field."""

import numpy as np
from numba.extending import overload

from oscsim._jit import kernel
from oscsim.physics.aligned import aligned_zeros
from oscsim.physics.field import Params, advance, drift, member, move
from oscsim.physics.lohe import LoheParams
from oscsim.solve.carried import carry
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, uniform_row
from oscsim.solve.record import note_failures, record
from oscsim.solve.sphere_noise import sphere_step
from oscsim.typing import FloatArray, IntArray

METHODS = {"rk4": 0, "heun": 1, "euler-maruyama": 2, "map": 3}
_RK4, _HEUN, _MAP = METHODS["rk4"], METHODS["heun"], METHODS["map"]
N_WORK = 6
_MOST_LANES = 8 * LANES


@kernel(allocates=False)
def increments(
    method: int,
    t: float,
    y: FloatArray,
    params: Params,
    dt: float,
    is_noisy: bool,
    work: FloatArray,
) -> None:
    """Write the drift increment of one step into work[0].

    The noise increment sqrt(2 D) dB of phases is in work[5] and the same wherever
    they are; noise on the sphere is left to ``sphere_step``. Classical Runge-Kutta
    has four stages; stochastic Heun averages the drift of both ends of the step
    (Kloeden & Platen 1992, section 15.1); Euler-Maruyama and the map have one.
    """
    drifted, k, stage, noise = work[0], work[2], work[4], work[5]
    n_stages = 4 if method == _RK4 else 2 if method == _HEUN else 1
    for q in range(n_stages):
        at = t if q == 0 else t + (dt if q == n_stages - 1 else 0.5 * dt)
        rate = drifted if q == 0 else k
        drift(at, y if q == 0 else stage, params, rate)
        weight, reach = _tableau(method, q, dt)
        is_last = q == n_stages - 1
        _add_stage(q == 0, is_last, weight, reach, y, rate, drifted, stage)
        if is_noisy and not is_last:
            for i in range(y.shape[0]):
                stage[i] += noise[i]


@kernel(allocates=False)
def _tableau(method: int, q: int, dt: float) -> tuple[float, float]:
    """Return the weight of stage q in the step, and where the next stage is."""
    if method == _RK4:
        is_end = q == 0 or q == 3  # noqa: PLR1714 - a set is slow in kernels
        return dt / (6.0 if is_end else 3.0), (dt if q == 2 else 0.5 * dt)
    return (0.5 * dt if method == _HEUN else dt), dt


@kernel(allocates=False)
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
    """Add weight k to the increment and go to the next stage, y + reach k.

    The first k is where the increment will be.
    """
    w, r = y.dtype.type(weight), y.dtype.type(reach)
    if not is_last:
        for i in range(y.shape[0]):
            stage[i] = y[i] + r * k[i]
    if is_first:
        for i in range(y.shape[0]):
            total[i] *= w
    else:
        for i in range(y.shape[0]):
            total[i] += w * k[i]


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
    ``counters`` is (2, LANES): step and index; ``lanes`` is of the width that
    ``n_lanes`` tells.
    """
    d, n = out.shape
    if d == 1:
        _fill_circle(words, step, first, deviation, lanes, out[0])
        return
    for lane in range(LANES):
        counters[0, lane] = np.uint64(step)
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


@kernel
def n_lanes(d: int, n: int) -> int:
    """Return how many lanes to fill at a time, for n oscillators of d components.

    Many at once where they all serve, as starting a loop costs as much as some
    lanes.
    """
    if d > 1:
        return LANES
    return min(_MOST_LANES, (n + 2 * LANES - 1) // (2 * LANES) * LANES)


@kernel(allocates=False)
def _fill_circle(
    words: IntArray,
    step: int,
    first: int,
    deviation: FloatArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write the noise of phases, those 64 apart in a group of 128 from one block."""
    last, group = first + out.shape[0], 2 * LANES
    for start in range(first - first % group, last, 2 * lanes.shape[1]):
        n_groups = min(lanes.shape[1] // LANES, (last - start + group - 1) // group)
        n_used = n_groups * LANES
        u, v, a = lanes[0, :n_used], lanes[1, :n_used], lanes[2, :n_used]
        b, scratch = lanes[3, :n_used], lanes[4, :n_used]
        uniform_row(words, step, start // 2, u, v)
        normal_lanes(u, v, a, b, scratch)
        for lane in range(0, n_used, LANES):
            at = start + 2 * lane - first
            if at >= 0 and at + group <= out.shape[0]:
                row, spread = out[at:], deviation[at:]
                for i in range(LANES):
                    row[i] = spread[i] * a[lane + i]
                    row[LANES + i] = spread[LANES + i] * b[lane + i]
            else:
                _scale_part(a[lane:], at, deviation, out)
                _scale_part(b[lane:], at + LANES, deviation, out)


@kernel(allocates=False)
def _scale_part(
    values: FloatArray, at: int, deviation: FloatArray, out: FloatArray
) -> None:
    """Write those of 64 numbers beginning at ``at`` that have a place in ``out``."""
    low, high = max(at, 0), min(at + LANES, out.shape[0])
    row, spread, part = out[low:], deviation[low:], values[low - at :]
    for i in range(high - low):
        row[i] = spread[i] * part[i]


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
    total: FloatArray,
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
    ``total`` (n_tasks, n_state) counts the phases of ``y`` in float64, where this
    is float32 and holds what is left of them after whole turns; else (n_tasks, 0).
    ``words`` (n_trajectories, 4) addresses the noise, ``deviation`` (n_members, n)
    is sqrt(2 D dt), n = 0 without noise. ``saved`` (n_trajectories, n_saved, n, d)
    gets every ``save_every``-th state and that of ``last_step``; if ``observed``
    (n_trajectories, n_saved) is not empty it gets the order parameter instead.
    """
    d = saved.shape[3]
    width = y.shape[1] // (d * n_copies)
    is_noisy = deviation.shape[1] > 0
    work = aligned_zeros(N_WORK, y.shape[1], y)
    scratch = aligned_zeros(params.scratch.shape[0], params.scratch.shape[1], y)
    mean = aligned_zeros(params.mean.shape[0], params.mean.shape[1], y)
    ambient = aligned_zeros(d, width, y)
    lanes = aligned_zeros(5, n_lanes(d, width), deviation)
    counters = np.empty((2, LANES), np.uint64)
    for k in range(tasks.shape[0]):
        trajectory, oscillator, place = tasks[k, 0], tasks[k, 1], tasks[k, 2]
        own, state, phases = member(params, place, scratch, mean), y[k], total[k]
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
            failed = take_step(method, step * dt, state, own, dt, is_noisy, work)
            done = step + 1
            if phases.shape[0] > 0:
                failed = max(failed, carry(work[0], work[5], phases, state))
            if failed >= 0:
                note_failures(state, phases, n_copies, d, oscillator, done, status[k])
                if n_copies == 1:
                    break
            if done % save_every == 0 or done == last_step:
                row = (done + save_every - 1) // save_every
                record(
                    state,
                    phases,
                    own,
                    n_copies,
                    trajectory,
                    oscillator,
                    row,
                    done == last_step,
                    saved,
                    observed,
                )


def take_step(
    method: int,
    t: float,
    y: FloatArray,
    params: Params,
    dt: float,
    is_noisy: bool,
    work: FloatArray,
) -> int:
    """Advance a state by one step in place, chosen by the type of its parameters.

    Parameters
    ----------
    method : int
        One of ``METHODS``.
    t : float
        Time (s) at its start.
    y : FloatArray, shape (n_state,)
        Flat state.
    params : KuramotoParams or LoheParams
        Of one network.
    dt : float
        Step (s).
    is_noisy : bool
        Whether the noise increment sqrt(2 D) dB is in work[5].
    work : FloatArray, shape (N_WORK, n_state)
        Room.

    Returns
    -------
    int
        First oscillator that failed, or -1; all that failed are NaN.
    """
    if is_noisy and isinstance(params, LoheParams):
        return sphere_step(method == _HEUN, t, y, params, dt, work)
    return _step_flat(method, t, y, params, dt, is_noisy, work)


@overload(take_step)
def _take_step_in_kernels(  # type: ignore[no-untyped-def]
    method, t, y, params, dt, is_noisy, work
):
    if params.instance_class is LoheParams:
        return lambda method, t, y, params, dt, is_noisy, work: (
            sphere_step(method == _HEUN, t, y, params, dt, work)
            if is_noisy
            else _step_flat(method, t, y, params, dt, False, work)
        )
    return lambda method, t, y, params, dt, is_noisy, work: _step_flat(  # noqa: PLW0108
        method, t, y, params, dt, is_noisy, work
    )


@kernel(allocates=False)
def _step_flat(
    method: int,
    t: float,
    y: FloatArray,
    params: Params,
    dt: float,
    is_noisy: bool,
    work: FloatArray,
) -> int:
    """Add the increments of a step; on the sphere only where there is no noise."""
    increments(method, t, y, params, dt, is_noisy, work)
    if method == _MAP:
        return move(y, params, work[0])
    return advance(y, params, dt, work[0], work[5])
