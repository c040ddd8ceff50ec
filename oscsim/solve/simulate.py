"""Stepping a network through time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from oscsim import __version__
from oscsim.arrays import whole_number
from oscsim.errors import IntegrationError
from oscsim.memory import require_memory
from oscsim.network.spec import Network
from oscsim.solve.adaptive import run_adaptive
from oscsim.solve.plan import (
    ADAPTIVE,
    Plan,
    diffusion_for,
    noise_words,
    starts,
)
from oscsim.solve.request import (
    MOST,
    check_choices,
    observed,
    precision,
    steps,
    tolerances,
)
from oscsim.solve.run import Outcome, run
from oscsim.solve.stability import check_resolution, check_stability
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
        Step (s); with an adaptive method only the unit of ``save_every`` and of
        ``status``, t1 without it.
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
        Error per step allowed to an adaptive method, relative (2.3e-14 at least)
        and absolute.
    n_threads : int, optional
        Threads, as many as processors by default. The result does not depend on
        it, bit for bit.
    progress : callable, optional
        Called with (steps done, steps in all) a few times a second; an adaptive
        method counts thousandths of the time of each trajectory.
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
        If an argument is of the wrong kind or out of range, shapes do not fit,
        the start is not finite or not on the sphere, a deterministic method meets
        noise, a frequency is asked of unit vectors, the memory would not suffice,
        or a fixed step is unstable: (sum_j |K_ij| + |h_i| + 2 |I_i|) dt of an
        oscillator, with h_i the drive with its anchors, is above 2.78 for
        Runge-Kutta, 2 for Heun and Euler-Maruyama (harmonics: |K_ij| times the
        largest slope of the coupling function).
    IntegrationError
        If a state stops being finite, a fixed step leaves the sphere beyond
        [1/2, 2] of its radius (or with noise its drift is longer than sqrt(3)), or
        adaptive steps become too short to count. It names the first trajectory
        that failed and counts the others.

    Warns
    -----
    RuntimeWarning
        If (2 sum_j |K_ij| + |h_i| + 2 |I_i|) dt is above the same limit, where a
        coupling that acts both ways may be unstable; if an oscillator rotates by
        more than 1 rad per step; if phases are so large that their rounding adds
        up to more than .01 rad.

    Notes
    -----
    Strong order of both stochastic methods: 1 on the torus, 1/2 on the sphere,
    where the noise does not commute. Weak order on both: 1 of Euler-Maruyama, 2
    of Heun. On the sphere a random step follows a great circle, with a variance
    that makes free diffusion right to second order in dt (for d = 2 exactly), and
    every step ends by dividing by the length, which keeps |z| = 1 to rounding
    and the order of the method. Measured for unit vectors with d = 8 and |h| =
    16 D, whose mean alignment is .822: Heun is off by .0037 at |h| dt = .32 and by
    four times that at twice the step; Euler-Maruyama by -.011 at |h| dt = .16.
    Phases are not wrapped, and a step rounds them to one part in 1e16: to 1e-8 rad
    at 1e8 rad. In float32 they are added up in float64 as well, and rounded to
    float32 where they are saved.
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
    check_choices(network, method, on_failure, progress)
    n_runs = whole_number(
        "n_trajectories", n_trajectories, 1, MOST // network.n_networks
    )
    workers = None if n_threads is None else whole_number("n_threads", n_threads, 1)
    rows_apart = (
        None if save_every is None else whole_number("save_every", save_every, 1)
    )
    measured = observed(observe, network, method)
    errors = tolerances(rtol, atol)
    n_steps, step = steps(t1, dt, method, rows_apart)
    if rows_apart is None or (measured and "order_parameter" not in measured):
        rows_apart = n_steps
    plan = Plan(
        method=method,
        dt=step,
        n_steps=n_steps,
        save_every=min(rows_apart, n_steps),
        diffusion=diffusion_for(network, diffusion, method),
        seed=seed,
        dtype=precision(dtype),
        n_runs=n_runs * network.n_networks,
        is_observing="order_parameter" in measured,
    )
    noise_words(seed, 1)
    check_stability(network, method, step)
    require_memory(
        "this run",
        _bytes(network, plan),
        "save less often, observe='order_parameter', or fewer trajectories",
    )
    first = starts(network, start, plan.n_runs, seed)
    is_adaptive = method in ADAPTIVE
    check_resolution(network, first, n_steps * step, 1 if is_adaptive else n_steps)
    if is_adaptive:
        outcome = run_adaptive(network, plan, first, plan.rows * step, errors, progress)
        done = plan.rows[: outcome.n_done]
        is_complete = outcome.n_done == plan.rows.size
    else:
        outcome = run(network, plan, first, workers, progress)
        done = plan.rows[plan.rows <= outcome.n_done]
        is_complete = outcome.n_done == n_steps
    if on_failure == "raise":
        _raise_failure(outcome, is_adaptive)
    run_ = _result(network, plan, outcome, done, is_complete)
    if "effective_frequency" not in measured:
        return run_
    return replace(run_, frequency=_frequency(run_))


def _frequency(run_: Trajectory) -> FloatArray:
    """Return the mean rate over the run; NaN where its end was not reached."""
    if not run_.is_complete:
        return np.full((len(run_.y), run_.y.shape[2]), np.nan)
    moved = run_.y[:, -1].astype(np.float64) - run_.y[:, 0]
    return np.asarray(moved / run_.t[-1])


def _bytes(network: Network, plan: Plan) -> int:
    """Return what the run will allocate, roughly: results, states, workspace."""
    state = math.prod(network.state_shape)
    kept = 2 if plan.is_observing else plan.n_rows
    size = int(plan.dtype.itemsize)
    if plan.method in ADAPTIVE:  # states in float64 first, and their squares
        size += 8 if size < 8 else 0
        size += 16 if network.geometry == "sphere" else 0
    n_bytes = plan.n_runs * state * (kept * size + 48)
    # times; order parameters, and what tells the rows after a failure
    n_bytes += plan.n_rows * (24 + plan.n_runs * (10 if plan.is_observing else 2))
    n_bytes += plan.n_runs * 200
    weights = int(getattr(network.coupling, "size", 0))
    is_one_lag = isinstance(network.lag, float)
    n_bytes += (12 + 6 * len(network.harmonics)) * state * 8
    return n_bytes + (2 if is_one_lag else 4) * 8 * weights


def _raise_failure(outcome: Outcome, is_adaptive: bool) -> None:
    failed = np.flatnonzero(outcome.status[:, 0] >= 0)
    if failed.size:
        step, oscillator = (int(k) for k in outcome.status[failed[0]])
        raise IntegrationError(
            step,
            float(outcome.failed_at[failed[0]]),
            oscillator,
            int(failed[0]),
            int(failed.size) - 1,
            "its rate or its error is too large for any step"
            if is_adaptive
            else "use a smaller dt",
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
