"""The expected values beside the netlists, computed again from their numbers.

The engine where it has the equation, SciPy otherwise; no ngspice. This is what ties
a circuit to the engine: the waveforms are compared with these values.
"""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oscsim.network.spec import Network
from oscsim.solve.simulate import simulate
from oscsim.spice.check import circuits
from oscsim.spice.claims import Expectations

PATHS = {path.stem: path for path in circuits()}
W0 = 2e6 * np.pi


def text_of(name):
    return PATHS[name].read_text()


def expected_of(name, kind):
    claims = Expectations.read(PATHS[name].with_suffix(".toml")).claims
    return next(one for one in claims if one.kind == kind)


def matrix(text, prefix, parameter, shape):
    values = np.zeros(shape)
    for i, j, value in re.findall(
        rf"^{prefix}_(\d+)_(\d+) .*{parameter}=(\S+)", text, re.M
    ):
        values[int(i), int(j)] = float(value)
    return values


def column(text, pattern):
    return np.array([float(value) for value in re.findall(pattern, text, re.M)])


def engine_at(network, start, times, dt):
    """States at the times, of shape (time, ...)."""
    every = 10
    t1 = max(times)
    path = simulate(network, t1=t1, dt=dt, start=start, save_every=every)
    at = np.searchsorted(path.t, np.array(times) - dt / 2)
    np.testing.assert_allclose(path.t[at], times, rtol=1e-9)
    return path.y[0, at]


def scipy_at(f, start, times):
    return solve_ivp(
        f, (0, max(times)), start, "DOP853", t_eval=times, rtol=1e-11, atol=1e-13
    ).y.T


def assert_expected(claim, states, offset=0.0, atol=1e-6):
    values = states.reshape(len(claim.times), -1).T + offset
    np.testing.assert_allclose(claim.expected, values, rtol=0, atol=atol)


def test_kuramoto_crossbar():
    text, claim = (
        text_of("kuramoto_crossbar"),
        expected_of("kuramoto_crossbar", "trajectory"),
    )
    coupling = matrix(text, "Xk", "k", (8, 8))
    omega, start = (
        column(text, r"^Xosc.* omega=(\S+)"),
        column(text, r"^Xosc.* start=(\S+)"),
    )
    assert np.count_nonzero(coupling) == 55
    states = engine_at(
        Network.kuramoto(coupling, omega=omega), start, claim.times, 0.01
    )
    assert_expected(claim, states)
    # weight[i, j] is the influence of j on i: the transpose is another network
    other = engine_at(
        Network.kuramoto(coupling.T, omega=omega), start, claim.times, 0.01
    )
    assert np.abs(other - states).max() > 0.1


def test_attention_resistor():
    text, claim = (
        text_of("attention_resistor"),
        expected_of("attention_resistor", "trajectory"),
    )
    rows, start = (
        matrix(text, "Xa", "a", (8, 8)),
        column(text, r"^Xtoken.* start=(\S+)"),
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-9)
    np.fill_diagonal(rows, 0.0)
    assert_expected(claim, engine_at(Network.kuramoto(rows), start, claim.times, 0.01))


def test_attention_softmax():
    text, claim = (
        text_of("attention_softmax"),
        expected_of("attention_softmax", "trajectory"),
    )
    start = column(text, r"^\.ic v\(th\d\)=(\S+)")

    def field(_, theta):
        apart = theta[None] - theta[:, None]
        weight = np.exp(2 * np.cos(apart))
        return (weight * np.sin(apart)).sum(axis=1) / weight.sum(axis=1)

    assert_expected(claim, scipy_at(field, start, claim.times))


@pytest.mark.parametrize("d", [2, 3, 8])
def test_lohe_spheres(d):
    name = f"lohe_sphere_d{d}"
    text, claim = text_of(name), expected_of(name, "trajectory")
    weights = matrix(text, "Xw", "w", (4, 6))
    anchors = column(text, r"^Vr\d_\d r\d_\d 0 (\S+)").reshape(6, d)
    start = column(text, r"^\.ic v\(z\d_\d\)=(\S+)").reshape(4, d)
    anchors /= np.linalg.norm(anchors, axis=1, keepdims=True)
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    network = Network.lohe(
        np.zeros((4, 4)), d=d, anchors=anchors, anchor_weights=weights
    )
    assert_expected(claim, engine_at(network, start, claim.times, 0.01))
    settled = Expectations.read(PATHS[name].with_suffix(".toml")).claims[1]
    h = weights @ anchors
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    np.testing.assert_allclose(np.ravel(settled.expected), h.ravel(), atol=1e-6)


def test_lc_injection_attention():
    name = "lc_injection_attention"
    text = text_of(name)
    weights = matrix(text, "Xw", "w", (4, 6))
    phases = column(text, r"^Xanchor.* phi=(\S+)")
    start = column(text, r"^Xosc.* start=(\S+)")
    settled, way = Expectations.read(PATHS[name].with_suffix(".toml")).claims[:2]
    network = Network.kuramoto(
        np.zeros((4, 4)), anchors=phases, anchor_weights=0.005 * W0 * weights
    )
    states = engine_at(network, start, way.times, 1e-6)
    assert_expected(way, states, offset=-0.1 / 4)
    h = weights @ np.exp(1j * phases)
    np.testing.assert_allclose(
        np.ravel(settled.expected), np.angle(h) - 0.1 / 4, atol=1e-6
    )


def test_lc_network():
    text, claim = text_of("lc_network"), expected_of("lc_network", "phase_trajectory")
    coupling = matrix(text, "Xk", "kappa", (8, 8)) * W0
    omega = column(text, r"^Xosc.* detuning=(\S+)") * W0
    start = column(text, r"^Xosc.* start=(\S+)")
    network = Network.kuramoto(coupling + coupling.T, omega=omega)
    states = engine_at(network, start, claim.times, 1e-6)
    assert_expected(claim, states - states.mean(axis=1, keepdims=True))


def test_lc_shil_spins():
    text, claim = text_of("lc_shil"), expected_of("lc_shil", "phase_trajectory")
    edges = re.findall(r"^Xk_(\d)_(\d) ", text, re.M)
    adjacent = np.zeros((8, 8))
    for i, j in edges:
        adjacent[int(i), int(j)] = adjacent[int(j), int(i)] = 1.0
    start = column(text, r"^Xosc[0-7] .*start=(\S+)")

    def field(t, phi):
        pull = (adjacent * np.sin(phi[None] - phi[:, None])).sum(axis=1)
        pump = 0.004 * min(t / 240e-6, 1.0) * np.sin(2 * phi)
        return -W0 * (0.0015 * pull + pump)

    spins = np.cos(scipy_at(field, start, claim.times))
    assert np.abs(spins).min() > 0.9
    np.testing.assert_allclose(np.cos(claim.expected).T, np.sign(spins), atol=1e-6)


def junctions(text):
    return column(text, r"^Xj.* start=(\S+)")


def test_josephson_series():
    text, claim = (
        text_of("josephson_series"),
        expected_of("josephson_series", "trajectory"),
    )
    critical = 1 + 0.005 * column(text, r"^Xj.* ic=\{1\+\((\S+)\)\*spread\}")

    def field(_, y):
        volts, phase, current, charge = y[:8], y[8:16], y[16], y[17]
        into = 1.5 - current - volts - critical * np.sin(phase)
        load = (volts.sum() - 8 * current - charge) / 8
        return np.r_[into / 0.1, volts, load, current / 2.5]

    start = np.r_[np.zeros(8), junctions(text), 0, 0]
    assert_expected(claim, scipy_at(field, start, claim.times)[:, 8:16])


def test_josephson_ladder():
    text, claim = (
        text_of("josephson_ladder"),
        expected_of("josephson_ladder", "trajectory"),
    )
    critical = column(text, r"^Xj.* ic=(\S+)")

    def field(_, y):
        volts, phase = y[:8], y[8:]
        around = np.roll(volts, 1) + np.roll(volts, -1) - 2 * volts
        into = 1.5 - volts - critical * np.sin(phase) + 0.5 * around
        return np.r_[into / 0.5, volts]

    start = np.r_[np.zeros(8), junctions(text)]
    assert_expected(claim, scipy_at(field, start, claim.times)[:, 8:], atol=1e-5)
