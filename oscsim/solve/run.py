"""Fixed steps for all trajectories, in threads and in pieces of time."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.linalg.cython_blas  # noqa: F401 - loads the library to be limited
from threadpoolctl import threadpool_limits

from oscsim.network.spec import Network
from oscsim.physics.dense import DenseEnsemble, DenseEnsembleThreaded
from oscsim.solve.plan import Plan, noise_words
from oscsim.solve.steppers import METHODS, integrate
from oscsim.solve.tasks import by_trajectory, deviations, lay_out, states
from oscsim.typing import FloatArray, IntArray

_PIECE_S = 0.2
_LONG_STEP_S = 2e-3
_TRIALS, _PIECES_PER_TRIAL = (1, 1, 0), 64

# Threads inside a step share one pool, which not every numba layer can share.
_INNER_THREADS = threading.Lock()


class Outcome(NamedTuple):
    """What a run left.

    Attributes
    ----------
    saved : FloatArray, shape (n_runs, n_saved, n, d)
        States; start and end only when observing.
    observed : FloatArray, shape (n_runs, n_rows) or (n_runs, 0)
        Order parameters.
    status : IntArray, shape (n_runs, 2)
        Failing step and oscillator, or -1.
    n_done : int
        Steps that all trajectories made.
    """

    saved: FloatArray
    observed: FloatArray
    status: IntArray
    n_done: int


def run(
    network: Network,
    plan: Plan,
    start: FloatArray,
    n_threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> Outcome:
    """Step every trajectory to the end, or until the user interrupts.

    Parameters
    ----------
    network : Network
        What is coupled to what.
    plan : Plan
        Checked arguments.
    start : FloatArray, shape (n_runs, n, d)
        Starts.
    n_threads : int, optional
        Threads, all processors by default.
    progress : callable, optional
        Called with the steps done and their number, a few times a second.

    Returns
    -------
    Outcome
    """
    workers = n_threads or os.cpu_count() or 1
    layout = lay_out(network, plan, workers)
    y = states(layout, start, plan)
    n_runs, n, d = start.shape
    n_rows = plan.rows.size
    saved = np.full((n_runs, 2 if plan.is_observing else n_rows, n, d), np.nan, y.dtype)
    saved[:, 0] = start
    observed = np.full((n_runs, n_rows if plan.is_observing else 0), np.nan)
    if plan.is_observing:
        observed[:, 0] = _order(start, network.geometry)
    status = np.full((len(layout.tasks), layout.n_copies, 2), -1)
    deviation = deviations(layout, plan, n, network.field.shape[1])
    words = noise_words(plan.seed, n_runs)

    def piece(first: int, last: int, start_step: int, n_steps: int) -> None:
        integrate(
            METHODS[plan.method],
            layout.params,
            plan.dt,
            start_step,
            n_steps,
            plan.n_steps,
            plan.save_every,
            layout.n_copies,
            layout.tasks[first:last],
            deviation,
            words,
            y[first:last],
            saved,
            observed,
            status[first:last],
        )

    with ExitStack() as stack:
        coupling: Any = layout.params.coupling
        if isinstance(coupling, DenseEnsemble | DenseEnsembleThreaded):
            stack.enter_context(threadpool_limits(1, "blas"))
        if layout.is_threaded:
            stack.enter_context(_INNER_THREADS)
            before = numba.get_num_threads()
            numba.set_num_threads(min(workers, _all_threads()))
            stack.callback(numba.set_num_threads, before)
            workers = 1
        choice = _Choice(getattr(coupling, "is_on", None))
        n_done = _in_pieces(piece, len(layout.tasks), plan, workers, progress, choice)
    return Outcome(saved, observed, by_trajectory(layout, status, n_runs), n_done)


def _in_pieces(
    piece: Callable[[int, int, int, int], None],
    n_tasks: int,
    plan: Plan,
    workers: int,
    progress: Callable[[int, int], object] | None,
    choice: "_Choice",
) -> int:
    """Advance all tasks together, a fraction of a second at a time."""
    n_groups = min(n_tasks, 4 * workers) if workers > 1 else 1
    edges = np.linspace(0, n_tasks, n_groups + 1).astype(int)
    done, n_steps = 0, 4
    with ThreadPoolExecutor(min(workers, n_groups)) as pool:
        try:
            while done < plan.n_steps:
                n_steps = min(n_steps, plan.n_steps - done)
                if choice.set():
                    n_steps = 1
                began = time.perf_counter()
                if n_groups == 1:
                    piece(0, n_tasks, done, n_steps)
                else:
                    futures = [
                        pool.submit(piece, edges[g], edges[g + 1], done, n_steps)
                        for g in range(n_groups)
                    ]
                    for future in futures:
                        future.result()
                done += n_steps
                spent = max(time.perf_counter() - began, 1e-9)
                choice.learn(spent, n_steps)
                n_steps = max(1, int(n_steps * min(16.0, _PIECE_S / spent)))
                if progress is not None:
                    progress(done, plan.n_steps)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    return done


class _Choice:
    """Whether to use threads inside a step: what was faster when last tried.

    On a busy machine waiting for another thread can cost more than a hundred steps,
    so a short run of short steps does without.
    """

    def __init__(self, is_on: IntArray | None) -> None:
        self._is_on = is_on
        self._cost = {0: 0.0, 1: 0.0}
        self._spent, self._n_pieces = 0.0, 0

    def set(self) -> bool:
        """Choose for the next piece; return whether it is a trial, of one step.

        The first with threads starts them and does not count.
        """
        if self._is_on is None:
            return False
        if not self._is_worth_it():
            self._is_on[0] = 0
            return self._spent == 0.0
        place = self._n_pieces % _PIECES_PER_TRIAL
        is_trial = place < len(_TRIALS)
        better = 1 if self._cost[1] < self._cost[0] else 0
        self._is_on[0] = _TRIALS[place] if is_trial else better
        return is_trial

    def learn(self, spent: float, n_steps: int) -> None:
        """Take note of the seconds that the last piece took."""
        self._n_pieces += self._is_worth_it()
        self._spent += spent
        if self._is_on is not None:
            self._cost[int(self._is_on[0])] = spent / n_steps

    def _is_worth_it(self) -> bool:
        return self._spent >= _PIECE_S or self._cost[0] >= _LONG_STEP_S


def _all_threads() -> int:
    config: Any = numba.config
    return int(config.NUMBA_NUM_THREADS)


def _order(start: FloatArray, geometry: str) -> FloatArray:
    z = start
    if geometry == "torus":
        z = np.concatenate([np.cos(start), np.sin(start)], axis=-1)
    if z.shape[1] == 1:
        return np.ones(len(z))
    return np.asarray(np.minimum(np.linalg.norm(z.mean(axis=1), axis=-1), 1.0))
