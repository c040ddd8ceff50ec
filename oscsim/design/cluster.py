"""Tasks of a sweep on a Dask cluster that is there already."""

import asyncio
import hashlib
import json
import logging
import pickle
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oscsim.design.local import AHEAD, MOST_DEATHS, Done, Take
from oscsim.design.subject import Subject
from oscsim.design.work import Outcomes, Task, work
from oscsim.errors import SpecError, StoreError
from oscsim.libraries import library_versions

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 5.0
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://(\[[^]]+\]|[^/:\s]+):\d+")

_HELD: dict[str, "dict[str, Subject] | StoreError"] = {}
"""Checkpoints that this worker was given, or why it cannot use them, by digest."""


class _Inputs:
    """Brings the checkpoints to every worker once, also to those that join later."""

    def __init__(self, key: str, content: bytes) -> None:
        self.name = f"oscsim-{key}"
        self.key, self.content = key, content
        self.versions = library_versions()

    def setup(self, worker: Any) -> None:
        """Keep them: a worker calls this when the plugin arrives."""
        if self.key in _HELD:
            return
        different = _difference(self.versions, library_versions())
        if different:
            _HELD[self.key] = StoreError(
                f"worker {worker.address} joined late and has {different}"
            )
        else:
            _HELD[self.key] = pickle.loads(self.content)

    def teardown(self, worker: Any) -> None:
        """Drop them: a worker calls this when the plugin is taken away."""
        _HELD.pop(self.key, None)


def _work(key: str, task: Task) -> Outcomes:
    subjects = _HELD[key]
    if isinstance(subjects, StoreError):
        raise subjects
    return work(subjects, task)


def _difference(here: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Return the first version that a worker has otherwise, and what to do."""
    for name, version in here.items():
        if theirs.get(name) != version:
            return (
                f"{name} {theirs.get(name)} and the sweep {version}: install the "
                "same versions everywhere"
            )
    return ""


@contextmanager
def connected(address: str) -> Iterator["Client"]:
    """Connect to a scheduler and check that its workers run the same versions.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``, or the file that ``dask scheduler
        --scheduler-file`` has written.

    Raises
    ------
    SpecError
        If the address is none, nor such a file, Dask is not installed, the
        scheduler does not answer within 10 s, it has no workers, or a worker has
        other versions.
    """
    if not _ADDRESS.fullmatch(address):
        address = _address_in(Path(address))
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise SpecError(
            "a scheduler needs Dask: pip install 'oscsim[cluster]'"
        ) from None
    with _silent():
        client = _client(Client, address)
        try:
            _require_workers(client, address)
            yield client
        finally:
            with suppress(Exception):
                client.close(timeout=CLOSE_SECONDS)


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask from saying in its own words what an error here says in a sentence."""
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415

    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)
            yield
    finally:
        log.setLevel(level)


def _address_in(file: Path) -> str:
    """Return the address in a scheduler file."""
    try:
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        if _ADDRESS.fullmatch(address):
            return str(address)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise SpecError(
        "a scheduler is given as tcp://HOST:PORT, or as the file that dask scheduler "
        f"--scheduler-file FILE has written, got {str(file)!r}"
    )


def _answer(ask: Callable[[], Any]) -> Any:
    """Ask in a thread of its own, for not all that is asked answers.

    Returns the answer or the exception; a `TimeoutError` where nothing came.
    """
    found: list[Any] = []

    def wait() -> None:
        try:
            found.append(ask())
        except Exception as error:  # whatever a server that is no scheduler causes
            found.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    return found[0] if found else TimeoutError("it is connected and says nothing")


def _client(make: Any, address: str) -> Any:
    outcome = _answer(
        lambda: make(address, timeout=CONNECT_SECONDS, set_as_default=False)
    )
    if isinstance(outcome, Exception):
        text = str(outcome)
        detail = text.splitlines()[0] if text else type(outcome).__name__
        raise SpecError(
            f"the scheduler {address} does not answer within {CONNECT_SECONDS:g} s: "
            f"{detail}"
        )
    return outcome


def _require_workers(client: "Client", address: str) -> None:
    found = _answer(lambda: client.run(library_versions))
    if isinstance(found, TimeoutError):
        raise SpecError(
            f"a worker of {address} does not answer within {CONNECT_SECONDS:g} s: end "
            "it, or wait until it does"
        )
    if isinstance(found, Exception):  # a worker raises whatever its installation gives
        raise SpecError(
            f"a worker of {address} cannot say its versions "
            f"({type(found).__name__}: {found}): install the same oscsim there"
        )
    if not found:
        raise SpecError(
            f"the scheduler {address} has no workers: start some with dask worker "
            f"{address} --nthreads 1"
        )
    here = library_versions()
    for worker, theirs in found.items():
        different = _difference(here, theirs)
        if different:
            raise SpecError(f"worker {worker} has {different}")


def run_on_cluster(
    client: "Client", subjects: Mapping[str, Subject], take: Take
) -> Iterator[Done]:
    """Run tasks on the workers of a cluster, in whatever order they are done.

    Checkpoints and data travel once to each worker; a task whose worker dies is
    run again on another one. Results are the same bits as in this process.

    Parameters
    ----------
    client : distributed.Client
        From `connected`.
    subjects : mapping of str to Subject
        Checkpoints by name.
    take : callable
        Gives the next task; asked again after every result.

    Raises
    ------
    StoreError
        If a task was lost with its worker too often, or the scheduler went away.
    """
    from distributed import as_completed  # noqa: PLC0415
    from distributed.scheduler import KilledWorker  # noqa: PLC0415

    content = pickle.dumps(dict(subjects))
    key = hashlib.sha256(content).hexdigest()
    plugin = _as_plugin(_Inputs(key, content))
    client.register_plugin(plugin)
    running: dict[str, Task] = {}
    arriving = as_completed(loop=client.loop)
    try:
        _fill(client, key, take, running, arriving)
        while running:
            future = next(arriving)
            task = running.pop(future.key)
            try:
                found = future.result()
            except KilledWorker as error:
                raise StoreError(
                    f"the workers died with cell {task.cell.number} "
                    f"({task.cell.subject}, {task.cell.point}) more than "
                    f"{MOST_DEATHS} times: {error}"
                ) from None
            future.release()
            yield task, found
            _fill(client, key, take, running, arriving)
    except (OSError, asyncio.CancelledError, futures.CancelledError):
        raise StoreError(
            "the scheduler went away; what was committed is kept, and the same "
            "command goes on with another scheduler"
        ) from None
    finally:
        # a scheduler that is gone cannot be told anything
        with suppress(Exception):
            client.cancel(arriving.futures, force=True)
            client.unregister_worker_plugin(plugin.name)


def _fill(
    client: "Client",
    key: str,
    take: Take,
    running: dict[str, Task],
    arriving: Any,
) -> None:
    """Hand out tasks until every thread of every worker has enough."""
    threads = max(sum(client.nthreads().values()), 1)
    while len(running) < AHEAD * threads:
        task = take()
        if task is None:
            return
        name = f"{task.cell.digest}-{task.chip}"
        future = client.submit(_work, key, task, key=name, retries=MOST_DEATHS)
        running[future.key] = task
        arriving.add(future)


def _as_plugin(inputs: _Inputs) -> Any:
    from distributed import WorkerPlugin  # noqa: PLC0415

    class Plugin(WorkerPlugin):  # type: ignore[misc]
        name = inputs.name

        def setup(self, worker: Any) -> None:
            inputs.setup(worker)

        def teardown(self, worker: Any) -> None:
            inputs.teardown(worker)

    return Plugin()
