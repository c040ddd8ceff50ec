"""A sweep that is told to end keeps what it has, ends its workers and says so."""

import signal
import sqlite3
import threading
import time

import pytest

from oscsim.command_line import Ended, ended_by_signals
from oscsim.design.plan import Plan
from oscsim.design.run import sweep
from tests.design.specs import everything, small, spec_file
from tests.design.test_kill import AXES, is_alive, start, wait_for_children


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
)
def test_a_signal_ends_a_sweep_in_one_sentence(tmp_path, number, code):
    store = tmp_path / "ended.sqlite"
    spec = spec_file(tmp_path, axes=AXES, chips=64)
    child = start(spec, store, workers=2, heeds_signals=True)
    workers = wait_for_children(child.pid, 1)
    wait_for_chips(store, 5)
    child.send_signal(number)
    _, told = child.communicate(timeout=30)
    assert child.returncode == code
    lines = told.decode().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("oscsim: interrupted after ")
    assert lines[0].endswith(" are left; the same command goes on")
    assert f" {len(everything(store)[0])} chips" in lines[0]
    assert not any(map(is_alive, workers))
    assert not store.with_name("ended.sqlite-wal").exists()


def test_what_a_signal_left_goes_on_bit_for_bit(tmp_path):
    whole, store = tmp_path / "whole.sqlite", tmp_path / "ended.sqlite"
    ready = small(tmp_path, axes=AXES, chips=2)
    sweep(ready, whole, workers=1)

    def end(done, _all):
        if done == 7:
            signal.raise_signal(signal.SIGTERM)

    with ended_by_signals() as ending:
        first = sweep(ready, store, workers=1, progress=end)
    assert (first.interrupted, first.chips, ending.code) == (True, 7, 143)
    second = sweep(ready, store, workers=1)
    assert (second.interrupted, second.resumed) == (False, 7)
    assert everything(store) == everything(whole)


def test_a_chip_that_was_just_saved_is_counted(tmp_path, monkeypatch):
    def stop(_plan, _task, _value):
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "finished", stop)
    store = tmp_path / "one.sqlite"
    result = sweep(small(tmp_path), store, workers=1)
    assert (result.interrupted, result.chips, result.left) == (True, 1, 7)
    assert len(everything(store)[0]) == 1


def test_a_signal_after_the_last_chip_finds_the_sweep_finished(tmp_path):
    """One chip earlier it is interrupted, and says how many are left."""
    ready = small(tmp_path)

    def end_at(last):
        def end(done, _all):
            if done == last:
                signal.raise_signal(signal.SIGTERM)

        return end

    for last, interrupted in ((7, True), (8, False)):
        store = tmp_path / f"{last}.sqlite"
        with ended_by_signals():
            found = sweep(ready, store, workers=1, progress=end_at(last))
        assert (found.interrupted, found.chips, found.left) == (
            interrupted,
            last,
            8 - last,
        )


def test_signals_are_as_before_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with ended_by_signals() as ending, pytest.raises(Ended) as caught:
        signal.raise_signal(signal.SIGTERM)
    assert (caught.value.code, ending.code) == (143, 143)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals() as ending:
            signal.raise_signal(signal.SIGHUP)
        assert ending.code == 130
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_signals_alone():
    seen = []

    def watch():
        with ended_by_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


def wait_for_chips(store, n):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if len(everything(store)[0]) >= n:
                return
        except sqlite3.OperationalError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"{store} has no {n} chips")
