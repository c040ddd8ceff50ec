"""What a sweep will take, said before it starts."""

import sys
from dataclasses import dataclass
from time import process_time

import numpy as np

from oscsim.design.run import Prepared
from oscsim.design.work import Task, work

MILLION = 1_000_000
BYTES_PER_RESULT = 500
BYTES_PER_CELL = 3500
"""Of rows of the store, measured on the stores of two sweeps, besides the items."""


@dataclass(frozen=True)
class Forecast:
    """What a sweep takes.

    Attributes
    ----------
    cells, tasks : int
        Cells, and chips of all cells.
    task_s : float
        Processor time of one chip of one cell: mean over the trials (s).
    cpu_s : float
        Of all of them (s).
    memory_bytes : float
        Largest resident size of this process so far, a bound for a worker, which
        loads no more: measured on byte models, workers took .76 of it (.83 under
        Dask), and as much as this process where they compile first.
    store_bytes : float
        Size of the store at the end.
    trials : int
        Chips that were run to find out.
    """

    cells: int
    tasks: int
    task_s: float
    cpu_s: float
    memory_bytes: float
    store_bytes: float
    trials: int

    def wall_s(self, workers: int) -> float:
        """Return the time on a number of workers, each with a core of its own (s)."""
        return self.cpu_s / workers

    @property
    def million_cpu_s(self) -> float:
        """Processor time of a million cells of as many chips (s)."""
        return self.task_s * MILLION * self.tasks / self.cells

    @property
    def million_store_bytes(self) -> float:
        """Size of their store."""
        return self.store_bytes * MILLION / self.cells


def forecast(ready: Prepared, trials: int = 1) -> Forecast:
    """Run a few chips of every checkpoint and foretell the whole sweep.

    The cells tried are spread evenly over those of a checkpoint, each run once
    before it is timed, as its first run may compile. Their results are not kept: a
    sweep runs them again, with the same bits.

    Parameters
    ----------
    ready : Prepared
        The sweep.
    trials : int
        Cells of each checkpoint to time, besides its last one.
    """
    spent = []
    for name in ready.subjects:
        cells = [cell for cell in ready.cells if cell.subject == name]
        tried = np.linspace(0, len(cells) - 1, trials + 2).astype(int)
        for index in tried:
            work(ready.subjects, Task(cells[index], 0, ready.spec.repeats))
        for index in tried[1:]:
            started = process_time()
            work(ready.subjects, Task(cells[index], 1, ready.spec.repeats))
            spent.append(process_time() - started)
    task_s = float(np.mean(spent))
    items = float(np.mean([len(s.data) for s in ready.subjects.values()]))
    return Forecast(
        cells=len(ready.cells),
        tasks=ready.n_tasks,
        task_s=task_s,
        cpu_s=task_s * ready.n_tasks,
        memory_bytes=_resident(),
        store_bytes=ready.n_tasks * (8 * items + BYTES_PER_RESULT)
        + len(ready.cells) * BYTES_PER_CELL,
        trials=len(spent),
    )


def _resident() -> float:
    """Return the largest resident size of this process (bytes), NaN if unknown."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
