"""Whole models on arrays of a given size: latency, and what does not fit."""

import numpy as np
import pytest

from oscsim.bridge.array import attention_of, latency_per_token, require_array
from oscsim.bridge.cost import price
from oscsim.bridge.infer import infer
from oscsim.bridge.setting import Setting
from oscsim.errors import DeviceError
from oscsim.substrate.device import Device
from tests.bridge.language import language_model
from tests.bridge.runs import bundled, some

RING = Device.load("ring-65nm")
SLOW = RING.changed(write_time=1.0, settle_time=10.0, read_time=100.0)
MODEL = bundled()
TWO_LAYERS = MODEL.fixed_query.model_copy(update={"n_layers": 2})
LENGTHS = np.array([3, 1])


def test_latency_by_hand():
    """Two items of 3 and 1 tokens, two layers: write 1 s, settle 10 s, read 100 s."""
    together = 2 * ((3 * 1 + 110) + (1 * 1 + 110)) / 4
    assert latency_per_token(SLOW, TWO_LAYERS, LENGTHS) == pytest.approx(together)
    in_turn = 2 * (4 * (1 + 110)) / 4
    one = SLOW.changed(query_slots=1)
    assert latency_per_token(one, TWO_LAYERS, LENGTHS) == pytest.approx(in_turn)
    assert in_turn > together


def test_a_small_array_takes_longer():
    """Two oscillators: 2 passes for 3 tokens, 1 for one; a tile for both layers."""
    small = SLOW.changed(oscillators=2, tiles=2)
    by_hand = 2 * ((3 + 2 * 110) + (1 + 110)) / 4
    assert latency_per_token(small, TWO_LAYERS, LENGTHS) == pytest.approx(by_hand)


def test_a_digital_rate_does_not_enter_the_time_on_the_substrate():
    rated = SLOW.changed(digital_macs_per_s=1.0, digital_ops_per_s=1.0)
    together = latency_per_token(SLOW, TWO_LAYERS, LENGTHS)
    assert latency_per_token(rated, TWO_LAYERS, LENGTHS) == together
    for rung in ("digital", "device"):
        with pytest.raises(DeviceError, match="digital_macs_per_s cannot act in a run"):
            infer(MODEL, some(4), device=rated, rung=rung)


def test_what_a_model_asks():
    found = attention_of(MODEL.fixed_query, 7)
    assert (found.n_layers, found.n_heads, found.d_osc) == (1, 1, 2)
    assert (found.context, found.causal, found.d_head) == (7, False, 32)


def test_the_array_sets_the_latency_of_a_run_and_not_its_result():
    base = infer(MODEL, some(16), device=RING, chips=1, repeats=1)
    kind = RING.changed(oscillators=2)
    small = infer(MODEL, some(16), device=kind, chips=1, repeats=1)
    np.testing.assert_array_equal(base.logits, small.logits)
    assert price(small).latency_s > price(base).latency_s
    for priced, device in ((price(base), RING), (price(small), kind)):
        assert priced.latency_s == latency_per_token(
            device, MODEL.fixed_query, base.existing_lengths
        )


def test_a_run_that_does_not_fit_is_refused_before_it_starts():
    narrow = RING.changed(couplers_per_oscillator=2)
    with pytest.raises(DeviceError, match="does not fit device ring-65nm"):
        infer(MODEL, some(16), device=narrow)
    with pytest.raises(DeviceError, match="does not fit device ring-65nm"):
        infer(MODEL, some(16), device=narrow, rung="ideal")
    with pytest.raises(DeviceError, match="is worn out after"):
        infer(MODEL, some(16), device=RING.changed(write_endurance=1e6))
    infer(MODEL, some(16), device=narrow, rung="digital")


def test_a_bus_loads_couplings_of_the_device_at_every_rung():
    bus = RING.changed(bus_bits=32, bus_hz=1e8)
    for rung in ("finite", "device"):
        require_array(Setting(bus, rung), MODEL, 9)
        run = infer(MODEL, some(8), device=bus, rung=rung, chips=1, repeats=1)
        assert price(run).latency_s == latency_per_token(
            bus, MODEL.fixed_query, run.existing_lengths
        )


def test_kuramoto_attention_has_no_such_array():
    setting = Setting(RING.changed(oscillators=8), "device")
    with pytest.raises(DeviceError, match="oscillators cannot act: arrays of a given"):
        setting.require(language_model("kuramoto"))
