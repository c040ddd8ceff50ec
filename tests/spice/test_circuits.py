"""Every circuit that ships, in ngspice, against its claims."""

import numpy as np
import pytest

from oscsim.errors import NetlistError, SimulatorError
from oscsim.report.circuit_figure import circuit_figure
from oscsim.spice.check import check_circuit, circuits
from oscsim.spice.claims import Expectations
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.waveforms import start_up

pytestmark = [pytest.mark.spice, pytest.mark.usefixtures("ngspice")]


@pytest.mark.parametrize("path", circuits(), ids=lambda path: path.stem)
def test_the_circuit_does_what_it_claims(path):
    check = check_circuit(path)
    failed = [
        f"{one.claim.name} ({one.claim.case}): off by {one.error:.3g}, allowed "
        f"{one.claim.tolerance:g} {one.remark}"
        for one in check.outcomes
        if not one.passed
    ]
    assert not failed
    assert any(one.claim.kind == "measure" for one in check.outcomes)
    assert circuit_figure(check).axes


def test_a_wrong_weight_breaks_the_claims(tmp_path):
    """Negative control: one coupling of 49 off by 0.01 rad/s."""
    (path,) = (one for one in circuits() if one.stem == "kuramoto_crossbar")
    text = path.read_text()
    changed = text.replace("coupling k=0.1893", "coupling k=0.1993", 1)
    assert changed != text
    (tmp_path / "other.cir").write_text(changed)
    (tmp_path / "other.toml").write_text(path.with_suffix(".toml").read_text())
    check = check_circuit(tmp_path / "other.cir")
    assert not check.passed
    assert check.outcomes[0].error > 1e-3


def run(text, **options):
    return simulate_circuit(Netlist("test", text, circuits()[0].parent), **options)


def test_an_undefined_parameter_is_told_in_the_words_of_ngspice():
    with pytest.raises(NetlistError, match=r"refused test: .*zz"):
        run("* t\nV1 a 0 1\nR1 a 0 {zz}\n.tran 1 2 0 1\n.end\n")


def test_a_run_that_stops_early_is_a_failure_though_ngspice_exits_with_0():
    """x' = x^2 from 1 is infinite at t = 1."""
    text = "* t\nC1 a 0 1 IC=1\nB1 0 a I=V(a)*V(a)\n.tran 1m 5 0 1m uic\n.end\n"
    with pytest.raises(SimulatorError, match=r"Timestep too small; time = 0\.99"):
        run(text)


def test_an_analysis_that_takes_too_long_is_ended():
    with pytest.raises(SimulatorError, match=r"not done after 0\.2 s"):
        run("* t\nV1 a 0 1\nR1 a 0 1\n.tran 1n 1 0 1n\n.end\n", timeout=0.2)


TANK = """* an LC with a negative conductance
L1 a 0 1u
C1 a 0 1n {kick}
B1 a 0 I=-10m*V(a)+3m*V(a)*V(a)*V(a)
.tran 1n 4u 0 1n {uic}
.end
"""


def test_an_lc_at_rest_never_starts_and_a_kicked_one_does():
    """The cubic gives sqrt(4/3 10/3) V, so 4.2 V peak to peak."""
    rest = run(TANK.format(kick="", uic="")).waveforms
    kicked = run(TANK.format(kick="IC=10m", uic="uic")).waveforms
    assert start_up(rest.time, rest.signal("v(a)"), 0.1) == "never"
    assert start_up(kicked.time, kicked.signal("v(a)"), 0.1) == "sustained"
    swing = np.ptp(kicked.signal("v(a)")[len(kicked.time) // 2 :])
    assert 3.9 < swing < 4.5


def test_numbers_keep_their_spice_meaning():
    """10Meg is ten million and 10M ten thousandths: 2 V give 200 nA and 200 A."""
    text = "* t\nV1 a 0 2\nR1 a 0 {value}\n.tran 1 2 0 1\n.end\n"
    for value, ampere in (("10Meg", 2e-7), ("10M", 200.0)):
        current = run(text.format(value=value)).waveforms.signal("i(v1)")[-1]
        assert current == pytest.approx(-ampere, rel=1e-3)


def test_expectations_read_for_every_circuit():
    names = {path.stem for path in circuits()}
    assert {"lc_capacitive", "josephson_ladder"} == {
        path.stem
        for path in circuits()
        if Expectations.read(path.with_suffix(".toml")).counter_example
    }
    assert len(names) >= 13
