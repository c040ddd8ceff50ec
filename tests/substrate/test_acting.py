"""Each imperfection alone changes what a model says, or is refused: no silence."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.errors import DeviceError
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.substrate.device import IMPERFECTIONS, RUNGS
from tests.substrate.drives import device

RATE = 1e8
VALUES = {
    "range_limit": True,
    "weight_bits": 3,
    "anchor_bits": 3,
    "coupling_mismatch": 0.2,
    "coupling_offset": 0.1,
    "anchor_mismatch": 0.1,
    "anchor_gain_mismatch": 0.2,
    "frequency_mismatch": 0.002,
    "frequency_offset": 1e6,
    "stuck_off": 0.2,
    "stuck_on": 0.2,
    "settle_time": 1 / RATE,
    "start": "previous",
    "diffusion": 1e6,
    "readout_noise": 0.1,
    "adc_bits": 3,
}
NEEDS = {
    "start": {"settle_time": 1 / RATE, "query_slots": 1},
    "frequency_mismatch": {"frequency_hz": 1e8},
    "weight_bits": {"range_limit": True},
}
SHAPES = {"circle": ("ring", 2), "sphere": ("sphere", 3)}
IDS = np.random.default_rng(3).integers(1, 11, size=(20, 6))


@cache
def model(d_osc):
    """A random model of two layers and two heads, without any file."""
    config = FixedQueryConfig(
        attention="oscillator",
        vocab_size=11,
        d_model=8,
        n_heads=2,
        n_layers=2,
        d_ff=12,
        d_osc=d_osc,
        max_len=7,
        n_outputs=1,
    )
    rng = np.random.default_rng(0)
    weights = {
        name: rng.normal(scale=0.5, size=shape)
        for name, shape in tensor_shapes(config).items()
    }
    return Checkpoint(config, weights, "random", Path("random"), "0" * 64)


def outputs(shape, rung, **fields):
    kind, d_osc = SHAPES[shape]
    hardware = device(kind, **({"coupling_max": RATE, "range_limit": False} | fields))
    return model(d_osc).logits(IDS, rung=rung, device=hardware), hardware


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [*IMPERFECTIONS, "range_limit"])
def test_an_imperfection_acts_alone_or_is_an_error(name, shape, rung):
    base = NEEDS.get(name, {})
    before, _ = outputs(shape, rung, **({} if name == "weight_bits" else base))
    after, hardware = outputs(shape, rung, **(base | {name: VALUES[name]}))
    assert np.isfinite(after).all()
    try:
        hardware.require_acting([name], rung)
    except DeviceError:
        np.testing.assert_array_equal(after, before)
    else:
        assert np.abs(after - before).max() > 1e-6


def test_every_imperfection_has_a_value_here():
    assert set(VALUES) == {*IMPERFECTIONS, "range_limit"}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_device_without_imperfections_is_the_digital_model(shape):
    digital, _ = outputs(shape, "digital")
    for rung in RUNGS[1:]:
        np.testing.assert_allclose(outputs(shape, rung)[0], digital, atol=1e-10)


@pytest.mark.parametrize("name", ["weight_bits", "anchor_bits", "adc_bits"])
@pytest.mark.parametrize("shape", SHAPES)
def test_many_bits_converge_to_the_digital_model(name, shape):
    """The error halves with every bit: slope -1 of its log2, within 10 %."""
    digital, _ = outputs(shape, "digital")
    limit = {"range_limit": True} if name == "weight_bits" else {}
    exact, _ = outputs(shape, "device", **limit)
    if not limit:
        np.testing.assert_allclose(exact, digital, atol=1e-10)

    def error(bits):
        found, _ = outputs(shape, "device", **(limit | {name: bits}))
        return np.sqrt(np.mean((found - exact) ** 2))

    bits = np.arange(6, 24)
    slope = np.polyfit(bits, np.log2([error(int(n)) for n in bits]), 1)[0]
    assert -1.1 < slope < -0.9


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_that_vanishes_converges_to_the_digital_model(shape):
    """The error of thermal noise is that of sqrt(D)."""
    digital, _ = outputs(shape, "digital")

    def error(diffusion):
        found, _ = outputs(shape, "device", diffusion=diffusion)
        return np.sqrt(np.mean((found - digital) ** 2))

    assert 7 < error(1e0) / error(1e-2) < 14
