"""Graphs and matrices become weights of which row i is what acts on i."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix, issparse

import oscsim as osc
from oscsim.errors import SpecError
from oscsim.network.weights import matrix_of


def dense(topology):
    found = matrix_of(topology)
    return found.toarray() if issparse(found) else found


def test_a_directed_edge_acts_on_its_head():
    graph = nx.DiGraph()
    graph.add_nodes_from("cab")
    graph.add_edge("a", "b", weight=-2.5)
    graph.add_edge("c", "a")
    np.testing.assert_array_equal(dense(graph), [[0, 0, 0], [1, 0, 0], [0, -2.5, 0]])


def test_an_undirected_edge_acts_both_ways():
    graph = nx.Graph([(0, 1, {"weight": np.float32(0.5)}), (1, 2)])
    np.testing.assert_array_equal(dense(graph), [[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])


def test_isolated_nodes_are_oscillators():
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    network = osc.Network.kuramoto(graph, omega=[1.0, 1.0, 3.0])
    run = osc.simulate(network, t1=1, dt=0.1, start=np.zeros(3))
    np.testing.assert_allclose(run.y[0, -1], [1, 1, 3])


@pytest.mark.parametrize("form", [np.array, csr_array, coo_array, csr_matrix])
def test_matrices_pass_as_they_are(form):
    given = form([[9, 1, -2], [0, 9, 0], [3, 0, 0]])
    found = matrix_of(given)
    np.testing.assert_array_equal(dense(given), [[9, 1, -2], [0, 9, 0], [3, 0, 0]])
    assert found.dtype == np.float64
    (found.data if issparse(found) else found)[:] = 7
    np.testing.assert_array_equal(dense(given), [[9, 1, -2], [0, 9, 0], [3, 0, 0]])


def test_duplicates_of_a_sparse_matrix_add_up():
    given = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert dense(given)[0, 1] == 3.0


def test_a_diagonal_acts_with_a_lag_only():
    def end(matrix, lag):
        network = osc.Network.kuramoto(matrix, lag=lag)
        return osc.simulate(network, t1=1, dt=0.01, start=np.zeros(2)).y[0, -1]

    diagonal = np.diag([0.0, 0.5])
    np.testing.assert_array_equal(end(diagonal, 0.0), [0, 0])
    np.testing.assert_allclose(end(diagonal, 0.3), [0, -0.5 * np.sin(0.3)])


def graph_with(value, kind=nx.Graph):
    graph = kind()
    graph.add_edge("x", "y", weight=value)
    return graph


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            graph_with("heavy"),
            r"edge \('x', 'y'\) must be a finite number, got 'heavy'",
        ),
        (graph_with(None), "must be a finite number, got None"),
        (graph_with(1j), "must be a finite number, got 1j"),
        (graph_with(np.nan), "must be a finite number, got nan"),
        (graph_with(-np.inf, nx.DiGraph), "must be a finite number, got -inf"),
        (nx.Graph([("z", "z")]), "node 'z' has an edge to itself"),
        (nx.DiGraph([("z", "z")]), "node 'z' has an edge to itself"),
        (nx.MultiGraph([(0, 1), (0, 1)]), "edges of a MultiGraph may be parallel"),
        (nx.MultiDiGraph(), "edges of a MultiDiGraph may be parallel"),
        (nx.Graph(), "at least one oscillator, got an empty graph"),
        (np.zeros((2, 3)), r"must be square \(n, n\), got shape \(2, 3\)"),
        (csr_array((3, 2)), r"must be square \(n, n\), got shape \(3, 2\)"),
        (np.zeros(3), r"got shape \(3,\)"),
        (np.zeros((0, 0)), r"at least one oscillator, got shape \(0, 0\)"),
        (np.eye(2) * 1j, "must hold real numbers, got type complex128"),
        (csr_array(np.eye(2) * 1j), "must hold real numbers, got type complex128"),
        (np.array([["a", "b"], ["c", "d"]]), "must hold real numbers, got type <U1"),
        (np.array([[0, None], [1, 0]]), "must hold real numbers, got type object"),
        (np.array([[0, 1], [np.nan, 0]]), r"must be finite, got nan at index \(1, 0\)"),
        (
            csr_array([[0, 0], [np.inf, 0]]),
            r"finite, got inf at index \(1, 0\)",
        ),
        ([[0, 1], [1]], "the rows of topology must be equally long"),
        (graph_with(10**400), "finite number, got a whole number of 1329 bits"),
        (coo_array((10**14, 10**14)), "topology of shape .* GB are free"),
    ],
)
def test_bad_topologies_are_refused_by_name(bad, message):
    with pytest.raises(SpecError, match=message):
        osc.Network.kuramoto(bad)
