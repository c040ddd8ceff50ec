"""Whatever can be refused is refused before the first trial chip is run."""

import json

import pytest

from oscsim.cli import run
from oscsim.design import cost
from oscsim.design.run import sweep
from oscsim.errors import SpecError
from tests.design.specs import small, spec_file


class Tried(Exception):
    """A trial chip was run."""


@pytest.fixture
def no_trials(monkeypatch):
    def forecast(_ready, **_):
        raise Tried

    monkeypatch.setattr(cost, "forecast", forecast)


def test_a_new_store_is_foretold_first(no_trials, tmp_path):
    with pytest.raises(Tried):
        run(["sweep", str(spec_file(tmp_path)), "--store", str(tmp_path / "a.sqlite")])


def test_a_folder_that_cannot_be_made_is_refused_first(no_trials, tmp_path, capfd):
    spec = spec_file(tmp_path)
    (tmp_path / "file").write_text("no folder")
    store = tmp_path / "file" / "a.sqlite"
    assert run(["sweep", str(spec), "--store", str(store)]) == 2
    assert "choose another folder" in capfd.readouterr().err


def test_a_store_of_another_sweep_is_refused_first(no_trials, tmp_path, capfd):
    store = tmp_path / "other.sqlite"
    sweep(small(tmp_path, chips=1), store, workers=1)
    assert run(["sweep", str(spec_file(tmp_path)), "--store", str(store)]) == 2
    assert "is the store of another sweep: chips differ" in capfd.readouterr().err


def test_a_scheduler_is_asked_first(no_trials, tmp_path, capfd):
    command = ["sweep", str(spec_file(tmp_path)), "--scheduler", "nowhere.json"]
    assert run([*command, "--store", str(tmp_path / "b.sqlite")]) == 2
    told = capfd.readouterr().err
    assert "as the file that dask scheduler --scheduler-file FILE has written" in told
    assert not (tmp_path / "b.sqlite").exists()


def test_a_store_with_results_is_not_foretold_again(no_trials, tmp_path):
    store = tmp_path / "c.sqlite"
    sweep(small(tmp_path), store, workers=1)
    spec = spec_file(tmp_path)
    assert run(["sweep", str(spec), "--store", str(store), "--workers", "1"]) == 0


def test_a_dry_run_says_which_cells_will_have_no_price(tmp_path, capfd):
    axes = {"adc_bits": [6, 8, 9, 12]}
    spec = str(spec_file(tmp_path, axes=axes, device="ring-65nm"))
    assert run(["sweep", spec, "--dry-run"]) == 0
    why = "adc_bits is above 8, the most that a law of its price covers"
    assert f"warning: no price of 2 of 4 cells: {why}\n" in capfd.readouterr().out
    assert run(["sweep", spec, "--dry-run", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["unpriced_reasons"] == {why: 2}
    spec = str(spec_file(tmp_path, axes={"adc_bits": [6, 8]}, device="ring-65nm"))
    assert run(["sweep", spec, "--dry-run"]) == 0
    assert "no price" not in capfd.readouterr().out


def test_starting_is_told_what_is_there_and_gives_the_progress(tmp_path):
    ready, store = small(tmp_path), tmp_path / "d.sqlite"
    told, seen = [], []

    def starting(done):
        told.append(done)
        return lambda done, _all: seen.append(done)

    for _ in range(2):
        sweep(ready, store, workers=1, starting=starting)
    assert told == [0, 8]
    assert seen == [*range(9), 8]


def test_starting_is_not_called_if_something_is_wrong(tmp_path):
    with pytest.raises(SpecError, match="is given as tcp://HOST:PORT"):
        sweep(
            small(tmp_path),
            tmp_path / "e.sqlite",
            scheduler="nonsense",
            starting=pytest.fail,
        )
