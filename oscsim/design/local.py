"""Tasks of a sweep in this process, or in processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait as wait_for

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

    Each process is given the checkpoints once, runs on one thread and ends when
    this process ends, however it ends. Tasks whose process died are run again.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name.
    take : callable
        Gives the next task; asked again after every result.
    workers : int
        Number of processes.

    Raises
    ------
    StoreError
        If a task was lost with its process three times.
    """
    deaths: Counter[tuple[str, int]] = Counter()
    lost: list[Task] = []
    while True:
        pool = _pool(subjects, workers)
        running: dict[Future[Outcomes], Task] = {}
        try:
            yield from _until_broken(pool, running, lost, take, workers)
            return
        except BrokenProcessPool:
            lost = [*running.values(), *lost]
            for task in running.values():
                key = (task.cell.digest, task.chip)
                deaths[key] += 1
                if deaths[key] > MOST_DEATHS:
                    raise StoreError(
                        f"a worker process died {deaths[key]} times with cell "
                        f"{task.cell.number} ({task.cell.subject}, "
                        f"{task.cell.point}) among its tasks: was there too little "
                        "memory? use fewer workers"
                    ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _until_broken(
    pool: ProcessPoolExecutor,
    running: dict[Future[Outcomes], Task],
    lost: list[Task],
    take: Take,
    workers: int,
) -> Iterator[Done]:
    while True:
        while len(running) < AHEAD * workers:
            task = lost.pop(0) if lost else take()
            if task is None:
                break
            try:
                running[pool.submit(_work, task)] = task
            except BrokenProcessPool:
                lost.insert(0, task)
                raise
        if not running:
            return
        ready, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ready:
            found = future.result()
            yield running.pop(future), found


def _pool(subjects: Mapping[str, Subject], workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(dict(subjects),),
    )


_SUBJECTS: dict[str, Subject] = {}


def _begin(subjects: dict[str, Subject]) -> None:
    """Keep the checkpoints in this process, and end it with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _SUBJECTS.update(subjects)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        with suppress(OSError):
            wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _work(task: Task) -> Outcomes:
    return work(_SUBJECTS, task)
