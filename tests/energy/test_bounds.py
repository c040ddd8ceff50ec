"""Closed forms against the figures printed with the project's energy facts."""

import math

import pytest

from oscsim.energy.bounds import (
    converter_floor,
    locked_sigma,
    mismatch_angle,
    phase_bits,
    sampling_bound,
    schreier_db,
    settling_bound,
    walden_j,
)
from oscsim.energy.components import Library
from oscsim.errors import SpecError
from oscsim.physics.stationary import settling_time
from oscsim.units import ring_diffusion_minimum, thermal_diffusion_bound

LIBRARY = Library.load()
KT = 4.142e-21
# f (Hz), energy a cycle (fJ), kappa, t to 6 bits (ns), cycles, D (rad^2/s), sigma
# (mrad), bits, error of 1 % and of 0.1 % frequency mismatch (rad), as printed.
PRINTED = [
    (1e9, 27, 0.02, 38.6, 39, 8.88e4, 26.6, 6.1, 0.50, 0.050),
    (1e9, 27, 0.05, 15.4, 15, 8.88e4, 16.8, 6.8, 0.20, 0.020),
    (1e9, 27, 0.1, 7.7, 8, 8.88e4, 11.9, 7.3, 0.10, 0.010),
    (1e9, 340, 0.02, 38.6, 39, 7.05e3, 7.5, 7.9, 0.50, 0.050),
    (1e9, 340, 0.05, 15.4, 15, 7.05e3, 4.7, 8.6, 0.20, 0.020),
    (1e9, 340, 0.1, 7.7, 8, 7.05e3, 3.3, 9.1, 0.10, 0.010),
    (2e9, 6, 0.02, 19.3, 39, 7.99e5, 56.4, 5.0, 0.50, 0.050),
    (2e9, 6, 0.05, 7.7, 15, 7.99e5, 35.7, 5.7, 0.20, 0.020),
    (2e9, 6, 0.1, 3.9, 8, 7.99e5, 25.2, 6.2, 0.10, 0.010),
]


@pytest.mark.parametrize(
    ("f", "fj", "kappa", "ns", "cycles", "d", "mrad", "bits", "one", "tenth"), PRINTED
)
def test_the_printed_lines(f, fj, kappa, ns, cycles, d, mrad, bits, one, tenth):
    drive = kappa * 2 * math.pi * f
    time = float(settling_time(math.pi / 2, 2.0**-6, drive))
    assert time * 1e9 == pytest.approx(ns, abs=0.051)
    assert round(time * f) == cycles
    excess = LIBRARY["phys.D_ring_excess"].value
    diffusion = excess * ring_diffusion_minimum(f, fj * 1e-15 * f)
    assert diffusion == pytest.approx(d, rel=1e-3)
    sigma = locked_sigma(diffusion, drive)
    assert sigma * 1e3 == pytest.approx(mrad, abs=0.051)
    assert phase_bits(sigma) == pytest.approx(bits, abs=0.051)
    for relative, error in ((0.01, one), (0.001, tenth)):
        detuning = relative * 2 * math.pi * f
        assert mismatch_angle(detuning, drive) == pytest.approx(error, rel=1e-9)


def test_mismatch_of_one_percent_leaves_three_bits_and_heat_nearly_seven():
    assert phase_bits(mismatch_angle(0.01, 0.05)) == pytest.approx(3.2, abs=0.05)
    assert phase_bits(0.0168) == pytest.approx(6.8, abs=0.05)


def test_units_and_library_hold_the_same_constants():
    f, power = 1e9, 1e-6
    per_kt = KT * f**2 / power
    bound, ring = thermal_diffusion_bound(f, power), ring_diffusion_minimum(f, power)
    assert bound == pytest.approx(LIBRARY["phys.D_TUR"].value * per_kt, rel=1e-3)
    assert ring == pytest.approx(LIBRARY["phys.D_ring_min"].value * per_kt, rel=1e-3)
    assert ring / bound == pytest.approx(3.67, abs=0.006)


def test_the_example_of_the_settling_bound():
    energy = settling_bound(4.2, 0.05, 0.05)
    assert energy / KT == pytest.approx(6.7e5, rel=0.005)
    assert energy == pytest.approx(2.8e-15, rel=0.01)
    assert energy * 3.67 == pytest.approx(10e-15, rel=0.03)
    assert 15 * 27e-15 / (energy * 3.67) == pytest.approx(40, rel=0.02)


def test_the_settling_bound_is_the_power_that_the_diffusion_needs():
    f, kappa, sigma, n = 3e8, 0.03, 0.02, 5.0
    drive = kappa * 2 * math.pi * f
    power = thermal_diffusion_bound(f, 1.0) / (sigma**2 * drive)
    assert settling_bound(n, kappa, sigma) == pytest.approx(power * n / drive)
    hot = settling_bound(n, kappa, sigma, temperature_k=600.0)
    assert hot == pytest.approx(2 * power * n / drive)


def test_bits_are_those_of_a_converter_as_bad():
    step = 2 * math.pi / 2**7
    assert phase_bits(step / math.sqrt(12)) == pytest.approx(7)
    assert phase_bits(0) == math.inf


def test_sampling_and_conversion():
    assert sampling_bound(LIBRARY, 8) == pytest.approx(3.3e-15, rel=0.02)
    assert sampling_bound(LIBRARY, 8) == pytest.approx(
        LIBRARY["sh.ktc_1V_8b"].value * 1e-12, rel=0.02
    )
    assert sampling_bound(LIBRARY, 9) == pytest.approx(4 * sampling_bound(LIBRARY, 8))
    assert converter_floor(LIBRARY, 1) == pytest.approx(0.267e-12, rel=1e-4)
    wide = converter_floor(LIBRARY, 16) / converter_floor(LIBRARY, 15)
    assert wide == pytest.approx(4, rel=0.01)


def test_figures_of_merit():
    assert walden_j(0.32e-12, 8) == pytest.approx(1.25e-15)
    # 10 bits at 1 MHz bandwidth: 61.97 dB + 10 lg(1e6 / 2e-6) = 178.96 dB
    assert schreier_db(2e-6 / 2e6, 10) == pytest.approx(178.96, abs=0.01)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: phase_bits(-1.0), "sigma must be >= 0 rad, got -1"),
        (lambda: phase_bits(math.nan), "sigma must be >= 0 rad, got nan"),
        (lambda: locked_sigma(-1.0, 1.0), "diffusion must be >= 0"),
        (lambda: locked_sigma(1.0, 0.0), "drive must be finite and > 0 rad/s, got 0"),
        (lambda: mismatch_angle(-1.0, 1.0), "detuning must be >= 0"),
        (lambda: mismatch_angle(1.0, -1.0), "drive must be finite"),
        (lambda: settling_bound(0.0, 0.1, 0.1), "time_constants must be finite and"),
        (lambda: settling_bound(1.0, 0.0, 0.1), "kappa must be finite and > 0, got 0"),
        (lambda: settling_bound(1.0, 0.1, math.inf), "sigma must be finite"),
        (lambda: sampling_bound(LIBRARY, 0), "bits must be at least 1, got 0"),
        (lambda: converter_floor(LIBRARY, -2), "bits must be at least 1, got -2"),
        (lambda: walden_j(0.0, 8), "energy_j must be finite and > 0 J, got 0"),
        (lambda: schreier_db(-1.0, 8), "energy_j must be finite and > 0 J, got -1"),
    ],
)
def test_bad_numbers(call, expected):
    with pytest.raises(SpecError, match=expected):
        call()
