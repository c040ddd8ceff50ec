"""Coupling matrices from graphs, arrays and sparse matrices."""

from typing import Any

import numpy as np
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.typing import FloatArray


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
        If a weight is not a finite real number, the matrix is not square or
        has no oscillator, or a graph has parallel edges or self loops.
    """
    if hasattr(topology, "adjacency") and hasattr(topology, "is_multigraph"):
        return _from_graph(topology)
    if sparse.issparse(topology):
        weights = sparse.csr_array(_real("coupling matrix", topology, topology.dtype))
        weights.sum_duplicates()
        _require_square(weights.shape, (2,))
        _require_finite(weights.data)
        return weights
    given = np.asarray(topology)
    weights = np.array(_real("coupling matrix", given, given.dtype), dtype=np.float64)
    _require_square(weights.shape, (2, 3))
    _require_finite(weights)
    return weights


def _real(name: str, values: Any, dtype: Any) -> Any:
    if dtype.kind not in "biuf":
        raise SpecError(f"the {name} must hold real numbers, got type {dtype}")
    return values.astype(np.float64)


def _require_square(shape: tuple[int, ...], ndims: tuple[int, ...]) -> None:
    if len(shape) not in ndims or shape[-1] != shape[-2]:
        raise SpecError(f"a coupling matrix must be square (n, n), got shape {shape}")
    if 0 in shape:
        raise SpecError(f"a network needs at least one oscillator, got shape {shape}")


def _require_finite(values: FloatArray) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = tuple(int(k) for k in bad[0])
        raise SpecError(f"coupling must be finite, got {values[where]} at {where}")


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
        is_number = isinstance(weight, int | float | np.integer | np.floating)
        if not is_number or not np.isfinite(weight):
            raise SpecError(
                f"the weight of edge ({source!r}, {target!r}) must be a finite "
                f"number, got {weight!r}"
            )
        if source == target:
            raise SpecError(f"node {source!r} has an edge to itself: remove self loops")
        targets.append(number[target])
        sources.append(number[source])
        values.append(float(weight))
        if not graph.is_directed():
            targets.append(number[source])
            sources.append(number[target])
            values.append(float(weight))
    n = len(number)
    return sparse.csr_array((values, (targets, sources)), shape=(n, n), dtype=float)
