"""Stepping a network through time."""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np

from oscsim import __version__
from oscsim.errors import IntegrationError, SpecError
from oscsim.network.spec import Network
from oscsim.physics.field import Params
from oscsim.solve.noise import Stream, points_on_sphere, uniforms
from oscsim.solve.steppers import METHODS, integrate
from oscsim.solve.stream import stream_words
from oscsim.solve.trajectory import Trajectory
from oscsim.typing import FloatArray, IntArray

_START_STAGE, _NOISE_STAGE = 1, 2


class _Plan(NamedTuple):
    """Everything about a run but the network and its starts."""

    method: int
    dt: float
    n_steps: int
    save_every: int
    deviation: FloatArray
    seed: int


def simulate(
    network: Network,
    *,
    t1: float,
    dt: float,
    method: Literal["rk4", "heun", "euler-maruyama"] = "rk4",
    diffusion: FloatArray | float = 0.0,
    start: FloatArray | None = None,
    save_every: int | None = None,
    n_trajectories: int = 1,
    seed: int = 0,
    n_threads: int | None = None,
    on_failure: Literal["raise", "return"] = "raise",
) -> Trajectory:
    """Integrate a network with a fixed step and return its trajectories.

    Solves dy = f(y) dt + sqrt(2 D) dB. On the torus the noise is additive; on
    the sphere it is tangent and the equation is read in the Stratonovich sense,
    so that free oscillators perform Brownian motion with
    E[z(t).z(0)] = exp(-(d-1) D t). A noise given as sigma per square root of a
    second has D = sigma^2 / 2.

    Parameters
    ----------
    network : Network
        What is driven by what; sets the state space.
    t1 : float
        End time (s), a whole number of steps to within 1e-9 of itself.
    dt : float
        Step (s).
    method : {"rk4", "heun", "euler-maruyama"}
        Classical Runge-Kutta (no noise), stochastic Heun, Euler-Maruyama.
    diffusion : FloatArray or float, shape (n_osc,)
        D (rad^2/s); 0 gives the deterministic equation.
    start : FloatArray, optional
        Phases (n_osc,) or unit vectors (n_osc, d), or one such state per
        trajectory. Without it phases (points on the sphere) are uniform, drawn
        from the seed for each trajectory.
    save_every : int, optional
        Steps between saved states. The start and the end are always saved, and
        nothing else without this.
    n_trajectories : int
        Runs that differ in noise, and in start if none is given.
    seed : int
        The n-th trajectory depends only on the seed and n.
    n_threads : int, optional
        Threads over trajectories, at most the number of processors by default.
        The result does not depend on it, bit for bit.
    on_failure : {"raise", "return"}
        Raise, or return with the failing step in ``status`` and NaN afterwards.

    Returns
    -------
    Trajectory

    Raises
    ------
    SpecError
        If an argument is out of range, shapes do not fit, the start is not
        finite or not on the sphere, or ``method="rk4"`` meets noise.
    IntegrationError
        If a state stops being finite, or a step is so long that it turns a
        phase by more than half a turn relative to free rotation, or leaves the
        sphere beyond [1/2, 2] of its radius.

    Notes
    -----
    Strong order of both stochastic methods: 1 on the torus, 1/2 on the sphere,
    where the noise does not commute. On the sphere every step ends by dividing
    by the length, which keeps |z| = 1 to rounding and the order of the method.
    Cost per step is O(n_osc d), or O(n_osc d^2) with rotation matrices.

    References
    ----------
    .. [1] Kloeden & Platen (1992), Numerical Solution of Stochastic Differential
       Equations, chapters 8 to 10.
    .. [2] Hairer, Lubich & Wanner (2006), Geometric Numerical Integration,
       section IV.4 (projection keeps the order).
    """
    n_steps = _number_of_steps(t1, dt)
    for name, value in (("n_trajectories", n_trajectories), ("save_every", save_every)):
        if value is not None and (value != int(value) or value < 1):
            raise SpecError(f"{name} must be a whole number >= 1, got {value}")
    if n_threads is not None and n_threads < 1:
        raise SpecError(f"n_threads must be >= 1, got {n_threads}")
    if method not in METHODS:
        raise SpecError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if on_failure not in ("raise", "return"):
        raise SpecError(f"on_failure must be 'raise' or 'return', got {on_failure!r}")
    deviation = _deviation(network, diffusion, dt)
    if method == "rk4" and deviation.size:
        raise SpecError(
            "method 'rk4' has no noise term, got diffusion > 0: use 'heun' or "
            "'euler-maruyama'"
        )
    plan = _Plan(METHODS[method], dt, n_steps, save_every or n_steps, deviation, seed)
    y = _starts(network, start, n_trajectories, seed)
    times = _saved_steps(plan) * dt
    saved = np.full((n_trajectories, times.size, y.shape[1]), np.nan)
    status = np.full((n_trajectories, 2), -1)
    _run(network.params(), plan, y, saved, status, n_threads)
    failed = np.flatnonzero(status[:, 0] >= 0)
    if failed.size and on_failure == "raise":
        step, oscillator = (int(k) for k in status[failed[0]])
        raise IntegrationError(step, step * dt, oscillator)
    return Trajectory(
        t=times,
        y=saved.reshape(n_trajectories, times.size, *network.state_shape),
        geometry=network.geometry,
        seed=seed,
        dt=dt,
        method=method,
        version=__version__,
        status=status[:, 0].copy(),
    )


def _number_of_steps(t1: float, dt: float) -> int:
    if not 0.0 < dt < math.inf:
        raise SpecError(f"dt must be positive and finite, got {dt}")
    if not dt * (1.0 - 1e-9) <= t1 < math.inf:
        raise SpecError(f"t1 must be finite and at least one step of {dt}, got {t1}")
    n_steps = round(t1 / dt)
    if abs(n_steps * dt - t1) > 1e-9 * t1:
        raise SpecError(
            f"t1 = {t1} is not a whole number of steps of {dt}: the nearest are "
            f"{n_steps} steps, t1 = {n_steps * dt:.12g}"
        )
    if n_steps >= 2**32:
        raise SpecError(f"at most 2^32 steps, got {n_steps}: use a larger dt")
    return n_steps


def _deviation(
    network: Network, diffusion: FloatArray | float, dt: float
) -> FloatArray:
    value = np.asarray(diffusion, dtype=np.float64)
    if value.shape not in ((), (network.n_osc,)):
        raise SpecError(
            f"diffusion must be a number or have shape ({network.n_osc},), got "
            f"{value.shape}"
        )
    if not np.all((value >= 0) & np.isfinite(value)):
        raise SpecError(f"diffusion must be finite and >= 0, got {diffusion}")
    if not value.any():
        return np.empty(0)
    per_component = math.prod(network.state_shape) // network.n_osc
    spread = np.broadcast_to(value, (network.n_osc,))
    return np.repeat(np.sqrt(2.0 * spread * dt), per_component)


def _starts(
    network: Network, start: FloatArray | None, n_trajectories: int, seed: int
) -> FloatArray:
    """Return the flat start of every trajectory, checked."""
    shape = (n_trajectories, *network.state_shape)
    if start is None:
        y = np.stack([_random_start(network, seed, k) for k in range(n_trajectories)])
        return y.reshape(n_trajectories, -1)
    value = np.array(start, dtype=np.float64)
    if value.shape not in (shape, shape[1:]):
        raise SpecError(
            f"start must have shape {shape[1:]} or {shape}, got {value.shape}"
        )
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        where = tuple(int(k) for k in bad[0])
        raise SpecError(f"start must be finite, got {value[where]} at index {where}")
    if network.geometry == "sphere":
        length = np.linalg.norm(value, axis=-1, keepdims=True)
        if not np.all(np.abs(length - 1.0) < 1e-9):
            raise SpecError(
                "start must hold unit vectors, got the length "
                f"{length.flat[int(np.argmax(np.abs(length - 1.0)))]:.12g}"
            )
        value = value / length
    return np.broadcast_to(value, shape).reshape(n_trajectories, -1).copy()


def _random_start(network: Network, seed: int, trajectory: int) -> FloatArray:
    stream = Stream(seed, _START_STAGE, repeat=trajectory)
    oscillators = np.arange(network.n_osc)
    if network.geometry == "torus":
        return math.pi * (2.0 * uniforms(stream, oscillators, 1)[:, 0] - 1.0)
    return points_on_sphere(stream, oscillators, int(network.field.shape[1]))


def _saved_steps(plan: _Plan) -> IntArray:
    steps = np.arange(0, plan.n_steps + 1, plan.save_every)
    return steps if steps[-1] == plan.n_steps else np.append(steps, plan.n_steps)


def _run(
    params: Params,
    plan: _Plan,
    y: FloatArray,
    saved: FloatArray,
    status: IntArray,
    n_threads: int | None,
) -> None:
    """Integrate every trajectory, in threads; the kernels release the GIL."""
    words = np.tile(stream_words(Stream(plan.seed, _NOISE_STAGE)), (len(y), 1))
    words[:, 3] = np.arange(len(y))

    def one(k: int) -> None:
        status[k] = integrate(
            plan.method,
            params,
            plan.dt,
            plan.n_steps,
            plan.save_every,
            plan.deviation,
            words[k],
            y[k],
            saved[k],
        )

    workers = min(n_threads or os.cpu_count() or 1, len(y))
    if workers == 1:
        for k in range(len(y)):
            one(k)
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, range(len(y)), chunksize=1))
