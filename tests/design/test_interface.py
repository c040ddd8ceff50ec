"""Sweeps from Python: paths where files are meant, results that say what they are."""

import numpy as np
import pytest

import oscsim as osc
from tests.design.specs import small, spec_file


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interface")
    path = folder / "small.sqlite"
    spec = spec_file(folder)
    assert osc.sweep(str(spec), str(path), workers=1).chips == 8
    assert osc.sweep(spec, path, workers=1).resumed == 8
    return path


def test_a_table_is_read_from_a_path_as_from_an_open_store(store):
    with osc.open_store(store) as opened:
        expected = osc.read_table(opened)
    for path in (store, str(store)):
        found = osc.read_table(path)
        assert [c.digest for c in found.cells] == [c.digest for c in expected.cells]
        np.testing.assert_array_equal(found.cells[3].values, expected.cells[3].values)


@pytest.mark.parametrize("read", [osc.read_table, osc.open_store])
def test_a_file_that_is_no_store_is_told_in_a_sentence(tmp_path, read):
    with pytest.raises(osc.OscsimError, match=r"there is no store .*none"):
        read(tmp_path / "none.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(osc.OscsimError, match="is no store of a sweep"):
        read(str(text))


def test_a_specification_that_is_not_there_is_told_in_a_sentence(tmp_path):
    with pytest.raises(osc.OscsimError, match="there is no sweep specification"):
        osc.sweep(str(tmp_path / "none.toml"), tmp_path / "a.sqlite")
    assert not (tmp_path / "a.sqlite").exists()


def test_tables_and_rules_say_what_they_are_in_a_line(store):
    table = osc.read_table(store)
    assert repr(table) == (
        "<SweepTable 'small': hard_accuracy, 4 cells of 1 model, "
        "axes coupling_mismatch, weight_bits>"
    )
    rule = osc.fit_rule(table, losses=[0.02, 0.1], resamples=20)
    assert repr(rule) == "<DesignRule of 'small': 2 rules for losses of 2 %, 10 %>"


def test_tables_and_rules_are_data_sets(store):
    table = osc.read_table(store)
    rule = osc.fit_rule(table, losses=[0.02], resamples=20)
    cells, everything = table.to_xarray(), rule.to_xarray()
    for k, cell in enumerate(table.cells):
        np.testing.assert_array_equal(cells["metric"][k], cell.values)
        np.testing.assert_array_equal(cells["loss"][k], table.loss(cell))
        assert cells["axis_weight_bits"][k] == cell.point["weight_bits"]
    for name in cells:
        assert everything[name].identical(cells[name])
    assert "rule" not in cells.sizes
    assert everything.sizes["rule"] == len(rule.rules) == 2
    assert everything.sizes["point"] == len(osc.pareto(table))


def test_what_was_prepared_is_run_as_its_file_is(store, tmp_path):
    other = tmp_path / "other.sqlite"
    osc.sweep(small(store.parent), other, workers=1)
    table, again = osc.read_table(store), osc.read_table(other)
    assert [c.digest for c in again.cells] == [c.digest for c in table.cells]
