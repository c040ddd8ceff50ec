"""A sweep on a scheduler and workers started by command line, killed at random."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oscsim.design.run import sweep
from oscsim.errors import StoreError
from tests.design.specs import everything, small, spec_file
from tests.design.test_ending import wait_for_chips
from tests.design.test_kill import heed_signals

pytest.importorskip("distributed")

SCRIPT = Path(__file__).parents[2] / "examples" / "sweeps" / "slurm.sh"

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


def slurm(tmp_path, spec):
    """Run the script as Slurm would, but for a stand-in for srun with one task."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    (programs / "srun").chmod(0o755)
    (tmp_path / "runs").mkdir()
    found = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.Popen(
        ["bash", SCRIPT, spec, "runs/store.sqlite"],
        cwd=tmp_path,
        env=os.environ | {"PATH": found, "SLURM_JOB_ID": "7"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )


def test_the_slurm_script_runs_a_sweep(tmp_path):
    job = slurm(tmp_path, spec_file(tmp_path))
    said, told = job.communicate(timeout=120)
    assert (job.returncode, "4 cells, 8 chips\n" in said) == (0, True), told
    whole = tmp_path / "whole.sqlite"
    sweep(small(tmp_path), whole, workers=1)
    assert everything(tmp_path / "runs" / "store.sqlite") == everything(whole)
    assert [file.name for file in (tmp_path / "runs").iterdir()] == ["store.sqlite"]


def test_the_slurm_script_ends_before_the_time_limit(tmp_path):
    job = slurm(tmp_path, spec_file(tmp_path, chips=2000))
    store = tmp_path / "runs" / "store.sqlite"
    wait_for_chips(store, 1)
    job.send_signal(signal.SIGTERM)
    _, told = job.communicate(timeout=60)
    assert job.returncode == 143
    assert told.splitlines()[-1].endswith("left; the same command goes on")
    assert everything(store)[0]
