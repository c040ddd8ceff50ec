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
    """A matrix whose rows are shared out over threads; fields as ``Dense``.

    Attributes
    ----------
    weights : FloatArray, shape (1, n, n_rows)
        As in ``Dense``.
    """

    weights: FloatArray


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

    References
    ----------
    .. [1] Kreutzer et al. (2014), SIAM J. Sci. Comput. 36, C401.
    """

    weights: FloatArray
    columns: IntArray
    starts: IntArray
    rows: IntArray


class SparseThreaded(NamedTuple):
    """Sparse coupling whose slices are shared out over threads.

    Attributes
    ----------
    weights, columns, starts, rows
        As in ``Sparse``.
    """

    weights: FloatArray
    columns: IntArray
    starts: IntArray
    rows: IntArray


Coupling: TypeAlias = (
    Free | Uniform | Dense | DenseThreaded | DenseEnsemble | Sparse | SparseThreaded
)


@kernel
def _begin(field: FloatArray, out: FloatArray) -> None:
    """Start the sums at the field; rows beyond the oscillators start at 0."""
    n = field.shape[1]
    for a in range(out.shape[0]):
        for i in range(n):
            out[a, i] = field[a, i]
        for i in range(n, out.shape[1]):
            out[a, i] = 0.0


@kernel
def _couple_free(
    coupling: Free, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    return field


@kernel
def _couple_uniform(
    coupling: Uniform, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    """Write h_i + K (sum_j x_j - x_i): one sum for all oscillators."""
    strength = coupling.weights[0]
    n = x.shape[1]
    for a in range(x.shape[0]):
        total = x[a, 0]
        for i in range(1, n):
            total += x[a, i]
        for i in range(n):
            out[a, i] = field[a, i] + strength * (total - x[a, i])
    return out


@kernel
def _dense_pair(
    weights: FloatArray,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    first: int,
    last: int,
) -> None:
    """Add K x and K y, rows first..last; four sources at a time, targets in lanes."""
    n = weights.shape[0]
    whole = n - n % 4
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for j in range(0, whole, 4):
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            y0, y1, y2, y3 = y[j], y[j + 1], y[j + 2], y[j + 3]
            for i in range(start, stop):
                k0, k1 = weights[j, i], weights[j + 1, i]
                k2, k3 = weights[j + 2, i], weights[j + 3, i]
                a[i] += (k0 * x0 + k1 * x1) + (k2 * x2 + k3 * x3)
                b[i] += (k0 * y0 + k1 * y1) + (k2 * y2 + k3 * y3)
        for j in range(whole, n):
            for i in range(start, stop):
                a[i] += weights[j, i] * x[j]
                b[i] += weights[j, i] * y[j]


@kernel
def _dense_single(
    weights: FloatArray, x: FloatArray, a: FloatArray, first: int, last: int
) -> None:
    """Add K x, rows first..last: the last channel of an odd number."""
    n = weights.shape[0]
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for j in range(n):
            for i in range(start, stop):
                a[i] += weights[j, i] * x[j]


@kernel
def _dense_rows(
    weights: FloatArray, x: FloatArray, out: FloatArray, first: int, last: int
) -> None:
    d = x.shape[0]
    for c in range(0, d - 1, 2):
        _dense_pair(weights, x[c], x[c + 1], out[c], out[c + 1], first, last)
    if d % 2 == 1:
        _dense_single(weights, x[d - 1], out[d - 1], first, last)


@kernel
def _couple_dense(
    coupling: Dense, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    """Write h_i + sum_j K_ij x_j."""
    _begin(field, out)
    _dense_rows(coupling.weights[0], x, out, 0, out.shape[1])
    return out


@kernel(parallel=True)
def _dense_threads(weights: FloatArray, x: FloatArray, out: FloatArray) -> None:
    # Chunks of whole cache lines, their edges the same for any number of threads.
    chunk = 128
    for k in prange((out.shape[1] + chunk - 1) // chunk):
        first = k * chunk
        _dense_rows(weights, x, out, first, min(first + chunk, out.shape[1]))


@kernel
def _couple_dense_threaded(
    coupling: DenseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    _begin(field, out)
    _dense_threads(coupling.weights[0], x, out)
    return out


@kernel
def _couple_ensemble(
    coupling: DenseEnsemble, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    """Write h_i + sum_j K_ij x_j for copies of the network that lie side by side."""
    n = coupling.weights.shape[0]
    rows = x.size // n
    np.dot(x.reshape(rows, n), coupling.weights, out.reshape(rows, n))
    for a in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[a, i] += field[a, i]
    return out


@kernel
def _sparse_slices(
    coupling: Sparse, x: FloatArray, field: FloatArray, out: FloatArray, first: int
) -> None:
    """Write the sums of one slice, all channels."""
    weights, columns = coupling.weights, coupling.columns
    n, n_rows = field.shape[1], out.shape[1]
    for a in range(x.shape[0]):
        source = x[a]
        zero = x.dtype.type(0.0)
        t0, t1, t2, t3 = zero, zero, zero, zero
        t4, t5, t6, t7 = zero, zero, zero, zero
        for p in range(coupling.starts[first], coupling.starts[first + 1]):
            t0 += weights[p, 0] * source[columns[p, 0]]
            t1 += weights[p, 1] * source[columns[p, 1]]
            t2 += weights[p, 2] * source[columns[p, 2]]
            t3 += weights[p, 3] * source[columns[p, 3]]
            t4 += weights[p, 4] * source[columns[p, 4]]
            t5 += weights[p, 5] * source[columns[p, 5]]
            t6 += weights[p, 6] * source[columns[p, 6]]
            t7 += weights[p, 7] * source[columns[p, 7]]
        totals = (t0, t1, t2, t3, t4, t5, t6, t7)
        for lane in range(ROWS):
            row = coupling.rows[first, lane]
            if row < n:
                out[a, row] = field[a, row] + totals[lane]
            elif row < n_rows:
                out[a, row] = totals[lane]


@kernel
def _couple_sparse(
    coupling: Sparse, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    """Write h_i + the sum over the edges of i."""
    for k in range(coupling.rows.shape[0]):
        _sparse_slices(coupling, x, field, out, k)
    return out


@kernel(parallel=True)
def _sparse_threads(
    coupling: SparseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> None:
    chunk = 64
    n_slices = coupling.rows.shape[0]
    for k in prange((n_slices + chunk - 1) // chunk):
        for piece in range(k * chunk, min((k + 1) * chunk, n_slices)):
            _sparse_slices(coupling, x, field, out, piece)


@kernel
def _couple_sparse_threaded(
    coupling: SparseThreaded, x: FloatArray, field: FloatArray, out: FloatArray
) -> FloatArray:
    _sparse_threads(coupling, x, field, out)
    return out


_COUPLE: dict[type, Callable[..., FloatArray]] = {
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
) -> FloatArray:
    """Return h_i + sum_j K_ij x_j for every oscillator and channel.

    Parameters
    ----------
    coupling : Free, Uniform, Dense, DenseEnsemble or Sparse
        Selects the kernel.
    x : FloatArray, shape (n_channels, n)
        What the oscillators show each other.
    field : FloatArray, shape (n_channels, n)
        Constant part h (rad/s).
    out : FloatArray, shape (n_channels, n_rows)
        Room for the result; not used without coupling.

    Returns
    -------
    FloatArray, shape (n_channels, n_rows)
        ``out``, or ``field`` itself without coupling.
    """
    return _COUPLE[type(coupling)](coupling, x, field, out)


@overload(couple)
def _couple_in_kernels(coupling, x, field, out):  # type: ignore[no-untyped-def]
    is_known = isinstance(coupling, types.BaseNamedTuple)
    chosen: Any = _COUPLE.get(coupling.instance_class) if is_known else None
    return lambda coupling, x, field, out: chosen(  # noqa: PLW0108
        coupling, x, field, out
    )


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
    return (_dense_member if isinstance(coupling, Dense) else _same)(coupling, k)


@overload(coupling_member)
def _member_in_kernels(coupling, k):  # type: ignore[no-untyped-def]
    chosen: Any = _dense_member if coupling.instance_class is Dense else _same
    return lambda coupling, k: chosen(coupling, k)  # noqa: PLW0108
