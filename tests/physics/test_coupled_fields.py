"""Every coupled vector field against loops over pairs, and what it must conserve."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from oscsim.network.spec import Network
from oscsim.physics.dense import DenseThreaded
from oscsim.physics.field import drift, member
from oscsim.physics.sparse import SparseThreaded
from tests import naive
from tests.helpers import antisymmetric, random_units

pytestmark = pytest.mark.kernel


def rate(net, state, dtype=np.float64, threads=None):
    """dy/dt of a network (0 of a batch) in the layout of the states outside."""
    params = net.params(dtype)
    if threads is not None:
        kind = SparseThreaded if sparse.issparse(net.coupling) else DenseThreaded
        params = params._replace(coupling=kind(*params.coupling, np.array([threads])))
    one = member(params, 0, params.scratch, params.mean)
    y = np.ascontiguousarray(np.transpose(state), dtype).ravel()
    out = np.empty_like(y)
    drift(0.0, y, one, out)
    return out.reshape(np.shape(state)[::-1]).T


def problem(seed=0, n=13, density=0.4):
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(weights, 0.0)
    return rng, weights, rng.standard_normal(n), rng.uniform(-9, 9, n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("lag", ["none", "one", "each"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 29])
def test_phases_against_pairs(form, lag, n):
    rng, weights, omega, theta = problem(n, n)
    lag = {"none": 0.0, "one": 0.7, "each": rng.uniform(-1, 1, (n, n))}[lag]
    phases, w = rng.uniform(-3, 3, 4), rng.standard_normal((n, 4))
    shil, psi = rng.random(n), rng.uniform(-3, 3, n)
    net = Network.kuramoto(
        form(weights),
        omega=omega,
        lag=lag,
        anchors=phases,
        anchor_weights=w,
        shil=shil,
        shil_phase=psi,
    )
    expected = naive.coupled_phases(
        theta, omega, weights, lag, shil=shil, shil_phase=psi
    )
    expected += (w * np.sin(phases - theta[:, None])).sum(axis=1)
    np.testing.assert_allclose(rate(net, theta), expected, atol=2e-14 * n)
    single = rate(net, theta, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=3e-6 * n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("d", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 9, 13])
def test_vectors_against_pairs(form, d, n):
    rng, weights, _, _ = problem(n, n)
    z, omega = random_units(d, n, d), antisymmetric(d, n, d)
    anchors, w = random_units(3, 4, d), rng.standard_normal((n, 4))
    net = Network.lohe(
        form(weights), d=d, omega=omega, anchors=anchors, anchor_weights=w
    )
    expected = naive.coupled_vectors(z, omega, weights, w @ anchors)
    np.testing.assert_allclose(rate(net, z), expected, atol=2e-14 * n)
    still = Network.lohe(form(weights), d=d)
    expected = naive.coupled_vectors(z, [], weights)
    np.testing.assert_allclose(rate(still, z), expected, atol=2e-14 * n)


@pytest.mark.parametrize("lag", [0.0, 0.4])
def test_all_to_all_is_the_uniform_matrix(lag):
    rng = np.random.default_rng(0)
    n = 50
    theta, omega = rng.uniform(-9, 9, n), rng.standard_normal(n)
    uniform = np.full((n, n), 3.0 / n) - np.diag(np.full(n, 3.0 / n))
    a = Network.kuramoto("all-to-all", omega=omega, coupling=3, lag=lag)
    b = Network.kuramoto(uniform, omega=omega, lag=lag)
    np.testing.assert_allclose(rate(a, theta), rate(b, theta), atol=1e-12)
    uneven = uniform.copy()
    uneven[3, 4] *= 2
    other = rate(Network.kuramoto(uneven, omega=omega, lag=lag), theta)
    moved = np.abs(other - rate(a, theta)) > 1e-3
    assert np.flatnonzero(moved).tolist() == [3]
    z = random_units(1, n, 4)
    np.testing.assert_allclose(
        rate(Network.lohe("all-to-all", d=4, n=n, coupling=3), z),
        rate(Network.lohe(uniform, d=4), z),
        atol=1e-12,
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("lag", ["one", "each"])
def test_threads_inside_a_step_change_no_bit(form, lag):
    rng, weights, omega, theta = problem(4, 700, 0.05)
    lag = 0.3 if lag == "one" else rng.uniform(-1, 1, (700, 700))
    net = Network.kuramoto(form(weights), omega=omega, lag=lag)
    alone = rate(net, theta)
    assert np.array_equal(rate(net, theta, threads=0), alone)
    assert np.array_equal(rate(net, theta, threads=1), alone)


def test_rows_with_very_different_numbers_of_edges():
    """A hub, isolated oscillators, and a number that is no multiple of eight."""
    graph = nx.star_graph(30)
    graph.add_nodes_from(range(31, 37))
    theta = np.random.default_rng(0).uniform(-3, 3, 37)
    net = Network.kuramoto(graph, omega=np.arange(37.0), coupling=0.5)
    expected = naive.coupled_phases(
        theta, np.arange(37.0), 0.5 * nx.to_numpy_array(graph)
    )
    np.testing.assert_allclose(rate(net, theta), expected, atol=1e-13)
    assert rate(net, theta)[31:].tolist() == list(range(31, 37))


def test_who_acts_on_whom():
    """weight[i, j] is what j does to i; in a graph the edge points j -> i."""
    theta = np.array([0.0, 1.0])
    one_way = [[0, 1], [0, 0]]
    np.testing.assert_allclose(
        rate(Network.kuramoto(one_way), theta), [np.sin(1), 0], atol=1e-15
    )
    graph = nx.DiGraph([(1, 0)])
    graph.add_nodes_from([0, 1])
    order = list(graph)
    rates = rate(Network.kuramoto(graph), theta)
    zero, one = order.index(0), order.index(1)
    assert rates[one] == 0.0
    assert rates[zero] == pytest.approx(np.sin(theta[one] - theta[zero]))


@given(st.integers(0, 2**31), st.floats(-50, 50))
def test_turning_everything_turns_the_rates_along(seed, angle):
    _, weights, omega, theta = problem(seed)
    net = Network.kuramoto(weights, omega=omega, lag=0.3)
    np.testing.assert_allclose(rate(net, theta + angle), rate(net, theta), atol=1e-12)
    z = random_units(seed, 13, 3)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    sphere = Network.lohe(weights, d=3)
    np.testing.assert_allclose(
        rate(sphere, z @ turn.T), rate(sphere, z) @ turn.T, atol=1e-12
    )


@given(st.integers(0, 2**31))
def test_renaming_the_oscillators_renames_the_rates(seed):
    rng, weights, omega, theta = problem(seed)
    order = rng.permutation(13)
    mixed = weights[np.ix_(order, order)]
    for form in (np.asarray, sparse.csr_array):
        a = rate(Network.kuramoto(form(weights), omega=omega, lag=0.2), theta)
        b = rate(
            Network.kuramoto(form(mixed), omega=omega[order], lag=0.2), theta[order]
        )
        np.testing.assert_allclose(b, a[order], atol=1e-13)


@given(st.integers(0, 2**31))
def test_symmetric_coupling_keeps_the_mean_frequency_and_lowers_the_energy(seed):
    _, weights, omega, theta = problem(seed)
    symmetric = weights + weights.T
    rates = rate(Network.kuramoto(symmetric, omega=omega), theta)
    assert rates.mean() == pytest.approx(omega.mean(), abs=1e-12)
    down = rate(Network.kuramoto(symmetric), theta)
    step = 1e-6
    change = naive.phase_energy(theta + step * down, symmetric)
    change -= naive.phase_energy(theta, symmetric)
    assert change / step == pytest.approx(-(down**2).sum(), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_what_is_not_finite_reaches_its_targets_only(form, bad):
    weights = np.roll(np.eye(9), 1, axis=1)
    for k in range(9):
        theta = np.linspace(-2, 2, 9)
        theta[k] = bad
        rates = rate(Network.kuramoto(form(weights)), theta)
        spoilt = {k, (k - 1) % 9} if form is sparse.csr_array else set(range(9))
        assert set(np.flatnonzero(~np.isfinite(rates))) == spoilt
