"""How prices follow the bits of a device: laws with a source and a range."""

import math

import numpy as np
import pytest

from oscsim.counts import Counts
from oscsim.energy.bit_laws import BitLaws, bit_laws, follow, read_bit_laws
from oscsim.energy.components import Library
from oscsim.energy.device_remarks import RESOLVED
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.energy.uncertainty import Case, causes, set_values, used
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device, presets
from tests.energy.toy import entry, library

LIBRARY = Library.load()
LAWS = bit_laws()
PRICED = [name for name in presets() if Device.load(name).energy is not None]
OF_BITS = {
    "coupler_s": "weight_bits",
    "coupling_write": "weight_bits",
    "anchor_write": "anchor_bits",
    "state_read": "adc_bits",
}


def priced(device, action, where=LIBRARY):
    return Prices.of_device(device).nominal(action, where)


def at(name, **bits):
    return Device.load(name).changed(**bits)


@pytest.mark.parametrize("name", PRICED)
def test_a_preset_at_its_own_bits_costs_what_its_components_say(name):
    """To the last digit: not one product is changed, and nothing is said."""
    device = Device.load(name)
    found, plain = Prices.of_device(device), Prices.of(device.energy.prices)
    assert found.followed == {}
    for action, products in plain.terms.items():
        assert found.terms[action] == products
    assert found.terms["anchor_write"] == plain.terms["coupling_write"]


@pytest.mark.parametrize("name", PRICED)
def test_bits_changed_and_changed_back_cost_what_they_did(name):
    """Prices depend on what a device is, not on how it came to be."""
    device = Device.load(name)
    there = device.changed(weight_bits=3, adc_bits=5)
    back = there.changed(weight_bits=device.weight_bits, adc_bits=device.adc_bits)
    assert Prices.of_device(there).followed
    assert Prices.of_device(back).terms == Prices.of_device(device).terms


@pytest.mark.parametrize(
    ("name", "field", "action", "bits", "ratio"),
    [
        ("ring-65nm", "adc_bits", "state_read", (3, 8), 2**0.434),
        ("ring-28nm", "adc_bits", "state_read", (4, 10), 2**0.342),
        ("lc-board", "adc_bits", "state_read", (4, 10), 2**0.773),
        ("ring-65nm", "weight_bits", "coupler_s", (1, 8), 2.0),
        ("josephson-4k", "weight_bits", "coupler_s", (1, 8), 2.0),
    ],
)
def test_one_bit_more_costs_the_factor_of_the_law(name, field, action, bits, ratio):
    low, high = bits
    costs = [priced(at(name, **{field: b}), action) for b in range(low, high + 1)]
    np.testing.assert_allclose(np.divide(costs[1:], costs[:-1]), ratio, rtol=1e-12)


def test_a_coupling_write_is_its_bits_and_a_wire():
    """(10 + b) / 16 of the entry of 6 bits, J; the device takes it for 6 bits."""
    for bits in range(1, 13):
        found = priced(at("ring-28nm", weight_bits=bits), "coupling_write")
        assert found == pytest.approx(0.2e-12 * (10 + bits) / 16, rel=1e-12)
        found = priced(at("ring-28nm", anchor_bits=bits), "anchor_write")
        assert found == pytest.approx(0.2e-12 * (10 + bits) / 16, rel=1e-12)


def test_only_the_units_of_a_coupler_follow_its_bits_not_its_resistor():
    """28 nm: 2^(b-1) units load the ring at either end, W; a resistor stays."""
    for bits in (3, 6, 8):
        prices = Prices.of_device(at("ring-28nm", weight_bits=bits))
        load = 2.4e-15 * 2 ** (bits - 1) * 2 * 1e9 * 1.5
        assert prices.nominal("coupler_s", LIBRARY) == pytest.approx(load + 0.9e-6)
    said = Prices.of_device(at("ring-28nm", weight_bits=3)).followed["coupler_s"].said
    assert said.endswith("; cpl.res_power is as it is")


@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize("action", RESOLVED)
def test_more_bits_never_cost_less(name, action):
    costs = [
        priced(at(name, **{OF_BITS[action]: bits}), action) for bits in range(1, 25)
    ]
    assert np.all(np.diff(costs) >= 0)
    does_follow = costs[-1] > costs[0]
    device = Device.load(name)
    parts = {p for ids in Prices.of_device(device).terms[action] for p in ids}
    assert does_follow == bool(parts & set(LAWS.by_component)), "and only by a law"


def test_without_a_law_bits_change_nothing():
    """The control: a crossbar cell costs the same at 3 bits and at 8."""
    few, many = (at("sphere-generic", weight_bits=b) for b in (3, 8))
    assert priced(few, "coupler_s") == priced(many, "coupler_s")
    none = BitLaws(schema_version=1, law=[])
    terms = Prices.of_device(Device.load("ring-65nm")).terms["state_read"]
    assert follow("state_read", terms, 4, None, none, LIBRARY) is None
    assert follow("state_read", terms, 4, None, LAWS, LIBRARY) is not None


@pytest.mark.parametrize(
    ("name", "bits", "edge", "said", "is_beyond"),
    [
        ("ring-65nm", 9, 8, "known to 8 bits and priced as that: too little", True),
        ("ring-65nm", 2, 3, "known from 3 bits and priced as that: too much", False),
        ("ring-28nm", 11, 10, "known to 10 bits and priced as that: too li", True),
        ("ring-28nm", 3, 4, "known from 4 bits and priced as that: too much", False),
    ],
)
def test_nothing_is_extrapolated(name, bits, edge, said, is_beyond):
    asked, inside = at(name, adc_bits=bits), at(name, adc_bits=edge)
    assert priced(asked, "state_read") == priced(inside, "state_read")
    found = Prices.of_device(asked).followed["state_read"]
    assert said in found.said
    assert found.is_beyond == is_beyond
    within = Prices.of_device(inside).followed.get("state_read")
    assert within is None or "priced as that" not in within.said


def test_a_component_taken_for_other_bits_is_flat_between():
    """ring-7nm reads 6 bits with a converter of 8: that serves 7 and 8 as well."""
    own, more, full, less = (
        priced(at("ring-7nm", adc_bits=bits), "state_read") for bits in (6, 7, 8, 5)
    )
    assert own == more == full
    assert less == pytest.approx(own / 2**0.434, rel=1e-12)
    beyond = Prices.of_device(at("ring-65nm", weight_bits=7))
    assert beyond.nominal("coupling_write", LIBRARY) == pytest.approx(
        0.2e-12 * 17 / 16, rel=1e-12
    )


@pytest.mark.parametrize("bits", [4, 6])
def test_moved_unit_couplers_are_the_entries_of_the_library(bits):
    """The 5-bit entry moved is the 4-bit and the 6-bit entry, ends included."""
    moved = LIBRARY[f"knob.coupler_units_5b@{bits}/5"]
    own = LIBRARY[f"knob.coupler_units_{bits}b"]
    for name in ("value", "low", "high", "bits", "unit", "confidence"):
        assert getattr(moved, name) == getattr(own, name)
    assert moved.corr_group == "knob.coupler_units_5b", "drawn with what it comes from"


def test_the_regression_moved_is_the_entry_of_8_bits():
    """Four nodes within 1 %: two bits against the regression's own two entries."""
    for node in (65, 45, 28, 7):
        six, eight = (LIBRARY[f"adc.accelergy_{node}nm_{b}b"].value for b in (6, 8))
        slope, other = (
            LIBRARY[f"law.adc_{name}_doublings"].value
            for name in ("regression", "survey")
        )
        assert six * 4**slope == pytest.approx(eight, rel=0.01)
        assert six * 4**other != pytest.approx(eight, rel=0.5), "another would not"


def median_read_pj(device, where=LIBRARY):
    counts = Counts(tokens=1)
    counts.add("readout", "state_read", 1)
    ledger = account(counts, Prices.of_device(device), where, n_draws=65_536)
    return 1e12 * np.median(ledger.draws["converters"])


def test_the_median_of_the_regression_moved_is_that_of_the_entry_of_8_bits():
    """6 bits moved to 8 within 2 %; the triangle from 0 to 1 misses by 15 %."""
    device = Device.load("sphere-generic")
    energy = device.energy.model_dump()
    energy["prices"]["state_read"] = ["adc.accelergy_45nm_8b"]
    entry_8b = median_read_pj(device.changed(energy=energy, adc_bits=8))
    moved = at("sphere-generic", adc_bits=8)
    assert median_read_pj(moved) == pytest.approx(entry_8b, rel=0.02)
    law = LIBRARY["law.adc_regression_doublings"]
    wide = law.model_copy(update={"low": 0.0, "high": 1.0})
    old = Library({**LIBRARY.components, law.id: wide})
    assert median_read_pj(moved, old) > 1.1 * entry_8b


@pytest.mark.parametrize("name", ["adc_regression", "adc_survey", "tdc"])
def test_no_draw_of_a_converter_is_more_than_twice_a_bit(name):
    """And median and ends are those stated; without the bound some draws are above."""
    law = LIBRARY[f"law.{name}_doublings"]
    drawn = LIBRARY.draws(law.id, 65_536)
    assert drawn.min() > 0
    assert drawn.max() == law.most == 1.0
    ends = np.quantile(drawn, [0.1, 0.5, 0.9])
    np.testing.assert_allclose(ends, (law.low, law.value, law.high), rtol=0.05)
    assert LIBRARY.draws(f"{law.id}:-2", 65_536).min() == 0.25
    free = Library({law.id: law.model_copy(update={"most": None})})
    assert np.mean(free.draws(law.id, 65_536) > 1) > 0.04


def test_the_ends_of_the_laws_are_slopes_of_the_library():
    """Envelope from 4 to 8 bits, regression, medians; to 10 bits it is not flat."""
    floor, k = (LIBRARY[f"adc.envelope_{name}"].value for name in ("floor", "k"))
    four, eight, ten = (floor + k * 4.0**bits for bits in (4, 8, 10))
    regression, survey = (
        LIBRARY[f"law.adc_{name}_doublings"] for name in ("regression", "survey")
    )
    assert regression.low == pytest.approx(math.log2(eight / four) / 4, abs=1e-3)
    assert ten / four > 1.5
    assert regression.high == survey.value
    assert survey.low == regression.value


def test_the_slope_of_the_survey_is_that_of_its_medians():
    bits = np.arange(5, 11)
    medians = [LIBRARY[f"adc.survey_enob{b}"].value for b in bits]
    slope = np.polyfit(bits, np.log(medians), 1)[0]
    found = LIBRARY["law.adc_survey_doublings"].value
    assert found == pytest.approx(slope / math.log(2), abs=1e-3)
    three, eight, low = (
        LIBRARY[f"tdc.{name}_65nm"].value for name in ("flash3b", "ds_8b", "timely_8b")
    )
    law = LIBRARY["law.tdc_doublings"]
    assert law.value == pytest.approx(math.log2(eight / three) / 5, abs=1e-3)
    assert law.low == pytest.approx(math.log2(low / three) / 5, abs=1e-3)


def test_the_slope_is_drawn_and_not_taken_for_exact():
    """Draws of the moved price are the entry's times the slope's to the bits."""
    moved = at("ring-65nm", adc_bits=5)
    counts = Counts(tokens=1)
    counts.add("readout", "state_read", 1)
    prices = Prices.of_device(moved)
    ledger = account(counts, prices, LIBRARY, n_draws=256, seed=3)
    own = LIBRARY.draws("tdc.ds_8b_65nm", 256, 3)
    slope = LIBRARY.draws("law.tdc_doublings", 256, 3)
    assert slope.max() > 0.8
    assert 0 < slope.min() < 0.2
    np.testing.assert_allclose(
        ledger.draws["converters"], 1e-12 * own * 0.125**slope, rtol=1e-12
    )
    exact = 1e-12 * own * 0.125**0.434
    assert np.abs(ledger.draws["converters"] / exact - 1).max() > 0.3


@pytest.mark.parametrize("name", ["ring-28nm", "ring-65nm", "lc-board"])
def test_more_bits_of_a_converter_never_cost_less_in_any_draw(name):
    """So the order of two cells by their medians is that of their bits."""
    counts = Counts(tokens=1)
    counts.add("readout", "state_read", 1)
    draws = [
        account(counts, Prices.of_device(at(name, adc_bits=bits)), LIBRARY)
        for bits in (4, 6, 8)
    ]
    few, some, many = (ledger.draws["system"] for ledger in draws)
    assert np.all(few <= some)
    assert np.all(some <= many)


def unit_draws(bits, n_draws=65_536):
    own = "knob.coupler_units_5b"
    return LIBRARY.draws(own if bits == 5 else f"{own}@{bits}/5", n_draws)


def test_one_bit_more_is_more_units_in_every_draw():
    """b units at the p10, 2^b - 1 at the p90; quantiles alone fail below the p10."""
    drawn = np.array([unit_draws(bits) for bits in range(1, 9)])
    assert np.all(np.diff(drawn, axis=0) > 0)
    for bits, row in enumerate(drawn, start=1):
        ends = np.quantile(row, [0.1, 0.5, 0.9])
        np.testing.assert_allclose(
            ends, (bits, 2 ** (bits - 1), 2**bits - 1), rtol=0.04
        )
    own = LIBRARY["knob.coupler_units_5b"]
    z = np.linspace(-4, 4, 801)
    moved = (LIBRARY[f"{own.id}@{bits}/5"].quantile(z) for bits in (7, 8))
    assert np.any(np.diff(list(moved), axis=0) < 0)


def test_few_units_move_in_proportion_to_bits():
    own, moved = unit_draws(5), unit_draws(8)
    is_few = own < 5
    assert 0.05 < np.mean(is_few) < 0.15
    np.testing.assert_allclose(moved[is_few], own[is_few] * 8 / 5, rtol=1e-12)
    assert np.max(np.abs(moved[~is_few] / own[~is_few] / (8 / 5) - 1)) > 1


def test_an_exact_number_of_units_moves_as_the_nominal():
    exact = set_values(LIBRARY, {"knob.coupler_units_5b": 12.0})
    assert np.all(exact.draws("knob.coupler_units_5b@3/5", 8) == 3.0)
    assert np.all(exact.draws("knob.coupler_units_5b@8/5", 8) == 96.0)


def test_a_law_cannot_be_set_above_its_most():
    with pytest.raises(ComponentError, match=r"at or above high = 1.2, got 1.0"):
        set_values(LIBRARY, {"law.tdc_doublings": 1.2})
    steepest = set_values(LIBRARY, {"law.tdc_doublings": 1.0})
    assert np.all(steepest.draws("law.tdc_doublings:-3", 4) == 0.125)


def test_the_law_is_among_what_a_price_rests_on():
    counts = Counts(tokens=1)
    counts.add("readout", "state_read", 1)
    counts.add("settle", "coupler_s", 1e-6)
    case = Case(counts, Prices.of_device(at("ring-65nm", adc_bits=5, weight_bits=3)))
    names = [part.id for part in used(*case, LIBRARY)]
    assert {"law.tdc_doublings:-3", "knob.coupler_units_5b@3/5"} <= set(names)
    groups = causes([case], LIBRARY)
    assert groups["law.tdc_doublings"] == ("law.tdc_doublings:-3",)
    assert groups["knob.coupler_units_5b"] == ("knob.coupler_units_5b@3/5",)
    part = LIBRARY["law.tdc_doublings:-3"]
    assert (part.low, part.high) == pytest.approx((0.125, 0.125**0.107))
    assert part.source.startswith("law.tdc_doublings at other bits: a fifth of l")


def test_a_word_is_drawn_with_the_share_of_its_wire():
    drawn = LIBRARY.draws("law.write_wire_in_bits:3/6", 64, 1)
    wire = LIBRARY.draws("law.write_wire_in_bits", 64, 1)
    np.testing.assert_allclose(drawn, (wire + 3) / (wire + 6), rtol=1e-14)
    part = LIBRARY["law.write_wire_in_bits:3/6"]
    assert (part.low, part.value, part.high) == pytest.approx((5 / 8, 13 / 16, 33 / 36))


@pytest.mark.parametrize(
    "name",
    ["tdc.ds_8b_65nm@3", "law.tdc_doublings^3", "law.tdc_doublings:x", "no.such:2"],
)
def test_names_that_mean_no_derived_component(name):
    with pytest.raises(ComponentError, match="unknown component"):
        LIBRARY[name]
    with pytest.raises(ComponentError, match="unknown component"):
        LIBRARY.draws(name, 4)


def test_every_law_of_the_file_can_act():
    """Its components exist and have bits within its range, its parameter is a ratio."""
    for law in LAWS.law:
        low, high = law.bits
        assert low < high
        for name in law.components:
            assert low <= LIBRARY[name].bits <= high, name
        if law.parameter:
            part = LIBRARY[law.parameter]
            assert part.unit == "ratio"
            assert part.low < part.value <= part.high
    read = {name for name in LIBRARY.components if name[:4] in ("adc.", "tdc.")}
    without = read - set(LAWS.by_component)
    assert without == {"adc.envelope_floor", "adc.envelope_k"}


@pytest.mark.parametrize("given", [{"exp": 3}, {"oscillator_s": 5}])
def test_bits_of_an_action_that_has_none(given):
    device = Device.load("ring-65nm")
    energy = device.energy.model_dump() | {"bits": given}
    with pytest.raises(ComponentError, match=r"states bits of .*: energy.bits is"):
        Prices.of_device(device.changed(energy=energy))


def law(**changed):
    return {
        "id": "a",
        "components": ["read"],
        "form": "per_bit",
        "parameter": "one",
        "bits": [2, 8],
        "says": "twice a bit",
        "source": "a paper",
    } | changed


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ([law(), law(id="b")], "component 'read' is in two laws"),
        ([law(), law(components=["write"])], "id 'a' is in two laws"),
        ([law(parameter="")], "a parameter for 'per_bit' and 'word', none for 'units'"),
        ([law(form="units")], "a parameter for 'per_bit' and 'word', none for 'units'"),
        ([law(bits=[8, 2])], "bits must not decrease"),
        ([law(bits=[0, 2])], "greater than or equal to 1"),
        ([law(form="cubic")], "Input should be 'per_bit', 'word' or 'units'"),
        ([law(extra=1)], "Extra inputs"),
    ],
)
def test_a_malformed_law(tmp_path, laws, message):
    content = "schema_version = 1\n"
    for one in laws:
        content += "[[law]]\n"
        content += "".join(f"{k} = {v!r}\n" for k, v in one.items())
    (tmp_path / "scaling.toml").write_text(content)
    with pytest.raises(ComponentError, match=r"scaling.toml: ") as caught:
        read_bit_laws(tmp_path / "scaling.toml")
    assert message in str(caught.value)


def test_a_law_by_hand():
    """A library of round numbers: 1 pJ at 4 bits, twice a bit, to 8 bits."""
    toy = library(entry("read4", 1.0, bits=4), entry("one", 1.0, "ratio"))
    laws = BitLaws.model_validate(
        {"schema_version": 1, "law": [law(components=["read4"])]}
    )
    for bits, joules in ((2, 0.25), (4, 1.0), (5, 2.0), (8, 16.0), (9, 16.0)):
        found = follow("state_read", [("read4",)], bits, None, laws, toy)
        terms = [("read4",)] if found is None else found.terms
        prices = Prices({"state_read": tuple(terms)})
        assert prices.nominal("state_read", toy) == joules * 1e-12
        assert (found is None) == (bits == 4)


@pytest.mark.parametrize(
    ("name", "times", "formula"),
    [("ring-65nm", 1.0, "144.7 k T f^2 / P of a ring"), ("vo2-relaxation", 1.0, "4 p")],
)
def test_less_noise_than_the_power_allows_is_said(name, times, formula):
    """kT f^2 / P at 300 K by hand, with the power of the preset's own ring."""
    device = Device.load(name)
    power = Prices.of_device(device).core_power_w(LIBRARY)
    constant = 2 * math.pi**2 * 7.33 if name == "ring-65nm" else 4 * math.pi**2
    least = constant * 1.380649e-23 * 300 * device.frequency_hz**2 / power
    below, above = (device.changed(diffusion=least * k) for k in (0.5, 1.01))
    (said,) = [r for r in Prices.of_device(below).remarks if "is below the" in r]
    assert formula in said
    assert f"at least {2e6 * power:.3g} uW" in said
    assert not any("is below the" in r for r in Prices.of_device(above).remarks)
    none = device.changed(diffusion=0.0)
    assert not any("is below the" in r for r in Prices.of_device(none).remarks)
    assert priced(below, "oscillator_s") == priced(device, "oscillator_s")


def test_an_underdamped_oscillator_has_no_such_bound():
    quiet = Device.load("lc-board").changed(diffusion=1e-9)
    assert not any("is below the" in r for r in Prices.of_device(quiet).remarks)


def test_numbers_that_no_price_follows_are_named_where_they_were_changed():
    device = at("ring-65nm", coupling_mismatch=0.0, settle_time=5e-7, weight_bits=4)
    (said,) = [r for r in Prices.of_device(device).remarks if "no price follows" in r]
    assert said.startswith("no price follows coupling_mismatch 0.03 -> 0.0: a better")
    own = Prices.of_device(Device.load("ring-65nm")).remarks
    assert not any("no price follows" in remark for remark in own)


def test_joules_follow_the_frequency_of_what_is_priced_by_the_cycle():
    """And twice the settling time costs twice the core; a read-out does neither."""
    slow, fast = (at("ring-65nm", frequency_hz=f) for f in (115e6, 230e6))
    for action in ("oscillator_s", "anchor_s", "coupler_s"):
        assert priced(fast, action) == pytest.approx(2 * priced(slow, action))
    assert priced(fast, "state_read") == priced(slow, "state_read")
