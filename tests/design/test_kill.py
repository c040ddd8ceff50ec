"""A sweep that is killed at any moment goes on, bit for bit, and leaves nobody."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from oscsim.design.run import sweep
from tests.design.specs import everything, small, spec_file

AXES = {"weight_bits": [2, 3, 4, 5, 6, 7], "coupling_mismatch": [0.0, 0.05, 0.1]}


def heed_signals():
    """Undo what a job in the background, or under nohup, is told to ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(spec, store, workers, heeds_signals=False):
    command = [sys.executable, "-m", "oscsim", "sweep", str(spec), "--json"]
    return subprocess.Popen(
        [*command, "--store", str(store), "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals if heeds_signals else None,
    )


def kill_and_resume(tmp_path, kills, seed):
    ready = small(tmp_path, axes=AXES, chips=4)
    whole = tmp_path / "whole.sqlite"
    sweep(ready, whole, workers=1)
    spec, store = spec_file(tmp_path, axes=AXES, chips=4), tmp_path / "killed.sqlite"
    draw, seen, cut = random.Random(seed), 0, 0
    while cut < kills:
        child = start(spec, store, workers=1 + cut % 2)
        deadline = time.monotonic() + draw.uniform(0.5, 8.0)
        while time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.01)
        if child.poll() is not None:
            _, errors = child.communicate()
            assert child.returncode == 0, errors.decode()
            store.unlink()
            seen = 0
            continue
        child.send_signal(signal.SIGKILL)
        child.communicate()
        cut += 1
        if store.exists() and store.stat().st_size:
            done = len(everything_or_nothing(store))
            assert done >= seen
            seen = done
    child = start(spec, store, workers=2)
    _, errors = child.communicate()
    assert child.returncode == 0, errors.decode()
    assert everything(store) == everything(whole)


def everything_or_nothing(store):
    try:
        return everything(store)[0]
    except sqlite3.OperationalError:
        return []


def test_one_kill(tmp_path):
    kill_and_resume(tmp_path, kills=1, seed=1)


@pytest.mark.slow
def test_twenty_kills(tmp_path):
    kill_and_resume(tmp_path, kills=20, seed=2)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_workers_end_with_their_parent(tmp_path):
    spec = spec_file(tmp_path, axes=AXES, chips=64)
    child = start(spec, tmp_path / "orphans.sqlite", workers=3)
    workers = wait_for_children(child.pid, 2)
    child.kill()
    child.communicate()
    end = time.monotonic() + 20
    while time.monotonic() < end and any(map(is_alive, workers)):
        time.sleep(0.1)
    assert not any(map(is_alive, workers))


def test_a_worker_that_dies_is_replaced(tmp_path):
    ready = small(tmp_path, axes=AXES, chips=2)
    whole, store = tmp_path / "whole.sqlite", tmp_path / "store.sqlite"
    sweep(ready, whole, workers=1)
    killed = []

    def kill_one(done, _all):
        if done in (3, 9) and done not in killed:
            killed.append(done)
            os.kill(wait_for_children(os.getpid(), 2)[0], signal.SIGKILL)

    result = sweep(ready, store, workers=3, progress=kill_one)
    assert killed == [3, 9]
    assert result.chips == 36
    assert everything(store) == everything(whole)


def wait_for_children(pid, n):
    """Process numbers of the workers among the children of a process."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [p for p in children(pid) if "spawn_main" in command_of(p)]
        if len(found) >= n:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{pid} has no {n} workers")


def children(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == pid:
            found.append(int(entry.name))
    return found


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_a_worker_killed_while_it_starts_stops_nothing(tmp_path):
    """Its checkpoints may not wait in a pipe that nobody reads any more."""
    ready = small(tmp_path, axes=AXES, chips=2)
    whole, store = tmp_path / "whole.sqlite", tmp_path / "store.sqlite"
    sweep(ready, whole, workers=1)
    child = start(spec_file(tmp_path, axes=AXES, chips=2), store, workers=3)
    os.kill(wait_for_children(child.pid, 1)[0], signal.SIGKILL)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors.decode()
    assert everything(store) == everything(whole)
