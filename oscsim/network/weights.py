"""Who influences whom: graphs and matrices as checked sparse weights."""

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from oscsim.errors import SpecError
from oscsim.typing import FloatArray, IntArray

Topology: TypeAlias = Any
"""A networkx graph, a square array or a SciPy sparse matrix."""


def weights_of(topology: Topology, weight: str = "weight") -> csr_array:
    """Return the weights of a graph or matrix, checked.

    Parameters
    ----------
    topology : networkx graph, FloatArray or SciPy sparse matrix
        A graph: oscillators in the order of its nodes, an undirected edge acts
        both ways, a directed edge j -> i is ``weights[i, j]``, an edge without
        weight counts 1. A matrix: as it is, but without its diagonal, which has
        no effect (sin 0 = 0) and is often filled by convention.
    weight : str
        Attribute of the edges to read.

    Returns
    -------
    csr_array, shape (n, n)
        float64, sorted, without zeros and diagonal. Negative weights are legal.

    Raises
    ------
    SpecError
        If there is no oscillator, a matrix is not square, a weight is not a
        finite real number, or a graph has parallel edges or self loops.
    """
    if hasattr(topology, "is_multigraph"):
        return _weights_of_graph(topology, weight)
    if isinstance(topology, str):
        raise SpecError(
            f"unknown topology {topology!r}: 'all-to-all', a graph, an array or a "
            "sparse matrix"
        )
    found = topology if issparse(topology) else np.asarray(topology)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise SpecError(f"weights must have shape (n, n), got {found.shape}")
    if found.shape[0] == 0:
        raise SpecError("a network needs at least one oscillator, got n = 0")
    if found.dtype.kind not in "biuf":
        raise SpecError(f"weights must be real numbers, got the type {found.dtype}")
    entries = coo_array(found).astype(np.float64)
    i, j = entries.coords
    return _checked(found.shape[0], i, j, entries.data)


def _weights_of_graph(graph: Any, weight: str) -> csr_array:
    if graph.is_multigraph():
        raise SpecError(
            f"the graph is a {type(graph).__name__}, whose parallel edges have no "
            "single weight: add them up in a Graph or DiGraph"
        )
    number = {node: k for k, node in enumerate(graph.nodes)}
    if not number:
        raise SpecError("a network needs at least one oscillator, got an empty graph")
    edges = list(graph.edges(data=weight, default=1.0))
    for source, target, value in edges:
        where = f"edge {source!r} - {target!r}"
        if isinstance(value, bool) or not isinstance(
            value, int | float | np.floating | np.integer
        ):
            raise SpecError(f"{where} has the {weight} {value!r}: give a real number")
        if not np.isfinite(value):
            raise SpecError(f"{where} has the {weight} {value}: give a finite number")
        if source == target:
            raise SpecError(
                f"oscillator {source!r} has an edge to itself: remove self loops"
            )
    j = np.array([number[source] for source, _, _ in edges], dtype=np.int64)
    i = np.array([number[target] for _, target, _ in edges], dtype=np.int64)
    values = np.array([value for _, _, value in edges], dtype=np.float64)
    if not graph.is_directed():
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
        values = np.concatenate([values, values])
    return _checked(len(number), i, j, values)


def _checked(n: int, i: IntArray, j: IntArray, values: FloatArray) -> csr_array:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        k = bad[0]
        raise SpecError(
            f"weights must be finite, got {values[k]} from {j[k]} to {i[k]}"
        )
    keep = i != j
    return compressed(n, i[keep], j[keep], values[keep])


def compressed(n: int, i: IntArray, j: IntArray, values: FloatArray) -> csr_array:
    """Return ``weights[i, j]``: duplicates added, zeros left out, sorted."""
    weights = csr_array((values, (i, j)), shape=(n, n))
    weights.sum_duplicates()
    weights.eliminate_zeros()
    weights.sort_indices()
    return weights
