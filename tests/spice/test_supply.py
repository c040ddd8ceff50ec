"""Energies of circuits against the recipes of the energy model, and why they differ."""

import numpy as np
import pytest

from oscsim.energy.components import Library
from oscsim.errors import SpecError
from oscsim.spice.check import circuits
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.supply import (
    coupler_power,
    resistor_energy,
    ring_cycle,
    settling_time,
)
from oscsim.spice.supply_check import supply_comparisons
from oscsim.spice.waveforms import rising_crossings, supply_energy

NETLISTS = {path.stem: path for path in circuits()}


def test_the_recipes_are_those_of_the_components():
    """With the numbers that the components name as their source."""
    library = Library.load()
    for name, value in (
        ("osc.ring_cycle_45", ring_cycle(11, 3e-15, 0.9) * 1e12),
        ("osc.ring_cycle_7", ring_cycle(11, 1.1e-15, 0.7) * 1e12),
        ("cpl.res_power", coupler_power(0.9, 100e3) * 1e6),
    ):
        assert library[name].value == pytest.approx(value, rel=0.02)
    assert library["cpl.res_power"].source.startswith("(V/2)^2/R")


def test_heat_does_not_depend_on_where_the_points_lie():
    """1 V across 1 ohm for 1 ns in 1000 points, none for 9 ns in 10: 1 nJ."""
    time = np.concatenate(
        [np.linspace(0, 1e-9, 1000), np.linspace(1e-9 * (1 + 1e-9), 1e-8, 10)]
    )
    volts = np.repeat([3.0, 2.0], [1000, 10])
    heat = resistor_energy(time, volts, np.full(1010, 2.0), 1.0)
    assert heat == pytest.approx(1e-9, rel=1e-6)
    assert resistor_energy(time, np.full(1010, 2.0), volts, 1.0) == heat


def test_settling_time_of_an_exponential():
    time = np.linspace(0, 20, 4001)
    values = 3 - np.exp(-time)
    expected = -np.log(0.01)
    assert settling_time(time, values, 0.01) == pytest.approx(expected, abs=0.01)
    assert settling_time(time, np.ones(4001), 0.01) == 0.0
    with pytest.raises(SpecError, match=r"got 0\.01 and .* s of 20: run longer"):
        settling_time(time, time, 0.01)
    with pytest.raises(SpecError, match="tolerance above 0, got 0"):
        settling_time(time, values, 0.0)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_energies_differ_from_the_recipes_by_what_the_reasons_say():
    """Bands around what was measured, and around what the reason predicts."""
    found = {one.name: one for one in supply_comparisons()}
    bands = {
        "ring_oscillator, ten periods, C of the loads": (3.40, 3.75, 0.05),
        "ring_oscillator, ten periods, C with the transistors": (0.97, 1.08, 0.05),
        "ring_pair, both rings until settled": (0.97, 1.08, 0.05),
        "ring_pair, coupler until settled": (0.062, 0.082, 0.35),
        "lc_pair, coupler once locked at half the lock range": (0.129, 0.135, 0.01),
        "lc_pair, coupler over whole slips at 1.5 of the lock range": (
            0.86,
            0.91,
            0.015,
        ),
        "lc_injection_attention, 24 weights until settled": (0.295, 0.315, 0.01),
    }
    assert set(found) == set(bands)
    for name, (low, high, share) in bands.items():
        one = found[name]
        assert low < one.ratio < high, name
        assert one.ratio == pytest.approx(one.explained, rel=share), name
        assert one.measured_j > 0
        assert one.reason


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_more_load_costs_c_v_squared_a_stage_and_a_cycle():
    """From 5 to 10 fF: 0.975 C V^2 a stage, as the swing is 0.988 of the supply.

    The line meets no load at 13 fF: those of the transistors, with what flows through
    both of an inverter at once.
    """
    shipped, energies = Netlist.read(NETLISTS["ring_oscillator"]), []
    for load in (5e-15, 10e-15):
        waves = simulate_circuit(shipped.changed({"cl": load})).waveforms
        edges = rising_crossings(waves.time, waves.signal("v(a0)"), 0.9)[10:21]
        inside = (waves.time >= edges[0]) & (waves.time <= edges[-1])
        drawn = waves.signal("i(vdd)")[inside]
        energies.append(supply_energy(waves.time[inside], 1.8, drawn) / 10)
    slope = (energies[1] - energies[0]) / ring_cycle(3, 5e-15, 1.8)
    assert 0.95 < slope < 1.0
    rest = energies[0] / ring_cycle(3, 1.0, 1.8) - slope * 5e-15
    assert 12e-15 < rest < 14e-15
