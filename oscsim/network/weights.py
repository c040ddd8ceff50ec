"""Coupling matrices from graphs, arrays and sparse matrices."""

import math
from typing import Any

import numpy as np
from scipy import sparse

from oscsim.arrays import real_array, real_sparse, shown
from oscsim.errors import SpecError


def matrix_of(topology: Any) -> Any:
    """Return the weights of ``topology`` as an array or a CSR matrix, checked.

    weight[i, j] is the influence of j on i. An edge of a graph acts both ways,
    an edge j -> i of a directed graph on i; its attribute ``weight`` counts, 1
    without it. The diagonal of a matrix acts as the equations say: not at all
    without lag, by -K_ii sin(lag) with it.

    Parameters
    ----------
    topology : networkx graph, array of shape (n, n) or (b, n, n), or SciPy sparse
        What is connected.

    Returns
    -------
    FloatArray or scipy.sparse.csr_array
        float64; a new object.

    Raises
    ------
    SpecError
        If a weight is not a finite real number, the matrix is ragged or not
        square, has no oscillator or does not fit into memory, or a graph has
        parallel edges or self loops.
    """
    if hasattr(topology, "adjacency") and hasattr(topology, "is_multigraph"):
        return _from_graph(topology)
    if sparse.issparse(topology):
        _require_square(topology.shape, (2,))
        return real_sparse("topology", topology)
    weights = real_array("topology", topology)
    _require_square(weights.shape, (2, 3))
    return weights


def _require_square(shape: tuple[int, ...], ndims: tuple[int, ...]) -> None:
    if len(shape) not in ndims or shape[-1] != shape[-2]:
        raise SpecError(f"a coupling matrix must be square (n, n), got shape {shape}")
    if 0 in shape:
        raise SpecError(f"a network needs at least one oscillator, got shape {shape}")


def _from_graph(graph: Any) -> Any:
    """Return the CSR matrix of a networkx graph in the order of its nodes."""
    if graph.is_multigraph():
        raise SpecError(
            f"the edges of a {type(graph).__name__} may be parallel: add up their "
            "weights in a Graph or DiGraph"
        )
    number = {node: k for k, node in enumerate(graph)}
    if not number:
        raise SpecError("a network needs at least one oscillator, got an empty graph")
    targets, sources, values = [], [], []
    for source, target, weight in graph.edges(data="weight", default=1.0):
        value = _finite(weight)
        if value is None:
            raise SpecError(
                f"the weight of edge ({source!r}, {target!r}) must be a finite "
                f"number, got {shown(weight)}"
            )
        if source == target:
            raise SpecError(f"node {source!r} has an edge to itself: remove self loops")
        targets.append(number[target])
        sources.append(number[source])
        values.append(value)
        if not graph.is_directed():
            targets.append(number[source])
            sources.append(number[target])
            values.append(value)
    n = len(number)
    return sparse.csr_array((values, (targets, sources)), shape=(n, n), dtype=float)


def _finite(weight: Any) -> float | None:
    """Return a weight as a float, None if it is not a finite real number."""
    if not isinstance(weight, int | float | np.integer | np.floating):
        return None
    try:
        value = float(weight)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
