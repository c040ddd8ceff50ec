"""A weakly nonlinear LC oscillator, whose phase response is a sine."""

from pathlib import Path

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.spice.check import circuits
from oscsim.spice.claims import Expectations
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.phase_response import PhaseResponse, phase_response
from oscsim.spice.waveforms import frequency

TANK = """* an LC with a cubic conductance, 1 V, 1 MHz, eps = 0.05
.param kick_charge = 0
.param kick_time = 1u
.param kick_width = 10n
.param duration = 40u
L1 a 0 10u
C1 a 0 2.53302959n IC=1
B1 a 0 I=-0.79577m*V(a)+1.06103m*V(a)*V(a)*V(a)
Ikick 0 a PWL(0 0 {kick_time} 0 {kick_time+kick_width} {kick_charge/kick_width}
+ {kick_time+2*kick_width} 0)
.options reltol=1e-5 abstol=1e-12 vntol=1e-9 trtol=1
.tran 5n {duration} 0 5n uic
.save v(a)
.end
"""
NETLIST = Netlist("tank", TANK, Path())
GRID = 2 * np.pi * np.arange(512) / 512


def sine(capacitance=2.5e-9):
    """v = sin(t), G = cos(t) / C: a charge at the rising crossing is all advance."""
    return PhaseResponse(1e6, np.cos(GRID) / capacitance, np.sin(GRID))


def test_equal_sines_couple_as_kuramoto_does():
    """H(d) = sin(d) / (2 R C), so K, the lock range 2 K and asin(share)."""
    found = sine()
    k = 1 / (2 * 1e5 * 2.5e-9)
    np.testing.assert_allclose(found.coupling(1e5), k * np.sin(GRID), atol=1e-9 * k)
    assert found.lock_range(1e5) == pytest.approx(2 * k, rel=1e-9)
    for share in (0.0, 0.3, 0.8):
        assert found.lag(1e5, share) == pytest.approx(np.arcsin(share), abs=1e-3)


def test_what_has_no_answer_is_refused():
    with pytest.raises(SpecError, match="resistance must be above 0 ohm, got 0"):
        sine().coupling(0.0)
    with pytest.raises(SpecError, match="from 0 to below 1, got 1"):
        sine().lag(1e5, 1.0)
    with pytest.raises(SpecError, match="got 0 C and 24"):
        phase_response(NETLIST, "v(a)", 0.0, charge=0.0)
    for wrong in (np.nan, np.inf):
        with pytest.raises(SpecError, match=f"got {wrong} C and 24"):
            phase_response(NETLIST, "v(a)", 0.0, charge=wrong)
    for signal in ("i(l1)", "v(b)", "a"):
        with pytest.raises(SpecError, match=r"kicks node a: ask for v\(a\), got"):
            phase_response(NETLIST, signal, 0.0, charge=1e-12)
    bare = Netlist(
        "bare", TANK.replace("Ikick", "*Ikick").replace("+ {", "* {"), Path()
    )
    with pytest.raises(SpecError, match="one current source with kick_charge"):
        phase_response(bare, "v(a)", 0.0, charge=1e-12)
    with pytest.raises(SpecError, match="got 1 C and 7"):
        phase_response(NETLIST, "v(a)", 0.0, charge=1.0, n_phases=7)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_kicks_measure_the_response_of_an_lc():
    """G = cos(t) / (C A); eps = 0.05 bends it by a few per cent."""
    found = phase_response(NETLIST, "v(a)", 0.0, charge=2.5e-11, n_phases=12)
    assert found.frequency_hz == pytest.approx(1e6, rel=1e-3)
    scaled = found.response * 2.53302959e-9
    at = (np.arange(12) + 0.5) / 12 * 512
    measured = np.interp(at, np.arange(512), scaled)
    np.testing.assert_allclose(found.kicks * 2.53302959e-9, measured, atol=2e-3)
    np.testing.assert_allclose(measured, np.cos(2 * np.pi * at / 512), atol=0.06)
    k = 1 / (2 * 1e5 * 2.53302959e-9)
    assert found.lock_range(1e5) == pytest.approx(2 * k, rel=0.08)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_run_of_few_periods_is_refused():
    short = NETLIST.changed({"duration": 15e-6})
    with pytest.raises(SpecError, match="needs 25 periods, got 1"):
        phase_response(short, "v(a)", 0.0, charge=1e-12)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
@pytest.mark.parametrize(
    ("charge", "told"),
    [
        (1e-25, "too small for the time step"),
        (2e-9, "too large for a linear response"),
        (1e-7, "of a period, 0.2 at most: give a smaller one"),
    ],
)
def test_a_charge_of_no_linear_response_is_refused(charge, told):
    with pytest.raises(SpecError, match=told):
        phase_response(NETLIST, "v(a)", 0.0, charge=charge, n_phases=8)


@pytest.mark.slow
@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_the_ring_pair_expects_what_its_phase_response_predicts():
    """Shares of the lock range, and lags, of ring_pair.toml; 43 runs."""
    (path,) = (one for one in circuits() if one.stem == "ring_pair")
    told = Expectations.read(path.with_suffix(".toml"))
    alone = Netlist.read(path).changed({"r": 1e12, "duration": 4.3e-9})
    found = phase_response(alone, "v(a0)", 0.9, charge=1e-15, n_phases=20)
    lags = [one.expected for one in told.claims if one.signals == ("lag",)]
    for share, lag, case in zip((0.4, 0.8), lags, told.cases, strict=False):
        assert found.lag(50e3, share) == pytest.approx(lag, abs=0.01)
        waves = simulate_circuit(alone.changed(case.parameters)).waveforms
        late = waves.time > 2e-9
        slower = frequency(waves.time[late], waves.signal("v(b0)")[late], 0.9)
        apart = 2 * np.pi * (found.frequency_hz - slower) / found.lock_range(50e3)
        assert apart == pytest.approx(share, rel=0.02)
