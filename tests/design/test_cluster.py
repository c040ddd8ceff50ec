"""The same sweep on a Dask cluster: the same bits, also when workers die."""

import json
import os
import pickle
import signal
import socket
import time

import numpy as np
import pytest

from oscsim.design import cluster
from oscsim.design.run import sweep
from oscsim.design.work import Task
from oscsim.errors import SpecError, StoreError
from tests.design.specs import everything, small

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def machines():
    """Two workers of one thread in processes of their own."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=50,
    ) as found:
        yield found


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    axes = {"weight_bits": [2, 4, 6], "coupling_mismatch": [0.0, 0.1]}
    return small(tmp_path_factory.mktemp("data"), axes=axes, chips=3)


@pytest.fixture(scope="module")
def serial(ready, tmp_path_factory):
    path = tmp_path_factory.mktemp("serial") / "a.sqlite"
    sweep(ready, path, workers=1)
    return path


def test_a_cluster_gives_the_same_bits(machines, ready, serial, tmp_path):
    path = tmp_path / "b.sqlite"
    result = sweep(ready, path, scheduler=machines.scheduler_address)
    assert result.chips == 18
    assert everything(path) == everything(serial)


def test_a_scheduler_file_says_where_the_scheduler_is(
    machines, ready, serial, tmp_path
):
    file, path = tmp_path / "scheduler.json", tmp_path / "h.sqlite"
    file.write_text(json.dumps({"address": machines.scheduler_address}))
    assert sweep(ready, path, scheduler=str(file)).chips == 18
    assert everything(path) == everything(serial)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 1}', '{"address": "x"}'])
def test_a_file_that_is_no_scheduler_file_is_told(ready, tmp_path, text):
    file = tmp_path / "scheduler.json"
    file.write_text(text)
    with pytest.raises(
        SpecError, match=r"--scheduler-file FILE has written, got .*json"
    ):
        sweep(ready, tmp_path / "i.sqlite", scheduler=str(file))


def test_other_versions_on_a_worker_that_joins_late_are_told(ready, monkeypatch):
    class Worker:
        address = "tcp://late"

    inputs = cluster._Inputs("some key", pickle.dumps(ready.subjects))
    here = cluster.library_versions()
    monkeypatch.setattr(cluster, "library_versions", lambda: here | {"numpy": "0.1"})
    inputs.setup(Worker())
    task = Task(ready.cells[0], 0, 1)
    with pytest.raises(StoreError, match=r"tcp://late joined late and has numpy 0\.1"):
        cluster._work("some key", task)
    inputs.teardown(Worker())
    monkeypatch.undo()
    inputs.setup(Worker())
    assert np.isfinite(cluster._work("some key", task).value)
    inputs.teardown(Worker())
    assert "some key" not in cluster._HELD


def test_a_killed_worker_loses_nothing(machines, ready, serial, tmp_path):
    path, killed = tmp_path / "c.sqlite", []

    def kill(done, _all):
        if done >= 4 and not killed:
            worker = next(iter(machines.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    result = sweep(ready, path, scheduler=machines.scheduler_address, progress=kill)
    assert len(killed) == 1
    assert result.chips == 18
    assert everything(path) == everything(serial)


def test_a_scheduler_that_does_not_answer_is_told_in_time(ready, tmp_path, monkeypatch):
    assert cluster.CONNECT_SECONDS == 10
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 2.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started = time.monotonic()
    with pytest.raises(SpecError, match="does not answer within 2 s"):
        sweep(ready, tmp_path / "d.sqlite", scheduler=address)
    assert time.monotonic() - started < 8
    assert not (tmp_path / "d.sqlite").exists()


def test_a_server_that_says_nothing_is_told_in_time(ready, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(SpecError, match="does not answer within 1 s"):
            sweep(ready, tmp_path / "g.sqlite", scheduler=address)
    assert time.monotonic() - started < 10


def test_a_worker_without_the_package_is_told():
    class Bare:
        def run(self, _function):
            raise ModuleNotFoundError("No module named 'oscsim.design'")

    with pytest.raises(SpecError, match="install the same oscsim there"):
        cluster._require_workers(Bare(), "tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "address", ["nonsense", "http://127.0.0.1:1", "tcp://", "tcp://host", "", ":1"]
)
def test_an_address_that_is_none_is_told(ready, tmp_path, address):
    with pytest.raises(SpecError, match="is given as tcp://HOST:PORT"):
        sweep(ready, tmp_path / "e.sqlite", scheduler=address)


def test_a_cluster_without_workers_is_told(ready, tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address=None, silence_logs=50
        ) as empty,
        pytest.raises(SpecError, match="has no workers"),
    ):
        sweep(ready, tmp_path / "f.sqlite", scheduler=empty.scheduler_address)


def test_other_versions_on_a_worker_are_told(machines, ready, tmp_path, monkeypatch):
    here = dict(cluster.library_versions())
    monkeypatch.setattr(cluster, "library_versions", lambda: here | {"numba": "0.1"})
    with pytest.raises(SpecError, match=r"has numba .* and the sweep"):
        cluster._require_workers(
            FakeClient({"tcp://w": here}), machines.scheduler_address
        )


class FakeClient:
    """Answers with what its workers would say of their versions."""

    def __init__(self, answers):
        self.answers = answers

    def run(self, _function):
        return self.answers
