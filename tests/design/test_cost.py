"""What a sweep is foretold to take, with few trials, and what it says afterwards."""

import json
import math

import pytest

from oscsim.cli import run
from oscsim.design import cost
from oscsim.design.cost import forecast
from oscsim.design.run import sweep
from oscsim.design.work import work
from tests.design.specs import content, small, spec_file

OTHER = content()["checkpoints"][0].replace("-s0", "-s1")
MODELS = [content()["checkpoints"][0], OTHER]


@pytest.fixture
def ran(monkeypatch):
    """The chips that are run."""
    tasks = []

    def watched(subjects, task):
        tasks.append((task.cell.subject, task.cell.number, task.chip))
        return work(subjects, task)

    monkeypatch.setattr(cost, "work", watched)
    return tasks


def test_checkpoints_of_one_shape_share_their_trials(tmp_path, ran):
    ready = small(tmp_path, checkpoints=MODELS, chips=4)
    found = forecast(ready)
    assert ran[:3] == [
        ("sva-osc-d2-s0", k, chip) for k, chip in ((2, 0), (1, 1), (3, 1))
    ]
    assert {again[0] for again in ran[3:]} <= {"sva-osc-d2-s0"}
    assert (found.cells, found.tasks, found.trials) == (8, 32, len(ran))
    assert found.cpu_s == pytest.approx(32 * found.task_s)


def test_trials_are_a_tenth_of_the_chips_at_most(tmp_path, ran):
    """20 chips are the fewest that a pair may be tried for, unless it is asked for."""
    none = forecast(small(tmp_path, chips=4))
    assert (none.tasks, none.trials, ran) == (16, 0, [])
    assert math.isnan(none.cpu_s)
    assert math.isnan(none.memory_bytes)
    assert forecast(small(tmp_path, chips=5)).trials == len(ran) == 2
    assert forecast(small(tmp_path, chips=4), least=2).trials == 2


def test_shapes_weigh_as_their_cells(tmp_path, monkeypatch):
    """A chip of d_osc 2 takes 1 s and one of d_osc 8 takes 9 s: two to one."""
    eight = content()["checkpoints"][0].replace("sva-osc-d2-s0", "bytes-osc-d8-p4")
    two = [eight.replace("d8-p4", "d2-p4"), eight.replace("d8-p4", "d2-p4-s1")]
    ready = small(tmp_path, data=None, windows=1, checkpoints=[*two, eight], chips=4)
    seconds = {"bytes-osc-d2-p4": 1.0, "bytes-osc-d8-p4": 9.0}
    monkeypatch.setattr(cost, "work", lambda *_: None)
    monkeypatch.setattr(cost, "_seconds", lambda _ready, cell: seconds[cell.subject])
    found = forecast(ready)
    assert found.task_s == pytest.approx((2 * 1.0 + 9.0) / 3)
    assert found.trials == 4


def test_a_chip_that_may_have_compiled_is_timed_again(tmp_path, monkeypatch):
    """Of 1, 9 and 2 s the second is run once more, and takes 1.5 s then."""
    times = iter([1.0, 9.0, 2.0, 1.5])
    monkeypatch.setattr(cost, "work", lambda *_: None)
    monkeypatch.setattr(cost, "_seconds", lambda *_: next(times))
    found = forecast(small(tmp_path, chips=10))
    assert found.task_s == pytest.approx((1.0 + 1.5 + 2.0) / 3)
    assert found.trials == 5


def test_a_precision_may_take_more_and_the_forecast_says_both_ends(tmp_path, capsys):
    spec = spec_file(tmp_path, chips=8)
    with spec.open("a", encoding="utf-8") as file:
        file.write("\n[precision]\nhalf_width = 0.01\nmost_chips = 24\n")
    assert run(["sweep", str(spec), "--dry-run", "--workers", "1"]) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert first.startswith("4 cells, 32 to 96 chips in all (")
    assert " tried)" in first
    assert second.count(" to ") == 2
    assert second.endswith(" on 1 worker")
    assert " to " in third.partition("store ")[2]
    assert last.startswith("a million such cells: ")
    assert run(["sweep", str(spec), "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["chips"], found["most_chips"]) == (32, 96)
    assert found["trials"] in (3, 4)
    assert found["most_cpu_seconds"] == pytest.approx(3 * found["cpu_seconds"])
    chip = (found["most_store_bytes"] - found["store_bytes"]) / 64
    assert chip == pytest.approx(500 + 8 * 64)


def test_without_a_precision_there_is_one_number(tmp_path):
    found = forecast(small(tmp_path))
    assert found.most_tasks == found.tasks
    assert found.most_store_bytes == found.store_bytes


def test_a_sweep_says_what_is_left_and_what_comes_next(tmp_path, capsys):
    store, spec = tmp_path / "a b.sqlite", spec_file(tmp_path)
    command = ["sweep", str(spec), "--store", str(store), "--workers", "1"]

    def stop(done, _all):
        if done == 3:
            raise KeyboardInterrupt

    sweep(small(tmp_path), store, workers=1, progress=stop)
    assert run(command) == 0
    left, done, *_, following = capsys.readouterr().out.splitlines()
    assert left.startswith("3 of 8 chips are there, 5 are left: processor time ")
    assert left.endswith(" s on 1 worker")
    assert done == "4 cells, 8 chips, 3 of them before"
    assert following == f"next: oscsim rule '{store}'"
    assert run(command) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "4 cells, 8 chips: nothing was left to run"


def test_a_sweep_too_small_for_trials_says_so(tmp_path, capsys):
    store = tmp_path / "new.sqlite"
    command = ["sweep", str(spec_file(tmp_path)), "--store", str(store)]
    assert run([*command, "--workers", "1"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("4 cells, 8 chips in all, too few to try some first; store ")
    assert "nan" not in told
    assert "million" not in told
