"""Waveforms with known answers, in uneven steps as ngspice leaves them."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.spice.waveforms import (
    frequency,
    lock_in,
    lock_verdict,
    rising_crossings,
    start_up,
    supply_energy,
    time_mean,
)


def uneven(periods=50, per_period=200):
    """Times in periods, whose steps differ by a factor of 3."""
    steps = np.random.default_rng(0).uniform(0.5, 1.5, periods * per_period)
    time = np.cumsum(steps)
    return (time - time[0]) * periods / (time[-1] - time[0])


def test_crossings_of_a_straight_line_are_exact():
    time, values = np.array([0.0, 1.0, 4.0, 5.0]), np.array([-1.0, -1.0, 2.0, -3.0])
    np.testing.assert_allclose(rising_crossings(time, values), [2.0])
    np.testing.assert_allclose(rising_crossings(time, values, 1.0), [3.0])


def test_frequency_of_a_cosine():
    time = uneven() * 1e-6
    values = 3 + np.cos(2 * np.pi * 1.013e6 * time)
    assert abs(frequency(time, values, 3.0) / 1.013e6 - 1) < 1e-6
    with pytest.raises(SpecError, match="got 0"):
        frequency(time, values, 5.0)


@pytest.mark.parametrize("phase", [-2.0, 0.3, 3.0])
def test_lock_in_finds_phase_and_amplitude_beside_harmonics(phase):
    time = uneven()
    turn = 2 * np.pi * time + phase
    found = lock_in(time, 0.7 * np.cos(turn) + 0.2 * np.cos(3 * turn) + 0.5, 1.0)
    error = np.angle(np.exp(1j * (found.phase - phase)))
    assert np.abs(error).max() < 1e-3
    assert np.abs(found.amplitude / 0.7 - 1).max() < 1e-3


def test_lock_in_follows_a_detuned_carrier():
    """1 % above the carrier the phase turns by 2 pi 0.01 per period."""
    time = uneven()
    found = lock_in(time, np.cos(2 * np.pi * 1.01 * time), 1.0)
    slope = np.polyfit(found.time, found.phase, 1)[0]
    assert abs(slope / (2 * np.pi * 0.01) - 1) < 1e-3
    # the filter is symmetric: no delay
    np.testing.assert_allclose(
        found.phase - 2 * np.pi * 0.01 * found.time, 0.0, atol=2e-3
    )


def test_lock_in_refuses_what_it_cannot_do():
    time = uneven(periods=3)
    with pytest.raises(SpecError, match="above 0 Hz, got 0"):
        lock_in(time, time, 0.0)
    with pytest.raises(SpecError, match="needs 4 periods of the carrier, got 3"):
        lock_in(time, time, 1.0)


@pytest.mark.parametrize(
    ("growth", "amplitude", "verdict"),
    [(0.0, 0.0, "never"), (-0.5, 1.0, "collapsed"), (0.0, 1.0, "sustained")],
)
def test_start_up_verdicts(growth, amplitude, verdict):
    time = uneven()
    values = amplitude * np.exp(growth * time) * np.cos(2 * np.pi * time)
    assert start_up(time, values, 0.1) == verdict


def test_a_late_start_is_a_start():
    time = uneven()
    values = 1e-6 * np.exp(0.3 * time) * np.cos(2 * np.pi * time)
    assert start_up(time, values, 0.1) == "sustained"
    with pytest.raises(SpecError, match="smallest must be above 0, got 0"):
        start_up(time, values, 0.0)


def adler(x, t):
    """Phase difference of d' = x - sin d by small Euler steps."""
    d = np.zeros(len(t))
    for k, step in enumerate(np.diff(t)):
        d[k + 1] = d[k] + step * (x - np.sin(d[k]))
    return d


def test_lock_verdict_on_both_sides_of_the_edge():
    time = np.linspace(0, 60, 6001)
    assert lock_verdict(adler(0.9, time)) == "locked"
    assert lock_verdict(adler(1.1, time)) == "slips"
    assert lock_verdict(adler(1.1, time)[:500]) == "undecided"
    with pytest.raises(SpecError, match="got 3"):
        lock_verdict(np.zeros(3))


def test_means_and_energy_do_not_depend_on_where_the_points_lie():
    """1 W for 1 ns in 1000 points, then 0 for 9 ns in 10: 0.1 W, 1 nJ."""
    time = np.concatenate(
        [np.linspace(0, 1e-9, 1000), np.linspace(1e-9 * (1 + 1e-9), 1e-8, 10)]
    )
    power = np.repeat([1.0, 0.0], [1000, 10])
    assert abs(time_mean(time, power) - 0.1) < 1e-6
    assert power.mean() > 0.9
    assert abs(supply_energy(time, 1.0, -power) - 1e-9) < 1e-15


def test_a_source_that_delivers_has_positive_energy():
    """2 V across 1 kohm for 3 s: ngspice gives -2 mA; 12 mJ."""
    time = np.array([0.0, 0.5, 3.0])
    assert supply_energy(time, 2.0, np.full(3, -2e-3)) == pytest.approx(12e-3)


def test_what_is_no_waveform_is_refused():
    with pytest.raises(SpecError, match="as many values as times"):
        time_mean(np.arange(3.0), np.arange(4.0))
    with pytest.raises(SpecError, match="must rise"):
        time_mean(np.array([0.0, 2.0, 1.0]), np.zeros(3))
