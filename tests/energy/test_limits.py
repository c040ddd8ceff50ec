import math
from dataclasses import replace

import pytest

from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.limits import core_power, physics_limits
from oscsim.energy.precision import precision
from oscsim.energy.prices import Prices
from oscsim.errors import ComponentError, DeviceError, SpecError
from oscsim.substrate.device import Device

LIBRARY = Library.load()
RING = Device.load("ring-65nm")


def limits(device, **options):
    return {limit.name: limit for limit in physics_limits(device, LIBRARY, **options)}


def test_the_ring_sits_at_its_assumed_excess_above_the_ring_minimum():
    found = limits(RING)
    assert core_power(RING, LIBRARY) == pytest.approx(0.14e-12 * 230e6)
    assert found["phase diffusion of a ring"].factor == pytest.approx(4, rel=0.01)
    thermodynamic = found["phase diffusion"]
    assert thermodynamic.factor == pytest.approx(4 * 3.665, rel=0.01)
    assert thermodynamic.holds


def test_underdamped_and_time_converters_are_not_bound():
    lc = limits(Device.load("lc-board"))
    assert not lc["phase diffusion"].holds
    assert "underdamped" in lc["phase diffusion"].note
    assert "phase diffusion of a ring" not in lc
    assert lc["conversion of 10 bits"].holds
    time = limits(RING)["conversion of 8 bits"]
    assert not time.holds
    assert "time converter" in time.note
    assert "1.76 fJ a step (Walden)" in time.note


def test_a_conversion_against_survey_and_heat():
    found = limits(Device.load("lc-board"))
    assert found["conversion of 10 bits"].bound == pytest.approx(
        (0.267 + 1.45e-7 * 4**10) * 1e-12
    )
    assert found["sample of 10 bits"].bound == pytest.approx(12 * 4.142e-21 * 4**10)
    assert found["sample of 10 bits"].factor > found["conversion of 10 bits"].factor


@pytest.mark.parametrize(("name", "raised"), [("josephson-4k", True), ("mems", False)])
def test_a_conversion_is_shown_at_what_the_ledger_charges(name, raised):
    device, reads = Device.load(name), Counts(tokens=1)
    reads.add("readout", "state_read", 1)
    prices = replace(Prices.of_device(device), overheads={})
    charged = account(reads, prices, Library.load(), n_draws=4).nominal_j()
    found = limits(device)
    one = found[f"conversion of {device.adc_bits} bits"]
    assert one.actual == pytest.approx(charged, rel=1e-12)
    assert one.actual == found[f"sample of {device.adc_bits} bits"].actual
    assert one.factor > 0.999, "the floor that is charged has no term in the bits"
    assert ("as charged" in one.note) is raised


def test_a_coupling_write_against_landauer():
    write = limits(RING)["writing a coupling of 5 bits"]
    assert write.factor == pytest.approx(0.2e-12 / (5 * 2.871e-21))


def test_the_settling_bound_grows_with_the_inverse_square_of_the_drive():
    name = "settling one oscillator to 8 bits"
    strong, weak = (limits(RING, drive=7.2e7 / k)[name] for k in (1, 2))
    assert strong.actual == weak.actual == pytest.approx(0.14e-12 * 230e6 * 1e-6)
    assert weak.bound == pytest.approx(4 * strong.bound)
    assert strong.factor > 1


def test_what_a_device_does_not_state_is_left_out():
    bare = RING.changed(diffusion=0.0, adc_bits=None, weight_bits=None)
    assert physics_limits(bare, LIBRARY) == ()
    names = set(limits(Device.load("sphere-generic")))
    assert names == {
        "conversion of 6 bits",
        "sample of 6 bits",
        "writing a coupling of 6 bits",
    }


def test_mismatch_limits_the_ring_and_trim_moves_it():
    found = precision(RING)
    assert found.drive == RING.coupling_max
    kappa = RING.coupling_max / (2 * math.pi * 230e6)
    assert found.mismatch_rad == pytest.approx(0.001 / kappa)
    assert found.thermal_bits > found.mismatch_bits
    assert found.limited_by == "mismatch"
    trimmed = precision(RING.changed(frequency_mismatch=0.0))
    assert trimmed.mismatch_bits == math.inf
    assert trimmed.limited_by == "heat"
    assert precision(RING.changed(frequency_mismatch=0.0, adc_bits=3)).limited_by == (
        "read-out"
    )
    assert precision(RING.changed(adc_bits=None)).read_bits is None


def test_a_weak_drive_costs_a_bit_of_heat_for_every_factor_of_four():
    full, quarter = precision(RING), precision(RING, RING.coupling_max / 4)
    assert full.thermal_bits - quarter.thermal_bits == pytest.approx(1)
    assert full.mismatch_bits - quarter.mismatch_bits == pytest.approx(2)


def test_bad_requests():
    with pytest.raises(DeviceError, match="ideal is in model units"):
        precision(Device.load("ideal"))
    with pytest.raises(DeviceError, match="limits need time_unit 's'"):
        physics_limits(Device.load("ideal"), LIBRARY)
    for drive in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(SpecError, match="drive must be finite and > 0 rad/s"):
            precision(RING, drive)
    with pytest.raises(ComponentError, match="no energy section"):
        physics_limits(RING.changed(energy=None), LIBRARY)


def test_a_relaxation_oscillator_has_a_minimum_of_its_own():
    """3.2 rad^2/s are 21 dB above it, as the preset says."""
    found = limits(Device.load("vo2-relaxation"))
    own = found["phase diffusion of a relaxation oscillator"]
    assert own.factor == pytest.approx(10**2.1, rel=0.02)
    assert found["phase diffusion"].factor / own.factor == pytest.approx(1.55, abs=0.01)
    assert found["phase diffusion"].holds
    for name in ("josephson-4k", "mems"):
        assert not limits(Device.load(name))["phase diffusion"].holds
