"""Circuits with mismatched components, against the engine with the same weights."""

import re
from pathlib import Path

import numpy as np
import pytest

from oscsim.errors import NetlistError, SpecError
from oscsim.network.spec import Network
from oscsim.solve.simulate import simulate
from oscsim.spice.check import circuits
from oscsim.spice.monte_carlo import (
    component_values,
    first_order_spread,
    mismatch_factors,
    monte_carlo,
    with_factors,
)
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.waveforms import lock_in
from oscsim.substrate.device import Device
from oscsim.substrate.mismatch import Programming, program
from tests.helpers import random_units

NETLISTS = {path.stem: path for path in circuits()}
SIGMA = 0.02

TEXT = """* Xw r weight w=9
.subckt weight r p w=1
Rw r p {1/w}
.ends
Xw_0 r0 p0 weight w=0.5
Xo p0 tank w=3
Xw_1 r1 p0 weight other=2 w=0.25
.tran 1 2 0 1
"""


def netlist(text=TEXT):
    return Netlist("test", text, Path("/folder"))


def column(text, pattern):
    return np.array([float(value) for value in re.findall(pattern, text, re.M)])


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_values_of_instances_are_found_and_changed_and_nothing_else():
    np.testing.assert_array_equal(
        component_values(netlist(), "weight", "w"), [0.5, 0.25]
    )
    changed = with_factors(netlist(), "weight", "w", np.array([2.0, 0.1]))
    np.testing.assert_array_equal(
        component_values(changed, "weight", "w"), [1.0, 0.25 * 0.1]
    )
    before, after = TEXT.splitlines(), changed.text.splitlines()
    same = [a == b for a, b in zip(before, after, strict=True)]
    assert same == [True] * 4 + [False, True, False, True]


def test_what_cannot_be_changed_is_refused():
    with pytest.raises(
        NetlistError, match="no instance of 'weight' with a parameter 'k'"
    ):
        component_values(netlist(), "weight", "k")
    with pytest.raises(NetlistError, match="is no plain number"):
        component_values(netlist(TEXT.replace("w=0.25", "w={g}")), "weight", "w")
    with pytest.raises(SpecError, match=r"shape \(2,\), one per instance"):
        with_factors(netlist(), "weight", "w", np.ones(3))
    with pytest.raises(SpecError, match="sigma must be finite and at least 0, got -1"):
        mismatch_factors(-1.0, 2, seed=0, chip=0)
    for n_draws, n_processes in ((0, 1), (1, 0)):
        with pytest.raises(SpecError, match="must be at least 1"):
            monte_carlo(
                netlist(),
                "weight",
                "w",
                sigma=0.1,
                n_draws=n_draws,
                n_processes=n_processes,
            )


def test_the_factors_are_the_coupler_errors_of_the_chip_of_that_number():
    device = Device(
        name="d",
        oscillator="ideal",
        time_unit="model",
        coupling_mismatch=SIGMA,
        query_slots="all",
    )
    layer = Programming(random_units(0, 6, 2)[None], np.ones(1))
    chip = program(device, [layer], seed=5, chip=3)
    factors = mismatch_factors(SIGMA, 24, seed=5, chip=3)
    np.testing.assert_array_equal(factors.reshape(4, 6), chip.layers[0].gain[0, :4])
    other = mismatch_factors(SIGMA, 24, seed=5, chip=4)
    assert not np.array_equal(factors, other)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_first_order_spread_is_that_of_many_chips(d):
    """4000 chips: the mean square to 2.2 % / (d - 1); second order is below 1 %."""
    rng = np.random.default_rng(d)
    weights, anchors = rng.random((3, 6)), random_units(d, 6, d)
    nominal = unit(weights @ anchors)
    total = np.zeros(3)
    for chip in range(4000):
        factors = mismatch_factors(SIGMA, 18, seed=1, chip=chip).reshape(3, 6)
        total += np.square(unit(weights * factors @ anchors) - nominal).sum(axis=1)
    found = np.sqrt(total / 4000 / (d - 1))
    expected = first_order_spread(weights, anchors, SIGMA)
    np.testing.assert_allclose(found, expected, rtol=0.05)
    assert np.all(found < 0.7 * first_order_spread(weights, anchors, 2 * SIGMA))


def sphere(d):
    shipped = Netlist.read(NETLISTS[f"lohe_sphere_d{d}"])
    weights = component_values(shipped, "weight", "w").reshape(4, 6)
    anchors = column(shipped.text, r"^Vr\d_\d r\d_\d 0 (\S+)").reshape(6, d)
    return shipped, weights, anchors


def settled(run, d):
    return unit(
        np.array(
            [
                [run.waveforms.signal(f"v(z{i}_{a})")[-1] for a in range(d)]
                for i in range(4)
            ]
        )
    )


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_spheres_settle_where_the_mismatched_weights_point():
    """Draw by draw within 1e-3 of h/|h|; their spread is the engine's, two-sided.

    96 draws of 4 queries: the mean square of the angle over its prediction has 384
    degrees of freedom, so an error of 7.2 %; twice sigma is 40 errors away, and
    sqrt(2) sigma 14.
    """
    shipped, weights, anchors = sphere(2)
    draws = monte_carlo(
        shipped, "weight", "w", sigma=SIGMA, n_draws=96, seed=2, n_processes=2
    )
    nominal, found = unit(weights @ anchors), []
    for draw in draws:
        state = settled(draw.run, 2)
        target = unit(weights * draw.factors.reshape(4, 6) @ anchors)
        assert np.abs(state - target).max() < 1e-3
        found.append(np.linalg.norm(state - nominal, axis=1))
    moved = np.square(found)
    assert np.sqrt(moved.max()) > 0.02  # mismatch moves what 1e-3 would show
    error = np.sqrt(2 / moved.size)
    expected = first_order_spread(weights, anchors, SIGMA)
    assert abs((moved / expected**2).mean() - 1) < 4 * error
    for factor in (np.sqrt(2), 2.0):
        assert abs((moved / (expected / factor) ** 2).mean() - 1) > 10 * error


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_sphere_in_eight_dimensions_too():
    shipped, weights, anchors = sphere(8)
    draws = monte_carlo(
        shipped, "weight", "w", sigma=SIGMA, n_draws=8, seed=2, n_processes=2
    )
    for draw in draws:
        target = unit(weights * draw.factors.reshape(4, 6) @ anchors)
        assert np.abs(settled(draw.run, 8) - target).max() < 1e-3
        assert np.abs(unit(weights @ anchors) - target).max() > 2e-3


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_lc_queries_settle_where_the_mismatched_conductances_point():
    """Moved as arg h within 1e-3 rad, though the rows no longer load by G0.

    The offset of the tank itself is -eps/4 within 3e-3 rad.
    """
    shipped = Netlist.read(NETLISTS["lc_injection_attention"])
    weights = component_values(shipped, "weight", "w").reshape(4, 6)
    tones = np.exp(1j * column(shipped.text, r"^Xanchor.* phi=(\S+)"))
    draws = monte_carlo(
        shipped, "weight", "w", sigma=SIGMA, n_draws=3, seed=2, n_processes=2
    )

    def offsets(run, h):
        """Phases from arg h."""
        time = run.waveforms.time
        volts = [run.waveforms.signal(f"v(p{i})") for i in range(4)]
        phase = np.array([lock_in(time, one, 999293.987).phase[-1] for one in volts])
        return np.angle(np.exp(1j * phase) / (h / np.abs(h)))

    nominal = offsets(simulate_circuit(shipped), weights @ tones)
    moved = []
    for draw in draws:
        h = (weights * draw.factors.reshape(4, 6)) @ tones
        found = offsets(draw.run, h)
        assert np.abs(found + 0.1 / 4).max() < 3e-3
        assert np.abs(found - nominal).max() < 1e-3
        moved.append(np.angle(h / (weights @ tones)))
    assert np.abs(moved).max() > 3e-3


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_the_crossbar_follows_the_engine_with_mismatched_conductances():
    shipped = Netlist.read(NETLISTS["kuramoto_crossbar"])
    text = shipped.text
    rows, columns = np.array(re.findall(r"^Xk_(\d)_(\d) ", text, re.M), dtype=int).T
    omega, start = (
        column(text, rf"^Xosc.* {name}=(\S+)") for name in ("omega", "start")
    )
    values = component_values(shipped, "coupling", "k")

    def engine(factors):
        coupling = np.zeros((8, 8))
        coupling[rows, columns] = values * factors
        network = Network.kuramoto(coupling, omega=omega)
        return simulate(network, t1=20.0, dt=0.01, start=start).y[0, -1]

    draws = monte_carlo(
        shipped, "coupling", "k", sigma=SIGMA, n_draws=4, seed=2, n_processes=2
    )
    for draw in draws:
        waves = draw.run.waveforms
        end = [waves.signal(f"v(th{i})")[-1] for i in range(8)]
        assert waves.time[-1] == pytest.approx(20.0)
        assert np.abs(np.array(end) - engine(draw.factors)).max() < 1e-3
        assert np.abs(np.array(end) - engine(np.ones(55))).max() > 5e-3


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_the_number_of_processes_changes_nothing():
    shipped, _, _ = sphere(2)
    one, two = (
        monte_carlo(shipped, "weight", "w", sigma=SIGMA, n_draws=3, n_processes=k)
        for k in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.factors, b.factors)
        np.testing.assert_array_equal(settled(a.run, 2), settled(b.run, 2))
