"""Coupling by edges."""

from typing import NamedTuple

from numba import prange

from oscsim._jit import kernel
from oscsim.physics.gather import ROWS, slice_sums
from oscsim.typing import FloatArray, IntArray

_CHUNK = 256


class Sparse(NamedTuple):
    """Edges in slices of eight rows of similar degree (SELL-C-sigma).

    Attributes
    ----------
    weights : FloatArray, shape (n_slots, 8)
        Weights (rad/s), 0 where a row of a slice has fewer edges.
    columns : IntArray, shape (n_slots, 8)
        Sources.
    starts : IntArray, shape (n_slices + 1,)
        First slot of every slice.
    rows : IntArray, shape (n_slices, 8)
        Targets; n_rows and more for rows that only fill up the last slice.
    n_rows : IntArray, shape (1,)
        Number of rows: n, or 2 n with lags per edge as in ``Dense``.

    References
    ----------
    .. [1] Kreutzer et al. (2014), SIAM J. Sci. Comput. 36, C401.
    """

    weights: FloatArray
    columns: IntArray
    starts: IntArray
    rows: IntArray
    n_rows: IntArray


class SparseThreaded(NamedTuple):
    """Sparse coupling whose slices can be shared out over threads.

    Attributes
    ----------
    weights, columns, starts, rows, n_rows
        As in ``Sparse``.
    is_on : IntArray, shape (1,)
        Whether they are, now; the result is the same.
    """

    weights: FloatArray
    columns: IntArray
    starts: IntArray
    rows: IntArray
    n_rows: IntArray
    is_on: IntArray


@kernel(allocates=False)
def _add_slices(
    weights: FloatArray,
    columns: IntArray,
    starts: IntArray,
    rows: IntArray,
    n_rows: IntArray,
    field: FloatArray,
    c: int,
    out: FloatArray,
    chunk: int,
    n_chunks: int,
) -> None:
    """Write h_i + the sums over the edges of i for two channels from c on.

    ``chunk`` of ``n_chunks`` says which slices; each has its own room for sums.
    """
    d, n = field.shape
    e = min(c + 1, d - 1)
    n_slices = rows.shape[0]
    size = (n_slices + n_chunks - 1) // n_chunks
    pairs = out[d : d + 2].reshape(out.shape[1], 2)
    sums = out[d + 2 : d + 4].reshape(n_slices, ROWS, 2)[chunk]
    for k in range(chunk * size, min((chunk + 1) * size, n_slices)):
        slice_sums(weights, columns, starts[k], starts[k + 1], pairs, sums)
        for lane in range(ROWS):
            row = rows[k, lane]
            if row < n:
                out[c, row] = field[c, row] + sums[lane, 0]
                out[e, row] = field[e, row] + sums[lane, 1]
            elif row < n_rows[0]:
                out[c, row] = sums[lane, 0]
                out[e, row] = sums[lane, 1]


@kernel(allocates=False)
def _interleave(x: FloatArray, y: FloatArray, pairs: FloatArray) -> None:
    for i in range(x.shape[0]):
        pairs[i, 0] = x[i]
        pairs[i, 1] = y[i]


@kernel(parallel=True)
def _add_slices_threads(
    weights: FloatArray,
    columns: IntArray,
    starts: IntArray,
    rows: IntArray,
    n_rows: IntArray,
    field: FloatArray,
    c: int,
    out: FloatArray,
) -> None:
    n_chunks = (rows.shape[0] + _CHUNK - 1) // _CHUNK
    for k in prange(n_chunks):
        _add_slices(weights, columns, starts, rows, n_rows, field, c, out, k, n_chunks)


@kernel(allocates=False)
def couple_sparse(
    coupling: Sparse, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + the sum over the edges of i, two channels at a time."""
    d = x.shape[0]
    pairs = out[d : d + 2].reshape(out.shape[1], 2)
    weights, columns, starts, rows, n_rows = coupling
    for c in range(0, d, 2):
        _interleave(x[c], x[min(c + 1, d - 1)], pairs)
        _add_slices(weights, columns, starts, rows, n_rows, field, c, out, 0, 1)


@kernel(allocates=False)
def couple_sparse_threaded(
    coupling: SparseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``couple_sparse``."""
    d = x.shape[0]
    pairs = out[d : d + 2].reshape(out.shape[1], 2)
    weights, columns, starts, rows, n_rows, is_on = coupling
    for c in range(0, d, 2):
        _interleave(x[c], x[min(c + 1, d - 1)], pairs)
        if is_on[0] != 0:
            _add_slices_threads(weights, columns, starts, rows, n_rows, field, c, out)
        else:
            _add_slices(weights, columns, starts, rows, n_rows, field, c, out, 0, 1)
