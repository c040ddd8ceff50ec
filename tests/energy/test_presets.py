"""Every preset is priced by the ledger, and what its prices rest on is said."""

import math

import pytest

from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.limits import core_power, physics_limits, why_unbound
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.precision import precision
from oscsim.energy.prices import Prices
from oscsim.energy.timeline import sweeps
from oscsim.errors import ComponentError, DeviceError
from oscsim.substrate.device import SINGLE_PHASE, Device, presets

LIBRARY = Library.load()
PRICED = [name for name in presets() if Device.load(name).energy is not None]
UNBUILT = ("vo2-relaxation", "josephson-4k", "mems")


def one_query(device):
    """A query of 16 anchors that settles for the device's time."""
    kind = "oscillator_s" if device.has_phase(2) else "component_s"
    time = device.settle_time + device.read_time
    counts = Counts(tokens=1)
    counts.add("settle", kind, time)
    counts.add("settle", "anchor_s", 16 * time)
    counts.add("settle", "coupler_s", 16 * time)
    counts.add("load", "coupling_write", 16)
    counts.add("readout", "state_read", 1)
    return account(counts, Prices.of_device(device), LIBRARY, n_draws=64)


@pytest.mark.parametrize("name", PRICED)
def test_a_preset_is_priced_with_known_components(name):
    device = Device.load(name)
    ledger = one_query(device)
    assert 0 < ledger.nominal_j("core") < ledger.nominal_j("converters")
    assert ledger.nominal_j("converters") < ledger.nominal_j("system")
    for products in Prices.of(device.energy.prices).terms.values():
        assert all(part in LIBRARY.components for ids in products for part in ids)


@pytest.mark.parametrize("name", PRICED)
def test_a_preset_holds_a_phase_and_a_small_model(name):
    device = Device.load(name)
    held = precision(device)
    assert math.pi / 6 > held.mismatch_rad, "at full scale an oscillator must lock"
    assert held.thermal_bits > 2
    model = Attention(1, 1, 2, 16, causal=True, d_head=8)
    for one in sweeps(device, model, batch=4):
        assert one.latency_s > device.settle_time


@pytest.mark.parametrize("name", UNBUILT)
def test_what_was_never_built_says_so_and_most_of_its_price_is_untrusted(name):
    device = Device.load(name)
    assert device.oscillator in SINGLE_PHASE
    assert "known here" in device.description
    assert one_query(device).untrusted_share > 0.5
    with pytest.raises(DeviceError, match="single-phase oscillators"):
        device.require_d_osc(3)


def test_the_cryocooler_multiplies_all_that_is_cold():
    ledger = one_query(Device.load("josephson-4k"))
    slip, wall = 2.07e-19, 400
    time = 1.14e-8 + 1e-9
    parts = ledger.joules
    assert parts["settle", "coupler_s"] == pytest.approx(
        16 * 8 * slip * 2e10 * time * wall
    )
    assert parts["load", "coupling_write"] == pytest.approx(16 * 0.2e-12 * wall)
    cold = parts["settle", "coupler_s"] + parts["load", "coupling_write"]
    assert parts["load", "coupling_write"] / cold > 0.95, "writing is what costs"


def test_a_28_nm_ring_is_priced_with_a_45_nm_entry_and_says_so():
    device = Device.load("ring-28nm")
    assert core_power(device, LIBRARY) == pytest.approx(27e-6)
    notes = " ".join(one_query(device).notes)
    assert "oscillator_s of 28 nm oscillators is priced with osc.ring_cycle_45" in notes
    assert device.diffusion == pytest.approx(8.88e4, rel=0.01)


def test_the_28_nm_array_has_an_end():
    device = Device.load("ring-28nm")
    wide = Attention(1, 4, 2, 128, causal=True, d_head=8)
    assert map_attention(device, wide, batch=4).query_rounds == 2
    with pytest.raises(DeviceError, match="a context of 129 tokens does not fit"):
        map_attention(device, Attention(1, 4, 2, 129, causal=True, d_head=8))


def test_a_high_quality_factor_settles_late():
    """Time for 16 tokens: rings microseconds, mechanical resonators tenths of s."""
    model = Attention(1, 1, 2, 16, causal=True, d_head=8)
    slow, fast = (
        sweeps(Device.load(name), model, batch=1)[0].latency_s
        for name in ("mems", "ring-28nm")
    )
    assert 0.2 < slow < 0.3
    assert slow / fast > 1e4


SAID = {
    "josephson-4k": set(),
    "lc-board": {"coupler_s as one", "coupling_write too little"},
    "mems": {"coupler_s as one", "coupling_write too little"},
    "ring-28nm": set(),
    "ring-65nm": set(),
    "ring-7nm": {"state_read too much"},
    "sphere-generic": {"coupler_s as one"},
    "vo2-relaxation": {"coupler_s as one", "state_read too much"},
}


@pytest.mark.parametrize("name", PRICED)
def test_a_price_of_another_resolution_is_said(name):
    """Every preset's bits beside those of the entries that price them."""
    found = set()
    for note in one_query(Device.load(name)).notes:
        action, _, rest = note.partition(" of ")
        if " bits is priced " not in rest:
            continue
        what = "as one" if "as one" in rest else rest.rpartition(": ")[2]
        found.add(f"{action} {what}")
    assert found == SAID[name]


@pytest.mark.parametrize(
    ("name", "bits"), [("ring-65nm", 5), ("ring-28nm", 6), ("ring-7nm", 6)]
)
def test_couplers_of_rings_are_priced_as_their_units(name, bits):
    device = Device.load(name)
    assert device.weight_bits == bits
    products = Prices.of_device(device).terms["coupler_s"]
    (knob,) = [p for ids in products for p in ids if "coupler_units" in p]
    part = LIBRARY[knob]
    assert (part.bits, part.value, part.low) == (bits, 2 ** (bits - 1), bits)
    assert part.high == 2**bits - 1


def test_a_28_nm_coupler_by_hand():
    """32 units load the ring at either end, and a resistor conducts for .3."""
    time = 2.3e-7 + 1e-8
    load = 2.4e-15 * 32 * 2 * 1e9 * 1.5
    resistor = 2e-6 * 0.3 * 1.5
    parts = one_query(Device.load("ring-28nm")).joules
    assert parts["settle", "coupler_s"] == pytest.approx(16 * time * (load + resistor))


def test_changing_the_bits_of_a_device_is_said():
    few = Device.load("ring-65nm").changed(weight_bits=3, adc_bits=10)
    notes = " ".join(one_query(few).notes)
    assert "coupler_s of 3 bits is priced from knob.coupler_units_5b, of 5 b" in notes
    assert "coupling_write of 3 bits is priced from dac.coupler_write, of 6 t" in notes
    assert "state_read of 10 bits is priced from tdc.ds_8b_65nm, of 8 bits" in notes
    assert "known to 8 bits and priced as that: too little" in notes
    kept = Device.load("sphere-generic").changed(weight_bits=3)
    assert "coupler_s of 3 bits is priced as one cpl.crossbar_cell" in " ".join(
        one_query(kept).notes
    )


def test_a_price_of_nothing_is_said():
    notes = one_query(Device.load("mems")).notes
    (free,) = [note for note in notes if "costs 0 J at nominal values" in note]
    assert free.startswith("coupler_s costs 0 J at nominal values: cpl.cap_power is 0")
    assert "the extra C V^2 f of the load" in free
    assert not any("costs 0 J" in n for n in one_query(Device.load("ring-65nm")).notes)


def test_what_happens_while_couplings_load_is_said():
    for is_on, said in ((False, "taken to be gated off"), (True, "run while their")):
        device = Device.load("ring-65nm").changed(runs_while_loading=is_on)
        assert any(said in note for note in one_query(device).notes)


def test_a_price_may_be_a_sum_wherever_a_device_is_read():
    ring = Device.load("ring-65nm")
    prices = ring.energy.prices
    product = ["tdc.ds_8b_65nm"]
    ring_s = ["osc.ring_puf_65", "knob.periphery"]
    twice = prices | {"state_read": [product, product], "oscillator_s": [ring_s] * 2}
    energy = ring.energy.model_copy(update={"prices": twice})
    both = ring.model_copy(update={"energy": energy})
    assert core_power(both, LIBRARY) == pytest.approx(2 * core_power(ring, LIBRARY))
    one, two = (
        next(b for b in physics_limits(d, LIBRARY) if b.name.startswith("conversion"))
        for d in (ring, both)
    )
    assert two.actual == pytest.approx(2 * one.actual)
    unpriced = {k: v for k, v in prices.items() if k != "oscillator_s"}
    energy = ring.energy.model_copy(update={"prices": unpriced})
    with pytest.raises(ComponentError, match=r"no price of oscillator_s"):
        core_power(ring.model_copy(update={"energy": energy}), LIBRARY)


def test_why_spheres_have_no_bound_on_a_phase():
    for name in PRICED:
        device = Device.load(name)
        has_bound = any(
            "phase diffusion" in limit.name for limit in physics_limits(device)
        )
        assert (why_unbound(device) == "") == has_bound, name
    assert "of one phase, and its state has comp" in why_unbound(
        Device.load("sphere-generic")
    )
    assert why_unbound(Device.load("ideal")) == ""
