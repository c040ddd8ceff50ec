"""Arguments of a network, checked and brought into one form."""

from typing import Any

import numpy as np
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.network.weights import matrix_of
from oscsim.typing import FloatArray


def require_finite(name: str, value: FloatArray) -> None:
    """Refuse NaN and infinity, naming the first.

    Parameters
    ----------
    name : str
        What it is.
    value : FloatArray
        The numbers.

    Raises
    ------
    SpecError
        If one is not finite.
    """
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        where = tuple(int(k) for k in bad[0])
        raise SpecError(f"{name} must be finite, got {value[where]} at index {where}")


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
        If it holds anything else.
    """
    given = np.asarray(value)
    if given.dtype.kind not in "biuf":
        raise SpecError(f"{name} must hold real numbers, got type {given.dtype}")
    array = np.array(given, dtype=np.float64)
    require_finite(name, array)
    return array


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
        Its last axis may say how many oscillators there are.
    n : int, optional
        How many there are.

    Raises
    ------
    SpecError
        If the topology is unknown or the number of oscillators is not said, not
        at least 1, or said in two ways.
    """
    factor = real_array("coupling", strength)
    if factor.ndim:
        raise SpecError(
            f"coupling must be one number, got shape {factor.shape}: give weights as "
            "the topology"
        )
    if n is not None and (
        isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1
    ):
        raise SpecError(f"n must be a whole number >= 1, got {n}")
    if isinstance(topology, str):
        if topology != "all-to-all":
            raise SpecError(
                "topology must be 'all-to-all', a networkx graph, an array or a SciPy "
                f"sparse matrix, got {topology!r}"
            )
        shape = np.shape(omega) if omega is not None else ()
        n_osc = int(n) if n is not None else int(shape[0]) if shape else 0
        if n_osc < 1:
            raise SpecError("'all-to-all' needs n, or omega with one entry each")
        return float(factor) / n_osc, n_osc, ()
    weights = matrix_of(topology)
    n_osc = int(weights.shape[-1])
    if n is not None and n != n_osc:
        raise SpecError(f"n = {n} contradicts a topology of {n_osc} oscillators")
    weights = weights * float(factor)
    return weights, n_osc, tuple(weights.shape[:-2])


def dimension(d: Any) -> int:
    """Return ``d`` as a whole number >= 2.

    Parameters
    ----------
    d : int
        Dimension of the space around a sphere.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < 2:
        raise SpecError(f"d must be a whole number >= 2, got {d!r}")
    return int(d)


def one_each(omega: Any) -> Any:
    """Return ``omega`` unless it is a single matrix, which says no number.

    Parameters
    ----------
    omega : array_like or None
        Numbers or matrices.
    """
    return None if np.ndim(omega) == 2 else omega


def phase_rates(omega: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return natural frequencies of the given shape.

    Parameters
    ----------
    omega : array_like or None
        A number, (n,) or (b, n).
    shape : tuple of int
        (n,) or (b, n).

    Raises
    ------
    SpecError
        If the shape does not fit or a value is not finite.
    """
    rates = real_array("omega", 0.0 if omega is None else omega)
    if rates.shape not in ((), shape[-1:], shape):
        raise SpecError(
            f"omega must be a number or have shape {shape[-1:]}, got {rates.shape}"
        )
    return np.broadcast_to(rates, shape).copy()


def rotation_rates(omega: Any, n: int, d: int) -> FloatArray:
    """Return antisymmetric matrices (n, d, d), or (0, d, d) if nothing rotates.

    Parameters
    ----------
    omega : array_like or None
        Matrices; for d = 2 also a number or (n,).
    n, d : int
        Oscillators and dimension.

    Raises
    ------
    SpecError
        If the shape does not fit, a value is not finite or a matrix is not
        antisymmetric.
    """
    if omega is None:
        return np.empty((0, d, d))
    rates = real_array("omega", omega)
    if d == 2 and rates.shape in ((), (n,)):
        quarter_turn = np.array([[0.0, -1.0], [1.0, 0.0]])
        return np.asarray(np.broadcast_to(rates, (n,))[:, None, None] * quarter_turn)
    if rates.shape not in ((d, d), (n, d, d)):
        raise SpecError(
            f"omega must have shape ({d}, {d}) or ({n}, {d}, {d}), got {rates.shape}"
        )
    turned = np.swapaxes(rates, -1, -2)
    if np.abs(rates + turned).max() > 1e-12 * np.abs(rates).max():
        raise SpecError("omega must be antisymmetric: omega[a, b] = -omega[b, a]")
    return np.broadcast_to(0.5 * (rates - turned), (n, d, d)).copy()


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
        lag = lag.toarray() if not sparse.issparse(coupling) else lag
        if sparse.issparse(lag):
            return _lag_per_edge(sparse.csr_array(lag), coupling)
    values = real_array("lag", lag)
    if values.ndim == 0:
        return float(values)
    if isinstance(coupling, float) or values.shape != coupling.shape[-2:]:
        wanted = "one number" if isinstance(coupling, float) else coupling.shape[-2:]
        raise SpecError(
            f"lag must be a number or fit the weights ({wanted}), got "
            f"shape {values.shape}"
        )
    if sparse.issparse(coupling):
        return _lag_per_edge(values, coupling)
    return values


def _lag_per_edge(lag: Any, coupling: Any) -> Any:
    if lag.shape != coupling.shape:
        raise SpecError(f"lag must have shape {coupling.shape}, got {lag.shape}")
    edges = coupling.tocoo()
    values = np.asarray(lag[edges.row, edges.col], dtype=np.float64).ravel()
    require_finite("lag", values)
    return sparse.csr_array((values, coupling.indices, coupling.indptr), coupling.shape)


def unit_vectors(name: str, value: Any, d: int) -> FloatArray:
    """Return unit vectors (m, d), checked.

    Parameters
    ----------
    name : str
        What they are.
    value : array_like
        The vectors.
    d : int
        Their dimension.

    Raises
    ------
    SpecError
        If the shape does not fit or a vector is not of unit length.
    """
    vectors = real_array(name, value)
    if vectors.ndim != 2 or vectors.shape[1] != d:
        raise SpecError(f"{name} must have shape (m, {d}), got {vectors.shape}")
    off = np.abs(np.linalg.norm(vectors, axis=1) - 1.0)
    if off.size and off.max() > 1e-9:
        raise SpecError(f"{name} must be unit vectors, number {off.argmax()} is not")
    return vectors


def anchor_field(
    directions: FloatArray | None, weights: Any, n: int, d: int
) -> FloatArray:
    """Return the constant field sum_a W_ia r_a of fixed anchors.

    Parameters
    ----------
    directions : FloatArray, shape (n_anchors, d), optional
        Unit vectors of the anchors.
    weights : array_like, shape (n, n_anchors), optional
        W (rad/s).
    n, d : int
        Oscillators and dimension.

    Raises
    ------
    SpecError
        If one is given without the other, or shapes do not fit.
    """
    if directions is None and weights is None:
        return np.zeros((n, d))
    if directions is None or weights is None:
        raise SpecError("anchors and anchor_weights belong together: give both")
    values = real_array("anchor_weights", weights)
    if directions.ndim != 2 or values.shape != (n, len(directions)):
        raise SpecError(
            f"anchor_weights must have one row per oscillator and one column per "
            f"anchor ({n} rows), got {values.shape} for anchors {directions.shape[:-1]}"
        )
    return np.asarray(values @ directions)


def injection(strength: Any, phase: Any, n: int) -> FloatArray:
    """Return I cos(psi), I sin(psi) per oscillator, empty without injection.

    Parameters
    ----------
    strength, phase : array_like or None
        Numbers or shape (n,).
    n : int
        Oscillators.

    Raises
    ------
    SpecError
        If a shape does not fit, a value is not finite, or there is a phase
        without a strength.
    """
    angle = real_array("shil_phase", phase)
    if strength is None:
        if angle.any():
            raise SpecError("shil_phase needs shil, the strength of the injection")
        return np.zeros(0)
    value = real_array("shil", strength)
    for name, given in (("shil", value), ("shil_phase", angle)):
        if given.shape not in ((), (n,)):
            raise SpecError(
                f"{name} must be a number or have shape ({n},), got {given.shape}"
            )
    value, angle = np.broadcast_to(value, (n,)), np.broadcast_to(angle, (n,))
    return np.stack([value * np.cos(angle), value * np.sin(angle)], axis=-1)


def diffusion_of(diffusion: Any, n: int) -> FloatArray:
    """Return D per oscillator, empty where there is none.

    Parameters
    ----------
    diffusion : array_like or None
        A number or shape (n,).
    n : int
        Oscillators.

    Raises
    ------
    SpecError
        If the shape does not fit, or a value is negative or not finite.
    """
    if diffusion is None:
        return np.zeros(0)
    value = np.asarray(diffusion)
    if value.dtype.kind not in "biuf":
        raise SpecError(f"diffusion must hold real numbers, got type {value.dtype}")
    if value.shape not in ((), (n,)):
        raise SpecError(
            f"diffusion must be a number or have shape ({n},), got {value.shape}"
        )
    if not np.all((value >= 0) & np.isfinite(value)):
        raise SpecError(f"diffusion must be finite and >= 0, got {diffusion}")
    return np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)).copy()
