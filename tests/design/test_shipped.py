"""The store that ships gives the rule and the sheet that ship."""

import csv
from pathlib import Path

import pytest

from oscsim.design.rule import fit_rule
from oscsim.design.spec import read_spec
from oscsim.design.store_file import open_store
from oscsim.design.table import read_table

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "sweeps" / "dosc-noise"


@pytest.fixture(scope="module")
def rule():
    with open_store(FOLDER / "dosc-noise.sqlite") as store:
        return fit_rule(read_table(store))


def test_it_is_the_headline_and_complete(rule):
    spec = read_spec(ROOT / "examples" / "sweeps" / "dosc-noise.toml")
    (axis,) = spec.all_axes
    cells = len(spec.checkpoints) * len(axis.values)
    assert (len(rule.table.cells), rule.table.missing) == (cells, 0)
    assert {len(cell.values) for cell in rule.table.cells} == {spec.chips}


def test_the_table_is_that_of_its_store(rule):
    with (FOLDER / "rule.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shipped = {(r["model"], float(r["loss"])): float(r["allowed"]) for r in rows}
    assert shipped == {
        (one.subject, loss): pytest.approx(found.value, rel=1e-12)
        for one in rule.rules
        for loss, found in one.allowed.items()
    }


def test_the_best_dimension_falls_with_noise(rule):
    best = [one.d_osc for one in rule.optima]
    assert best == [32, 32, 32, 4, 4, 2, 2, 2, 2]
    assert [one.undecided for one in rule.optima][:4] == [
        ("bytes-osc-d16-p4",),
        ("bytes-osc-d16-p4",),
        ("bytes-osc-d16-p4",),
        ("bytes-osc-d8-p4",),
    ]
