"""Programs run to their end, in a session of their own, and ended with their caller."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
_AGAIN = 0.05


class _Here(threading.local):
    """The programs that the batch of this thread has running."""

    running: set["subprocess.Popen[str]"] | None = None


_HERE = _Here()


def run_program(
    arguments: Sequence[str], folder: Path | None, timeout: float
) -> tuple[int, str]:
    """Run a program and return its exit code and what it printed.

    Parameters
    ----------
    arguments : sequence of str
        The program and what to give it.
    folder : Path or None
        Where it runs; here if None.
    timeout : float
        Longest wall time (s).

    Returns
    -------
    int, str
        The exit code, negative for a signal, and both streams together.

    Raises
    ------
    OSError
        If it cannot be started.
    subprocess.TimeoutExpired
        If it takes longer. It and everything that it started is ended then, as on
        any other way out, such as an interrupt.
    """
    with subprocess.Popen(
        arguments,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        running = _HERE.running
        if running is not None:
            running.add(child)
        try:
            said, _ = child.communicate(timeout=timeout)
        except BaseException:
            _end(child)
            raise
        finally:
            if running is not None:
                running.discard(child)
        return child.returncode, said


def side_by_side(
    call: Callable[[_T], _R], items: Sequence[_T], n_threads: int | None
) -> list[_R]:
    """Return the results of a call that runs programs, several at a time.

    The first error, or an interrupt, ends all programs that are running.

    Parameters
    ----------
    call : callable
        What to do with an item.
    items : sequence
        In the order of the results.
    n_threads : int or None
        How many at a time; one per processor if None.
    """
    running: set[subprocess.Popen[str]] = set()
    n_threads = n_threads or os.cpu_count()
    with ThreadPoolExecutor(n_threads, "", _join, (running,)) as pool:
        futures = [pool.submit(call, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # a thread may be about to start its program
            while wait(futures, _AGAIN).not_done:
                for child in list(running):
                    _end(child)
            raise


def _join(running: set["subprocess.Popen[str]"]) -> None:
    _HERE.running = running


def _end(child: "subprocess.Popen[str]") -> None:
    """End a program and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
