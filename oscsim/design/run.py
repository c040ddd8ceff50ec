"""Runs a sweep: which chips of which cells are still to do, and keeps results."""

import math
import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.bridge.array import latency_per_token, takes_time
from oscsim.bridge.engine import Progress
from oscsim.bridge.infer import existing_lengths
from oscsim.bridge.language_compare import student_interval
from oscsim.bridge.passes import thread_count
from oscsim.design.baselines import baselines
from oscsim.design.cells import Cell, cells_of
from oscsim.design.local import Done, Take, run_here, run_locally
from oscsim.design.spec import SweepSpec
from oscsim.design.store import Store
from oscsim.design.store_file import create_or_resume
from oscsim.design.subject import Known, Subject, learn, subjects_of
from oscsim.design.training import training_of
from oscsim.design.work import Task
from oscsim.errors import SpecError
from oscsim.libraries import library_versions
from oscsim.models.config import FixedQueryConfig


@dataclass(frozen=True, eq=False)
class Prepared:
    """A sweep that was checked and can be run.

    Attributes
    ----------
    spec : SweepSpec
        What was asked.
    subjects : dict of str to Subject
        Checkpoints by name.
    known : dict of str to Known
        Their digital results.
    cells : list of Cell
        All cells.
    twins : dict of str to Subject
        Models without oscillators, run digitally only; in ``known`` too.
    """

    spec: SweepSpec
    subjects: dict[str, Subject]
    known: dict[str, Known]
    cells: list[Cell]
    twins: dict[str, Subject]

    @property
    def n_tasks(self) -> int:
        """Chips of all cells, before any are added for precision."""
        return len(self.cells) * self.spec.chips

    def described(self) -> dict[str, Any]:
        """Return the specification as a store keeps it: contents, not places."""
        content = self.spec.model_dump(mode="json", by_alias=True)
        content["checkpoints"] = [s.checkpoint.sha256 for s in self.subjects.values()]
        content["twins"] = [s.checkpoint.sha256 for s in self.twins.values()]
        content["data"] = sorted({s.data.sha256 for s in self.subjects.values()})
        for name in ("device",):
            content[name] = _plain_name(content[name])
        if "device" in content["axes"]:
            content["axes"]["device"] = [
                _plain_name(one) for one in content["axes"]["device"]
            ]
        content["points"] = [
            point
            | ({"device": _plain_name(point["device"])} if "device" in point else {})
            for point in content["points"]
        ]
        content["cells"] = len(self.cells)
        return content


def subject_rows(ready: Prepared) -> list[tuple[str, dict[str, Any], Known]]:
    """Return what a store says of every checkpoint and twin."""
    found = []
    for name, subject in (ready.subjects | ready.twins).items():
        checkpoint = subject.checkpoint
        device = next(
            (c.setting.device for c in ready.cells if c.subject == name), None
        )
        content = {
            "sha256": checkpoint.sha256,
            "config": checkpoint.config.model_dump(mode="json", exclude={"vocabulary"}),
            "metric": subject.metric,
            "items": len(subject.data),
            "data_sha256": subject.data.sha256,
            "is_twin": name in ready.twins,
            "training": training_of(checkpoint.path),
            "baselines": baselines(subject, device),
        }
        found.append((name, content, ready.known[name]))
    return found


def _plain_name(device: Any) -> Any:
    """Return a device without its folder: its numbers are in the cells' digests."""
    return Path(device).name if isinstance(device, str) else device


def prepare(spec: SweepSpec) -> Prepared:
    """Load everything that a sweep needs and check every cell.

    Raises
    ------
    SpecError, CheckpointError, DataError, DeviceError
        For the first thing that is wrong.
    """
    subjects, twins = subjects_of(spec)
    known = {name: learn(subject) for name, subject in (subjects | twins).items()}
    cells = cells_of(spec, subjects, known, library_versions())
    return Prepared(spec, subjects, known, cells, twins)


@dataclass(frozen=True)
class SweepResult:
    """What a call of `sweep` did.

    Attributes
    ----------
    store : Path
        Where the results are.
    cells, chips : int
        Cells, and chips of all of them that are in the store.
    resumed : int
        Chips that were there before.
    failures : int
        Chips without a value: they left the range of float64.
    repeated : int
        Chips of an earlier run that were damaged in the store, and run again.
    interrupted : bool
        Whether it was stopped before its end.
    """

    store: Path
    cells: int
    chips: int
    resumed: int
    failures: int
    repeated: int
    interrupted: bool


def sweep(
    spec: SweepSpec | Prepared,
    store: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    starting: Callable[[int], Progress | None] | None = None,
) -> SweepResult:
    """Run a sweep, or what is left of it.

    Parameters
    ----------
    spec : SweepSpec or Prepared
        What to run.
    store : str or Path
        SQLite file; a sweep that was stopped goes on where it was.
    workers : int, optional
        Processes on this machine; one per core by default. 1 runs in this
        process.
    scheduler : str, optional
        Address or scheduler file of a Dask scheduler that is used instead.
    progress : callable, optional
        Called with (chips done, chips known to be needed).
    starting : callable, optional
        Called with the number of chips in the store once everything is checked,
        before the first chip is run; may return what to call as ``progress``.

    Returns
    -------
    SweepResult
        Ctrl-C keeps everything that was committed.

    Raises
    ------
    SpecError
        If something asked for is wrong; nothing is written then.
    StoreError
        If the store or the workers fail on the way; what was committed stays.
    """
    ready = prepare(spec) if isinstance(spec, SweepSpec) else spec
    if scheduler is not None and workers is not None:
        raise SpecError("give workers or a scheduler, not both")
    n_workers = thread_count(workers)
    with (
        _executor(ready, n_workers, scheduler) as execute,
        _opened(ready, store) as kept,
    ):
        if starting is not None:
            progress = starting(len(kept.done())) or progress
        return _run(ready, kept, execute, progress or (lambda _done, _all: None))


@contextmanager
def _opened(ready: Prepared, path: str | Path) -> Iterator[Store]:
    with create_or_resume(
        Path(path),
        spec=ready.described(),
        versions=library_versions(),
        cells=ready.cells,
        described=subject_rows(ready),
    ) as store:
        yield store


@contextmanager
def _executor(
    ready: Prepared, workers: int, scheduler: str | None
) -> "Iterator[partial[Iterator[Done]]]":
    """Give what runs tasks: this process, others, or a cluster."""
    if scheduler is not None:
        from oscsim.design.cluster import connected, run_on_cluster  # noqa: PLC0415

        with connected(scheduler) as client:
            yield partial(run_on_cluster, client, ready.subjects)
    elif workers == 1:
        yield partial(run_here, ready.subjects)
    else:
        yield partial(run_locally, ready.subjects, workers=workers)


def _run(
    ready: Prepared,
    store: Store,
    execute: "partial[Iterator[Done]]",
    progress: Progress,
) -> SweepResult:
    plan = Plan(ready, store)
    resumed = plan.n_done
    interrupted = False
    latency = Latencies(ready.subjects)
    progress(plan.n_done, plan.n_known)
    take: Take = plan.next
    results = execute(take=take)
    try:
        for task, found in results:
            store.save(task, found, latency.of(task.cell))
            plan.finished(task, found.value)
            progress(plan.n_done, plan.n_known)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        results.close()  # type: ignore[attr-defined]
    return SweepResult(
        store.path,
        len(ready.cells),
        plan.n_done,
        resumed,
        plan.n_failed,
        plan.n_damaged,
        interrupted,
    )


class Plan:
    """Which chips are still to be run.

    With a precision, a cell gets as many chips again whenever all it has are
    done and its interval is too wide: a rule that sees complete cells only, so
    that the chips run do not depend on the order in which they are done.

    Parameters
    ----------
    ready : Prepared
        The sweep.
    store : Store
        What is done already.
    """

    def __init__(self, ready: Prepared, store: Store) -> None:
        self.spec, self.store = ready.spec, store
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
        self.open = {cell.digest: 0 for cell in ready.cells}
        self.n_open = 0
        self.asked = dict.fromkeys(self.open, 0)
        self.waiting: deque[Task] = deque()
        for cell in ready.cells:
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


class Latencies:
    """Seconds per token on the substrate, which all chips of a cell share.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name.
    """

    def __init__(self, subjects: Mapping[str, Subject]) -> None:
        self.subjects = subjects
        self.known: dict[str, float | None] = {}

    def of(self, cell: Cell) -> float | None:
        """Return it for a cell, None where settling takes no finite time."""
        if cell.digest not in self.known:
            self.known[cell.digest] = self._of(cell)
        return self.known[cell.digest]

    def _of(self, cell: Cell) -> float | None:
        subject = self.subjects[cell.subject]
        config, data = subject.checkpoint.config, subject.data
        if not isinstance(config, FixedQueryConfig) or cell.placement is not None:
            return None
        if not takes_time(cell.setting):
            return None
        lengths = existing_lengths(config, data)
        return latency_per_token(cell.setting.device, config, lengths)
