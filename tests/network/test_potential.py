"""A network's potential is what its vector field descends."""

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import approx_fprime

import oscsim as osc
from oscsim.errors import SpecError
from oscsim.network.potential import potential
from tests.helpers import random_units

RNG = np.random.default_rng(0)
GRAPH = nx.gnp_random_graph(6, 0.5, seed=1)
DENSE = RNG.standard_normal((6, 6))
DENSE += DENSE.T
EXTRAS = {
    "anchors": RNG.uniform(-3, 3, 2),
    "anchor_weights": RNG.standard_normal((6, 2)),
    "shil": RNG.random(6),
    "shil_phase": RNG.uniform(-3, 3, 6),
}


def slope_and_rate(network, state, dt=1e-6):
    """-grad E, and dy/dt of the simulation itself by one tiny step."""
    flat = state.ravel()
    energy = lambda x: float(potential(network, x.reshape(state.shape)))  # noqa: E731
    slope = -approx_fprime(flat, energy, 1e-7).reshape(state.shape)
    run = osc.simulate(network, t1=dt, dt=dt, start=state)
    return slope, (run.y[0, -1] - state) / dt


@pytest.mark.parametrize(
    "network",
    [
        osc.Network.kuramoto("all-to-all", n=6, coupling=1.7),
        osc.Network.kuramoto(GRAPH, coupling=-0.6, **EXTRAS),
        osc.Network.kuramoto(DENSE, shil=0.4),
        osc.Network.driven(RNG.standard_normal((6, 2)), geometry="torus"),
    ],
    ids=["all-to-all", "graph", "dense", "driven"],
)
def test_phases_follow_the_slope(network):
    slope, rate = slope_and_rate(network, RNG.uniform(-3, 3, 6))
    np.testing.assert_allclose(rate, slope, atol=2e-5)
    assert np.abs(rate - slope / 2).max() > 0.05


def test_vectors_follow_the_tangential_slope():
    network = osc.Network.lohe(
        DENSE,
        d=3,
        anchors=random_units(1, 2, 3),
        anchor_weights=RNG.standard_normal((6, 2)),
    )
    z = random_units(2, 6, 3)
    slope, rate = slope_and_rate(network, z)
    tangent = slope - (slope * z).sum(axis=1, keepdims=True) * z
    np.testing.assert_allclose(rate, tangent, atol=2e-5)


def test_energy_never_rises_along_a_path():
    network = osc.Network.kuramoto(GRAPH, coupling=0.8, **EXTRAS)
    run = osc.simulate(network, t1=5, dt=0.02, save_every=1, n_trajectories=3, seed=2)
    energy = potential(network, run)
    assert energy.shape == (3, 251)
    assert np.diff(energy).max() <= 1e-12
    assert np.all(energy[:, -1] < energy[:, 0] - 0.5)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (osc.Network.kuramoto(GRAPH, lag=0.1), "with phase lag has no potential"),
        (osc.Network.kuramoto(DENSE, lag=0.1 * DENSE), "with phase lag"),
        (osc.Network.kuramoto(np.stack([DENSE, DENSE])), "got a batch of 2"),
        (osc.Network.kuramoto(np.triu(DENSE)), "only symmetric weights"),
    ],
)
def test_networks_without_a_potential_are_refused(network, message):
    with pytest.raises(SpecError, match=message):
        potential(network, np.zeros(6))


@pytest.mark.parametrize(
    ("network", "state", "message"),
    [
        (osc.Network.kuramoto(DENSE), np.zeros(3), r"shape \(..., 6\), got \(3,\)"),
        (osc.Network.lohe(DENSE, d=3), np.zeros((6, 2)), r"6, 3\), got \(6, 2\)"),
        (osc.Network.kuramoto(DENSE), np.zeros(6) * 1j, "state must hold real"),
    ],
)
def test_states_of_another_network_are_refused(network, state, message):
    with pytest.raises(SpecError, match=message):
        potential(network, state)


def test_a_batch_of_one_is_a_network():
    theta = RNG.uniform(-3, 3, 6)
    one = osc.Network.kuramoto(DENSE[None])
    expected = potential(osc.Network.kuramoto(DENSE), theta)
    assert potential(one, theta) == pytest.approx(float(expected))
