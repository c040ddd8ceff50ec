"""Runs a sweep: which chips of which cells are still to do, and keeps results."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from oscsim.bridge.engine import Progress
from oscsim.bridge.passes import thread_count
from oscsim.design.baselines import baselines
from oscsim.design.cells import Cell, cells_of
from oscsim.design.latency import Latencies
from oscsim.design.local import Done, Take, run_here, run_locally
from oscsim.design.plan import Plan
from oscsim.design.recall import recalled
from oscsim.design.spec import SweepSpec, read_spec
from oscsim.design.store import Store
from oscsim.design.store_file import create_or_resume
from oscsim.design.subject import Known, Subject, learn, subjects_of
from oscsim.design.training import training_of
from oscsim.errors import SpecError
from oscsim.libraries import library_versions


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


def prepare(spec: SweepSpec, store: str | Path | None = None) -> Prepared:
    """Load everything that a sweep needs and check every cell.

    Parameters
    ----------
    spec : SweepSpec
        What was asked.
    store : str or Path, optional
        Where an earlier call has kept the digital results: what is there of the same
        models, items and versions is not run again.

    Raises
    ------
    SpecError, CheckpointError, DataError, DeviceError
        For the first thing that is wrong.
    """
    subjects, twins = subjects_of(spec)
    models = subjects | twins
    known = recalled(None if store is None else Path(store), spec, models)
    known |= {name: learn(one) for name, one in models.items() if name not in known}
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
    left : int
        Chips that are known to be needed and are not in the store.
    """

    store: Path
    cells: int
    chips: int
    resumed: int
    failures: int
    repeated: int
    interrupted: bool
    left: int = 0


def sweep(
    spec: SweepSpec | Prepared | str | Path,
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
    spec : SweepSpec, Prepared, str or Path
        What to run; a text or path names a TOML file.
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
    if isinstance(spec, str | Path):
        spec = read_spec(spec)
    ready = prepare(spec, store) if isinstance(spec, SweepSpec) else spec
    if scheduler is not None and workers is not None:
        raise SpecError("give workers or a scheduler, not both")
    n_workers = thread_count(workers)
    with (
        _executor(ready, n_workers, scheduler) as execute,
        _opened(ready, store) as kept,
    ):
        if starting is not None:
            progress = starting(kept.n_results()) or progress
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
    plan = Plan(ready.spec, ready.cells, store)
    resumed, n_damaged = plan.n_done, plan.n_damaged
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
    if interrupted:
        # what was saved last may not be counted yet, and was perhaps the last of all
        plan = Plan(ready.spec, ready.cells, store)
        interrupted = plan.n_open > 0
    return SweepResult(
        store.path,
        len(ready.cells),
        store.n_results(),
        resumed,
        plan.n_failed,
        n_damaged,
        interrupted,
        plan.n_open,
    )
