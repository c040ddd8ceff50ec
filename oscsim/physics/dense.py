"""Coupling by matrices: one network, a batch, or many copies of one."""

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from oscsim._jit import kernel
from oscsim.physics.aligned import aligned
from oscsim.physics.tile import WIDTHS, tile_sums
from oscsim.typing import FloatArray, IntArray

TARGETS = 1024


class Dense(NamedTuple):
    """A matrix, or one matrix per network of a batch.

    Attributes
    ----------
    weights : FloatArray, shape (n_members, n_tiles, n, width)
        ``weights[b, t, j, l]`` (rad/s) is what j does to i = t width + l, zero
        beyond the last i. With lags per edge there are 2 n: K cos(lag), then
        K sin(lag).
    """

    weights: FloatArray


class DenseThreaded(NamedTuple):
    """A matrix whose rows can be shared out over threads.

    Attributes
    ----------
    weights : FloatArray, shape (1, n_tiles, n, width)
        As in ``Dense``.
    is_on : IntArray, shape (1,)
        Whether they are, now; the result is the same.
    """

    weights: FloatArray
    is_on: IntArray


class DenseEnsemble(NamedTuple):
    """One matrix for several copies of the network, by matrix products.

    Attributes
    ----------
    weights : FloatArray, shape (n, n)
        ``weights[i, j]`` (rad/s) is what j does to i.
    """

    weights: FloatArray


class DenseEnsembleThreaded(NamedTuple):
    """The same with the targets shared out over threads.

    Attributes
    ----------
    weights : FloatArray, shape (n, n)
        As in ``DenseEnsemble``.
    """

    weights: FloatArray


@kernel(allocates=False, inlined=True)
def _dense_pair(
    weights: FloatArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    first: int,
    last: int,
) -> None:
    """Write K x and K y for the tiles first..last."""
    for t in range(first, last):
        tile_sums(weights, t, x, y, a, b)


@kernel(parallel=True)
def _dense_pair_threads(
    weights: FloatArray, x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray
) -> None:
    for t in prange(weights.shape[0]):
        _dense_pair(weights, x, y, a, b, t, t + 1)


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
        _dense_pair(weights, x, y, a, b, 0, weights.shape[0])


@kernel(allocates=False, inlined=True)
def _add_field(field: FloatArray, out: FloatArray) -> None:
    for a in range(field.shape[0]):
        for i in range(field.shape[1]):
            out[a, i] += field[a, i]


@kernel(allocates=False, inlined=True)
def couple_dense(
    coupling: Dense, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j, two channels at a time.

    The last of an odd number of channels is computed twice, into itself and into
    nowhere.
    """
    weights, d = coupling.weights[0], x.shape[0]
    for c in range(0, d, 2):
        e = min(c + 1, d - 1)
        _dense_pair(weights, x[c], x[e], out[c], out[c + 1], 0, weights.shape[0])
    _add_field(field, out)


@kernel(allocates=False)
def couple_dense_threaded(
    coupling: DenseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``couple_dense``."""
    weights, is_on, d = coupling.weights[0], coupling.is_on[0] != 0, x.shape[0]
    for c in range(0, d, 2):
        e = min(c + 1, d - 1)
        _dense_pair_shared(is_on, weights, x[c], x[e], out[c], out[c + 1])
    _add_field(field, out)


@kernel
def _multiply(
    weights: FloatArray, x: FloatArray, field: FloatArray, out: FloatArray, chunk: int
) -> None:
    """Write h_i + sum_j K_ij x_j of all copies for one chunk of targets.

    The product is formed with the targets outermost, which suits the blocking of
    the library better, and turned afterwards.
    """
    n, d = weights.shape[0], x.shape[0]
    rows = x.size // n
    first, last = chunk * TARGETS, min((chunk + 1) * TARGETS, n)
    product = out[d : 2 * d].reshape(n, rows)[first:last]
    np.dot(weights[first:last], x.reshape(rows, n).T, product)
    _turn(product, field.reshape(rows, n), out[:d].reshape(rows, n), first)


@kernel(parallel=True)
def _multiply_threads(
    weights: FloatArray, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    # The edges of the chunks are the same for any number of threads.
    for chunk in prange((weights.shape[0] + TARGETS - 1) // TARGETS):
        _multiply(weights, x, field, out, chunk)


@kernel
def couple_ensemble(
    coupling: DenseEnsemble, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write h_i + sum_j K_ij x_j for copies of the network that lie side by side."""
    for chunk in range((coupling.weights.shape[0] + TARGETS - 1) // TARGETS):
        _multiply(coupling.weights, x, field, out, chunk)


@kernel
def couple_ensemble_threaded(
    coupling: DenseEnsembleThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    """Write the same as ``couple_ensemble``."""
    _multiply_threads(coupling.weights, x, field, out)


@kernel(allocates=False)
def _turn(product: FloatArray, field: FloatArray, out: FloatArray, first: int) -> None:
    """Add the field to the rows of a product, which are columns of the result."""
    n, rows = product.shape
    for start in range(0, n, 16):
        for r in range(rows):
            for i in range(start, min(start + 16, n)):
                out[r, first + i] = field[r, first + i] + product[i, r]


def in_tiles(weights: FloatArray, dtype: Any) -> Dense:
    """Return matrices in tiles, which begin where cache lines do.

    Parameters
    ----------
    weights : FloatArray, shape (n_rows, n) or (n_members, n_rows, n)
        ``weights[..., i, j]`` (rad/s) is what j does to i.
    dtype : numpy dtype
        float64 or float32.
    """
    n_rows, n = weights.shape[-2:]
    width = next((w for w in WIDTHS if n_rows <= w), WIDTHS[-1])
    n_tiles = -(-n_rows // width)
    shape = (weights.size // (n_rows * n), n_tiles, n, width)
    tiles = aligned(np.broadcast_to(0.0, shape), dtype)
    turned = np.swapaxes(weights.reshape(-1, n_rows, n), 1, 2)
    for t in range(n_tiles):
        part = turned[:, :, t * width : (t + 1) * width]
        tiles[:, t, :, : part.shape[2]] = part
    return Dense(tiles)


@kernel
def dense_member(coupling: Dense, k: int) -> Dense:
    """Return the coupling of the k-th network of a batch."""
    b = k % coupling.weights.shape[0]
    return Dense(coupling.weights[b : b + 1])
