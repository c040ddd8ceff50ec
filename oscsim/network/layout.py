"""How a network lies in memory for the kernels."""

from typing import Any

import numpy as np
from scipy import sparse

from oscsim.physics.aligned import aligned
from oscsim.physics.coupling import Coupling, Free, Uniform
from oscsim.physics.dense import Dense, DenseEnsemble, in_tiles
from oscsim.physics.field import Params
from oscsim.physics.gather import ROWS
from oscsim.physics.harmonics import HarmonicParams
from oscsim.physics.kuramoto import KuramotoParams
from oscsim.physics.lohe import LoheParams
from oscsim.physics.sparse import Sparse
from oscsim.typing import FloatArray


def kernel_params(
    network: Any, dtype: Any, n_copies: int, block: int, kept: dict[Any, Coupling]
) -> Params:
    """Return the parameters of ``network`` as the kernels read them.

    Parameters
    ----------
    network : Network
        What is laid out.
    dtype : numpy dtype
        float64 or float32.
    n_copies : int
        Copies side by side.
    block : int
        Oscillators per member of the stack when there is no coupling, 0 for all.
    kept : dict
        Holds the coupling as last laid out, which can take longer than a run.

    Returns
    -------
    KuramotoParams, HarmonicParams or LoheParams
    """
    key = dtype, n_copies > 1
    coupling = kept.get(key)
    if coupling is None:
        coupling = _coupling(network.coupling, network.lag, dtype, n_copies)
        kept.clear()
        kept[key] = coupling
    n, d = network.field.shape
    n_channels = 2 * len(network.harmonics) or d
    width = block or n
    n_blocks = -(-n // width)
    n_total = width * n_copies
    n_rows = n_total if isinstance(network.lag, float) else 2 * n_total
    if isinstance(coupling, Sparse):
        n_rows = coupling.rows.size
    if isinstance(coupling, Dense):
        n_rows = coupling.weights.shape[1] * coupling.weights.shape[3]
    n_room = max(n_channels, 4 if isinstance(coupling, Sparse) else 3)
    n_columns = 0 if isinstance(coupling, Free) else n_rows
    mean = np.zeros((n_channels + n_room, n_columns), dtype)

    def stack(values: FloatArray) -> FloatArray:
        """Bring oscillators (first axis) innermost, in blocks and copies."""
        filled = np.zeros((n_blocks * width, *values.shape[1:]), dtype)
        filled[:n] = values
        inner = np.moveaxis(filled.reshape(n_blocks, width, *values.shape[1:]), 1, -1)
        return aligned(np.tile(inner, n_copies), dtype)

    field = stack(network.field)
    if network.geometry == "sphere":
        omega = np.zeros((n_blocks, 0, d, n_total), dtype)
        if len(network.omega):
            omega = stack(network.omega)
        return LoheParams(omega, field, coupling, np.zeros((1, n_total), dtype), mean)
    lag = network.lag if isinstance(network.lag, float) else 0.0
    omega = stack(network.omega) if network.omega.ndim == 1 else network.omega
    nothing = np.zeros((1, 2, 0), dtype)
    shil = stack(network.shil) if network.shil.size else nothing
    shil = aligned(np.broadcast_to(shil, (len(omega), *shil.shape[1:])), dtype)
    if network.harmonics.size:
        return HarmonicParams(
            aligned(omega, dtype),
            aligned(np.zeros((len(omega), n_channels, n_total)), dtype),
            shil,
            np.ascontiguousarray(network.harmonics, dtype),
            coupling,
            np.zeros((n_channels, n_total), dtype),
            mean,
        )
    if isinstance(coupling, Uniform) and not network.field.any():
        field = nothing
    return KuramotoParams(
        aligned(omega, dtype),
        aligned(np.broadcast_to(field, (len(omega), *field.shape[1:])), dtype),
        shil,
        np.array([np.cos(lag), np.sin(lag), not isinstance(network.lag, float)], dtype),
        coupling,
        np.zeros((4, n_total), dtype),
        mean,
    )


def _coupling(weights: Any, lag: Any, dtype: Any, n_copies: int) -> Coupling:
    if weights is None:
        return Free(np.zeros(0, dtype))
    if isinstance(weights, float):
        return Uniform(np.array([weights], dtype))
    if sparse.issparse(weights):
        if not isinstance(lag, float):
            in_phase, quadrature = weights.copy(), weights.copy()
            in_phase.data = weights.data * np.cos(lag.data)
            quadrature.data = weights.data * np.sin(lag.data)
            weights = sparse.csr_array(sparse.vstack([in_phase, quadrature]))
        return slices(weights, dtype)
    if not isinstance(lag, float):
        weights = np.concatenate([weights * np.cos(lag), weights * np.sin(lag)], -2)
    if n_copies > 1:
        return DenseEnsemble(aligned(weights, dtype))
    return in_tiles(weights, dtype)


def slices(weights: Any, dtype: Any) -> Sparse:
    """Return a CSR matrix in slices of eight rows of similar numbers of edges.

    Parameters
    ----------
    weights : scipy.sparse.csr_array, shape (n_rows, n)
        The matrix.
    dtype : numpy dtype
        Of the weights.

    Returns
    -------
    Sparse
    """
    degree = np.diff(weights.indptr)
    n_rows = len(degree)
    n_slices = -(-n_rows // ROWS)
    order = np.argsort(-degree, kind="stable")
    rows = np.arange(n_slices * ROWS)
    rows[:n_rows] = order
    depth = np.zeros(n_slices, np.int64)
    depth[:] = degree[order[::ROWS]]
    starts = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
    values = aligned(np.zeros((starts[-1], ROWS)), dtype)
    columns = np.zeros((starts[-1], ROWS), np.uint32)
    place = np.empty(n_rows, np.int64)
    place[order] = np.arange(n_rows)
    row = np.repeat(np.arange(n_rows), degree)
    slot = starts[place[row] // ROWS] + np.arange(len(row)) - weights.indptr[row]
    lane = place[row] % ROWS
    values[slot, lane] = weights.data
    columns[slot, lane] = weights.indices
    return Sparse(
        values,
        columns,
        starts,
        rows.reshape(n_slices, ROWS).astype(np.uint32),
        np.array([n_rows]),
    )
