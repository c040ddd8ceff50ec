"""Price and latency of a run, by hand."""

import dataclasses
import math

import pytest

from oscsim.bridge import cost as costs
from oscsim.bridge.array import latency_per_token
from oscsim.bridge.cost import price, require_prices, shape_of
from oscsim.bridge.infer import infer
from oscsim.bridge.setting import Setting
from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.runs import bundled, random_model, short_anchors, some

RING = Device.load("ring-65nm")


@pytest.fixture(scope="module")
def run():
    return infer(bundled(), some(64), device=RING, chips=2, repeats=2)


def test_a_run_costs_what_its_counts_cost(run):
    found = price(run)
    assert found is not None
    assert found.substrate.tokens == run.counts.tokens
    assert found.latency_s == latency_per_token(
        RING, run.checkpoint.fixed_query, run.data.lengths
    )
    assert "65 nm" in found.pairing
    assert "45 nm" in found.pairing
    for ledger in (found.substrate, *found.rivals.values()):
        core, converters, system = (
            ledger.per_token_j(total) for total in ("core", "converters", "system")
        )
        assert 0 <= core <= converters <= system
        low, middle, high = ledger.range_j("system")
        assert low <= middle <= high
    assert found.substrate.per_token_j("core") > 0
    assert set(found.ratios()) == set(found.rivals)


def test_energy_per_token_does_not_depend_on_chips_or_repeats(run):
    one = infer(bundled(), some(64), device=RING, chips=1, repeats=1)
    mine, theirs = price(one), price(run)
    assert mine.substrate.nominal_j() == pytest.approx(theirs.substrate.nominal_j())
    for name, rival in mine.rivals.items():
        assert rival.nominal_j() == theirs.rivals[name].nominal_j()


@pytest.mark.parametrize(
    ("settling", "reading", "factor"), [(2.0, 1.0, 201 / 101), (1.0, 3.0, 103 / 101)]
)
def test_core_energy_is_paid_while_settling_and_reading(run, settling, reading, factor):
    """1 us and 10 ns on ring-65nm: oscillators run until they have been read."""
    assert RING.settle_time == pytest.approx(100 * RING.read_time)
    kind = RING.changed(
        settle_time=settling * RING.settle_time, read_time=reading * RING.read_time
    )
    longer = price(infer(bundled(), some(64), device=kind, chips=1, repeats=1))
    once, other = (c.substrate.nominal_j("core") for c in (price(run), longer))
    assert other == pytest.approx(factor * once)


def test_rivals_are_those_of_the_same_task(run):
    found = infer(short_anchors(), some(64), device=RING, chips=1, repeats=1)
    cost = price(found)
    assert set(cost.rivals) == {costs.SOFTMAX, costs.DIRECT, costs.FACTORED}
    assert cost.left_out == ""
    assert found.digital_clamped == 0
    shape = shape_of(run, run.data.lengths)
    assert shape.rows == run.data.lengths.sum()
    assert shape.head_rows == 64
    assert (shape.n_layers, shape.d_osc, shape.power) == (1, 2, 1)


def test_a_steeper_read_out_has_no_factored_rival(run):
    config = bundled().config.model_copy(update={"p": 4})
    model = dataclasses.replace(bundled(), config=config)
    steep = infer(model, some(10), device=RING, chips=1, repeats=1)
    assert set(price(steep).rivals) == {costs.SOFTMAX, costs.DIRECT}
    assert price(steep).left_out == f"{costs.FACTORED}: not for p = 4"


def test_a_rival_that_is_another_model_is_left_out_and_the_reason_told(run):
    """Where the clamp acts prefix sums give other numbers: not the same task."""
    cost = price(run)
    assert set(cost.rivals) == {costs.SOFTMAX, costs.DIRECT}
    assert run.digital_clamped > 0
    share = run.digital_clamped / sum(n * n for n in run.data.lengths)
    assert cost.left_out == (
        f"{costs.FACTORED}: not the same model here, as 1 + z.r is negative for "
        f"{share:.1%} of the pairs and the clamp acts"
    )


def test_a_coupler_of_five_bits_is_priced_as_sixteen_of_one_level():
    """cpl.b2b_inverter is one level; half of 31 units are on, off ones load less."""
    ids = RING.energy.prices["coupler_s"]
    assert "knob.coupler_units_5b" in ids
    assert RING.weight_bits == 5
    counts = Counts(tokens=1)
    counts.add("settle", "coupler_s", 1.0)
    joules = [
        account(
            counts,
            Prices.of({"coupler_s": chosen}, frequency_hz=RING.frequency_hz),
            Library.load(),
        ).nominal_j()
        for chosen in (ids, [one for one in ids if one != "knob.coupler_units_5b"])
    ]
    assert joules[0] == pytest.approx(16 * joules[1])


@pytest.mark.parametrize(
    "how",
    [
        {"rung": "digital"},
        {"rung": "ideal"},
        {"device": RING.changed(settle_time=math.inf)},
        {"device": RING.changed(energy=None)},
        {"device": Device.load("ideal")},
        {
            "device": Device.load("ideal").changed(
                settle_time=3.0, energy=RING.energy.model_dump()
            )
        },
        {"rung": "ideal", "perturbation": Perturbation("state", 0.1)},
    ],
    ids=["digital", "ideal", "settled", "unpriced", "model", "model-time", "perturbed"],
)
def test_what_takes_no_time_or_has_no_prices_has_no_cost(how):
    how = {"device": RING, "chips": 1, "repeats": 1} | how
    assert price(infer(bundled(), some(5), **how)) is None
    setting = Setting(
        how["device"], how.get("rung", "device"), 0, how.get("perturbation")
    )
    require_prices(setting, 2)


@pytest.mark.parametrize("rung", ["finite", "noisy", "device"])
@pytest.mark.parametrize(
    "name", ["ring-65nm", "ring-7nm", "lc-board", "sphere-generic"]
)
def test_every_preset_is_priced_at_every_rung_that_takes_time(name, rung):
    kind = Device.load(name)
    require_prices(Setting(kind, rung), 2)
    found = infer(bundled(), some(5), device=kind, rung=rung, chips=1, repeats=1)
    assert price(found).substrate.nominal_j("core") > 0
    if name == "sphere-generic":
        require_prices(Setting(kind, rung), 8)


def test_a_model_of_more_components_costs_more_on_the_same_sphere():
    kind = Device.load("sphere-generic").changed(diffusion=0.0, frequency_offset=0.0)
    joules = []
    for d_osc in (2, 4):
        model = random_model(d_osc, task="sva", vocab_size=169, max_len=9)
        run = infer(model, some(5), device=kind, chips=1, repeats=1)
        joules.append(price(run).substrate.nominal_j("core"))
    assert joules[1] == pytest.approx(2 * joules[0])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"oscillator_s": None}, "'oscillator_s' was counted but has no price"),
        ({"state_read": None}, "'state_read' was counted but has no price"),
        ({"state_read": ["no.such"]}, "no.such"),
        ({"state_read": ["knob.periphery"]}, "exactly one component"),
        ({"mac": ["osc.ring_puf_65"]}, "mac"),
    ],
)
def test_a_missing_price_is_told_before_the_run(change, expected):
    energy = RING.energy.model_dump()
    energy["prices"] = {
        key: ids for key, ids in (energy["prices"] | change).items() if ids
    }
    setting = Setting(RING.changed(energy=energy))
    with pytest.raises(ComponentError, match=expected):
        require_prices(setting, 2)


def test_nodes_without_a_table_are_refused():
    energy = RING.energy.model_dump() | {"digital_node_nm": 33}
    with pytest.raises(ComponentError, match="no digital components for 33 nm"):
        require_prices(Setting(RING.changed(energy=energy)), 2)
