"""Who acts on whom, how strongly and with what lag."""

from typing import Any

import numpy as np
from scipy import sparse

from oscsim.arrays import (
    real_array,
    real_sparse,
    require_finite,
    shown,
    whole_number,
)
from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.network.weights import matrix_of

SMALL = 10**7
"""Bytes that need no look at what is free."""


def coupling_of(
    topology: Any, strength: float, omega: Any, n: Any
) -> tuple[Any, int, tuple[int, ...]]:
    """Return (coupling, number of oscillators, batch axes).

    Parameters
    ----------
    topology : {"all-to-all"}, graph, array or sparse matrix
        What is connected.
    strength : float
        Factor on all weights (rad/s).
    omega : array_like or None
        Its first axis may say how many oscillators there are.
    n : int, optional
        How many there are.

    Raises
    ------
    SpecError
        If the topology is unknown, a product overflows, or the number of
        oscillators is not said, not at least 1, said in two ways, or more than
        memory holds.
    """
    given = real_array("coupling", strength)
    if given.ndim:
        raise SpecError(
            f"coupling must be one number, got shape {given.shape}: give weights as "
            "the topology"
        )
    factor = float(given)
    if n is not None:
        n = whole_number("n", n, 1)
    if isinstance(topology, str):
        if topology != "all-to-all":
            raise SpecError(
                "topology must be 'all-to-all', a networkx graph, an array or a SciPy "
                f"sparse matrix, got {topology!r}"
            )
        shape = () if omega is None else real_array("omega", omega).shape
        if len(shape) == 2:
            raise SpecError(
                f"omega of shape {shape} is a row for each network of a batch, which "
                "'all-to-all' has not: give omega of shape (n,)"
            )
        n_osc = n if n is not None else shape[0] if shape else 0
        if n_osc < 1:
            raise SpecError("'all-to-all' needs n, or omega with one entry each")
        require_room(n_osc, 2, turns=False)
        return factor / n_osc, n_osc, ()
    weights = matrix_of(topology)
    n_osc = int(weights.shape[-1])
    if n is not None and n != n_osc:
        raise SpecError(f"n = {shown(n)} contradicts a topology of {n_osc} oscillators")
    require_room(n_osc, 2, turns=False)
    with np.errstate(over="ignore"):
        weights = weights * factor
    require_finite("coupling times the weights", weights)
    return weights, n_osc, tuple(weights.shape[:-2])


def require_room(n: int, d: int, *, turns: bool) -> None:
    """Refuse a network that would not fit into memory.

    Parameters
    ----------
    n, d : int
        Oscillators, and components of their field.
    turns : bool
        Whether each has a rotation matrix.

    Raises
    ------
    SpecError
        If it would not.
    """
    # field, rates, diffusion and injection, and one state
    n_bytes = 8 * n * (2 * d + 5 + (3 * d * d if turns else 0))
    size = f"{shown(n)} oscillators" + ("" if d == 2 else f" with d = {d}")
    if n_bytes > SMALL:
        require_memory(f"a network of {size}", n_bytes, "fewer oscillators")


def lag_of(lag: Any, coupling: Any) -> Any:
    """Return a number, or one lag per edge in the form of ``coupling``.

    Parameters
    ----------
    lag : array_like or sparse matrix
        Lags (rad).
    coupling : float, FloatArray or csr_array
        What they belong to.

    Raises
    ------
    SpecError
        If the shapes do not fit or a value is not finite.
    """
    if sparse.issparse(lag):
        edges = real_sparse("lag", lag)
        if sparse.issparse(coupling):
            return _lag_per_edge(edges, coupling)
        require_memory(f"lag as an array {lag.shape}", 8.0 * lag.shape[0] ** 2)
        lag = edges.toarray()
    values = real_array("lag", lag)
    if values.ndim == 0:
        return float(values)
    if isinstance(coupling, float):
        raise SpecError(
            f"lag of 'all-to-all' must be one number, got shape {values.shape}: give "
            "the weights as an array or a graph for a lag of every edge"
        )
    if values.shape != coupling.shape[-2:]:
        raise SpecError(
            f"lag must be a number or have the shape of the weights "
            f"{coupling.shape[-2:]}, got {values.shape}"
        )
    if sparse.issparse(coupling):
        return _lag_per_edge(values, coupling)
    return values


def _lag_per_edge(lag: Any, coupling: Any) -> Any:
    if lag.shape != coupling.shape:
        raise SpecError(f"lag must have shape {coupling.shape}, got {lag.shape}")
    edges = coupling.tocoo()
    values = np.zeros(0)
    if coupling.nnz:  # SciPy cannot pick no entries
        found = lag[edges.row, edges.col]
        values = found.toarray() if sparse.issparse(found) else found
    return sparse.csr_array(
        (np.ravel(values), coupling.indices, coupling.indptr), coupling.shape
    )
