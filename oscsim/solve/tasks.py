"""How the trajectories of a run are divided into tasks for the kernel."""

from typing import NamedTuple

import numpy as np

from oscsim.network.spec import Network
from oscsim.physics.aligned import aligned
from oscsim.physics.dense import (
    TARGETS,
    Dense,
    DenseEnsembleThreaded,
    DenseThreaded,
)
from oscsim.physics.field import Params
from oscsim.physics.sparse import Sparse, SparseThreaded
from oscsim.solve.plan import Plan
from oscsim.solve.sphere_noise import kick_deviation
from oscsim.typing import FloatArray, IntArray

_COPIES, _MORE_COPIES, _LARGE = 32, 64, 512
# Numbers per block, few enough for a fast cache; the least number of vectors, where
# the start of every loop still costs little; whole registers, and lanes of noise.
_BLOCK_NUMBERS, _LEAST_BLOCK, _REGISTERS, _LANES = 1024, 48, 16, 64
_LEAST_RUNS, _LEAST_SIZE = 16, 32
_WORTH_THREADS = 100_000


class Layout(NamedTuple):
    """The tasks of a run.

    Attributes
    ----------
    params : Params
        Of all of them.
    n_copies : int
        Trajectories side by side in a task.
    width : int
        Oscillators in a task.
    tasks : IntArray, shape (n_tasks, 3)
        First trajectory, first oscillator, place in the stack of parameters.
    is_threaded : bool
        Whether threads work inside a step instead of on tasks.
    """

    params: Params
    n_copies: int
    width: int
    tasks: IntArray
    is_threaded: bool


def lay_out(network: Network, plan: Plan, workers: int) -> Layout:
    """Divide a run into tasks.

    Parameters
    ----------
    network : Network
        What is coupled to what.
    plan : Plan
        Checked arguments.
    workers : int
        Threads.
    """
    n_runs, n = plan.n_runs, network.n_osc
    if network.coupling is None and not plan.is_observing:
        d = network.field.shape[1]
        unit = _LANES if plan.diffusion.size else _REGISTERS
        width = max(_LEAST_BLOCK, unit, _BLOCK_NUMBERS // d // unit * unit)
        width = min(width, n)
        n_blocks = -(-n // width)
        block = np.tile(np.arange(n_blocks), n_runs)
        run_of = np.repeat(np.arange(n_runs), n_blocks)
        params = network.params(plan.dtype, block=width)
        tasks = np.stack([run_of, block * width, block], axis=1)
        return Layout(params, 1, width, tasks, False)
    is_matrix = isinstance(network.coupling, np.ndarray) and network.coupling.ndim == 2
    if (
        is_matrix
        and isinstance(network.lag, float)
        and n_runs >= _LEAST_RUNS
        and n >= _LEAST_SIZE
    ):
        return _lay_out_ensemble(network, plan, workers)
    index = np.arange(n_runs)
    params = network.params(plan.dtype)
    tasks = np.stack([index, np.zeros_like(index), index % network.n_networks], axis=1)
    coupling = params.coupling
    is_threaded = n_runs == 1 and workers > 1
    if is_threaded and coupling.weights.size >= _WORTH_THREADS:
        if isinstance(coupling, Dense):
            params = params._replace(
                coupling=DenseThreaded(*coupling, np.ones(1, np.int64))
            )
            return Layout(params, 1, n, tasks, True)
        if isinstance(coupling, Sparse):
            params = params._replace(
                coupling=SparseThreaded(*coupling, np.ones(1, np.int64))
            )
            return Layout(params, 1, n, tasks, True)
    return Layout(params, 1, n, tasks, False)


def _lay_out_ensemble(network: Network, plan: Plan, workers: int) -> Layout:
    """Put copies side by side, as many as suit a matrix product of this size.

    How many depends on the network alone, as the product might round otherwise.
    Threads share out the trajectories, or the targets if those are too few.
    """
    n = network.n_osc
    n_copies = _MORE_COPIES if n >= _LARGE else _COPIES
    first = np.arange(0, plan.n_runs, n_copies)
    tasks = np.stack([first, np.zeros_like(first), np.zeros_like(first)], axis=1)
    params = network.params(plan.dtype, n_copies=n_copies)
    is_threaded = n > TARGETS and workers > 1 and len(tasks) < 2 * workers
    if is_threaded:
        params = params._replace(coupling=DenseEnsembleThreaded(*params.coupling))
    return Layout(params, n_copies, n, tasks, is_threaded)


def states(layout: Layout, start: FloatArray, plan: Plan) -> FloatArray:
    """Return the state of every task, oscillators innermost."""
    n_runs, n, d = start.shape
    n_tasks, copies, width = len(layout.tasks), layout.n_copies, layout.width
    runs = layout.tasks[:, 0, None] + np.arange(copies)
    oscillators = layout.tasks[:, 1, None] + np.arange(width)
    picked = start[
        np.minimum(runs, n_runs - 1)[:, :, None],
        np.minimum(oscillators, n - 1)[:, None, :],
    ]
    inner = np.moveaxis(picked, -1, 1)
    return aligned(inner, plan.dtype).reshape(n_tasks, d * copies * width)


def deviations(layout: Layout, plan: Plan, n: int, d: int) -> FloatArray:
    """Return that of a kick for every oscillator of every block, or nothing."""
    if not plan.diffusion.size:
        return np.zeros((1, 0))
    n_blocks = -(-n // layout.width)
    filled = np.zeros(n_blocks * layout.width)
    filled[:n] = kick_deviation(plan.diffusion, plan.dt, d)
    return aligned(filled.reshape(n_blocks, layout.width), np.float64)


def by_trajectory(layout: Layout, status: IntArray, n_runs: int) -> IntArray:
    """Return the first failure of every trajectory."""
    out = np.full((n_runs, 2), -1)
    for task, copy in np.argwhere(status[:, :, 0] >= 0):
        trajectory = layout.tasks[task, 0] + copy
        step, oscillator = status[task, copy]
        if trajectory < n_runs and not 0 <= out[trajectory, 0] <= step:
            out[trajectory] = step, oscillator
    return out
