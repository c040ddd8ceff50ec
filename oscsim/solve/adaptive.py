"""Adaptive steps: SciPy's solver on the compiled vector field."""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45

from oscsim._jit import kernel
from oscsim.network.spec import Network
from oscsim.physics.field import Params, drift, member
from oscsim.solve.carried import unwind
from oscsim.solve.plan import Plan
from oscsim.solve.run import Outcome
from oscsim.typing import FloatArray

_SOLVERS: dict[str, Any] = {"adaptive": DOP853, "rk45": RK45}
_PIECE_S = 0.2
_PARTS = 1000


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
        Called with the thousandths of the time done and their number, over all
        trajectories, a few times a second.

    Returns
    -------
    Outcome
        ``status`` has the first step whose end was not reached.

    References
    ----------
    .. [1] Hairer, Norsett & Wanner (1993), Solving Ordinary Differential
       Equations I, sections II.5 and II.10.
    """
    n_runs, n, d = start.shape
    saved = np.full((n_runs, times.size, n, d), np.nan)
    saved[:, 0] = start
    status, failed_at = np.full((n_runs, 2), -1), np.full(n_runs, np.nan)
    tell = _Told(progress, n_runs, float(times[-1]))
    rate = _Rate(network, plan, n * d)
    n_done = times.size
    try:
        for k in range(n_runs):
            n_done, rate.network, rate.first_bad = 1, k, -1
            with np.errstate(all="ignore"):
                solver = _solver(plan.method, rate, start[k], times[-1], tolerances)
                for row, y in _states_at(solver, times, partial(tell, k)):
                    if y is None:
                        step = max(math.floor(solver.t / plan.dt), plan.rows[row - 1])
                        status[k] = step + 1, _culprit(rate, solver) % n
                        failed_at[k] = solver.t
                        break
                    saved[k, row] = y.reshape(d, n).T
                    n_done = row + 1
            n_done = times.size
    except KeyboardInterrupt:
        if n_runs > 1:
            n_done = 1
    if network.geometry == "sphere":
        saved /= np.linalg.norm(saved, axis=-1, keepdims=True)
    y = saved.astype(plan.dtype, copy=False)
    return Outcome(y, np.empty((n_runs, 0)), status, failed_at, n_done)


class _Rate:
    """The drift as the solver calls it, in the precision of the run.

    Attributes
    ----------
    network : int
        Which one of a batch.
    first_bad : int
        Component that stopped being finite first, of the last calls in a row at
        which one was not; -1 after a call at which all were.
    """

    def __init__(self, network: Network, plan: Plan, size: int) -> None:
        self._params = network.params(plan.dtype)
        self._scratch = np.zeros_like(self._params.scratch)
        self._mean = np.zeros_like(self._params.mean)
        self._y, self._out = np.zeros((2, size), plan.dtype)
        is_torus = network.geometry == "torus"
        self._is_unwound = is_torus and plan.dtype == np.float32
        self.network, self.first_bad = 0, -1

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        """Return dy/dt in float64."""
        if self._is_unwound:
            unwind(y, self._y)
        else:
            self._y[:] = y
        evaluate(
            t, self._y, self._params, self.network, self._scratch, self._mean, self._out
        )
        out: FloatArray = self._out.astype(np.float64)
        if math.isfinite(float(y.sum()) + float(out.sum())):
            self.first_bad = -1
        elif self.first_bad < 0:
            self.first_bad = _first_bad(y, out)
        return out


def _first_bad(y: FloatArray, out: FloatArray) -> int:
    """Return the first component that is not finite, or -1.

    A state that is not spoils the rates of its neighbours, hence states first.
    """
    for values in (y, out):
        bad = ~np.isfinite(values)
        if bad.any():
            return int(np.argmax(bad))
    return -1


class _Told:
    """Tells how far the trajectories are, not too often."""

    def __init__(
        self, progress: Callable[[int, int], object] | None, n_runs: int, end: float
    ) -> None:
        self._progress, self._n_runs, self._end = progress, n_runs, end
        self._last = time.perf_counter()

    def __call__(self, k: int, t: float) -> None:
        """Tell that trajectory k has reached the time t, if it is time to."""
        if self._progress is None:
            return
        now, is_end = time.perf_counter(), k == self._n_runs - 1 and t >= self._end
        if is_end or now - self._last >= _PIECE_S:
            self._last = now
            done = _PARTS * k + int(_PARTS * min(t / self._end, 1.0))
            self._progress(done, _PARTS * self._n_runs)


def _solver(
    method: str,
    rate: _Rate,
    start: FloatArray,
    end: float,
    tolerances: tuple[float, float],
) -> Any:
    flat = np.ascontiguousarray(start.T).ravel()
    rtol, atol = tolerances
    solver = _SOLVERS[method](rate, 0.0, flat, end, rtol=rtol, atol=atol)
    if not 0.0 <= solver.h_abs < math.inf:  # rates near the largest number
        solver.h_abs = 0.0
    return solver


def _states_at(
    solver: Any, times: FloatArray, tell: Callable[[float], None]
) -> Iterator[tuple[int, FloatArray | None]]:
    """Yield (row, state) for every saved time but the first; None after a failure.

    A rate that is not finite where a step begins would be tried for ever.
    """
    row = 1
    while row < times.size:
        if not np.isfinite(solver.f).all():
            yield row, None
            return
        solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            yield row, None
            return
        if times[row] <= solver.t:
            is_end = solver.status == "finished" and row == times.size - 1
            between = None if is_end else solver.dense_output()
            while row < times.size and times[row] <= solver.t:
                y = solver.y if between is None else between(times[row])
                yield row, (y if np.isfinite(y).all() else None)
                row += 1
        tell(solver.t)


def _culprit(rate: _Rate, solver: Any) -> int:
    """Return the component to name: not finite when last seen, or the fastest."""
    if rate.first_bad >= 0:
        return rate.first_bad
    return int(np.argmax(np.abs(solver.f)))
