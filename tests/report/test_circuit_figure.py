"""Figures of circuits, from waveforms that are made up."""

import numpy as np
import pytest

from oscsim.report.circuit_figure import circuit_figure
from oscsim.spice.check import CircuitCheck
from oscsim.spice.claims import Case, Claim, Expectations
from oscsim.spice.ngspice import Simulation
from oscsim.spice.rawfile import Waveforms

TIME = np.linspace(0, 40, 4001)


def run_of(**signals):
    waves = Waveforms(TIME, {f"v({name})": value for name, value in signals.items()})
    return Simulation(waves, {}, "", 0.0)


def check_of(runs, signals=("v(a)", "v(b)"), times=(10.0, 20.0), rows=None, **told):
    rows = rows or tuple((0.0,) * len(times) for _ in signals)
    claim = Claim(
        name="c",
        kind="trajectory",
        signals=signals,
        times=times,
        expected=rows,
        unit="rad",
        source="s",
        case=next(iter(runs)),
    )
    cases = tuple(Case(name=name) for name in runs)
    known = Expectations(
        purpose="p", equation="e", figure=("v(a)", "v(b)"), claims=(claim,),
        cases=cases, **told,
    )  # fmt: skip
    return CircuitCheck("made_up", known, runs, ())


def test_two_oscillations_in_several_cases_show_their_difference():
    """One line a case, the phase of the second from the first."""
    first = np.cos(2 * np.pi * TIME)
    runs = {
        f"by {shift}": run_of(a=first, b=np.cos(2 * np.pi * TIME + shift))
        for shift in (-0.5, 1.0)
    }
    figure = circuit_figure(check_of(runs, carrier_hz=1.0))
    left, right = figure.get_axes()
    assert "v(a) solid, v(b) dashed" in left.get_title()
    assert right.get_ylabel() == "phase of v(b) from v(a) (rad)"
    lines = {line.get_label(): line.get_ydata() for line in right.get_lines()}
    assert set(lines) == {"by -0.5", "by 1.0"}
    np.testing.assert_allclose(lines["by -0.5"], -0.5, atol=1e-2)
    np.testing.assert_allclose(lines["by 1.0"], 1.0, atol=1e-2)


def test_a_pair_that_slips_does_not_stretch_the_others():
    first = np.cos(2 * np.pi * TIME)
    runs = {
        "locked": run_of(a=first, b=first),
        "slips": run_of(a=first, b=np.cos(2 * np.pi * 1.2 * TIME)),
    }
    right = circuit_figure(check_of(runs, carrier_hz=1.0)).get_axes()[1]
    assert max(abs(line.get_ydata()).max() for line in right.get_lines()) > 40
    assert right.get_ylim()[1] == pytest.approx(4 * np.pi)


def test_relative_phases_have_relative_marks_and_an_end():
    """Phases 3 t and 3 t + 2 are -1 and 1 from their mean, and so are the marks."""
    runs = {"as written": run_of(a=3 * TIME, b=3 * TIME + 2)}
    rows = ((30.0, 60.0), (32.0, 62.0))
    check = check_of(runs, rows=rows, relative=True, until=15.0)
    (ax,) = circuit_figure(check).get_axes()
    marks = [line for line in ax.get_lines() if line.get_linestyle() == "None"]
    np.testing.assert_allclose([mark.get_ydata() for mark in marks], [[-1, -1], [1, 1]])
    assert ax.get_xlim()[1] == 15.0


def test_marks_of_some_signals_have_no_mean():
    runs = {"as written": run_of(a=3 * TIME, b=3 * TIME + 2)}
    check = check_of(runs, signals=("v(a)",), rows=((30.0, 60.0),), relative=True)
    (ax,) = circuit_figure(check).get_axes()
    assert all(line.get_linestyle() != "None" for line in ax.get_lines())
