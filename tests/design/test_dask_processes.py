"""A sweep on a scheduler and workers started by command line, killed at random."""

import os
import signal
import subprocess
import sys

import pytest

from oscsim.design.run import sweep
from oscsim.errors import StoreError
from tests.design.specs import everything, small

pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture
def dask(tmp_path):
    """Start a program of Dask; all are killed at the end."""
    started = []

    def start(*what):
        command = [sys.executable, "-m", "dask", *what, "--no-dashboard"]
        file = ["--scheduler-file", str(tmp_path / "scheduler.json")]
        started.append(subprocess.Popen([*command, *file], stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


def worker(dask):
    return dask("worker", "--nthreads", "1", "--no-nanny")


def test_the_only_worker_and_then_the_scheduler_are_killed(dask, tmp_path):
    from distributed import Client

    ready = small(tmp_path, axes={"weight_bits": [2, 3, 4, 5]}, chips=6)
    whole, store = tmp_path / "whole.sqlite", tmp_path / "store.sqlite"
    file = str(tmp_path / "scheduler.json")
    sweep(ready, whole, workers=1)
    scheduler, first = dask("scheduler", "--port", "0"), worker(dask)
    with Client(scheduler_file=file, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
    seen = []

    def kill(done, _all):
        seen.append(done)
        if done == 5:
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
            worker(dask)
        if done == 15:
            os.kill(scheduler.pid, signal.SIGKILL)

    with pytest.raises(StoreError, match="scheduler went away; what was committed is"):
        sweep(ready, store, scheduler=file, progress=kill)
    assert 15 <= seen[-1] < 24
    assert sweep(ready, store, workers=1).resumed == seen[-1]
    assert everything(store) == everything(whole)
