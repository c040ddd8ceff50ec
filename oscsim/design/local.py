"""Tasks of a sweep in this process, or in processes of this machine."""

import multiprocessing
import os
import pickle
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from tempfile import TemporaryDirectory

from oscsim.design.subject import Subject
from oscsim.design.work import Outcomes, Task, work
from oscsim.errors import StoreError

AHEAD = 2
"""Tasks per worker that are handed out at a time."""

MOST_DEATHS = 3
"""Times that one task may be lost with its worker."""

Take = Callable[[], Task | None]
"""Gives the next task; None if there is none now."""

Done = tuple[Task, Outcomes]


def run_here(subjects: Mapping[str, Subject], take: Take) -> Iterator[Done]:
    """Run tasks one after the other in this process.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name.
    take : callable
        Gives the next task.
    """
    while (task := take()) is not None:
        yield task, work(subjects, task)


def run_locally(
    subjects: Mapping[str, Subject], take: Take, workers: int
) -> Iterator[Done]:
    """Run tasks in processes, in whatever order they are done.

    This process is one of them: a thread of it works while the others start.
    Each of the others is given the checkpoints once, runs on one thread and ends
    when this process ends, however it ends. Tasks whose process died are run
    again.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name.
    take : callable
        Gives the next task; asked again after every result.
    workers : int
        Number of processes, this one included; at least 2.

    Raises
    ------
    StoreError
        If a task was lost with its process three times.
    """
    deaths: Counter[tuple[str, int]] = Counter()
    lost: list[Task] = []
    here = _Hands(ThreadPoolExecutor(1), partial(work, subjects), 1)
    with _handed_over(subjects) as given:
        try:
            while True:
                told, end = multiprocessing.Pipe(duplex=False)
                pool = _pool(given, workers - 1, told)
                others = _Hands(pool, _work, workers - 1)
                try:
                    yield from _until_broken((here, others), lost, take)
                    return
                except BrokenProcessPool:
                    lost = [*others.running.values(), *lost]
                    for task in others.running.values():
                        _count_death(task, deaths)
                finally:
                    others.pool.shutdown(wait=False, cancel_futures=True)
                    # nobody waits for what they are at: closed, it ends them
                    end.close()
        finally:
            here.pool.shutdown(wait=False, cancel_futures=True)
            for subject in subjects.values():
                subject.engine.cancel()


@contextmanager
def _handed_over(subjects: Mapping[str, Subject]) -> Iterator[Path]:
    """Put the checkpoints where the processes that start can read them.

    They are too large for the pipe through which a process is started: the start
    of the next one, and of everything, would wait for each to read them, and for
    ever for one that was killed before.
    """
    with ExitStack() as cleared:
        try:
            folder = cleared.enter_context(
                TemporaryDirectory(prefix="oscsim-", ignore_cleanup_errors=True)
            )
            given = Path(folder) / "checkpoints.pickle"
            given.write_bytes(pickle.dumps(dict(subjects)))
        except OSError as error:
            raise StoreError(
                f"cannot hand the checkpoints to other processes: {error}; make room "
                "in the folder for temporary files, or use --workers 1"
            ) from None
        yield given


@dataclass(frozen=True)
class _Hands:
    """Workers of one kind with the tasks that they were handed."""

    pool: Executor
    do: Callable[[Task], Outcomes]
    workers: int
    running: dict[Future[Outcomes], Task] = field(default_factory=dict)


def _count_death(task: Task, deaths: Counter[tuple[str, int]]) -> None:
    key = (task.cell.digest, task.chip)
    deaths[key] += 1
    if deaths[key] > MOST_DEATHS:
        raise StoreError(
            f"a worker process died {deaths[key]} times with cell "
            f"{task.cell.number} ({task.cell.subject}, {task.cell.point}) among its "
            "tasks: was there too little memory? use fewer workers"
        ) from None


def _until_broken(
    both: tuple[_Hands, _Hands], lost: list[Task], take: Take
) -> Iterator[Done]:
    while True:
        for hands in both:
            while len(hands.running) < AHEAD * hands.workers:
                task = lost.pop(0) if lost else take()
                if task is None:
                    break
                try:
                    hands.running[hands.pool.submit(hands.do, task)] = task
                except BrokenProcessPool:
                    lost.insert(0, task)
                    raise
        futures = [future for hands in both for future in hands.running]
        if not futures:
            return
        ready, _ = wait(futures, return_when=FIRST_COMPLETED)
        for future in ready:
            running = next(h.running for h in both if future in h.running)
            found = future.result()
            yield running.pop(future), found


def _pool(given: Path, workers: int, told: Connection) -> ProcessPoolExecutor:
    """Start processes that ignore Ctrl-C from their first moment on."""
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(given, told),
    )
    with _without_interrupts():
        pool.submit(int)
    return pool


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back: a process that is started meanwhile never gets it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_SUBJECTS: dict[str, Subject] = {}


def _begin(given: Path, told: Connection) -> None:
    """Read the checkpoints, and end this process with its parent or its pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _follow(told)
    try:
        content = given.read_bytes()
    except OSError:
        # the sweep is done, or its parent was killed, before this process began
        os._exit(1)
    _SUBJECTS.update(pickle.loads(content))


def _follow(told: Connection) -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        with suppress(OSError):
            wait_for([parent.sentinel, told])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _work(task: Task) -> Outcomes:
    return work(_SUBJECTS, task)
