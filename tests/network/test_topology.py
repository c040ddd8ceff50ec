"""Topologies: every row hears whom it should, and bad graphs are named."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from oscsim import memory
from oscsim.errors import SpecError
from oscsim.network.topology import (
    all_to_all,
    lattice,
    random_regular,
    ring,
    scale_free,
    small_world,
)


def heard(weights, i):
    """The oscillators that act on i."""
    return set(weights[[i]].indices.tolist())


def is_plain(weights):
    """CSR, float64, sorted, no diagonal, every weight 1."""
    assert isinstance(weights, csr_array)
    assert weights.dtype == np.float64
    assert weights.has_sorted_indices
    assert weights.diagonal().sum() == 0
    return set(weights.data.tolist()) <= {1.0}


@given(st.integers(2, 25), st.data())
def test_a_ring_is_networkx_circulant_graph(n, data):
    neighbours = data.draw(st.integers(1, n // 2))
    weights = ring(n, neighbours)
    expected = nx.circulant_graph(n, list(range(1, neighbours + 1)))
    np.testing.assert_array_equal(weights.toarray(), nx.to_numpy_array(expected))
    assert is_plain(weights)


def test_a_directed_ring_hears_its_predecessors():
    weights = ring(10, 2, directed=True)
    assert heard(weights, 5) == {4, 3}
    assert heard(weights, 0) == {9, 8}
    assert heard(ring(2, 1, directed=True), 0) == {1}


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.booleans())
def test_a_lattice_is_networkx_grid_graph(shape, periodic):
    expected = nx.grid_graph(shape[::-1], periodic=periodic)
    expected.remove_edges_from(list(nx.selfloop_edges(expected)))
    n = int(np.prod(shape))
    nodes = sorted(expected.nodes) if len(shape) > 1 else range(n)
    dense = nx.to_numpy_array(expected, nodelist=list(nodes))
    weights = lattice(shape, periodic=periodic)
    np.testing.assert_array_equal(weights.toarray(), dense)
    assert is_plain(weights)


def test_all_to_all_is_one_over_n_without_a_diagonal():
    weights = all_to_all(5)
    np.testing.assert_array_equal(weights.toarray(), (1 - np.eye(5)) / 5)
    assert all_to_all(1).nnz == 0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            small_world(40, 3, rewire=0.3, seed=5),
            nx.watts_strogatz_graph(40, 6, 0.3, 5),
        ),
        (random_regular(40, 5, seed=5), nx.random_regular_graph(5, 40, 5)),
        (scale_free(40, 3, seed=5), nx.barabasi_albert_graph(40, 3, 5)),
    ],
    ids=["small-world", "random-regular", "scale-free"],
)
def test_random_graphs_are_those_of_networkx(ours, theirs):
    dense = nx.to_numpy_array(theirs, nodelist=range(40))
    np.testing.assert_array_equal(ours.toarray(), dense)
    assert is_plain(ours)


def test_seeds_make_and_repeat_graphs():
    for make in (
        lambda seed: small_world(30, 2, rewire=0.5, seed=seed),
        lambda seed: random_regular(30, 4, seed=seed),
        lambda seed: scale_free(30, 2, seed=seed),
    ):
        assert (make(1) != make(1)).nnz == 0
        assert (make(1) != make(2)).nnz > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ring(1), "n must be a whole number >= 2, got 1"),
        (lambda: ring(6, 4), r"neighbours must be a whole number in 1\.\.3, got 4"),
        (lambda: ring(6.0), "n must be a whole number >= 2, got 6.0"),
        (lambda: ring(True), "got True"),
        (lambda: lattice(()), "at least one side"),
        (lambda: lattice(8), r"e.g. \(8, 8\), got 8"),
        (lambda: lattice("88"), "got '88'"),
        (lambda: lattice((1,) * 65), "at most 64, got 65"),
        (lambda: small_world(10, 2, rewire="a"), "rewire must .* got 'a'"),
        (lambda: small_world(10, 2, seed=True), "got True"),
        (lambda: lattice((3, 0)), "a side of the lattice must be .* got 0"),
        (lambda: all_to_all(0), "n must be a whole number >= 1, got 0"),
        (lambda: all_to_all(10**7), "use the topology 'all-to-all'"),
        (lambda: small_world(10, 5), r"in 1\.\.4, got 5"),
        (lambda: small_world(10, 2, rewire=1.5), "rewire must be .* got 1.5"),
        (lambda: small_world(10, 2, rewire=np.nan), "rewire must be .* got nan"),
        (lambda: small_world(10, 2, seed=-1), "seed must be .* got -1"),
        (lambda: small_world(10, 2, seed=0.5), "seed must be .* got 0.5"),
        (lambda: random_regular(5, 3), r"must be even, got 5 \* 3"),
        (lambda: random_regular(5, 5), r"degree must be .* in 1\.\.4, got 5"),
        (lambda: scale_free(5, 5), r"links must be .* in 1\.\.4, got 5"),
    ],
)
def test_bad_numbers_are_refused(call, message):
    with pytest.raises(SpecError, match=message):
        call()


def test_memory_is_estimated_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 24.0 * 90)
    assert all_to_all(10).nnz == 90
    with pytest.raises(SpecError, match=r"between 11 oscillators needs 2\.64e-06 GB"):
        all_to_all(11)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (ring, (4000, 3)),
        (lattice, ((20, 10, 20),)),
        (all_to_all, (300,)),
        (small_world, (2000, 2)),
        (random_regular, (2000, 3)),
        (random_regular, (200, 190)),
        (scale_free, (2000, 3)),
    ],
)
def test_the_estimate_is_what_building_takes(make, arguments, monkeypatch):
    make(*arguments)  # imports
    tracemalloc.start()
    make(*arguments)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(memory, "free_memory", lambda: 0.7 * taken)
    with pytest.raises(SpecError, match="GB are free"):
        make(*arguments)
    monkeypatch.setattr(memory, "free_memory", lambda: 3.0 * taken)
    make(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ring(10**14),
        lambda: ring(10**5000),
        lambda: lattice((10**7, 10**7)),
        lambda: lattice((2**32, 2**32)),
        lambda: small_world(10**12, 1),
        lambda: random_regular(10**12, 2),
        lambda: random_regular(10**6, 10**6 - 2),
        lambda: scale_free(10**12, 1),
    ],
)
def test_graphs_that_no_machine_holds_are_refused_at_once(call):
    with pytest.raises(SpecError, match=r"GB of memory and .* GB are free"):
        call()


@pytest.mark.parametrize(("n", "degree"), [(60, 57), (60, 59), (61, 40), (12, 6)])
def test_dense_regular_graphs_are_complements(n, degree):
    weights = random_regular(n, degree, seed=3)
    assert is_plain(weights)
    np.testing.assert_array_equal(np.diff(weights.indptr), degree)
    np.testing.assert_array_equal(weights.toarray(), weights.toarray().T)
    if degree < n - 1:
        again = random_regular(n, degree, seed=4)
        assert (weights != again).nnz > 0


def test_numpy_integers_are_seeds_and_numbers():
    one = small_world(np.int32(9), np.uint8(2), rewire=0.5, seed=np.int64(3))
    assert (one != small_world(9, 2, rewire=0.5, seed=3)).nnz == 0
    assert random_regular(np.int64(8), np.int64(3), seed=np.uint32(1)).nnz == 24
