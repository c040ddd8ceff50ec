"""What a tally says happened to oscillators and couplings."""

import math

import numpy as np
import pytest

from oscsim.substrate.tally import LOG10_EDGES, SettleTally, histogram_quantile
from tests.substrate.drives import (
    RATE,
    angle,
    chip_of,
    device,
    drive,
    settled,
    single,
)


def test_an_oscillator_that_needs_longer_is_counted_as_unsettled():
    """phi_0 decides: ln(tan(phi_0/2) / tan(.005)) / |h| against T."""
    asked = single(500)
    start = np.abs(angle(settled(device(settle_time=1e-12), asked)))
    needed = np.log(np.tan(start / 2) / np.tan(0.005)) / RATE
    tally = SettleTally()
    settled(device(settle_time=2.5), asked, tally=tally)
    assert tally.oscillators == 500
    assert tally.unsettled == np.count_nonzero(needed > 2.5)
    assert 50 < tally.unsettled < 450


def test_a_drive_beyond_weak_coupling_is_counted():
    """|h| = 2 rad/s against 2 pi f times the device's limit."""
    for limit, is_strong in ((0.099, True), (0.101, False)):
        frequency = RATE / (2 * math.pi * 0.1)
        tally = SettleTally()
        kind = device(frequency_hz=frequency, weak_coupling=limit)
        settled(kind, single(7), tally=tally)
        assert tally.strongly_driven == (7 if is_strong else 0)
    tally = SettleTally()
    settled(device(), single(7), tally=tally)
    assert tally.strongly_driven == 0


def test_tallies_add_field_by_field():
    one, two = SettleTally(), SettleTally()
    settled(device(settle_time=1.0), single(5), tally=one)
    settled(device(settle_time=1.0, weight_bits=1), single(3, w=0.2), tally=two)
    both = one + two
    assert both.oscillators == 8
    assert both.couplings == 8
    assert both.zeroed == 3
    assert both.reads == 8
    assert both.unsettled == one.unsettled + two.unsettled
    assert both.by_layer == {(0, "couplings"): 8, (0, "zeroed"): 3}
    np.testing.assert_array_equal(
        both.field_histogram, one.field_histogram + two.field_histogram
    )
    assert one.oscillators == 5


def test_couplings_are_counted_in_their_layer():
    tally = SettleTally()
    for layer, w in ((0, 3.0), (2, 0.1), (2, 3.0)):
        asked = single(5, w=w)._replace(layer=layer)
        settled(device(weight_bits=2), asked, tally=tally)
    assert +tally.by_layer == {
        (0, "couplings"): 5,
        (0, "clipped"): 5,
        (2, "couplings"): 10,
        (2, "clipped"): 5,
        (2, "zeroed"): 5,
    }
    assert (tally.couplings, tally.clipped, tally.zeroed) == (15, 10, 5)


def test_histograms_are_in_units_of_the_full_scale_coupling():
    tally = SettleTally()
    settled(device(), single(100, w=0.25), tally=tally)
    assert tally.field_histogram.sum() == tally.time_histogram.sum() == 100
    assert histogram_quantile(tally.field_histogram, 0.5) == pytest.approx(
        0.25, rel=0.06
    )
    asked = single(2001)
    start = np.abs(angle(settled(device(settle_time=1e-12), asked)))
    tally = SettleTally()
    settled(device(), asked, tally=tally)
    needed = np.log(np.tan(start / 2) / np.tan(0.005))
    for q in (0.1, 0.5, 0.9):
        assert histogram_quantile(tally.time_histogram, q) == pytest.approx(
            np.quantile(needed, q), rel=0.07
        )


def test_a_quantile_beyond_the_edges_says_so():
    empty = np.zeros(len(LOG10_EDGES) + 1, np.int64)
    assert math.isnan(histogram_quantile(empty, 0.5))
    below, above = empty.copy(), empty.copy()
    below[0] = above[-1] = 1
    assert histogram_quantile(below, 0.5) == 0.0
    assert histogram_quantile(above, 0.5) == math.inf


def test_oscillators_that_lost_every_coupling_are_counted_as_undriven():
    """Two couplings of which one is left, or none; they stay where they began."""
    asked = drive([[[[0.6, 0.1]]], [[[0.1, 0.1]]], [[[0.1, 0.2]]]], [[[1, 0], [0, 1]]])
    for fields, undriven in (
        ({"weight_bits": 1}, 2),
        ({"weight_bits": 8}, 0),
        ({"stuck_off": 1.0}, 3),
    ):
        tally = SettleTally()
        settled(device(**fields), asked, tally=tally)
        assert (tally.oscillators, tally.undriven) == (3, undriven), fields
        assert tally.error_histogram.sum() == 3 - undriven
    start = settled(device(settle_time=1e-12), asked)
    lost = settled(device(weight_bits=1), asked)
    np.testing.assert_allclose(lost[1:], start[1:], atol=1e-9)


def bin_of(values):
    return np.searchsorted(LOG10_EDGES, np.log10(values), side="right")


def test_a_detuned_oscillator_is_read_asin_of_detuning_over_drive_away():
    """phi = asin(dw / |h|) once settled; the bins of twice the angle are others."""
    kind, asked = device(frequency_offset=0.3), single(1, heads=200)
    omega = np.abs(chip_of(kind, asked).layers[0].detuning[:, 0])
    tally = SettleTally()
    settled(kind, asked, tally=tally)
    away = np.arcsin(omega / RATE)
    expected = np.bincount(bin_of(away), minlength=len(LOG10_EDGES) + 1)
    np.testing.assert_array_equal(tally.error_histogram, expected)
    assert np.any(expected != np.bincount(bin_of(2 * away), minlength=len(expected)))
    assert histogram_quantile(tally.error_histogram, 0.5) == pytest.approx(
        np.median(away), rel=0.06
    )


def test_the_angle_when_read_is_after_the_settling_time():
    """tan(phi/2) = tan(phi_0/2) exp(-|h| t), the angle before read-out noise."""
    asked = single(500)
    start = np.abs(angle(settled(device(settle_time=1e-12), asked))).ravel()
    tally = SettleTally()
    kind = device(settle_time=1.5, readout_noise=0.5)
    settled(kind, asked, tally=tally)
    away = 2 * np.arctan(np.tan(start / 2) * np.exp(-RATE * 1.5))
    expected = np.bincount(bin_of(away), minlength=len(LOG10_EDGES) + 1)
    np.testing.assert_array_equal(tally.error_histogram, expected)


def test_an_oscillator_without_drive_never_settles():
    tally = SettleTally()
    settled(device(settle_time=1e6), single(4, w=0.0), tally=tally)
    assert tally.unsettled == 4
    assert tally.time_histogram[-1] == 4
    assert tally.field_histogram[0] == 4
    assert tally.couplings == 0
