"""Every preset is priced by the ledger, and what its prices rest on is said."""

import math

import pytest

from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.limits import core_power
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.precision import precision
from oscsim.energy.prices import Prices
from oscsim.energy.timeline import sweeps
from oscsim.errors import DeviceError
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
    for ids in device.energy.prices.values():
        assert all(part in LIBRARY.components for part in ids)


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
    assert parts["settle", "coupler_s"] == pytest.approx(16 * slip * 2e10 * time * wall)
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
