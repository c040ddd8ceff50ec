"""Converters: their error, its variance and what they say they lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.substrate.quantize import (
    quantize_direction,
    quantize_phase,
    quantize_signed,
    quantize_unsigned,
)
from tests.substrate.zscore import assert_mean

BITS = st.integers(1, 16)
SCALE = st.floats(1e-6, 1e6)
SHARES = st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=30).map(np.array)
SPREAD = (np.arange(100_000) + 0.5) * 0.6180339887498949 % 1.0


@given(SHARES, SCALE, BITS)
def test_unsigned_error_and_losses(shares, scale, bits):
    x = np.abs(shares) * scale
    lsb = scale / (2**bits - 1)
    found = quantize_unsigned(x, scale, bits)
    inside = x <= scale
    assert np.all(np.abs(found.values - x)[inside] <= 0.5 * lsb * (1 + 1e-9))
    np.testing.assert_allclose(found.values[~inside], scale, rtol=1e-12)
    codes = found.values / lsb
    np.testing.assert_allclose(codes, np.rint(codes), atol=1e-6)
    assert found.clipped == sum(value > scale for value in x)
    assert found.zeroed == sum(
        value > 0 and got == 0 for value, got in zip(x, found.values, strict=True)
    )
    assert np.all(np.abs(x[found.values == 0]) <= 0.5 * lsb * (1 + 1e-9))


@given(SHARES, SCALE, BITS)
def test_signed_error_and_clips(shares, scale, bits):
    x = shares * scale
    lsb = 2 * scale / 2**bits
    found = quantize_signed(x, scale, bits)
    inside = np.abs(x) <= scale
    assert np.all(np.abs(found.values - x)[inside] <= 0.5 * lsb * (1 + 1e-6))
    end = np.sign(x) * (scale - lsb / 2)
    np.testing.assert_allclose(found.values[~inside], end[~inside], rtol=1e-9)
    assert found.clipped == sum(abs(value) > scale for value in x)
    assert len(np.unique(np.rint(found.values / lsb - 0.5))) <= 2**bits


@given(SHARES, st.integers(1, 12))
def test_phase_error_on_the_circle(shares, bits):
    theta = shares * np.pi
    error = np.angle(np.exp(1j * (quantize_phase(theta, bits) - theta)))
    assert np.all(np.abs(error) <= np.pi / 2**bits * (1 + 1e-9))


@pytest.mark.parametrize("bits", [4, 7])
def test_variance_of_the_error_is_that_of_one_step(bits):
    """LSB^2 / 12 for an input spread over the range; twice that must fail."""
    rng = np.random.default_rng(5)
    x = rng.random(20_000)
    lsb = 1 / (2**bits - 1)
    assert_mean((quantize_unsigned(x, 1.0, bits).values - x) ** 2, lsb**2 / 12)
    lsb = 2 / 2**bits
    y = 2 * x - 1
    assert_mean((quantize_signed(y, 1.0, bits).values - y) ** 2, lsb**2 / 12)
    step = 2 * np.pi / 2**bits
    theta = np.pi * y
    assert_mean((quantize_phase(theta, bits) - theta) ** 2, step**2 / 12)


@pytest.mark.parametrize("bits", [6, 10, 14])
def test_one_more_bit_halves_the_error(bits):
    def error(bits):
        theta = 2 * np.pi * SPREAD - np.pi
        return [
            np.std(quantize_unsigned(SPREAD, 1.0, bits).values - SPREAD),
            np.std(quantize_signed(2 * SPREAD - 1, 1.0, bits).values - 2 * SPREAD + 1),
            np.std(quantize_phase(theta, bits) - theta),
        ]

    ratio = np.divide(error(bits), error(bits + 1))
    assert np.all((ratio > 1.95) & (ratio < 2.05))


def test_without_bits_a_value_is_kept_and_only_the_range_acts():
    x = np.array([0.0, 0.3, 1.0, 1.7])
    kept = quantize_unsigned(x, 1.0, None, limit=False)
    np.testing.assert_array_equal(kept.values, x)
    assert (kept.clipped, kept.zeroed) == (0, 0)
    limited = quantize_unsigned(x, 1.0, None)
    np.testing.assert_array_equal(limited.values, [0.0, 0.3, 1.0, 1.0])
    assert (limited.clipped, limited.zeroed) == (1, 0)


def test_one_signed_bit_keeps_the_sign():
    x = np.array([-5.0, -1.0, -1e-9, 1e-9, 0.2, 1.0, 5.0])
    found = quantize_signed(x, 1.0, 1)
    np.testing.assert_array_equal(found.values, np.where(x < 0, -0.5, 0.5))
    assert found.clipped == 2


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_phases_on_both_sides_of_half_a_turn_meet(bits):
    theta = np.array([np.pi - 1e-9, -np.pi + 1e-9, np.pi, -np.pi, 3 * np.pi])
    found = np.exp(1j * quantize_phase(theta, bits))
    np.testing.assert_allclose(found, -1.0, atol=1e-12)


def test_a_direction_is_quantised_by_its_phase_or_by_component():
    x = np.array([[0.3, 0.4], [-2.0, 0.1], [0.0, 0.0]])
    phase = quantize_direction(x, 2, by_phase=True)
    np.testing.assert_allclose(phase.values, [[0, 1], [-1, 0], [1, 0]], atol=1e-12)
    assert (phase.clipped, phase.zeroed) == (0, 0)
    component = quantize_direction(x, 2, by_phase=False)
    np.testing.assert_allclose(
        component.values, [[0.25, 0.25], [-0.75, 0.25], [0.25, 0.25]]
    )
    assert component.clipped == 1
