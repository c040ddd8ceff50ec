import math

import pytest

from oscsim.errors import SpecError
from oscsim.units import (
    diffusion_from_phase_noise,
    diffusion_from_sigma,
    diffusion_of_independent,
    ring_diffusion_minimum,
    thermal_diffusion_bound,
)


def test_sigma_is_a_standard_deviation_after_one_second():
    assert diffusion_from_sigma(0.1) == pytest.approx(0.005)
    assert diffusion_from_sigma(0.0) == 0


def test_independent_noises_add_in_variance():
    """.3 and .4 give the variance .25 per second, not (.7)^2 = .49."""
    assert 2 * diffusion_of_independent([0.3, 0.4]) == pytest.approx(0.25)
    assert diffusion_of_independent([]) == 0


def test_phase_noise():
    """-100 dBc/Hz at 1 MHz: 2 pi^2 1e12 1e-10."""
    assert diffusion_from_phase_noise(-100, 1e6) == pytest.approx(200 * math.pi**2)
    falling = diffusion_from_phase_noise(-120, 1e7)
    assert falling == pytest.approx(diffusion_from_phase_noise(-100, 1e6))


def test_thermodynamic_bound():
    bound = thermal_diffusion_bound(1e9, 1e-4, 300.0)
    assert bound == pytest.approx(4 * math.pi**2 * 1.380649e-23 * 300 * 1e18 / 1e-4)
    assert ring_diffusion_minimum(1e9, 1e-4) / bound == pytest.approx(3.67, abs=0.01)
    assert ring_diffusion_minimum(1e9, 1e-4) == pytest.approx(
        144.7 * 1.380649e-23 * 300 * 1e18 / 1e-4, rel=1e-3
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diffusion_from_sigma(-1.0), "sigma must be finite and >= 0, got -1.0"),
        (lambda: diffusion_of_independent([math.nan]), "sigma must be finite"),
        (lambda: diffusion_from_phase_noise(-100, 0.0), "offset_hz must be finite and"),
        (lambda: diffusion_from_phase_noise(math.inf, 1.0), "level_dbc_hz must be"),
        (lambda: thermal_diffusion_bound(0.0, 1.0), "frequency_hz must be finite"),
        (lambda: thermal_diffusion_bound(1.0, -1.0), "power_w must be finite"),
        (lambda: ring_diffusion_minimum(1.0, 1.0, 0.0), "temperature_k must be"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()
