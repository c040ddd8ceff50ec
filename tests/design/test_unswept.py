"""What sweeps that are no grids say, and what is on that they do not vary."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from oscsim.design.axes import Axis, latin_hypercube
from oscsim.design.rule import fit_rule
from oscsim.design.rule_json import rule_json
from oscsim.design.shares import sobol_shares
from oscsim.design.unswept import OF_RUNG, unswept
from oscsim.report.rule_terminal import print_rule
from oscsim.report.unswept_words import unswept_words
from oscsim.substrate.device import as_device
from tests.design.test_rule import DIGITAL, table

NAMES = ("coupling_mismatch", "stuck_off", "readout_noise")


def printed(rule, **more):
    with io.StringIO() as out:
        print_rule(Console(file=out, width=240), rule, (), (), (), **more)
        return out.getvalue()


def drawn(n, design="latin-hypercube"):
    """Cells at points of a hypercube, the loss in the order of their number."""
    points = latin_hypercube([Axis(name, (), 0.0, 1.0) for name in NAMES], n, seed=1)
    made = table(lambda _m, _p: 0.0, {"coupling_mismatch": [0.0]})
    cells = tuple(
        dataclasses.replace(
            made.cells[0],
            digest=str(k),
            point=point,
            values=DIGITAL * (1 + (n - k) / 100 + 0 * made.cells[0].values),
        )
        for k, point in enumerate(points)
    )
    spec = {"design": design, "axes": {n: {"low": 0.0, "high": 1.0} for n in NAMES}}
    return dataclasses.replace(made, cells=cells, spec=spec)


@pytest.fixture(scope="module")
def ring():
    return stored("ring-65nm")


def stored(name):
    """A device as a store gives it."""
    return json.loads(as_device(name, 2).model_dump_json(exclude={"provenance"}))


def test_nothing_is_on_in_an_ideal_device():
    made = table(lambda _m, p: p["stuck_off"], {"stuck_off": [0.0, 0.1]})
    assert unswept(made, lambda _digest: stored("ideal")) == {"ideal": {}}


def test_what_is_on_and_not_varied_is_named(ring):
    made = table(lambda _m, p: p["stuck_off"], {"stuck_off": [0.0, 0.1, 0.2]})
    found = unswept(made, lambda _digest: ring)
    own = found["ring-65nm"]
    assert own["frequency_mismatch"] == ring["frequency_mismatch"] > 0
    assert own["range_limit"] is True
    assert "stuck_off" not in own, "an axis varies it"
    assert "stuck_on" not in own, "it is off"
    assert set(own) == {
        name
        for name in (*as_device("ring-65nm", 2).imperfections, "range_limit")
        if name != "stuck_off"
    }
    (said,) = unswept_words(found)
    assert said.startswith("on in ring-65nm and not swept: weight_bits 5, anchor_bits")
    assert f"frequency_mismatch {ring['frequency_mismatch']:g}" in said
    assert said in printed(fit_rule(made), on=found)
    content = rule_json(fit_rule(made), (), (), (), on=found)
    assert content["on_not_swept"] == found
    assert unswept_words({"ideal": {}}) == []


def test_a_relative_number_varies_the_field_it_sets(ring):
    axes = {"relative_settle_time": [1.0, 2.0], "relative_diffusion": [0.0, 0.1]}
    made = table(lambda _m, p: p["relative_diffusion"], axes)
    (own,) = unswept(made, lambda _digest: ring).values()
    assert not {"settle_time", "diffusion"} & set(own)
    one = table(lambda _m, _p: 0.1, {"adc_bits": [8], "relative_diffusion": [0.0, 0.1]})
    (own,) = unswept(one, lambda _digest: ring).values()
    assert own["adc_bits"] == ring["adc_bits"], "one value only is not swept"


@pytest.mark.parametrize("rung", OF_RUNG)
def test_only_what_acts_at_the_rung_counts(rung, ring):
    made = table(lambda _m, p: p["stuck_off"], {"stuck_off": [0.0, 0.1]})
    made = dataclasses.replace(made, spec={"rung": rung})
    (own,) = unswept(made, lambda _digest: ring).values()
    acting = set(as_device("ring-65nm", 2).at_rung(rung).imperfections)
    assert set(own) == acting


def test_devices_of_several_models_have_their_values_side_by_side(ring):
    models = (("a", 2), ("b", 2))
    made = table(lambda _m, p: p["stuck_off"], {"stuck_off": [0.0, 0.1]}, models)
    other = ring | {"weight_bits": 8, "diffusion": 0.0}
    found = unswept(made, lambda d: ring if d.startswith("a") else other)["ring-65nm"]
    assert found["weight_bits"] == [5, 8]
    assert found["diffusion"] == ring["diffusion"]
    assert "weight_bits 5 or 8" in unswept_words({"ring-65nm": found})[0]


def test_why_there_is_no_sobol_index_is_said():
    rule = fit_rule(drawn(12))
    shares, why = sobol_shares(rule)
    assert shares == ()
    assert (
        "combinations, m has 12 cells; a quadratic surface of 3 axes needs 20 ce"
        in (why["m"])
    )
    assert f"no Sobol indices of m: {why['m'][:40]}" in printed(rule, why_not=why)
    assert rule_json(rule, (), (), (), why_not=why)["why_no_sobol"] == why
    grid = {"coupling_mismatch": [0.0, 1.0], "stuck_off": [0.0, 1.0]}
    shares, why = sobol_shares(fit_rule(table(lambda _m, p: sum(p.values()), grid)))
    assert ([one.subject for one in shares], why) == (["m"], {})
    alone = table(lambda _m, p: p["stuck_off"], {"stuck_off": [0.0, 1.0]})
    assert sobol_shares(fit_rule(alone)) == ((), {})


@pytest.mark.parametrize("design", ["list", "latin-hypercube"])
def test_points_are_printed_the_least_loss_first(design):
    text = printed(fit_rule(drawn(25, design)))
    assert "no number was run at two values or more with all others held" in text
    shown = [line for line in text.splitlines() if "coupling_mismatch" in line]
    losses = [line.split("│")[5].split(" +- ")[0].strip() for line in shown]
    assert losses == [str(k) for k in range(1, 21)]
    assert "and 5 more (--out: sweep.nc)" in text
    assert "points by their loss" not in printed(fit_rule(drawn(25, "grid")))


def test_a_ranking_is_no_missing_rule():
    made = table(lambda _m, p: 0.1 * p["frequency_hz"], {"frequency_hz": [1.0, 2.0]})
    text = printed(fit_rule(made))
    assert "loss by frequency_hz" in text
    assert "there is no rule" not in text
