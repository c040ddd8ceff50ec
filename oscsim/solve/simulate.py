"""Stepping a network through time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from oscsim import __version__
from oscsim.errors import IntegrationError, SpecError
from oscsim.network.spec import Network
from oscsim.solve.adaptive import run_adaptive
from oscsim.solve.plan import (
    ADAPTIVE,
    METHOD_NAMES,
    OBSERVABLES,
    Plan,
    check_counts,
    check_memory,
    check_stability,
    diffusion_for,
    noise_words,
    number_of_steps,
    starts,
)
from oscsim.solve.run import Outcome, run
from oscsim.solve.trajectory import Trajectory
from oscsim.typing import FloatArray

Method = Literal["rk4", "heun", "euler-maruyama", "adaptive", "rk45", "map"]
Observable = Literal["order_parameter", "effective_frequency"]


def simulate(
    network: Network,
    *,
    t1: float,
    dt: float | None = None,
    method: Method = "rk4",
    diffusion: FloatArray | float | None = None,
    start: FloatArray | None = None,
    save_every: int | None = None,
    observe: Observable | Sequence[Observable] | None = None,
    n_trajectories: int = 1,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    n_threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    on_failure: Literal["raise", "return"] = "raise",
) -> Trajectory:
    """Integrate a network and return its trajectories.

    Solves dy = f(y) dt + sqrt(2 D) dB. On the torus the noise is additive; on
    the sphere it is tangent and the equation is read in the Stratonovich sense,
    so that free oscillators perform Brownian motion with
    E[z(t).z(0)] = exp(-(d-1) D t). A noise given as sigma per square root of a
    second has D = sigma^2 / 2.

    Parameters
    ----------
    network : Network
        What is coupled to what; sets the state space.
    t1 : float
        End time (s), a whole number of steps to within 1e-9 of itself.
    dt : float, optional
        Step (s); with an adaptive method only the unit of ``save_every``.
    method : {"rk4", "heun", "euler-maruyama", "adaptive", "rk45", "map"}
        Classical Runge-Kutta, stochastic Heun, Euler-Maruyama, the adaptive
        methods of Dormand and Prince of eighth and of fifth order, or the
        discrete map y <- back to the manifold(y + dt f(y)), whose step may be of
        any size. Noise needs Heun or Euler-Maruyama.
    diffusion : FloatArray or float, shape (n_osc,), optional
        D (rad^2/s); 0 gives the deterministic equation. The network's own
        without this.
    start : FloatArray, optional
        Phases (n_osc,) or unit vectors (n_osc, d), or one such state per
        trajectory. Without it phases (points on the sphere) are uniform, drawn
        from the seed for each trajectory.
    save_every : int, optional
        Steps between saved states. The start and the end are always saved, and
        nothing else without this.
    observe : {"order_parameter", "effective_frequency"}, optional
        What to measure instead of keeping the states, or several: the order
        parameter at these steps, the mean dtheta/dt of every phase over the run
        (torus only). Only the start and the end are then kept in ``y``; a run
        that starts at the end of another leaves that one's transient out.
    n_trajectories : int
        Runs that differ in noise, and in start if none is given; for a batch of
        networks, of each: trajectory k belongs to network k mod b.
    seed : int
        The n-th trajectory depends only on the seed and n.
    dtype : numpy dtype
        float64 or float32, of the arithmetic and the states.
    rtol, atol : float
        Error per step allowed to an adaptive method.
    n_threads : int, optional
        Threads, as many as processors by default. The result does not depend on
        it, bit for bit.
    progress : callable, optional
        Called with (steps done, steps in all) a few times a second.
    on_failure : {"raise", "return"}
        Raise, or return with the failing step in ``status`` and NaN afterwards.

    Returns
    -------
    Trajectory
        Cut at the last time that all trajectories reached if the user interrupts
        (Ctrl-C).

    Raises
    ------
    SpecError
        If an argument is out of range, shapes do not fit, the start is not
        finite or not on the sphere, a deterministic method meets noise, a
        frequency is asked of unit vectors, the step
        is unstable for the coupling (sum |K| dt above 2.78 for Runge-Kutta, 2
        for the others), or the memory would not suffice.
    IntegrationError
        If a state stops being finite, or a step is so long that its drift turns
        a phase by more than half a turn relative to free rotation, or leaves the
        sphere beyond [1/2, 2] of its radius. It names the first trajectory that
        failed and counts the others.

    Warns
    -----
    RuntimeWarning
        If an oscillator rotates by more than 1 rad per step.

    Notes
    -----
    Strong order of both stochastic methods: 1 on the torus, 1/2 on the sphere,
    where the noise does not commute. Weak order on both: 1 of Euler-Maruyama, 2
    of Heun. On the sphere a random step follows a great circle, with a variance
    that makes free diffusion right to second order in dt (for d = 2 exactly), and
    every step ends by dividing by the length, which keeps |z| = 1 to rounding
    and the order of the method.
    Cost per step is O(edges d), O(n d) all-to-all, plus O(n d^2) with rotation
    matrices. Sixteen and more trajectories of one dense network of 32 and more
    oscillators are advanced by matrix products, 32 trajectories at a time (64 from
    512 oscillators on): the bits of a trajectory are then those of any such run,
    and equal those of a run with fewer trajectories to rounding only.

    References
    ----------
    .. [1] Kloeden & Platen (1992), Numerical Solution of Stochastic Differential
       Equations, chapters 8 to 10.
    .. [2] Hairer, Lubich & Wanner (2006), Geometric Numerical Integration,
       section IV.4 (projection keeps the order).
    """
    _check_choices(method, on_failure, dtype)
    check_counts(
        n_trajectories=n_trajectories, save_every=save_every, n_threads=n_threads
    )
    observed = _observed(observe, network, method)
    n_steps, step = _steps(t1, dt, method, save_every)
    if observed and "order_parameter" not in observed:
        save_every = n_steps
    plan = Plan(
        method=method,
        dt=step,
        n_steps=n_steps,
        save_every=save_every or n_steps,
        diffusion=diffusion_for(network, diffusion, method),
        seed=seed,
        dtype=np.dtype(dtype),
        n_runs=n_trajectories * network.n_networks,
        is_observing="order_parameter" in observed,
    )
    noise_words(seed, 1)
    check_stability(network, method, step)
    check_memory(_bytes(network, plan))
    first = starts(network, start, plan.n_runs, seed)
    if method in ADAPTIVE:
        if not (0.0 < rtol < 1.0 and 0.0 < atol < math.inf):
            raise SpecError(f"rtol and atol must be positive, got {rtol} and {atol}")
        outcome = run_adaptive(
            network, plan, first, plan.rows * step, (rtol, atol), progress
        )
        done = plan.rows[: outcome.n_done]
        is_complete = outcome.n_done == plan.rows.size
    else:
        outcome = run(network, plan, first, n_threads, progress)
        done = plan.rows[plan.rows <= outcome.n_done]
        is_complete = outcome.n_done == n_steps
    if on_failure == "raise":
        _raise_failure(outcome, step)
    run_ = _result(network, plan, outcome, done, is_complete)
    if "effective_frequency" not in observed:
        return run_
    return replace(run_, frequency=_frequency(run_))


def _check_choices(method: str, on_failure: str, dtype: Any) -> None:
    if method not in METHOD_NAMES:
        raise SpecError(
            f"method must be one of {', '.join(METHOD_NAMES)}, got {method!r}"
        )
    if on_failure not in ("raise", "return"):
        raise SpecError(f"on_failure must be 'raise' or 'return', got {on_failure!r}")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise SpecError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")


def _observed(observe: Any, network: Network, method: str) -> tuple[str, ...]:
    """Return what is to be observed, checked."""
    if observe is None:
        return ()
    names = tuple(observe) if isinstance(observe, list | tuple) else (observe,)
    for name in names:
        if name not in OBSERVABLES:
            raise SpecError(
                f"observe must be of {', '.join(OBSERVABLES)}, or None, got {name!r}"
            )
    if method in ADAPTIVE:
        raise SpecError(f"observe needs a method with a fixed step, got {method!r}")
    if "effective_frequency" in names and network.geometry == "sphere":
        raise SpecError(
            "effective_frequency needs phases: unit vectors have none, use "
            "Network.kuramoto or Network.driven(..., geometry='torus')"
        )
    return names


def _frequency(run_: Trajectory) -> FloatArray:
    """Return the mean rate over the run; NaN where its end was not reached."""
    if not run_.is_complete:
        return np.full((len(run_.y), run_.y.shape[2]), np.nan)
    moved = run_.y[:, -1].astype(np.float64) - run_.y[:, 0]
    return np.asarray(moved / run_.t[-1])


def _steps(
    t1: float, dt: float | None, method: str, save_every: int | None
) -> tuple[int, float]:
    if dt is not None:
        return number_of_steps(t1, dt), float(dt)
    if method not in ADAPTIVE:
        raise SpecError(f"method {method!r} needs dt, the step in seconds")
    if save_every is not None:
        raise SpecError("save_every counts steps: give dt as well")
    if not 0.0 < t1 < math.inf:
        raise SpecError(f"t1 must be positive and finite, got {t1}")
    return 1, float(t1)


def _bytes(network: Network, plan: Plan) -> int:
    """Return what the run will allocate, roughly: results, states, workspace."""
    state = math.prod(network.state_shape)
    kept = 2 if plan.is_observing else plan.n_rows
    n_bytes = plan.n_runs * (kept + 4) * state * int(plan.dtype.itemsize)
    weights = getattr(network.coupling, "size", 0)
    n_bytes += 24 * plan.n_rows
    return n_bytes + 12 * state * 8 + 2 * 8 * int(weights)


def _raise_failure(outcome: Outcome, dt: float) -> None:
    failed = np.flatnonzero(outcome.status[:, 0] >= 0)
    if failed.size:
        step, oscillator = (int(k) for k in outcome.status[failed[0]])
        raise IntegrationError(
            step, step * dt, oscillator, int(failed[0]), int(failed.size) - 1
        )


def _result(
    network: Network, plan: Plan, outcome: Outcome, done: Any, is_complete: bool
) -> Trajectory:
    failed = outcome.status[:, 0]
    rows = done
    if plan.is_observing:
        rows = np.array([0, plan.n_steps]) if is_complete else np.zeros(1, int)
    y = outcome.saved[:, : rows.size]
    y[(failed[:, None] >= 0) & (rows >= failed[:, None])] = np.nan
    observed = outcome.observed
    if plan.is_observing:
        observed = observed[:, : done.size]
        observed[(failed[:, None] >= 0) & (done >= failed[:, None])] = np.nan
    return Trajectory(
        t=rows * plan.dt,
        y=y.reshape(plan.n_runs, rows.size, *network.state_shape),
        geometry=network.geometry,
        seed=plan.seed,
        dt=plan.dt,
        method=plan.method,
        version=__version__,
        status=failed.copy(),
        is_complete=bool(is_complete),
        t_observed=done * plan.dt if plan.is_observing else np.zeros(0),
        r_observed=observed if plan.is_observing else np.zeros(0),
    )
