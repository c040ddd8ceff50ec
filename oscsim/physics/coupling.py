"""How oscillators act on each other: weighted sums of their unit vectors.

Every kind of coupling is one NamedTuple and one function that adds
sum_j K_ij x_j to the field of oscillator i, channel by channel (cosine and sine,
or the components of unit vectors). The choice is made when a kernel that calls
``couple`` is compiled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from numba import types
from numba.extending import overload

from oscsim._jit import FORWARDED, kernel
from oscsim.physics.dense import (
    Dense,
    DenseEnsemble,
    DenseEnsembleThreaded,
    DenseThreaded,
    couple_dense,
    couple_dense_threaded,
    couple_ensemble,
    couple_ensemble_threaded,
    dense_member,
)
from oscsim.physics.sparse import (
    Sparse,
    SparseThreaded,
    couple_sparse,
    couple_sparse_threaded,
)
from oscsim.typing import FloatArray


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


Coupling: TypeAlias = (
    Free
    | Uniform
    | Dense
    | DenseThreaded
    | DenseEnsemble
    | DenseEnsembleThreaded
    | Sparse
    | SparseThreaded
)


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
        total = x.dtype.type(0.0)
        for i in range(n):
            total += x[a, i]
        for i in range(n):
            out[a, i] = field[a, i] + strength * (total - x[a, i])


_COUPLE: dict[type, Callable[..., None]] = {
    Free: _couple_free,
    Uniform: _couple_uniform,
    Dense: couple_dense,
    DenseThreaded: couple_dense_threaded,
    DenseEnsemble: couple_ensemble,
    DenseEnsembleThreaded: couple_ensemble_threaded,
    Sparse: couple_sparse,
    SparseThreaded: couple_sparse_threaded,
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
    out : FloatArray, shape (2 n_channels + 2 or more, n_rows or more)
        The result in the first ``n_channels`` rows, room for the work beyond;
        left alone without coupling.
    """
    _COUPLE[type(coupling)](coupling, x, field, out)


@overload(couple, jit_options=FORWARDED)
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


@overload(acting, jit_options=FORWARDED)
def _acting_in_kernels(coupling, field, out):  # type: ignore[no-untyped-def]
    if coupling.instance_class is Free:
        return lambda coupling, field, out: field
    return lambda coupling, field, out: out


@kernel
def _same(coupling: Coupling, k: int) -> Coupling:
    return coupling


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
        return dense_member(coupling, k)
    return _same(coupling, k)


@overload(coupling_member, jit_options=FORWARDED)
def _member_in_kernels(coupling, k):  # type: ignore[no-untyped-def]
    chosen: Any = dense_member if coupling.instance_class is Dense else _same
    return lambda coupling, k: chosen(coupling, k)  # noqa: PLW0108
