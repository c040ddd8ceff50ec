"""Claims on waveforms made by hand, and side-car files that say them wrongly."""

import numpy as np
import pytest

from oscsim.errors import NetlistError, SpecError
from oscsim.spice.claims import Claim, Expectations
from oscsim.spice.measuring import difference, measure
from oscsim.spice.ngspice import Simulation
from oscsim.spice.rawfile import Waveforms

TIME = np.linspace(0, 50, 10_001)
TURN = 2 * np.pi * TIME
RUN = Simulation(
    Waveforms(
        TIME,
        {
            "v(a)": np.cos(TURN + 3.0),
            "v(b)": np.cos(TURN - 3.0),
            "v(slip)": np.cos(1.1 * TURN),
            "v(ramp)": 0.5 * TIME,
            "v(half)": 0.5 * TIME + np.pi / 2,
            "i(vdd)": np.full(len(TIME), -2e-3),
        },
    ),
    {"swing": 1.25},
    "",
    0.0,
)


def claim(kind, signals, expected, **more):
    return Claim(
        name="c", kind=kind, signals=signals, expected=expected, source="s", **more
    )


@pytest.mark.parametrize(
    ("one", "error", "off"),
    [
        (claim("measure", ("SWING",), 1.0), 0.25, 1e-12),
        (claim("trajectory", ("v(ramp)",), ((1.0, 2.25),), times=(2, 4)), 0.25, 1e-9),
        (claim("phase", ("v(a)",), 3.1, times=(25,), carrier_hz=1.0), 0.1, 1e-3),
        # 6 rad is 0.283 short of a turn
        (
            claim("phase", ("v(a)", "v(b)"), 0.0, times=(25,), carrier_hz=1.0),
            2 * np.pi - 6,
            2e-3,
        ),
        (
            claim(
                "phase",
                ("v(a)",),
                3.1 - np.pi,
                times=(25,),
                carrier_hz=1.0,
                modulo=np.pi,
            ),
            0.1,
            1e-3,
        ),
        (
            claim(
                "phase_trajectory",
                ("v(a)", "v(b)"),
                ((3.0,), (-3.2,)),
                times=(25,),
                carrier_hz=1.0,
            ),
            0.2,
            1e-3,
        ),
        (
            claim(
                "phase_trajectory",
                ("v(a)",),
                ((6.0,),),
                times=(25,),
                carrier_hz=1.0,
                reference="v(b)",
            ),
            0.0,
            2e-3,
        ),
        (
            claim("order_parameter", ("v(ramp)", "v(half)"), 0.5, times=(1, 9)),
            np.sqrt(0.5) - 0.5,
            1e-9,
        ),
        (claim("frequency", ("v(slip)",), 1.0), 0.1, 1e-4),
        (claim("energy", ("i(vdd)",), 0.1, volts=1.0, times=(0, 50)), 0.0, 1e-9),
        (claim("start_up", ("v(a)",), "sustained", level=1.0), 0.0, 0),
        (claim("start_up", ("v(a)",), "never", level=1.0), np.inf, 0),
        (claim("lock", ("v(a)", "v(b)"), "locked", carrier_hz=1.0), 0.0, 0),
        (claim("lock", ("v(slip)", "v(b)"), "slips", carrier_hz=1.0), 0.0, 0),
        (claim("lock", ("v(slip)", "v(b)"), "locked", carrier_hz=1.0), np.inf, 0),
    ],
)
def test_every_kind_of_claim_measures_what_it_says(one, error, off):
    found = difference(one, measure(one, RUN))
    assert found == pytest.approx(error, abs=off)


@pytest.mark.parametrize(("apart", "error"), [(0.25, 0.0), (0.35, 0.1)])
def test_centred_phases_do_not_see_a_common_phase(apart, error):
    waves = {"x": np.cos(TURN + 2.0 + 0.25), "y": np.cos(TURN + 2.0 - 0.25)}
    run = Simulation(Waveforms(TIME, waves), {}, "", 0.0)
    one = claim(
        "phase_trajectory",
        ("x", "y"),
        ((apart,), (-apart,)),
        times=(25,),
        carrier_hz=1.0,
        centred=True,
    )
    assert difference(one, measure(one, run)) == pytest.approx(error, abs=1e-3)


def test_what_cannot_be_measured_is_said():
    with pytest.raises(SpecError, match=r"the \.meas 'none' gave no result"):
        measure(claim("measure", ("none",), 1.0), RUN)
    late = claim("phase", ("v(a)",), 0.0, times=(60,), carrier_hz=1.0)
    with pytest.raises(
        SpecError, match=r"must lie in the run, 0 to 50 s, got 60 to 60"
    ):
        measure(late, RUN)
    edge = claim("phase", ("v(a)",), 0.0, times=(49.9,), carrier_hz=1.0)
    with pytest.raises(SpecError, match="must lie between 1 and 49 s"):
        measure(edge, RUN)
    for times in ((49.0, 50.1), (-1.0, 2.0)):
        after = claim("trajectory", ("v(ramp)",), ((24.5, 25.0),), times=times)
        with pytest.raises(SpecError, match="must lie in the run, 0 to 50 s"):
            measure(after, RUN)
        window = claim("energy", ("i(vdd)",), 0.1, volts=1.0, times=times)
        with pytest.raises(SpecError, match="must lie in the run, 0 to 50 s"):
            measure(window, RUN)
    whole = claim("trajectory", ("v(ramp)",), ((0.0, 25.0),), times=(0.0, 50.0))
    assert difference(whole, measure(whole, RUN)) < 1e-12


SIDECAR = """purpose = "p"
equation = "e"
figure = ["v(a)"]
[[claims]]
name = "c"
kind = "measure"
signals = ["swing"]
expected = 1.0
source = "s"
"""


def test_a_side_car_reads(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(SIDECAR)
    assert Expectations.read(path).cases[0].name == "as written"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "measure"', 'kind = "guess"', "kind"),
        ("expected = 1.0", 'expected = "locked"', "expected of a measure claim"),
        ("expected = 1.0", "expected = [[1.0]]", "expected of a measure claim"),
        ('kind = "measure"', 'kind = "trajectory"', "expected of a trajectory claim"),
        ('["swing"]', "[]", "signals is empty"),
        ('source = "s"', "", "source"),
        ('source = "s"', 'source = "s"\ncase = "other"', "case 'other' of 'c'"),
        ('source = "s"', 'source = "s"\ntolerance = -1', "tolerance"),
        ('source = "s"', 'source = "s"\ntolerance = inf', "tolerance"),
        ("expected = 1.0", "expected = nan", "must be finite"),
        ('source = "s"', 'source = "s"\ntimes = [inf]', "must be finite"),
        ('kind = "measure"', 'kind = "phase"', "phase claim: 1 needed, got 0"),
        (
            'kind = "measure"',
            'kind = "energy"\ntimes = [1]',
            "energy claim: 2 needed, got 1",
        ),
        ('purpose = "p"', "purpose = ", "cannot read"),
        (
            'kind = "measure"\nsignals = ["swing"]\nexpected = 1.0',
            'kind = "trajectory"\nsignals = ["v(a)"]\ntimes = [1]\nexpected = [[1, 2]]',
            "one value per time",
        ),
    ],
)
def test_a_wrong_side_car_is_refused(tmp_path, old, new, told):
    path = tmp_path / "x.toml"
    assert old in SIDECAR
    path.write_text(SIDECAR.replace(old, new))
    with pytest.raises(NetlistError, match=told):
        Expectations.read(path)


def test_a_missing_side_car_is_refused(tmp_path):
    with pytest.raises(NetlistError, match="the expected values of the circuit"):
        Expectations.read(tmp_path / "x.toml")
