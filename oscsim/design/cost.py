"""What a sweep will take, said before it starts."""

import sys
from dataclasses import dataclass
from time import process_time
from typing import NamedTuple

import numpy as np

from oscsim.design.cells import Cell
from oscsim.design.run import Prepared
from oscsim.design.subject import Subject
from oscsim.design.work import Task, work

MILLION = 1_000_000
BYTES_PER_RESULT = 500
BYTES_PER_CELL = 3500
"""Of rows of the store, measured on the stores of two sweeps, besides the items."""

CHIPS_PER_TRIAL = 10
"""Chips of a sweep for each that is run to foretell it."""

PAIR = 2
"""Fewest trials of a shape: one that may compile, and one that is timed."""

MOST_TIMED = 3
"""Chips that are timed of a shape."""

COMPILED = 3.0
"""Times the shortest from which on a chip may have compiled."""


@dataclass(frozen=True)
class Forecast:
    """What a sweep takes.

    Attributes
    ----------
    cells, tasks : int
        Cells, and chips of all cells.
    most_tasks : int
        Chips of all cells if a precision needs the most it may; else ``tasks``.
    task_s : float
        Processor time of one chip of one cell: mean over all cells, each as the
        trial of its checkpoint's shape (s); NaN without trials.
    memory_bytes : float
        Largest resident size of this process so far, a bound for a worker, which
        loads no more: measured on byte models, workers took .76 of it (.83 under
        Dask), and as much as this process where they compile first. NaN without
        trials.
    bytes_per_task : float
        Of the store, for each chip (bytes).
    trials : int
        Chips that were run to find out.
    """

    cells: int
    tasks: int
    most_tasks: int
    task_s: float
    memory_bytes: float
    bytes_per_task: float
    trials: int

    @property
    def cpu_s(self) -> float:
        """Processor time of all chips (s)."""
        return self.task_s * self.tasks

    @property
    def most_cpu_s(self) -> float:
        """Processor time of the most chips (s)."""
        return self.task_s * self.most_tasks

    @property
    def store_bytes(self) -> float:
        """Size of the store at the end."""
        return self.tasks * self.bytes_per_task + self.cells * BYTES_PER_CELL

    @property
    def most_store_bytes(self) -> float:
        """Size of the store with the most chips."""
        return self.most_tasks * self.bytes_per_task + self.cells * BYTES_PER_CELL

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


def forecast(ready: Prepared, least: int = 0) -> Forecast:
    """Run a few chips and foretell the whole sweep.

    Checkpoints of one shape (d_osc, layers, width and all else of the configuration,
    and items) take as long as each other: of each shape one chip is run that may
    compile, and then one to three are timed, of cells spread evenly over those of a
    checkpoint. All are at most a tenth of the sweep's chips; shapes that are left out
    then take the mean of the others. One that takes thrice the shortest is run once
    more, as it may have compiled. Results are not kept: a sweep runs them again, with
    the same bits.

    Parameters
    ----------
    ready : Prepared
        The sweep.
    least : int
        Trials that are run in any case, of however small a sweep.
    """
    shapes = _shapes(ready)
    budget = max(least, ready.n_tasks // CHIPS_PER_TRIAL)
    n_tried = min(budget // PAIR, len(shapes))
    tried = [shapes[round(k)] for k in np.linspace(0, len(shapes) - 1, n_tried)]
    n_timed = min(MOST_TIMED, budget // n_tried - 1) if tried else 0
    spent = [_timed(ready, one.cells, n_timed) for one in tried]
    counts = [one.n_cells for one in tried]
    items = float(np.mean([len(s.data) for s in ready.subjects.values()]))
    most = ready.spec.precision
    return Forecast(
        cells=len(ready.cells),
        tasks=ready.n_tasks,
        most_tasks=len(ready.cells) * (most.most_chips if most else ready.spec.chips),
        task_s=(
            float(np.average([s for s, _ in spent], weights=counts))
            if spent
            else float("nan")
        ),
        memory_bytes=_resident() if spent else float("nan"),
        bytes_per_task=8 * items + BYTES_PER_RESULT,
        trials=sum(n for _, n in spent),
    )


class _Shape(NamedTuple):
    """Cells of the first checkpoint of a shape, and how many all of them have."""

    cells: list[Cell]
    n_cells: int


def _shapes(ready: Prepared) -> list[_Shape]:
    """Return the shapes of the checkpoints, in order."""
    cells: dict[str, list[Cell]] = {}
    for cell in ready.cells:
        cells.setdefault(cell.subject, []).append(cell)
    alike: dict[tuple[str, int], list[str]] = {}
    for name in cells:
        alike.setdefault(_shape(ready.subjects[name]), []).append(name)
    return [
        _Shape(cells[names[0]], sum(len(cells[name]) for name in names))
        for names in alike.values()
    ]


def _shape(subject: Subject) -> tuple[str, int]:
    """Return what the time of a chip hangs on: the configuration, and the items."""
    said = {"vocabulary", "feature_mean", "feature_std"}
    return subject.checkpoint.config.model_dump_json(exclude=said), len(subject.data)


def _timed(ready: Prepared, cells: list[Cell], n: int) -> tuple[float, int]:
    """Return the mean processor time of a chip of n cells (s), and how many ran."""
    work(ready.subjects, Task(cells[len(cells) // 2], 0, ready.spec.repeats))
    tried = [cells[int((k + 0.5) / n * len(cells))] for k in range(n)]
    spent = [_seconds(ready, cell) for cell in tried]
    again = [k for k in range(n) if spent[k] > COMPILED * min(spent)]
    for k in again:
        spent[k] = _seconds(ready, tried[k])
    return float(np.mean(spent)), 1 + n + len(again)


def _seconds(ready: Prepared, cell: Cell) -> float:
    started = process_time()
    work(ready.subjects, Task(cell, 1, ready.spec.repeats))
    return process_time() - started


def _resident() -> float:
    """Return the largest resident size of this process (bytes), NaN if unknown."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
