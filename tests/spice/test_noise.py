"""Noise that is drawn from a seed, and what it does to phases in ngspice."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from oscsim.errors import NetlistError, SpecError
from oscsim.solve.noise import Stream, normals
from oscsim.spice.check import circuits
from oscsim.spice.claims import Expectations
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.noise import parameter_value, spice_number, with_noise
from oscsim.spice.waveforms import diffusion

SMALL = """* t
.param nt = 0.5
.param na = {sqrt(2*0.01/nt)}
.param duration = 2
* TRNOISE in a comment is no source
C0 a 0 1
I0 0 a TRNOISE({na} {nt} 0 0)
Vn b 0 dc 0 trnoise(2 500m)
R0 b 0 1
.tran 0.1 {duration} 0 0.1
.end
"""


def netlist(text=SMALL):
    return Netlist("test", text, Path("/folder"))


def test_the_text_holds_the_numbers_of_the_generator():
    drawn = with_noise(netlist(), seed=7).text
    assert "I0" not in drawn
    lines = drawn.splitlines()
    at = lines.index("Vnoise_i0 noise_i0 0 PWL(")
    assert "Gnoise_i0 0 a noise_i0 0 {na}" in lines
    assert "Enoise_vn b 0 noise_vn 0 2" in lines
    knots = " ".join(lines[at + 1 : lines.index("+ )")]).replace("+", " ").split()
    values = np.array(knots, dtype=float).reshape(-1, 2)
    np.testing.assert_array_equal(values[:, 0], np.arange(6) * 0.5)
    expected = normals(Stream(7, 33, 0, 0), np.arange(6), 1)[:, 0]
    np.testing.assert_array_equal(values[:, 1], expected)
    with_noise(netlist(), seed=7).check()


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    assert with_noise(netlist(), 7).text == with_noise(netlist(), 7).text
    assert with_noise(netlist(), 7).text != with_noise(netlist(), 8).text
    longer = with_noise(netlist().changed({"duration": 4.0}), 7).text
    first = with_noise(netlist(), 7).text.splitlines()
    at = first.index("Vnoise_i0 noise_i0 0 PWL(")
    assert first[at + 1] in longer


def test_a_netlist_without_noise_is_left_alone():
    quiet = netlist(SMALL.replace("I0 0 a TRNOISE", "* ").replace("Vn b", "* "))
    assert with_noise(quiet, 1) is quiet


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("500m)", "500m 1 1m)", "write NAME NODE NODE TRNOISE"),
        ("trnoise(2 500m)", "trrandom(2 500m)", "write NAME NODE NODE TRNOISE"),
        ("Vn b 0 dc 0", ".subckt s b\nVn b 0", "Vn makes noise in a sub-circuit"),
        ("{nt} 0 0", "{2*nt} 0 0", r"\{2\*nt\} must be a number or the name"),
        ("{nt} 0 0", "{other} 0 0", r"\{other\} must be a number"),
        ("nt = 0.5", "nt = 0", "must be above 0 s, got 0 and 2"),
        ("nt = 0.5", "nt = 1n", "are more than 4000000: lengthen NT of I0"),
        ("R0 b 0 1", "R0 b noise_i0 1", "the name noise_i0 is taken"),
        (".tran 0.1 {duration} 0 0.1", "", "no .tran line with an end"),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused(old, new, told):
    assert old in SMALL
    with pytest.raises(NetlistError, match=told):
        with_noise(netlist(SMALL.replace(old, new)), 0)


def test_noise_in_an_included_file_is_refused(tmp_path):
    text = SMALL.replace(".end\n", ".include part.inc\n.end\n")
    including = Netlist("test", text, tmp_path)
    (tmp_path / "part.inc").write_text("R9 a 0 1\n")
    with_noise(including, 0)
    (tmp_path / "part.inc").write_text("I9 a 0 TRNOISE(1 1 0 0)\n")
    with pytest.raises(NetlistError, match=r"part\.inc, which it includes, makes"):
        with_noise(including, 0)


def test_a_seed_out_of_range_is_refused():
    with pytest.raises(SpecError, match="got -1"):
        with_noise(netlist(), -1)


@pytest.mark.parametrize(
    ("text", "value"),
    [("10Meg", 1e7), ("10M", 1e-2), ("2ns", 2e-9), ("-1.5e3", -1500.0), ("1F", 1e-15)],
)
def test_numbers_as_spice_writes_them(text, value):
    assert spice_number(text) == pytest.approx(value, rel=1e-12)
    with pytest.raises(NetlistError, match="is no number"):
        spice_number(text + "*2")


def test_a_parameter_that_names_another():
    chain = netlist(SMALL.replace("duration = 2", "duration = {nt}"))
    assert parameter_value(chain, "{duration}") == 0.5
    around = netlist(SMALL.replace("duration = 2", "duration = {duration}"))
    with pytest.raises(NetlistError, match="must be a number"):
        parameter_value(around, "{duration}")


def test_diffusion_of_known_steps():
    """Changes of +-1 in intervals of 2 s: D = 1 / 4, whatever the points between."""
    time = np.arange(0.0, 9.0)
    walk = np.array([[0.0, 0, 1, 0, 0, 0, 1, 1, 2], [0.0, 9, 1, 9, 2, 9, 1, 9, 0]])
    assert diffusion(time, walk, 0.0, 8.0, 2.0) == pytest.approx(0.25)
    for wrong in ((0.0, 9.0, 2.0), (0.0, 8.0, 0.0), (0.0, 1.0, 2.0)):
        with pytest.raises(SpecError, match="diffusion needs whole intervals"):
            diffusion(time, walk, *wrong)


def _variance(kappa):
    """Mean of theta^2 under exp(kappa cos theta)."""
    theta = np.linspace(-np.pi, np.pi, 20001)
    law = np.exp(kappa * (np.cos(theta) - 1))
    return np.trapezoid(theta**2 * law, theta) / np.trapezoid(law, theta)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_phases_in_the_circuit_spread_as_the_laws_say():
    """Diffusion and variance over seeds 1..3, and with D doubled.

    5472 changes give D to 1.9 %; 144 phases for 17 s, K = 2, give the variance to
    sqrt(2 / (K T n)) = 2.0 %. Straight lines between numbers NT apart lower both by
    0.467 NT over the interval, or times K. Twice D is off by 50 errors.
    """
    (path,) = (one for one in circuits() if one.stem == "phase_noise")
    claims = Expectations.read(path.with_suffix(".toml")).claims
    assert claims[1].expected == pytest.approx(_variance(50.0), abs=1e-6)
    shipped = Netlist.read(path)
    asked = [with_noise(shipped, seed) for seed in (1, 2, 3)]
    asked.append(with_noise(shipped.changed({"d": 0.08}), 4))
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(simulate_circuit, asked))

    def spreads(run):
        waves = run.waveforms
        walks = np.array([waves.signal(f"v(th{k})") for k in range(48)])
        return (
            diffusion(waves.time, walks, 1.0, 20.0, 0.5),
            run.measures["variance"],
        )

    free, pulled = np.mean([spreads(run) for run in runs[:3]], axis=0)
    apart = free / (0.04 * (1 - 0.467 * 0.02 / 0.5)) - 1
    assert abs(apart) < 4 * np.sqrt(2 / 5472)
    apart = pulled / (_variance(50.0) * (1 - 0.467 * 0.02 * 2)) - 1
    assert abs(apart) < 4 * np.sqrt(2 / (2 * 17 * 144))
    assert claims[0].expected == pytest.approx(0.04 * (1 - 0.02 / (2 * 0.5)))
    assert claims[0].tolerance == pytest.approx(4 * np.sqrt(2 / 1824) * 0.04, rel=0.05)
    louder, wider = spreads(runs[3])
    assert louder / 0.04 - 1 > 20 * np.sqrt(2 / 5472)
    assert wider / _variance(50.0) - 1 > 20 * np.sqrt(2 / (2 * 17 * 144))
    assert wider == pytest.approx(_variance(25.0), rel=0.2)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_the_same_seed_gives_the_same_waveforms():
    one, two, other = (
        simulate_circuit(with_noise(netlist(), seed)).waveforms for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(one.time, two.time)
    np.testing.assert_array_equal(one.signal("v(a)"), two.signal("v(a)"))
    there = np.interp(one.time, other.time, other.signal("v(a)"))
    assert np.abs(there - one.signal("v(a)")).max() > 1e-3
