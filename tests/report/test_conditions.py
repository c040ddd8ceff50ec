"""A rule and its sheet say on what the sweep was run."""

import dataclasses
import json

from oscsim.cli import run
from oscsim.design.run import sweep
from oscsim.design.table import read_table
from oscsim.report.conditions import said_conditions
from tests.design.specs import small
from tests.report.sheet_sample import sweep_table


def test_terminal_and_sheet_say_items_draws_rung_and_device(tmp_path, capsys):
    store = tmp_path / "a.sqlite"
    ready = small(tmp_path, seed=3, repeats=2, set={"adc_bits": 6}, device="ring-28nm")
    sweep(ready, store, workers=1)
    table = read_table(store)
    (subject,) = ready.subjects.values()
    expected = (
        f"64 items, data {subject.data.sha256[:8]}, seed 3, repeats 2, rung device, "
        "device ring-28nm with adc_bits 6"
    )
    assert said_conditions(table) == expected
    assert run(["rule", str(store), "--out", str(tmp_path / "sheet")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in lines[:2]] == [
        "small: hard_accuracy, 4 cells",
        expected,
    ]
    page = (tmp_path / "sheet" / "sheet.html").read_text(encoding="utf-8")
    assert f"Run with {expected}." in page
    assert str(tmp_path) not in page
    assert run(["rule", str(store), "--json"]) == 0
    assert str(tmp_path) not in json.dumps(json.loads(capsys.readouterr().out))


def test_windows_contexts_and_devices_that_vary_are_said():
    spec = {"windows": 5, "context": 32, "device": None, "data": ["0123456789ab"]}
    made = sweep_table()
    subjects = {name: dict(one) | {"items": 5} for name, one in made.subjects.items()}
    table = dataclasses.replace(made, spec=spec, subjects=subjects)
    said = "5 windows of 32 bytes, data 01234567, each model's default device"
    assert said_conditions(table) == said
    varied = sweep_table(axes={"device": ("a", "b"), "weight_bits": (3, 4)})
    varied = dataclasses.replace(varied, spec={"device": "a", "data": []})
    assert said_conditions(varied).endswith("device as the axis says")


def test_nothing_is_said_of_what_is_not_known():
    table = dataclasses.replace(sweep_table(), spec={})
    bare = {name: {"config": {}} for name in table.subjects}
    assert said_conditions(dataclasses.replace(table, subjects=bare)) == ""
