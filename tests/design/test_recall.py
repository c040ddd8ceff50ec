"""A sweep that goes on takes digital results from its store, if they are its own."""

import sqlite3
from functools import partial

import numpy as np
import pytest

from oscsim.design import run
from oscsim.design.run import prepare, sweep
from oscsim.errors import SpecError
from tests.design.specs import few_sentences, spec

TWIN = "sva-softmax-s0"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    data = few_sentences(tmp_path_factory.mktemp("data"))
    twin = spec().checkpoints[0].replace("sva-osc-d2-s0", TWIN)
    return partial(spec, data=data, twins=[twin], axes={"relative_diffusion": [0.1]})


@pytest.fixture
def store(asked, tmp_path):
    path = tmp_path / "a.sqlite"
    sweep(asked(), path, workers=1)
    return path


@pytest.fixture
def learnt(monkeypatch):
    """The models that are run digitally."""
    names, learn = [], run.learn

    def watched(subject):
        names.append(subject.checkpoint.name)
        return learn(subject)

    monkeypatch.setattr(run, "learn", watched)
    return names


def test_nothing_is_learnt_twice_and_all_is_the_same(asked, store, learnt):
    fresh = prepare(asked())
    assert learnt == ["sva-osc-d2-s0", TWIN]
    again = prepare(asked(), store)
    assert len(learnt) == 2
    assert [c.digest for c in again.cells] == [c.digest for c in fresh.cells]
    for name, known in fresh.known.items():
        found = again.known[name]
        np.testing.assert_array_equal(found.digital, known.digital)
        np.testing.assert_array_equal(found.counted, known.counted)
        np.testing.assert_array_equal(found.drive_quantiles, known.drive_quantiles)


def test_other_items_or_models_are_learnt(asked, store, learnt, tmp_path):
    prepare(asked(data=few_sentences(tmp_path, 32)), store)
    assert learnt == ["sva-osc-d2-s0", TWIN]
    other = asked().checkpoints[0].replace("-s0", "-s1")
    prepare(asked(checkpoints=[other]), store)
    assert learnt[2:] == ["sva-osc-d2-s1"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE subjects SET digital = zeroblob(length(digital))",
        """UPDATE about SET content = '{"oscsim": "0"}' WHERE name = 'versions'""",
        "UPDATE about SET content = '{' WHERE name = 'versions'",
        "DROP TABLE subjects",
        "PRAGMA user_version = 1",
    ],
)
def test_a_store_that_cannot_be_trusted_gives_nothing(asked, store, learnt, change):
    connection = sqlite3.connect(store)
    connection.execute(change)
    connection.commit()
    connection.close()
    prepare(asked(), store)
    assert learnt == ["sva-osc-d2-s0", TWIN]


def test_a_file_that_is_no_store_is_refused_by_who_writes_it(asked, tmp_path):
    path = tmp_path / "text.sqlite"
    path.write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(SpecError, match="is no store of a sweep"):
        sweep(asked(), path, workers=1)


def test_a_store_that_is_not_there_gives_nothing(asked, learnt, tmp_path):
    prepare(asked(), tmp_path / "none.sqlite")
    assert len(learnt) == 2
