"""What coupled networks refuse, and how they are built."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.dense import Dense, DenseEnsemble
from oscsim.solve.simulate import simulate

pytestmark = pytest.mark.kernel

TWO = [[0.0, 1.0], [1.0, 0.0]]


def graph(**attributes):
    g = nx.Graph()
    g.add_edge("a", "b", **attributes)
    return g


def test_all_to_all_divides_by_the_number():
    net = Network.kuramoto("all-to-all", omega=np.zeros(5), coupling=2)
    assert (net.n_osc, net.coupling) == (5, 0.4)
    assert Network.lohe("all-to-all", d=3, n=4).coupling == 0.25
    np.testing.assert_allclose(net.strengths(), 1.6)


def test_every_form_of_a_topology_is_the_same_matrix():
    g = nx.DiGraph()
    g.add_nodes_from(range(3))
    g.add_edge(0, 1, weight=2)
    g.add_edge(2, 0)
    expected = np.array([[0, 0, 1], [2, 0, 0], [0, 0, 0]]) * 0.5
    for topology in (
        g,
        2 * expected,
        (2 * expected).astype(int),
        sparse.csc_matrix(2 * expected),
        sparse.coo_array(2 * expected),
    ):
        net = Network.kuramoto(topology, coupling=0.5)
        got = net.coupling.toarray() if sparse.issparse(net.coupling) else net.coupling
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(net.strengths(), [0.5, 1, 0])
    undirected = Network.kuramoto(graph(weight=3.0)).coupling.toarray()
    np.testing.assert_array_equal(undirected, [[0, 3], [3, 0]])


def test_anchors_are_a_constant_field():
    net = Network.kuramoto(TWO, anchors=[np.pi / 2], anchor_weights=[[2.0], [0.0]])
    np.testing.assert_allclose(net.field, [[0, 2], [0, 0]], atol=1e-15)
    r = np.eye(3)[:2]
    net = Network.lohe(TWO, d=3, anchors=r, anchor_weights=[[1, 2], [3, 4.0]])
    np.testing.assert_array_equal(net.field, [[1, 2, 0], [3, 4, 0]])


def test_a_batch_has_one_matrix_for_each_network():
    net = Network.kuramoto(np.zeros((4, 3, 3)), omega=np.zeros((4, 3)))
    assert (net.n_networks, net.n_osc) == (4, 3)
    assert Network.kuramoto(np.zeros((4, 3, 3)), omega=1).omega.shape == (4, 3)
    assert net.strengths().shape == (4, 3)


def test_the_caller_keeps_its_matrix():
    weights = np.array(TWO)
    net = Network.kuramoto(weights)
    weights[:] = 9
    assert net.coupling.max() == 1


k = Network.kuramoto
v = Network.lohe
REFUSALS = [
    (
        lambda: k([[0, np.nan], [0, 0]]),
        r"topology must be .*, got nan at index \(0, 1\)",
    ),
    (
        lambda: k(sparse.csr_array([[0, 0], [np.inf, 0]])),
        r"topology must be finite, got inf at index \(1, 0\)",
    ),
    (lambda: k(np.ones((2, 3))), r"square \(n, n\), got shape \(2, 3\)"),
    (lambda: k(sparse.csr_array((2, 3))), "must be square"),
    (lambda: k(np.ones(3)), "must be square"),
    (lambda: k(1j * np.ones((2, 2))), "real numbers, got type complex128"),
    (lambda: k(sparse.csr_array(1j * np.eye(2))), "real numbers"),
    (lambda: k([["a", "b"], ["c", "d"]]), "real numbers, got type <U1"),
    (lambda: k(np.zeros((0, 0))), "at least one oscillator"),
    (lambda: k(nx.Graph()), "at least one oscillator"),
    (
        lambda: k(graph(weight="3")),
        r"edge \('a', 'b'\) must be a finite number, got '3'",
    ),
    (lambda: k(graph(weight=1j)), "must be a finite number"),
    (lambda: k(graph(weight=np.nan)), "must be a finite number, got nan"),
    (lambda: k(nx.MultiGraph([(0, 1), (0, 1)])), "parallel"),
    (lambda: k("ring", n=3), "'all-to-all', a networkx graph.*got 'ring'"),
    (lambda: k("all-to-all"), "needs n, or omega"),
    (lambda: k("all-to-all", n=0), "n must be a whole number >= 1, got 0"),
    (lambda: k("all-to-all", n=2.5), "n must be a whole number"),
    (lambda: k(TWO, n=3), "n = 3 contradicts a topology of 2"),
    (lambda: k(TWO, coupling=np.nan), "coupling must be finite"),
    (lambda: k(TWO, coupling=[1.0, 2.0]), "coupling must be one number"),
    (lambda: k(TWO, coupling=[[1.0], [2.0, 1.0]]), "the rows of coupling must be"),
    (lambda: k(TWO, coupling="strong"), "coupling must hold real numbers"),
    (lambda: k(TWO, omega=[1.0]), r"shape \(2,\), got \(1,\)"),
    (lambda: k(TWO, omega=[1.0, np.nan]), "omega must be finite"),
    (lambda: k(TWO, omega=[1j, 0]), "omega must hold real numbers"),
    (lambda: k(TWO, lag=np.zeros(2)), r"shape of the weights \(2, 2\), got \(2,\)"),
    (lambda: k(TWO, lag=np.inf), "lag must be finite"),
    (
        lambda: k("all-to-all", n=2, lag=np.zeros((2, 2))),
        r"lag of 'all-to-all' must be one number, got shape \(2, 2\)",
    ),
    (
        lambda: k(sparse.csr_array(TWO), lag=sparse.csr_array((3, 3))),
        r"lag must have shape \(2, 2\)",
    ),
    (lambda: k(TWO, anchors=[0.0]), "belong together"),
    (lambda: k(TWO, anchor_weights=[[1], [1]]), "belong together"),
    (lambda: k(TWO, anchors=[0.0], anchor_weights=[[1.0]]), "one row per oscillator"),
    (
        lambda: k(TWO, shil=[1.0, 2.0, 3.0]),
        r"shil must be a number or have shape \(2,\)",
    ),
    (lambda: k(TWO, shil_phase=1.0), "shil_phase needs shil"),
    (lambda: k(TWO, shil=1.0, shil_phase=[1.0]), "shil_phase must be a number"),
    (lambda: k(TWO, diffusion=-1.0), "diffusion must be finite and >= 0"),
    (lambda: k(TWO, diffusion=[0.0, -2.0]), "got -2.0 at index 1"),
    (lambda: k(TWO, diffusion=[0.0, np.nan]), "finite, got nan at index 1"),
    (lambda: k(TWO, diffusion=[1.0]), r"diffusion.*shape \(2,\)"),
    (lambda: k(TWO, diffusion="hot"), "diffusion must hold real numbers"),
    (lambda: v(TWO, d=1), r"d must be a whole number in 2\.\.1000000000, got 1"),
    (lambda: v(TWO, d=2.0), "d must be a whole number"),
    (lambda: v(TWO, d=3, omega=1.0), r"shape \(3, 3\) or \(2, 3, 3\)"),
    (lambda: v(TWO, d=3, omega=np.ones((3, 3))), "antisymmetric"),
    (
        lambda: v(TWO, d=2, anchors=[[1.0, 1.0]], anchor_weights=[[1], [1]]),
        "anchors must be unit vectors, got length 1.414.* of number 0",
    ),
    (
        lambda: v(TWO, d=3, anchors=[[1.0, 0.0]], anchor_weights=[[1], [1]]),
        r"anchors must have shape \(m, 3\)",
    ),
]

SPARSE = sparse.csr_array(TWO)
REFUSALS += [
    (lambda: k(np.array(TWO) * 1e200, coupling=1e200), r"times the weights .* inf at"),
    (lambda: k(SPARSE * 1e200, coupling=1e200), r"times the weights .* \(0, 1\)"),
    (
        lambda: k(TWO, anchors=[0, 0], anchor_weights=[[1, 1], [1e308, 1e308]]),
        r"field of the anchors must be finite, got inf at index \(1, 0\)",
    ),
    (lambda: k(SPARSE, lag=SPARSE * 1j), "lag must hold real numbers"),
    (lambda: k(TWO, lag=SPARSE * 1j), "lag must hold real numbers"),
    (
        lambda: k(SPARSE, lag=sparse.csr_array([[0, 0], [np.nan, 0]])),
        r"lag must be finite, got nan at index \(1, 0\)",
    ),
    (lambda: k(SPARSE, lag=np.zeros((3, 3))), r"weights \(2, 2\), got \(3, 3\)"),
    (lambda: k(TWO, lag=[[0, 1], [1]]), "the rows of lag must be equally long"),
    (lambda: k("all-to-all", omega=[1, [2]]), "the rows of omega must be"),
    (lambda: v(TWO, d=2, omega=[1, [2]]), "the rows of omega must be"),
    (lambda: k(TWO, diffusion=[1, [2]]), "the rows of diffusion must be"),
    (
        lambda: k("all-to-all", omega=np.zeros((2, 3))),
        r"omega of shape \(2, 3\) is a row for each network of a batch",
    ),
    (lambda: k(TWO, anchors=0.0), r"anchors must have shape \(m,\), got \(\)"),
    (lambda: k("all-to-all", n=10**14), "100000000000000 oscillators needs"),
    (lambda: k("all-to-all", n=10**5000), "16610 bits oscillators needs"),
    (lambda: k(TWO, n=10**5000), "n = a whole number of 16610 bits contradicts"),
    (lambda: v("all-to-all", d=3, n=10**14), "oscillators needs"),
    (lambda: v("all-to-all", d=10**9, n=10**5), "with d = 1000000000 needs"),
    (lambda: v(TWO, d=10**14), "d must be a whole number in"),
    (
        lambda: v("all-to-all", d=300, n=10**8, omega=np.zeros((300, 300))),
        "with d = 300 needs",
    ),
    (
        lambda: k(sparse.csr_array((10**8, 10**8)), lag=sparse.csr_array((3, 3))),
        "lag must have shape",
    ),
    (lambda: v(TWO, d=3, omega=np.full((3, 3), 1.7e308)), "a sum of inf at index"),
    (
        lambda: v(TWO, d=3, anchors=[[1e200, 0, 0]], anchor_weights=[[1], [1]]),
        "got length inf of number 0",
    ),
    (lambda: k(TWO, coupling=1e39).params(np.float32), "coupling of 1e.39 is too larg"),
    (lambda: k(TWO, omega=1e39).params(np.float32), "omega of 1e.39 is too large for"),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()


def test_the_layout_of_a_coupling_is_kept_from_run_to_run():
    weights = np.random.default_rng(0).random((3, 5, 5))
    net = Network.kuramoto(weights)
    first = net.params().coupling
    assert net.params().coupling is first
    assert net.params(np.float32).coupling.weights.dtype == np.float32
    again = net.params().coupling
    assert again is not first
    assert np.array_equal(again.weights, first.weights)
    ensemble = Network.kuramoto(weights[0])
    assert type(ensemble.params(n_copies=4).coupling) is DenseEnsemble
    assert type(ensemble.params().coupling) is Dense
    other = dataclasses.replace(net, coupling=2 * net.coupling)
    assert np.array_equal(other.params().coupling.weights, 2 * first.weights)
    np.testing.assert_array_equal(other.strengths(), 2 * net.strengths())


def test_the_weights_of_a_network_cannot_be_changed():
    given = np.random.default_rng(0).random((4, 4))
    net = Network.kuramoto(given, lag=given)
    for kept in (net.coupling, net.lag, net.strengths()):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0.0
    before = net.params().coupling.weights.copy()
    given[0] = 9.0
    assert np.array_equal(net.params().coupling.weights, before)


def test_every_array_of_a_batch_lies_network_by_network():
    net = Network.kuramoto(np.ones((6, 3, 3)), omega=np.ones((6, 3)), shil=0.1)
    params = net.params()
    for name in ("omega", "field", "shil"):
        assert getattr(params, name).shape[0] == 6
        assert getattr(params, name).flags.c_contiguous


def test_the_largest_rates_are_kept():
    turn = 1.7e308 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(v(TWO, d=3, omega=turn).omega[1], turn)
    assert np.isinf(k(np.full((3, 3), 1e308)).strengths()).all()
    assert k(TWO, omega=1e39).params().omega.max() == 1e39


@pytest.mark.parametrize("lag", [sparse.csr_array((3, 3)), np.zeros((3, 3)), 0.2])
def test_a_network_without_edges_may_have_lags(lag):
    network = k(sparse.csr_array((3, 3)), lag=lag, omega=[1.0, 2.0, 3.0])
    run = simulate(network, t1=1, dt=0.25, start=np.zeros(3))
    np.testing.assert_allclose(run.y[0, -1], [1, 2, 3], rtol=1e-14)


def test_a_sparse_lag_counts_where_there_is_an_edge():
    lag = sparse.coo_array(([0.3, 0.7], ([0, 1], [1, 1])), shape=(2, 2))
    found = k(SPARSE, lag=lag).lag
    np.testing.assert_array_equal(found.toarray(), [[0, 0.3], [0, 0]])
    np.testing.assert_array_equal(found.indices, k(SPARSE).coupling.indices)
    assert k(TWO, lag=lag).lag[1, 1] == 0.7
