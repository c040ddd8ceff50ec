"""How oscillators act on each other: weighted sums of their unit vectors.

Every kind of coupling is one NamedTuple and one function that adds
sum_j K_ij x_j to the field of oscillator i, channel by channel (cosine and sine,
or the components of unit vectors). The choice is made when a kernel that calls
``couple`` is compiled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import prange, types
from numba.extending import overload

from oscsim._jit import kernel
from oscsim.typing import FloatArray, IntArray

ROWS = 8
_TILE = 1024
_CHUNK = 256


class Free(NamedTuple):
    """No coupling.

    Attributes
    ----------
    weights : FloatArray, shape (0,)
        Empty.
    """

    weights: FloatArray


class Uniform(NamedTuple):
    """The same weight between all pairs, in O(n).

    Attributes
    ----------
    weights : FloatArray, shape (1,)
        The weight (rad/s).
    """

    weights: FloatArray


class Dense(NamedTuple):
    """A matrix, or one matrix per network of a batch.

    Attributes
    ----------
    weights : FloatArray, shape (n_members, n, n_rows)
        Transposed: ``weights[b, j, i]`` (rad/s) is what j does to i. With lags
        per edge n_rows is 2 n: K cos(lag), then K sin(lag).
    """

    weights: FloatArray


class DenseThreaded(NamedTuple):
    """A matrix whose rows can be shared out over threads.

    Attributes
    ----------
    weights : FloatArray, shape (1, n, n_rows)
        As in ``Dense``.
    is_on : IntArray, shape (1,)
        Whether they are, now; the result is the same.
    """

    weights: FloatArray
    is_on: IntArray


class DenseEnsemble(NamedTuple):
    """One matrix for several copies of the network, by one matrix product.

    Attributes
    ----------
    weights : FloatArray, shape (n, n)
        Transposed, as in ``Dense``.
    """

    weights: FloatArray


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


Coupling: TypeAlias = (
    Free | Uniform | Dense | DenseThreaded | DenseEnsemble | Sparse | SparseThreaded
)


@kernel(allocates=False)
def _begin(field: FloatArray, out: FloatArray) -> None:
    """Start the sums at the field; rows beyond the oscillators start at 0."""
    d, n = field.shape
    for a in range(d):
        for i in range(n):
            out[a, i] = field[a, i]
        if out.shape[1] > n:
            out[a, n:] = 0.0


@kernel(allocates=False)
def _couple_free(
    coupling: Free, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write nothing: ``acting`` takes the field itself."""


@kernel(allocates=False)
def _couple_uniform(
    coupling: Uniform, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + K (sum_j x_j - x_i): one sum for all oscillators."""
    strength = coupling.weights[0]
    n = x.shape[1]
    for a in range(x.shape[0]):
        total = x[a, 0]
        for i in range(1, n):
            total += x[a, i]
        for i in range(n):
            out[a, i] = field[a, i] + strength * (total - x[a, i])


@kernel(allocates=False)
def _dense_pair(
    weights: FloatArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    first: int,
    last: int,
) -> None:
    """Add K x and K y, rows first..last; eight sources at a time, targets in lanes.

    Indices are unsigned: counting from the end, as signed ones may, hinders
    vector code.
    """
    n = weights.shape[0]
    eights, fours = n - n % 8, n - n % 4
    for start in range(first, last, _TILE):
        low, high = np.uint64(start), np.uint64(min(start + _TILE, last))
        for j in range(0, eights, 8):
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            y0, y1, y2, y3 = y[j], y[j + 1], y[j + 2], y[j + 3]
            x4, x5, x6, x7 = x[j + 4], x[j + 5], x[j + 6], x[j + 7]
            y4, y5, y6, y7 = y[j + 4], y[j + 5], y[j + 6], y[j + 7]
            for i in range(low, high):
                k0, k1 = weights[j, i], weights[j + 1, i]
                k2, k3 = weights[j + 2, i], weights[j + 3, i]
                k4, k5 = weights[j + 4, i], weights[j + 5, i]
                k6, k7 = weights[j + 6, i], weights[j + 7, i]
                early = (k0 * x0 + k1 * x1) + (k2 * x2 + k3 * x3)
                a[i] += early + ((k4 * x4 + k5 * x5) + (k6 * x6 + k7 * x7))
                early = (k0 * y0 + k1 * y1) + (k2 * y2 + k3 * y3)
                b[i] += early + ((k4 * y4 + k5 * y5) + (k6 * y6 + k7 * y7))
        for j in range(eights, fours, 4):
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            y0, y1, y2, y3 = y[j], y[j + 1], y[j + 2], y[j + 3]
            for i in range(low, high):
                k0, k1 = weights[j, i], weights[j + 1, i]
                k2, k3 = weights[j + 2, i], weights[j + 3, i]
                a[i] += (k0 * x0 + k1 * x1) + (k2 * x2 + k3 * x3)
                b[i] += (k0 * y0 + k1 * y1) + (k2 * y2 + k3 * y3)
        for j in range(fours, n):
            for i in range(low, high):
                a[i] += weights[j, i] * x[j]
                b[i] += weights[j, i] * y[j]


@kernel(parallel=True)
def _dense_pair_threads(
    weights: FloatArray, x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray
) -> None:
    # The edges of the chunks are the same for any number of threads.
    for k in prange((a.shape[0] + _CHUNK - 1) // _CHUNK):
        last = min((k + 1) * _CHUNK, a.shape[0])
        _dense_pair(weights, x, y, a, b, k * _CHUNK, last)


@kernel(allocates=False)
def _dense_pair_shared(
    is_on: bool,
    weights: FloatArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> None:
    if is_on:
        _dense_pair_threads(weights, x, y, a, b)
    else:
        _dense_pair(weights, x, y, a, b, 0, a.shape[0])


@kernel(allocates=False)
def _couple_dense(
    coupling: Dense, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j, two channels at a time.

    The last of an odd number of channels is computed twice, into itself and into
    nowhere.
    """
    _begin(field, out)
    weights = coupling.weights[0]
    d = x.shape[0]
    for c in range(0, d - 1, 2):
        _dense_pair(weights, x[c], x[c + 1], out[c], out[c + 1], 0, out.shape[1])
    if d % 2 == 1:
        _dense_pair(weights, x[d - 1], x[d - 1], out[d - 1], out[d], 0, out.shape[1])


@kernel(allocates=False)
def _couple_dense_threaded(
    coupling: DenseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``_couple_dense``."""
    _begin(field, out)
    weights, is_on = coupling.weights[0], coupling.is_on[0] != 0
    d = x.shape[0]
    for c in range(0, d - 1, 2):
        _dense_pair_shared(is_on, weights, x[c], x[c + 1], out[c], out[c + 1])
    if d % 2 == 1:
        _dense_pair_shared(is_on, weights, x[d - 1], x[d - 1], out[d - 1], out[d])


@kernel
def _couple_ensemble(
    coupling: DenseEnsemble, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j for copies of the network that lie side by side."""
    n = coupling.weights.shape[0]
    rows = x.size // n
    np.dot(x.reshape(rows, n), coupling.weights, out[: x.shape[0]].reshape(rows, n))
    for a in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[a, i] += field[a, i]


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
def _couple_sparse(
    coupling: Sparse, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + the sum over the edges of i, two channels at a time."""
    d, n_slices = x.shape[0], coupling.rows.shape[0]
    sums = out[d + 1 :].reshape(2, n_slices, ROWS)
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
def _couple_sparse_threaded(
    coupling: SparseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    d, n_slices = x.shape[0], coupling.rows.shape[0]
    sums = out[d + 1 :].reshape(2, n_slices, ROWS)
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


_COUPLE: dict[type, Callable[..., None]] = {
    Free: _couple_free,
    Uniform: _couple_uniform,
    Dense: _couple_dense,
    DenseThreaded: _couple_dense_threaded,
    DenseEnsemble: _couple_ensemble,
    Sparse: _couple_sparse,
    SparseThreaded: _couple_sparse_threaded,
}


def couple(
    coupling: Coupling, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j for every oscillator and channel.

    Parameters
    ----------
    coupling : Free, Uniform, Dense, DenseEnsemble or Sparse
        Selects the kernel.
    x : FloatArray, shape (n_channels, n)
        What the oscillators show each other.
    field : FloatArray, shape (n_channels, n)
        Constant part h (rad/s).
    out : FloatArray, shape (n_channels + 3, n_rows or more)
        The result in the first ``n_channels`` rows, room for the work beyond;
        left alone without coupling.
    """
    _COUPLE[type(coupling)](coupling, x, field, out)


@overload(couple)
def _couple_in_kernels(coupling, x, field, out):  # type: ignore[no-untyped-def]
    is_known = isinstance(coupling, types.BaseNamedTuple)
    chosen: Any = _COUPLE.get(coupling.instance_class) if is_known else None
    return lambda coupling, x, field, out: chosen(  # noqa: PLW0108
        coupling, x, field, out
    )


def acting(coupling: Coupling, field: FloatArray, out: FloatArray) -> FloatArray:
    """Return where ``couple`` left its result: the field itself without coupling.

    Parameters
    ----------
    coupling : Coupling
        As given to ``couple``.
    field, out : FloatArray
        As given to ``couple``.
    """
    return field if isinstance(coupling, Free) else out


@overload(acting)
def _acting_in_kernels(coupling, field, out):  # type: ignore[no-untyped-def]
    if coupling.instance_class is Free:
        return lambda coupling, field, out: field
    return lambda coupling, field, out: out


@kernel
def _same(coupling: Coupling, k: int) -> Coupling:
    return coupling


@kernel
def _dense_member(coupling: Dense, k: int) -> Dense:
    b = k % coupling.weights.shape[0]
    return Dense(coupling.weights[b : b + 1])


def coupling_member(coupling: Coupling, k: int) -> Coupling:
    """Return the coupling of the k-th network of a batch.

    Parameters
    ----------
    coupling : Coupling
        Of all networks; one that is shared stays.
    k : int
        Which network.
    """
    if isinstance(coupling, Dense):
        return _dense_member(coupling, k)
    return _same(coupling, k)


@overload(coupling_member)
def _member_in_kernels(coupling, k):  # type: ignore[no-untyped-def]
    chosen: Any = _dense_member if coupling.instance_class is Dense else _same
    return lambda coupling, k: chosen(coupling, k)  # noqa: PLW0108
