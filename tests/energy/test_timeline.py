"""Seconds of a sweep by hand: write 1 s, settle 10 s, read 100 s."""

import math
from dataclasses import replace

import numpy as np
import pytest

from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.settling import settle_quantile
from oscsim.energy.timeline import PHASES, YEAR, timeline
from oscsim.energy.writes import write_energy_j
from oscsim.errors import ComponentError, DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.tally import LOG10_EDGES, SettleTally

RING = Device.load("ring-65nm")
SLOW = RING.changed(write_time=1.0, settle_time=10.0, read_time=100.0)
MODEL = Attention(n_layers=2, n_heads=3, d_osc=2, context=5, causal=True, d_head=4)
SHAPE = Shape(2, 3, 12, 16, 2, [9], True, "softplus", 7)


def timed(device, *, batch=1, is_decoding=False, model=MODEL, **options):
    mapping = map_attention(device, model, batch=batch, is_decoding=is_decoding)
    return timeline(mapping, **options)


def test_an_unlimited_array():
    found = timed(SLOW)
    assert found.seconds == {"load": 10, "settle": 20, "read": 200}
    assert found.latency_s == 230
    assert found.tokens_per_s == 5 / 230
    assert found.per_token_s["settle"] == 4
    assert found.settle_share == 220 / 230
    assert found.lifetime_s == math.inf


def test_a_small_array():
    """2 layers x 2 rounds of heads: 5 rows and one of anchors each; 12 passes."""
    found = timed(SLOW.changed(oscillators=2, tiles=2))
    assert found.seconds == {"load": 4 * (5 + 1), "settle": 120, "read": 1200}


def test_one_oscillator_for_all_queries():
    assert timed(SLOW.changed(query_slots=1)).seconds == {
        "load": 10,
        "settle": 100,
        "read": 1000,
    }


def test_a_bus_carries_bits():
    """5 bits a coupling, 8 a beat, 2 beats/s: rows of 1..5 take 1, 2, 2, 3, 4 beats."""
    bus = SLOW.changed(write_time=0.0, bus_bits=8, bus_hz=2.0)
    assert timed(bus).seconds["load"] == 2 * 12 / 2
    assert timed(bus.changed(write_time=1.0)).seconds["load"] == 2 * (6 + 5)
    wide = bus.changed(bus_bits=25)
    assert timed(wide).seconds["load"] == 2 * 5 / 2, "a row in one beat, never less"


def test_anchors_of_a_tile_are_words_on_the_bus_too():
    """5 anchors of 6 bits: 4 beats, for each of 2 layers."""
    bus = SLOW.changed(write_time=0.0, bus_bits=8, bus_hz=2.0)
    held, swapped = (timed(bus.changed(tiles=n)).seconds["load"] for n in (6, 3))
    assert swapped - held == 2 * 4 / 2


def test_digital_work_takes_time_only_at_a_given_rate():
    found = timed(SLOW, macs_per_s=2.0)
    assert found.seconds["weights"] == 90 * 4 / 2
    assert found.seconds["value"] == 90 * (2 + 4) / 2
    assert list(found.seconds) == ["weights", "load", "settle", "read", "value"]
    assert not any("no digital rate" in note for note in found.notes)
    assert any("no digital rate" in note for note in timed(SLOW).notes)


def test_the_rates_of_a_device_are_the_default():
    kind = SLOW.changed(digital_macs_per_s=2.0, digital_ops_per_s=4.0)
    given = timed(SLOW, macs_per_s=2.0, ops_per_s=4.0, shape=SHAPE)
    assert timed(kind, shape=SHAPE).seconds == given.seconds
    assert timed(kind, shape=SHAPE, macs_per_s=1.0).macs_per_s == 1.0
    assert timed(kind).seconds == timed(SLOW, macs_per_s=2.0).seconds
    with pytest.raises(DeviceError, match="digital_ops_per_s alone times no model"):
        SLOW.changed(digital_ops_per_s=1.0)
    with pytest.raises(DeviceError, match=r"digital_macs_per_s: .*greater than 0"):
        SLOW.changed(digital_macs_per_s=0.0)


def test_with_a_shape_the_whole_model_is_timed():
    """Width 12, feed-forward 16, 5 tokens, 2 layers, 5 norms, 7 outputs."""
    found = timed(SLOW, macs_per_s=2.0, shape=SHAPE)
    assert list(found.seconds) == list(PHASES)
    assert found.seconds["ffn"] == 5 * 2 * 2 * 12 * 16 / 2
    norms = 5 * 5 * 2 * 12
    assert found.seconds["projection"] == (5 * (2 * 4 * 144 + 12 * 7) + norms) / 2
    attention = timed(SLOW, macs_per_s=2.0)
    for name, seconds in attention.seconds.items():
        assert found.seconds[name] == seconds
    assert any("norms are not timed" in note for note in attention.notes)
    assert not any("norms are not timed" in note for note in found.notes)
    assert any("elementwise operations take no time" in note for note in found.notes)
    assert found.substrate_s == timed(SLOW).latency_s


def test_anchors_that_are_written_again_are_words_of_a_component_or_a_phase():
    held, swapped = RING.changed(tiles=6), RING.changed(tiles=3)
    assert map_attention(held, MODEL).anchor_words == 0
    assert map_attention(swapped, MODEL).anchor_words == 6 * 5
    assert map_attention(swapped, MODEL, batch=9).anchor_words == 6 * 5
    sphere = Device.load("sphere-generic").changed(tiles=3)
    wide = replace(MODEL, d_osc=7)
    assert map_attention(sphere, wide).anchor_words == 6 * 5 * 7
    price = Library.load()["dac.coupler_write"].value * 1e-12
    extra = write_energy_j(map_attention(swapped, MODEL)) - write_energy_j(
        map_attention(held, MODEL)
    )
    assert extra == pytest.approx(30 / 5 * price, rel=1e-9)


def test_a_batch_shares_settling_and_not_loading():
    one, four = timed(SLOW, is_decoding=True), timed(SLOW, is_decoding=True, batch=4)
    assert one.seconds == {"load": 2, "settle": 20, "read": 200}
    assert four.seconds == {"load": 8, "settle": 20, "read": 200}
    assert four.tokens_per_s / one.tokens_per_s == pytest.approx(4 * 222 / 228)
    full = timed(SLOW.changed(oscillators=1), is_decoding=True, batch=4)
    assert full.latency_s == 4 * one.latency_s, "no oscillator to spare: nothing gained"


def test_doubling_the_settling_time_doubles_that_phase_alone():
    once, twice = timed(SLOW), timed(SLOW, settle_s=20.0)
    assert twice.seconds["settle"] == 2 * once.seconds["settle"]
    for name in ("load", "read"):
        assert twice.seconds[name] == once.seconds[name]
    assert any("accuracy was simulated" in note for note in twice.notes)
    assert not any("accuracy was simulated" in note for note in once.notes)


def test_what_is_unlimited_or_swapped_is_said():
    assert "tiles: not stated, unlimited" in timed(SLOW).notes
    sized = SLOW.changed(tiles=3, oscillators=5, couplers_per_oscillator=5)
    notes = timed(sized).notes
    assert not any("unlimited" in note for note in notes)
    assert any("anchors are written again" in note for note in notes)
    assert any("once and for all" in note for note in timed(SLOW).notes)


# Real settling times


def tally(times, device=RING, **fields):
    """A tally of settling times (s)."""
    scaled = np.log10(np.asarray(times) * device.coupling_max)
    bins = np.searchsorted(LOG10_EDGES, scaled, side="right")
    found = SettleTally(oscillators=len(times), **fields)
    found.time_histogram += np.bincount(bins, minlength=len(LOG10_EDGES) + 1)
    return found


def test_the_quantile_of_the_settling_time_is_in_seconds():
    times = np.linspace(1e-8, 1e-6, 1000)
    for q in (0.5, 0.99):
        found = settle_quantile(RING, tally(times), q)
        assert found == pytest.approx(np.quantile(times, q), rel=0.13)


def test_an_infinite_quantile_says_why():
    times = [1e-8] * 98 + [math.inf] * 2
    undriven = tally(times, undriven=2)
    assert settle_quantile(RING, undriven, 0.98) == pytest.approx(1e-8, rel=0.13)
    with pytest.raises(
        DeviceError, match="2 of 100 oscillators have no drive: the p99"
    ):
        settle_quantile(RING, undriven, 0.99)


def test_quantiles_that_cannot_be():
    with pytest.raises(SpecError, match=r"q must be in \(0, 1\), got 1"):
        settle_quantile(RING, tally([1e-8]), 1.0)
    with pytest.raises(SpecError, match="no settling times"):
        settle_quantile(RING, SettleTally(), 0.9)
    with pytest.raises(DeviceError, match="in model units"):
        settle_quantile(Device.load("ideal"), tally([1e-8]), 0.9)


# Wear


def test_wear_by_hand():
    """30 rows over 2 x 2 oscillators: 7.5 writes a coupling and sweep."""
    worn = SLOW.changed(oscillators=2, tiles=2, write_endurance=7500.0)
    found = timed(worn, lifetime_s=1.0)
    assert found.lifetime_s == pytest.approx(1000 * found.latency_s)


def test_couplings_rewritten_for_every_query_wear_out_a_non_volatile_memory():
    worn = RING.changed(write_endurance=1e6)
    with pytest.raises(DeviceError) as error:
        timed(worn)
    said = str(error.value)
    assert "18 writes per token" in said
    assert "write_endurance = 1e+06 is worn out after" in said
    assert "use a volatile memory" in said
    lasting = timed(RING.changed(write_endurance=1e15))
    assert YEAR < lasting.lifetime_s < math.inf


def test_a_non_volatile_price_needs_an_endurance():
    prices = RING.energy.prices | {"coupling_write": ["nvm.rram_write"]}
    energy = RING.energy.model_copy(update={"prices": prices})
    memory = RING.changed(energy=energy.model_dump())
    with pytest.raises(DeviceError, match=r"nvm\.rram_write, a non-volatile memory"):
        timed(memory)
    assert timed(memory.changed(write_endurance=1e15)).lifetime_s > YEAR
    factor = ["dig.overhead", "nvm.rram_write"]
    for written in (factor, [["dac.coupler_write"], factor]):
        prices = RING.energy.prices | {"coupling_write": written}
        energy = RING.energy.model_copy(update={"prices": prices})
        memory = RING.changed(energy=energy.model_dump())
        with pytest.raises(DeviceError, match=r"coupling_write with nvm\.rram_write,"):
            timed(memory)


def test_the_energy_of_writing_is_counted_writes_times_their_price():
    price = Library.load()["dac.coupler_write"].value * 1e-12
    mapping = map_attention(RING, MODEL)
    assert write_energy_j(mapping) == pytest.approx(18 * price)
    bare = RING.energy.model_copy(update={"prices": {}, "bits": {}})
    with pytest.raises(ComponentError, match="no price of coupling_write"):
        write_energy_j(map_attention(RING.changed(energy=bare.model_dump()), MODEL))


# What cannot be


def test_bad_requests():
    ideal = map_attention(Device.load("ideal"), MODEL)
    with pytest.raises(DeviceError, match="ideal is in model units"):
        timeline(ideal, settle_s=1.0)
    forever = map_attention(RING.changed(settle_time=math.inf), MODEL)
    with pytest.raises(DeviceError, match="finite time > 0 s, got inf"):
        timeline(forever)
    assert timeline(forever, settle_s=1.0).seconds["settle"] == 2
    for time in (0.0, -1.0, math.nan):
        with pytest.raises(DeviceError, match="finite time > 0 s"):
            timed(RING, settle_s=time)
    analog = RING.changed(weight_bits=None, bus_bits=8, bus_hz=1e8)
    with pytest.raises(DeviceError, match="bus of 8 bits but no weight_bits"):
        timed(analog)
    for rate in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(SpecError, match="macs_per_s must be finite and > 0"):
            timed(RING, macs_per_s=rate)
        with pytest.raises(SpecError, match="ops_per_s must be finite and > 0"):
            timed(RING, macs_per_s=1.0, ops_per_s=rate, shape=SHAPE)
    with pytest.raises(SpecError, match="ops_per_s = 1 needs macs_per_s"):
        timed(RING, ops_per_s=1.0, shape=SHAPE)
    with pytest.raises(SpecError, match="ops_per_s = 1 needs a shape"):
        timed(RING, macs_per_s=1.0, ops_per_s=1.0)
