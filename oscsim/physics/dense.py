"""Coupling by matrices: one network, a batch, or many copies of one."""

from typing import NamedTuple

import numpy as np
from numba import prange

from oscsim._jit import kernel
from oscsim.typing import FloatArray, IntArray

_TILE, _CHUNK = 1024, 256


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
        ``weights[i, j]`` (rad/s) is what j does to i.
    """

    weights: FloatArray


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
def couple_dense(
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
def couple_dense_threaded(
    coupling: DenseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``couple_dense``."""
    _begin(field, out)
    weights, is_on = coupling.weights[0], coupling.is_on[0] != 0
    d = x.shape[0]
    for c in range(0, d - 1, 2):
        _dense_pair_shared(is_on, weights, x[c], x[c + 1], out[c], out[c + 1])
    if d % 2 == 1:
        _dense_pair_shared(is_on, weights, x[d - 1], x[d - 1], out[d - 1], out[d])


@kernel
def couple_ensemble(
    coupling: DenseEnsemble, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j for copies of the network that lie side by side.

    The product is formed with the targets outermost, which suits the blocking of
    the library better, and turned afterwards.
    """
    n, d = coupling.weights.shape[0], x.shape[0]
    rows = x.size // n
    product = out[d : 2 * d].reshape(n, rows)
    np.dot(coupling.weights, x.reshape(rows, n).T, product)
    _turn(product, field.reshape(rows, n), out[:d].reshape(rows, n))


@kernel(allocates=False)
def _turn(product: FloatArray, field: FloatArray, out: FloatArray) -> None:
    rows, n = out.shape
    for start in range(0, n, 16):
        for r in range(rows):
            for i in range(start, min(start + 16, n)):
                out[r, i] = field[r, i] + product[i, r]


@kernel
def dense_member(coupling: Dense, k: int) -> Dense:
    """Return the coupling of the k-th network of a batch."""
    b = k % coupling.weights.shape[0]
    return Dense(coupling.weights[b : b + 1])
