"""Networks of up to 32 oscillators from the sub-circuits that ship, in ngspice."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oscsim.network.spec import Network
from oscsim.solve.simulate import simulate
from oscsim.spice.check import circuits
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit

pytestmark = [pytest.mark.spice, pytest.mark.usefixtures("ngspice")]

NETLISTS = {path.stem: path for path in circuits()}


def generated(name, instances, n, duration):
    """The sub-circuits, options and analysis of a netlist with other instances."""
    text = NETLISTS[name].read_text()
    head = text[: text.rindex(".ends") + len(".ends")]
    tail = "".join(
        line + "\n"
        for line in text.splitlines()
        if line.startswith((".options", ".tran", ".end")) and line != ".ends"
    )
    saved = "".join(f".save v(th{i})\n" for i in range(n))
    body = head + "\n" + "\n".join(instances) + "\n" + saved + tail
    netlist = Netlist(f"{name}_{n}", body, NETLISTS[name].parent)
    netlist.check()
    return netlist.changed({"duration": duration})


def phases(netlist, n, times):
    waves = simulate_circuit(netlist).waveforms
    return np.array(
        [np.interp(times, waves.time, waves.signal(f"v(th{i})")) for i in range(n)]
    ).T


def engine(network, start, times):
    path = simulate(network, t1=times[-1], dt=0.01, start=start, save_every=50)
    at = np.searchsorted(path.t, np.array(times) - 0.005)
    np.testing.assert_allclose(path.t[at], times, rtol=1e-9)
    return path.y[0, at]


def softmax_rows(rng, n):
    rows = np.exp(1.5 * rng.standard_normal((n, n)))
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n", [2, 8, 32])
def test_crossbars_follow_the_engine(n):
    """1e-4 rad, from random phases, couplings of either sign and frequencies."""
    rng = np.random.default_rng(n)
    coupling = rng.normal(2.0, 2.0, (n, n)) / n
    np.fill_diagonal(coupling, 0.0)
    omega, start = rng.normal(0, 0.3, n), rng.uniform(-np.pi, np.pi, n)
    times = [0.5, 2.0, 5.0, 10.0]
    instances = [
        f"Xosc{i} th{i} s{i} c{i} x{i} y{i} phase omega={float(omega[i])!r} "
        f"start={float(start[i])!r}"
        for i in range(n)
    ]
    instances += [
        f"Xk_{i}_{j} s{j} c{j} x{i} y{i} coupling k={float(coupling[i, j])!r}"
        for i in range(n)
        for j in range(n)
        if i != j
    ]
    found = phases(generated("kuramoto_crossbar", instances, n, 10.0), n, times)
    expected = engine(Network.kuramoto(coupling, omega=omega), start, times)
    assert np.abs(found - expected).max() < 1e-4
    # who acts on whom
    turned = engine(Network.kuramoto(coupling.T, omega=omega), start, times)
    assert np.abs(found - turned).max() > 0.05


def test_attention_of_32_tokens_through_resistors():
    """2e-4 rad; the unloaded divider of a row that sums to 1 is the mean."""
    n, times = 32, [0.5, 2.0, 5.0, 10.0]
    rng = np.random.default_rng(0)
    rows, start = softmax_rows(rng, n), rng.uniform(-np.pi, np.pi, n)
    instances = [
        f"Xtoken{i} th{i} s{i} c{i} x{i} y{i} token start={float(start[i])!r}"
        for i in range(n)
    ]
    instances += [
        f"Xa_{i}_{j} s{j} c{j} x{i} y{i} weight a={float(rows[i, j])!r}"
        for i in range(n)
        for j in range(n)
    ]
    found = phases(generated("attention_resistor", instances, n, 10.0), n, times)
    np.fill_diagonal(rows, 0.0)
    expected = engine(Network.kuramoto(rows), start, times)
    assert np.abs(found - expected).max() < 2e-4
    assert np.abs(engine(Network.kuramoto(rows.T), start, times) - found).max() > 0.05


def test_softmax_of_16_tokens_in_the_circuit():
    """1e-4 rad against the equation with beta = 2, and not that with beta = 2.05."""
    n, times = 16, [0.5, 2.0, 5.0]
    start = np.random.default_rng(1).uniform(-np.pi, np.pi, n)
    instances = []
    for i in range(n):
        instances.append(f"Xtoken{i} th{i} s{i} c{i} num{i} den{i} token")
        instances.append(f".ic v(th{i})={float(start[i])!r}")
    instances += [
        f"Xscore_{i}_{j} s{i} c{i} s{j} c{j} num{i} den{i} score beta={{beta}}"
        for i in range(n)
        for j in range(n)
    ]
    netlist = generated("attention_softmax", instances, n, 5.0)
    assert not re.search(r"^\.tran.*uic", netlist.text, re.M)
    found = phases(netlist, n, times)

    def equation(beta):
        def field(_, theta):
            apart = theta[None] - theta[:, None]
            weight = np.exp(beta * np.cos(apart))
            return (weight * np.sin(apart)).sum(axis=1) / weight.sum(axis=1)

        return solve_ivp(
            field, (0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-10, atol=1e-12
        ).y.T

    assert np.abs(found - equation(2.0)).max() < 1e-4
    assert np.abs(found - equation(2.05)).max() > 1e-3
