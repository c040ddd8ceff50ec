"""Which chips of which cells a sweep still has to run."""

import math
import random
from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np

from oscsim.bridge.language_compare import student_interval
from oscsim.design.cells import Cell
from oscsim.design.spec import SweepSpec
from oscsim.design.store import Store
from oscsim.design.work import Task


class Plan:
    """Which chips are still to be run.

    With a precision, a cell gets as many chips again whenever all it has are
    done and its interval is too wide: a rule that sees complete cells only, so
    that the chips run do not depend on the order in which they are done.

    Parameters
    ----------
    spec : SweepSpec
        What was asked.
    cells : sequence of Cell
        All cells.
    store : Store
        What is done already.
    """

    def __init__(self, spec: SweepSpec, cells: Sequence[Cell], store: Store) -> None:
        self.spec, self.store = spec, store
        self.values: dict[str, dict[int, float]] = defaultdict(dict)
        found = store.results()
        self.n_damaged = len(found.damaged)
        store.drop(found.damaged)
        damaged = set(found.damaged)
        digests = np.repeat(np.array(found.digests, object), found.counts)
        rows = zip(digests, found.chips.tolist(), found.values.tolist(), strict=True)
        for digest, chip, value in rows:
            if (digest, chip) not in damaged:
                self.values[digest][chip] = value
        self.n_failed = sum(
            math.isnan(value) for of in self.values.values() for value in of.values()
        )
        self.n_known = 0
        self.open = {cell.digest: 0 for cell in cells}
        self.n_open = 0
        self.asked = dict.fromkeys(self.open, 0)
        self.waiting: deque[Task] = deque()
        for cell in cells:
            self._extend(cell)
        if store.is_shared:
            # other processes take from the front: meet them as late as possible
            self.waiting.rotate(random.Random().randrange(len(self.waiting) + 1))

    @property
    def n_done(self) -> int:
        """Chips that are done."""
        return self.n_known - self.n_open

    def next(self) -> Task | None:
        """Return a task that is not in the store, None if there is none now."""
        while self.waiting:
            task = self.waiting.popleft()
            if not self.store.has(task):
                return task
            self._reread(task)
        return None

    def finished(self, task: Task, value: float) -> None:
        """Take note of a result."""
        self._note(task.cell, task.chip, value)
        self._extend(task.cell)

    def _reread(self, task: Task) -> None:
        """Take note of what another process has put into the store."""
        for chip, value in self.store.values(task.cell.digest):
            self._note(task.cell, chip, value)
        self._extend(task.cell)

    def _note(self, cell: Cell, chip: int, value: float) -> None:
        have = self.values[cell.digest]
        if chip in have:
            return
        have[chip] = value
        self.n_failed += math.isnan(value)
        if chip < self.asked[cell.digest]:
            self.open[cell.digest] -= 1
            self.n_open -= 1

    def _extend(self, cell: Cell) -> None:
        """Ask for more chips of a cell, once all that were asked for are done."""
        have = self.values[cell.digest]
        while self.open[cell.digest] == 0:
            asked = self.asked[cell.digest]
            wanted = self._wanted([have[chip] for chip in range(asked)])
            if wanted <= asked:
                return
            self.asked[cell.digest] = wanted
            missing = [chip for chip in range(asked, wanted) if chip not in have]
            self.waiting += [Task(cell, chip, self.spec.repeats) for chip in missing]
            self.n_known += wanted - asked
            self.open[cell.digest] = len(missing)
            self.n_open += len(missing)

    def _wanted(self, values: list[float]) -> int:
        n = len(values)
        if n < self.spec.chips:
            return self.spec.chips
        precision = self.spec.precision
        if precision is None or n >= precision.most_chips or np.isnan(values).any():
            return n
        interval = student_interval(np.array(values)) if n > 1 else None
        if interval is not None:
            half = 0.5 * (interval[1] - interval[0])
            if half <= precision.half_width:
                return n
        return min(2 * n, precision.most_chips)
