"""Fixed-step methods, generic in the vector field."""

import numpy as np
from numba.extending import overload

from oscsim._jit import kernel
from oscsim.physics.aligned import aligned_zeros
from oscsim.physics.field import Params, advance, drift, member, move
from oscsim.physics.lohe import LoheParams
from oscsim.solve.kicks import draw, n_lanes
from oscsim.solve.philox import LANES
from oscsim.solve.record import note_failures, record
from oscsim.solve.sphere_noise import sphere_step
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
    work = aligned_zeros(N_WORK, y.shape[1], y)
    scratch = aligned_zeros(params.scratch.shape[0], params.scratch.shape[1], y)
    mean = aligned_zeros(params.mean.shape[0], params.mean.shape[1], y)
    ambient = aligned_zeros(d, width, y)
    lanes = aligned_zeros(5, n_lanes(d, width), deviation)
    counters = np.empty((2, LANES), np.uint64)
    for k in range(tasks.shape[0]):
        trajectory, oscillator, place = tasks[k, 0], tasks[k, 1], tasks[k, 2]
        own, state = member(params, place, scratch, mean), y[k]
        spread = deviation[place % deviation.shape[0]]
        for step in range(start_step, start_step + n_steps):
            if n_copies == 1 and status[k, 0, 0] >= 0:
                break
            if is_noisy:
                draw(
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
            if failed >= 0:
                note_failures(state, n_copies, d, oscillator, done, status[k])
                if n_copies == 1:
                    break
            if done % save_every == 0 or done == last_step:
                row = (done + save_every - 1) // save_every
                record(
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
