"""Coupling by edges."""

from typing import NamedTuple

from numba import prange

from oscsim._jit import kernel
from oscsim.typing import FloatArray, IntArray

ROWS, _CHUNK = 8, 256


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
def _sparse_pair(
    weights: FloatArray,
    columns: IntArray,
    starts: IntArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    first: int,
    last: int,
) -> None:
    """Write K x and K y in the order of the slices, eight rows in lanes."""
    zero = x.dtype.type(0.0)
    for k in range(first, last):
        for lane in range(ROWS):
            a[k, lane] = zero
            b[k, lane] = zero
        for p in range(starts[k], starts[k + 1]):
            for lane in range(ROWS):
                j = columns[p, lane]
                a[k, lane] += weights[p, lane] * x[j]
                b[k, lane] += weights[p, lane] * y[j]


@kernel(parallel=True)
def _sparse_pair_threads(
    weights: FloatArray,
    columns: IntArray,
    starts: IntArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> None:
    for k in prange((a.shape[0] + _CHUNK - 1) // _CHUNK):
        last = min((k + 1) * _CHUNK, a.shape[0])
        _sparse_pair(weights, columns, starts, x, y, a, b, k * _CHUNK, last)


@kernel(allocates=False)
def _sparse_pair_shared(
    is_on: bool,
    weights: FloatArray,
    columns: IntArray,
    starts: IntArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> None:
    if is_on:
        _sparse_pair_threads(weights, columns, starts, x, y, a, b)
    else:
        _sparse_pair(weights, columns, starts, x, y, a, b, 0, a.shape[0])


@kernel(allocates=False)
def _scatter(
    rows: IntArray, sums: FloatArray, field: FloatArray, n_rows: int, out: FloatArray
) -> None:
    """Write h_i + the sums, from the order of the slices into that of the rows."""
    n = field.shape[0]
    flat, row_of = sums.reshape(sums.size), rows.reshape(rows.size)
    for at in range(n_rows):
        row = row_of[at]
        out[row] = flat[at] + field[row] if row < n else flat[at]


@kernel(allocates=False)
def couple_sparse(
    coupling: Sparse, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + the sum over the edges of i, two channels at a time."""
    d, n_slices = x.shape[0], coupling.rows.shape[0]
    sums = out[d + 1 : d + 3].reshape(2, n_slices, ROWS)
    for c in range(0, d, 2):
        e = min(c + 1, d - 1)
        _sparse_pair(
            coupling.weights,
            coupling.columns,
            coupling.starts,
            x[c],
            x[e],
            sums[0],
            sums[1],
            0,
            n_slices,
        )
        _scatter(coupling.rows, sums[0], field[c], coupling.n_rows[0], out[c])
        _scatter(coupling.rows, sums[1], field[e], coupling.n_rows[0], out[e])


@kernel(allocates=False)
def couple_sparse_threaded(
    coupling: SparseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``couple_sparse``."""
    d, n_slices = x.shape[0], coupling.rows.shape[0]
    sums = out[d + 1 : d + 3].reshape(2, n_slices, ROWS)
    for c in range(0, d, 2):
        e = min(c + 1, d - 1)
        _sparse_pair_shared(
            coupling.is_on[0] != 0,
            coupling.weights,
            coupling.columns,
            coupling.starts,
            x[c],
            x[e],
            sums[0],
            sums[1],
        )
        _scatter(coupling.rows, sums[0], field[c], coupling.n_rows[0], out[c])
        _scatter(coupling.rows, sums[1], field[e], coupling.n_rows[0], out[e])
