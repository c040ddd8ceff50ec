"""Adaptive steps: SciPy's solver on the compiled vector field."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45

from oscsim._jit import kernel
from oscsim.network.spec import Network
from oscsim.physics.field import Params, drift, member
from oscsim.solve.plan import Plan
from oscsim.solve.run import Outcome
from oscsim.typing import FloatArray

_SOLVERS: dict[str, Any] = {"adaptive": DOP853, "rk45": RK45}


@kernel
def evaluate(
    t: float,
    y: FloatArray,
    params: Params,
    k: int,
    scratch: FloatArray,
    mean: FloatArray,
    out: FloatArray,
) -> None:
    """Write the drift of the k-th network of a stack into ``out``."""
    drift(t, y, member(params, k, scratch, mean), out)


def run_adaptive(
    network: Network,
    plan: Plan,
    start: FloatArray,
    times: FloatArray,
    tolerances: tuple[float, float],
    progress: Callable[[int, int], object] | None,
) -> Outcome:
    """Integrate every trajectory with error control, or until interrupted.

    The eighth-order method of Dormand and Prince, or their fifth-order one for
    ``"rk45"``, with its continuous extension at the saved times; states on the
    sphere are divided by their lengths there.

    Parameters
    ----------
    network : Network
        What is coupled to what.
    plan : Plan
        Checked arguments.
    start : FloatArray, shape (n_runs, n, d)
        Starts.
    times : FloatArray, shape (n_saved,)
        Times (s) to save, the first 0.
    tolerances : tuple of float
        Relative and absolute, per step and component.
    progress : callable, optional
        Called with the saved times done and their number, over all trajectories.

    Returns
    -------
    Outcome
        ``status`` has the step of the first saved time that was not reached.

    References
    ----------
    .. [1] Hairer, Norsett & Wanner (1993), Solving Ordinary Differential
       Equations I, sections II.5 and II.10.
    """
    params = network.params(plan.dtype)
    scratch, mean = np.zeros_like(params.scratch), np.zeros_like(params.mean)
    n_runs, n, d = start.shape
    saved = np.full((n_runs, times.size, n, d), np.nan)
    saved[:, 0] = start
    status = np.full((n_runs, 2), -1)
    out = np.zeros(n * d, plan.dtype)
    n_done = times.size
    try:
        for k in range(n_runs):

            def derivative(t: float, y: FloatArray, k: int = k) -> FloatArray:
                evaluate(t, y.astype(plan.dtype), params, k, scratch, mean, out)
                return out.astype(np.float64)

            n_done = 1
            solver = _SOLVERS[plan.method]
            for row, y in _states_at(solver, derivative, start[k], times, tolerances):
                if y is None:
                    status[k] = plan.rows[row], 0
                    break
                saved[k, row] = y
                n_done = row + 1
                if progress is not None:
                    progress(k * times.size + row, n_runs * times.size)
            n_done = times.size
    except KeyboardInterrupt:
        if n_runs > 1:
            n_done = 1
    if network.geometry == "sphere":
        saved /= np.linalg.norm(saved, axis=-1, keepdims=True)
    return Outcome(saved.astype(plan.dtype), np.empty((n_runs, 0)), status, n_done)


def _states_at(
    method: Any,
    derivative: Callable[..., FloatArray],
    start: FloatArray,
    times: FloatArray,
    tolerances: tuple[float, float],
) -> Any:
    """Yield (row, state) for every saved time but the first; None after a failure."""
    n, d = start.shape
    flat = np.ascontiguousarray(start.T).ravel()
    solver = method(
        derivative, 0.0, flat, times[-1], rtol=tolerances[0], atol=tolerances[1]
    )
    row = 1
    while row < times.size:
        solver.step()
        if solver.status == "failed" or not math.isfinite(float(solver.y.sum())):
            yield row, None
            return
        if solver.status == "finished" and row == times.size - 1:
            yield row, solver.y.reshape(d, n).T
            return
        if times[row] <= solver.t:
            between = solver.dense_output()
            while row < times.size and times[row] <= solver.t:
                yield row, between(times[row]).reshape(d, n).T
                row += 1
