"""Numbers that a caller gives: real, finite, whole, or refused in one sentence."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.typing import FloatArray

_SHOWN = 60
_LARGE = 1_000_000


def real_array(name: str, value: Any) -> FloatArray:
    """Return ``value`` as a new float64 array of finite real numbers.

    Parameters
    ----------
    name : str
        What it is.
    value : array_like
        The numbers.

    Raises
    ------
    SpecError
        If it is ragged, masked, sparse, holds anything but real numbers, one of
        them is not finite in float64, or the copy would not fit into memory.
    """
    given = _as_given(name, value)
    if given.size > _LARGE:
        require_memory(f"{name} of shape {given.shape}", 9 * given.size)
    array = np.array(_float64(name, given), order="C")
    require_finite(name, array)
    return array


def real_view(name: str, value: Any) -> FloatArray:
    """Return ``value`` as float64, without a copy where it is that already.

    NaN and infinity pass: they are what a failed simulation holds.

    Parameters
    ----------
    name : str
        What it is.
    value : array_like
        The numbers.

    Raises
    ------
    SpecError
        If it is ragged, masked, sparse, or holds anything but real numbers.
    """
    return _float64(name, _as_given(name, value))


def real_sparse(name: str, value: Any) -> Any:
    """Return a sparse matrix as a new float64 CSR array of finite real numbers.

    Parameters
    ----------
    name : str
        What it is.
    value : SciPy sparse
        The matrix; entries at the same place are added up.

    Raises
    ------
    SpecError
        If it holds anything but real numbers, one of them is not finite in
        float64, or the result would not fit into memory.
    """
    if value.dtype.kind not in "biuf":
        raise SpecError(f"{name} must hold real numbers, got type {value.dtype}")
    if value.nnz + max(value.shape) > _LARGE:
        n_bytes = 32 * value.nnz + 8 * max(value.shape)
        require_memory(f"{name} of shape {value.shape}", n_bytes)
    with np.errstate(over="ignore"):
        matrix = sparse.csr_array(value.astype(np.float64))
        matrix.sum_duplicates()
    require_finite(name, matrix)
    return matrix


def real_number(name: str, value: Any) -> float:
    """Return ``value`` as one finite real number.

    Parameters
    ----------
    name : str
        What it is.
    value : float
        The number.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    array = real_array(name, value)
    if array.ndim:
        raise SpecError(f"{name} must be one number, got shape {array.shape}")
    return array.item()


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int between ``low`` and ``high``.

    Parameters
    ----------
    name : str
        What it is.
    value : int
        The number; a float is refused even where it is whole.
    low, high : int
        Least and largest that is allowed.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        allowed = f">= {low}" if high is None else f"in {low}..{high}"
        raise SpecError(f"{name} must be a whole number {allowed}, got {shown(value)}")
    return int(value)


def seed_number(seed: Any) -> int:
    """Return a seed as an int in [0, 2^32).

    Parameters
    ----------
    seed : int
        Of random draws.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 2**32:
        raise SpecError(f"seed must be a whole number in [0, 2^32), got {shown(seed)}")
    return int(seed)


def require_finite(name: str, value: Any) -> None:
    """Refuse NaN and infinity, naming the first.

    Parameters
    ----------
    name : str
        What it is.
    value : FloatArray or csr_array
        The numbers.

    Raises
    ------
    SpecError
        If one is not finite.
    """
    finite = np.isfinite(value.data if sparse.issparse(value) else value)
    if finite.all():
        return
    first = int(np.argmin(finite))
    if sparse.issparse(value):
        row = int(np.searchsorted(value.indptr, first, side="right")) - 1
        where: tuple[int, ...] = (row, int(value.indices[first]))
    else:
        where = tuple(int(k) for k in np.unravel_index(first, value.shape))
    at = f" at index {where[0] if len(where) == 1 else where}" if where else ""
    raise SpecError(f"{name} must be finite, got {value[where]}{at}")


def shown(value: Any) -> str:
    """Return how a value is written in a message, however long it is.

    Parameters
    ----------
    value : object
        Anything.
    """
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _as_given(name: str, value: Any) -> Any:
    """Return a NumPy array of whatever type the numbers have."""
    if hasattr(value, "toarray"):
        raise SpecError(f"{name} must be an array, got a sparse matrix")
    if any(np.ma.is_masked(one) for one in _parts(value)):
        raise SpecError(f"{name} has masked entries: give numbers in their place")
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        if "inhomogeneous" in str(error):
            raise SpecError(
                f"the rows of {name} must be equally long, got a ragged list"
            ) from None
        raise SpecError(f"{name} must hold real numbers: {shown(error)}") from None


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and, of lists, everything inside: lists lose masks."""
    if isinstance(value, list | tuple):
        for one in value:
            if not isinstance(one, float | int):
                yield from _parts(one)
    else:
        yield value


def _float64(name: str, given: Any) -> FloatArray:
    if given.dtype == object:
        given = _of_objects(name, given)
    if given.dtype.kind not in "biuf":
        got = f"type {given.dtype}" if given.ndim else shown(given.item())
        raise SpecError(f"{name} must hold real numbers, got {got}")
    with np.errstate(over="ignore"):  # of a wider type; it is inf then
        return np.asarray(given, dtype=np.float64)


def _of_objects(name: str, given: Any) -> Any:
    """Convert Python integers beyond 64 bits, which NumPy leaves as objects."""
    real = int | float | np.integer | np.floating
    if not all(isinstance(one, real) for one in given.flat):
        return given
    try:
        return given.astype(np.float64)
    except OverflowError:
        raise SpecError(
            f"{name} must fit into float64, got an integer beyond 1.8e308"
        ) from None
