"""A store is whole, says what it is, and refuses what does not belong to it."""

import dataclasses
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from oscsim.design import plan, run
from oscsim.design import store_file as store_module
from oscsim.design.plan import Plan
from oscsim.design.run import sweep
from oscsim.design.store_file import FORMAT, open_store
from oscsim.design.table import read_table
from oscsim.design.work import Task, work
from oscsim.errors import SpecError, StoreError
from tests.design.specs import everything, few_sentences, small

DEVICES = Path(__file__).parents[2] / "data" / "devices"
AXES = {"weight_bits": [3]}


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    return small(tmp_path_factory.mktemp("data"), axes=AXES)


@pytest.fixture
def path(ready, tmp_path):
    sweep(ready, tmp_path / "s.sqlite", workers=1)
    return tmp_path / "s.sqlite"


def test_what_was_saved_is_read_back(ready, path):
    with open_store(path) as store:
        found = store.results()
        kept = work(ready.subjects, Task(ready.cells[0], 0, 1))
        shares = (kept.clipped, kept.zeroed, kept.undriven, kept.unsettled)
        assert tuple(found.numbers[0, :8]) == (kept.value, *shares, *kept.joules)
        assert np.array_equal(np.frombuffer(found.items[0]), kept.items)
        (digest,) = found.digests
        assert np.array_equal(store.items(digest)[0], kept.items)
        content, known = store.subjects()["sva-osc-d2-s0"]
        assert content["metric"] == "hard_accuracy"
        assert np.array_equal(known.digital, ready.known["sva-osc-d2-s0"].digital)
        assert store.device(digest)["weight_bits"] == 3
        assert store.cells() == [(digest, "sva-osc-d2-s0", {"weight_bits": 3})]


def test_a_result_that_is_there_stays(ready, path):
    before = everything(path)
    task = Task(ready.cells[0], 0, 1)
    other = dataclasses.replace(work(ready.subjects, task), value=0.123)
    with run._opened(ready, path) as store:
        store.save(task, other, None)
    assert everything(path) == before


def test_a_store_of_another_sweep_is_refused_and_untouched(path, tmp_path):
    before = path.read_bytes()
    other = small(tmp_path, axes={"weight_bits": [4]})
    with pytest.raises(SpecError, match=r"store of another sweep: axes differ"):
        sweep(other, path, workers=1)
    assert path.read_bytes() == before


def test_other_sentences_are_another_sweep(path, tmp_path):
    other = small(tmp_path, axes=AXES, data=few_sentences(tmp_path, 32))
    with pytest.raises(SpecError, match=r"store of another sweep: data differ"):
        sweep(other, path, workers=1)


def test_other_versions_do_not_mix(ready, path):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            'UPDATE about SET content = replace(content, \'"oscsim": "\', '
            "'\"oscsim\": \"0.0.') WHERE name = 'versions'"
        )
    connection.close()
    with pytest.raises(SpecError, match=r"written by other versions \(oscsim 0\.0\."):
        sweep(ready, path, workers=1)
    with open_store(path) as store:
        assert len(store.results().values) == 2


def test_another_format_is_said(path):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(SpecError, match=f"has format {FORMAT + 1} and this version"):
        open_store(path)


@pytest.mark.parametrize("content", [b"no database" * 200, b"SQLite format 3\0"])
def test_a_file_that_is_no_store_is_refused_and_untouched(ready, tmp_path, content):
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    for attempt in (open_store, lambda p: sweep(ready, p, workers=1)):
        with pytest.raises(SpecError, match="is no store of a sweep"):
            attempt(path)
    assert path.read_bytes() == content


def test_another_database_is_no_store(ready, tmp_path):
    path = tmp_path / "music.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()
    with pytest.raises(SpecError, match="is no store of a sweep"):
        sweep(ready, path, workers=1)


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(SpecError, match="there is no store"):
        open_store(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_a_folder_that_is_none(ready, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="cannot write"):
        sweep(ready, tmp_path / "file" / "s.sqlite", workers=1)
    with pytest.raises(SpecError, match="cannot write"):
        sweep(ready, tmp_path, workers=1)


def test_a_full_disk_keeps_what_was_committed(tmp_path, monkeypatch):
    ready = small(tmp_path, axes={"weight_bits": [3]}, chips=30)
    path, opened = tmp_path / "full.sqlite", []
    make = run.create_or_resume

    def watched(*arguments, **named):
        opened.append(make(*arguments, **named))
        return opened[0]

    def fill(done, _all):
        if done == 2:
            opened[0].connection.execute("PRAGMA max_page_count = 1")

    monkeypatch.setattr(run, "create_or_resume", watched)
    with pytest.raises(StoreError, match="database or disk is full"):
        sweep(ready, path, workers=1, progress=fill)
    with open_store(path) as store:
        kept = len(store.results().values)
    assert 2 <= kept < 30
    monkeypatch.undo()
    again = sweep(ready, path, workers=1)
    assert (again.chips, again.resumed) == (30, kept)


def test_a_chip_that_leaves_float64_is_kept_as_a_failure(tmp_path):
    ready = small(
        tmp_path,
        axes={"coupling_mismatch": [10.0]},
        set={"range_limit": False, "weight_bits": "none"},
    )
    result = sweep(ready, tmp_path / "x.sqlite", workers=1)
    with open_store(tmp_path / "x.sqlite") as store:
        found = store.results()
    assert len(found.failures) == 2
    assert result.failures == sum(map(bool, found.failures))
    assert list(np.isnan(found.values)) == list(map(bool, found.failures))


def test_a_finished_sweep_leaves_one_file(path):
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    with open_store(path) as store:
        assert len(store.results().values) == 2
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def stub(path):
    """What a process leaves that is killed before its first transaction."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE a (b)")
    connection.execute("DROP TABLE a")
    connection.close()
    assert path.stat().st_size > 0


def test_a_store_that_was_being_made_is_made(ready, path, tmp_path):
    cut = tmp_path / "cut.sqlite"
    stub(cut)
    assert sweep(ready, cut, workers=1).chips == 2
    assert everything(cut) == everything(path)


def test_two_processes_make_one_store(ready, tmp_path, monkeypatch):
    """The other makes it between the look and the lock."""
    path, empty, ran = tmp_path / "both.sqlite", store_module._is_empty, []

    def look(store):
        found = empty(store)
        if found and not ran:
            ran.append(True)
            sweep(ready, path, workers=1)
        return found

    monkeypatch.setattr(store_module, "_is_empty", look)
    result = sweep(ready, path, workers=1)
    assert (result.chips, result.resumed) == (2, 2)


def test_a_store_that_is_taken_away_is_told(ready, tmp_path):
    path = tmp_path / "gone.sqlite"

    def take(done, _all):
        if done == 1:
            path.unlink()

    with pytest.raises(StoreError, match="taken away or replaced"):
        sweep(ready, path, workers=1, progress=take)


def test_memory_keeps_nothing(ready):
    with pytest.raises(SpecError, match="a store is a file"):
        sweep(ready, ":memory:", workers=1)


DAMAGES = {
    "an item": "UPDATE items SET numbers = zeroblob(length(numbers)) WHERE chip = 1",
    "the value": "UPDATE results SET value = value + 0.001 WHERE chip = 1",
    "a share": "UPDATE results SET unsettled = 0.5 WHERE chip = 1",
    "a failure": "UPDATE results SET failure = 'no' WHERE chip = 1",
    "a place": "UPDATE items SET chip = 7 WHERE chip = 1",
    "no items": "DELETE FROM items WHERE chip = 1",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_result_is_found_and_run_again(ready, path, what):
    whole = everything(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(DAMAGES[what])
    with (
        open_store(path) as store,
        pytest.raises(SpecError, match=r"is damaged: 1 results .* chip 1 of cell"),
    ):
        read_table(store)
    again = sweep(ready, path, workers=1)
    assert (again.chips, again.resumed, again.repeated) == (2, 1, 1)
    results, items = everything(path)
    assert results == whole[0]
    assert [row for row in items if row[1] < 2] == whole[1]
    assert sweep(ready, path, workers=1).repeated == 0


def test_results_that_changed_places_are_found(tmp_path):
    ready = small(tmp_path, axes={"weight_bits": [3, 6]})
    path = tmp_path / "swapped.sqlite"
    sweep(ready, path, workers=1)
    whole = everything(path)
    one, other = (cell.digest for cell in ready.cells)
    with closing(sqlite3.connect(path)) as connection, connection:
        for name in ("results", "items"):
            for old, new in ((one, "-"), (other, one), ("-", other)):
                connection.execute(
                    f"UPDATE {name} SET digest = ? WHERE digest = ?", (new, old)
                )
    with open_store(path) as store:
        assert len(store.results().damaged) == 4
    assert sweep(ready, path, workers=1).repeated == 4
    assert everything(path) == whole


SAID = {
    "a point": ("cells", "point = '{\"weight_bits\": 4}'"),
    "a point that is none": ("cells", "point = '{'"),
    "a device": ("cells", "device = replace(device, 'e', 'f')"),
    "digital numbers": ("subjects", "digital = zeroblob(length(digital))"),
    "drives": ("subjects", "drives = zeroblob(length(drives))"),
    "a configuration": ("subjects", "content = replace(content, '2', '3')"),
}


@pytest.mark.parametrize("what", SAID)
def test_what_is_said_of_cells_and_checkpoints_is_checked_and_mended(ready, path, what):
    table, change = SAID[what]
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.execute(f"SELECT * FROM {table}"))
        with connection:
            connection.execute(f"UPDATE {table} SET {change}")
    with (
        open_store(path) as store,
        pytest.raises(SpecError, match=r"is damaged: what it says of .* mends it"),
    ):
        read_table(store)
    assert sweep(ready, path, workers=1).repeated == 0
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.execute(f"SELECT * FROM {table}")) == before


def test_seconds_are_no_part_of_a_result(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE results SET seconds = 2 * seconds")
    with open_store(path) as store:
        assert not store.results().damaged


def test_a_second_process_starts_elsewhere(tmp_path, monkeypatch):
    """Two on one store do not run the same chips one after the other."""
    drawn = random.Random(1)
    monkeypatch.setattr(plan.random, "Random", lambda: drawn)
    ready = small(tmp_path, axes={"weight_bits": [3]}, chips=400)
    path = tmp_path / "shared.sqlite"
    with run._opened(ready, path) as first:
        begin = Plan(ready.spec, ready.cells, first)
        assert [begin.next().chip for _ in range(3)] == [0, 1, 2]
        with run._opened(ready, path) as second:
            later = Plan(ready.spec, ready.cells, second).waiting
            chips = [task.chip for task in later]
    start = chips[0]
    assert start > 0
    assert chips == [*range(start, 400), *range(start)]


def test_a_device_file_that_changed_is_another_sweep(tmp_path):
    """The specification only names it; its results would have no cell."""
    device, path = tmp_path / "own.toml", tmp_path / "own.sqlite"
    text = (DEVICES / "ring-65nm.toml").read_text(encoding="utf-8")
    device.write_text(text, encoding="utf-8")
    axes = {"coupling_mismatch": [0.0, 0.1]}
    sweep(small(tmp_path, axes=axes, device=str(device)), path, workers=1)
    before = everything(path)
    other = text.replace("[weight_bits]\nvalue = 5", "[weight_bits]\nvalue = 2")
    assert other != text
    device.write_text(other, encoding="utf-8")
    with pytest.raises(SpecError, match=r"2 of 2 cells are not in it, so a device"):
        sweep(small(tmp_path, axes=axes, device=str(device)), path, workers=1)
    assert everything(path) == before


def test_a_store_that_is_replaced_is_told(tmp_path):
    ready = small(tmp_path, axes={"weight_bits": [3]}, chips=30)
    path, other = tmp_path / "s.sqlite", tmp_path / "other.sqlite"
    sweep(small(tmp_path, axes={"weight_bits": [4]}), other, workers=1)
    whole = everything(other)

    def replace(done, _all):
        if done == 3:
            other.replace(path)

    with pytest.raises(StoreError, match="taken away or replaced"):
        sweep(ready, path, workers=1, progress=replace)
    assert everything(path) == whole
