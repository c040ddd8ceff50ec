"""The cheapest cell that loses at most so much, of tables known exactly."""

import dataclasses
import json
import math

import numpy as np
import pytest
from rich.console import Console

from oscsim.design.cheapest import cheapest
from oscsim.design.pareto import pareto
from oscsim.design.replicates import half_width
from oscsim.design.rule import fit_rule
from oscsim.design.rule_json import rule_json
from oscsim.design.run import prepare, sweep
from oscsim.design.spec import read_spec
from oscsim.design.store_file import open_store
from oscsim.design.table import read_table
from oscsim.report.cheapest_table import cheapest_csv, cheapest_section, print_cheapest
from tests.design.specs import DATA, small
from tests.design.test_rule import DIGITAL, table

BITS = [2, 3, 4, 5, 6]
LOSS = dict(zip(BITS, (0.4, 0.19, 0.09, 0.04, 0.01), strict=True))


def made(half=0.0, models=(("m", 2),), **changed):
    """Losses above, with an exact half-width over six chips; joules are the bits."""
    found = table(
        lambda _m, p: LOSS[p["weight_bits"]],
        {"weight_bits": BITS},
        models=models,
        **{"joules": lambda _m, p: (p["weight_bits"],) * 3} | changed,
    )
    shape = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    scale = half / half_width(shape)
    cells = [
        dataclasses.replace(c, values=c.values + DIGITAL * scale * shape)
        for c in found.cells
    ]
    return dataclasses.replace(found, cells=tuple(cells))


def bits(cell):
    return None if cell is None else cell.point["weight_bits"]


@pytest.mark.parametrize(
    ("half", "most", "found", "certain"),
    [
        (0.0, 0.10, 4, 4),
        (0.02, 0.10, 4, 5),
        (0.009, 0.10, 4, 4),
        (0.02, 0.005, None, None),
        (0.02, 0.02, 6, None),
        (0.02, 1.00, 2, 2),
    ],
)
def test_it_is_the_least_joules_within_the_loss(half, most, found, certain):
    """Upper ends below, above and at a loss; none; all."""
    (one,) = cheapest(made(half), [most])
    assert (bits(one.found), bits(one.certain)) == (found, certain)
    assert bits(one.least) == 6
    if one.found is not None:
        assert one.found.loss == pytest.approx(LOSS[found], abs=1e-12)
        assert one.found.half_width == pytest.approx(half, abs=1e-12)


def test_dear_and_good_is_not_taken_for_cheap_and_good_enough():
    """Joules that fall with bits: then the most bits are the cheapest for all."""
    falling = made(joules=lambda _m, p: (10 - p["weight_bits"],) * 3)
    assert [bits(one.found) for one in cheapest(falling, [0.02, 0.5])] == [6, 6]
    same = made(joules=lambda _m, _p: (1.0,) * 3)
    (one,) = cheapest(same, [0.1])
    assert bits(one.found) == 6, "of equal joules the least loss"


def test_of_cells_that_cost_the_same_it_is_the_one_that_asks_least():
    """A list: what a point leaves out is as in the preset, and not asked for."""
    same = made(joules=lambda _m, _p: (1.0,) * 3)
    cells = tuple(
        dataclasses.replace(c, point={**c.point, "coupling_mismatch": 0.001})
        if c.point["weight_bits"] < 6
        else c
        for c in same.cells
    )
    (one,) = cheapest(dataclasses.replace(same, cells=cells), [0.1])
    assert one.found.point == {"weight_bits": 6.0}


def test_of_numbers_that_no_joules_follow_it_asks_as_little_as_will_do():
    axes = {"coupling_mismatch": [0.0, 0.05, 0.1, 0.2], "weight_bits": [4, 6]}
    grid = table(
        lambda _m, p: p["coupling_mismatch"] + 0.06 - 0.01 * p["weight_bits"],
        axes,
        joules=lambda _m, p: (p["weight_bits"],) * 3,
    )
    found = [one.found.point for one in cheapest(grid, [0.01, 0.06, 0.11, 0.125])]
    wanted = [(0.0, 6.0), (0.0, 4.0), (0.05, 4.0), (0.1, 4.0)]
    assert [(p["coupling_mismatch"], p["weight_bits"]) for p in found] == wanted


def test_one_chip_is_never_certain_and_a_failed_cell_is_no_cell():
    one_chip = made(chips=6)
    cells = tuple(
        dataclasses.replace(c, values=c.values[:1], chips=c.chips[:1])
        for c in one_chip.cells
    )
    (one,) = cheapest(dataclasses.replace(one_chip, cells=cells), [0.10])
    assert bits(one.found) == 4
    assert math.isnan(one.found.half_width)
    assert one.certain is None
    failed = tuple(
        dataclasses.replace(c, values=np.full(6, np.nan))
        if c.point["weight_bits"] == 4
        else c
        for c in made().cells
    )
    (one,) = cheapest(dataclasses.replace(made(), cells=failed), [0.10])
    assert bits(one.found) == 5


def test_every_model_has_its_own_and_one_without_prices_says_why():
    both = made(models=(("m", 2), ("n", 4)))
    cells = tuple(
        dataclasses.replace(c, joules=None, why_unpriced="the device has no price map")
        if c.subject == "n"
        else c
        for c in both.cells
    )
    both = dataclasses.replace(both, cells=cells)
    m, n = cheapest(both, [0.10])
    assert (m.subject, bits(m.found), m.why_none) == ("m", 4, "")
    assert (n.found, n.least, n.why_none) == (None, None, "the device has no price map")
    console = Console(width=200, record=True, file=None)
    with console.capture() as seen:
        print_cheapest(console, (m, n))
    assert "note: n has no price: the device has no price map" in seen.get()
    with console.capture() as seen:
        print_cheapest(console, (n,))
    assert seen.get() == ""
    assert cheapest_section((n,), []) == ""


def test_terminal_sheet_csv_and_json_say_the_same():
    found = cheapest(made(0.02), [0.005, 0.10])
    console = Console(width=250)
    with console.capture() as seen:
        print_cheapest(console, found)
    text = seen.get()
    page = cheapest_section(found, range(5))
    for said in (
        "none; least at weight_bits 6",
        "1.00 ± 2.00 %",
        "9.00 ± 2.00 %",
        "not told apart",
        "4.00 ± 2.00 %",
        "surely",
    ):
        assert said in text
        assert said in page
    assert '<a href="#cell-2">weight_bits 4</a>' in page
    assert '<a href="#cell-3">weight_bits 5</a>' in page
    assert "<a" not in cheapest_section(found, [])
    head, *rows = (line.split(",") for line in cheapest_csv(found).decode().split())
    shown = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(r["loss_at_most"], r["kind"], r["weight_bits"]) for r in shown] == [
        ("0.005", "cheapest", ""),
        ("0.005", "certain", ""),
        ("0.1", "cheapest", "4.0"),
        ("0.1", "certain", "5.0"),
    ]
    assert [r["is_certain"] for r in shown] == ["", "", "0", "1"]
    assert float(shown[0]["least_loss"]) == pytest.approx(0.01)
    rule = fit_rule(made(0.02), losses=[0.005, 0.10])
    none, ten = rule_json(rule, (), (), pareto(rule.table))["cheapest"]
    assert none["cheapest"] is None
    assert none["least"]["point"] == {"weight_bits": 6.0}
    assert ten["cheapest"]["point"] == {"weight_bits": 4.0}
    assert ten["cheapest"]["is_certain"] is False
    assert ten["certain"]["joules"] == [5.0] * 3
    json.dumps((none, ten), allow_nan=False)


def test_of_a_real_sweep_it_is_what_a_search_of_its_cells_finds(tmp_path):
    ready = small(
        tmp_path,
        device="ring-65nm",
        chips=3,
        axes={"weight_bits": [2, 4, 6, 8], "settle_time": [1e-6, 4e-6]},
    )
    path = tmp_path / "real.sqlite"
    sweep(ready, path, workers=1)
    with open_store(path) as store:
        real = read_table(store)
    losses = [0.0, 0.01, 0.1]
    for one in cheapest(real, losses):
        within = [c for c in real.cells if real.loss(c).mean() <= one.most]
        sure = [
            c
            for c in within
            if real.loss(c).mean() + half_width(real.loss(c)) < one.most
        ]
        for found, cells in ((one.found, within), (one.certain, sure)):
            assert (found is None) == (not cells)
            if found is not None:
                assert found.joules[1] == min(c.joules[1] for c in cells)
    assert any(one.found is not None for one in cheapest(real, losses))


@pytest.mark.slow
def test_what_limits_a_ring_chip_is_as_the_readme_says(tmp_path):
    """No bits, time or noise reach 2 % at the preset's mismatch of frequencies."""
    spec = read_spec(DATA.parent / "examples" / "sweeps" / "what-limits.toml")
    sweep(prepare(spec), tmp_path / "limits.sqlite", workers=1)
    with open_store(tmp_path / "limits.sqlite") as store:
        found = read_table(store)
    one, two = cheapest(found, [0.01, 0.02])
    better = {"weight_bits": 8, "settle_time": 2e-6, "frequency_mismatch": 3e-4}
    assert two.found.point == better
    assert two.found == two.certain
    assert two.found.joules[1] == pytest.approx(2.227e-6, rel=0.01)
    better = {"weight_bits": 8, "settle_time": 5e-6, "frequency_mismatch": 1e-4}
    assert one.certain.point == better
    assert one.certain.joules[1] == pytest.approx(2.519e-6, rel=0.01)
    for cell in found.cells:
        loss = found.loss(cell)
        if "frequency_mismatch" not in cell.point:
            assert loss.mean() - half_width(loss) > 0.02, cell.point
