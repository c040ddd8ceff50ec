"""Arguments of a network, checked and brought into one form."""

from typing import Any

import numpy as np

from oscsim.arrays import real_array, require_finite, whole_number
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

LARGEST_DIMENSION = 10**9
"""Above it the number of entries of a matrix (d, d) is not an address."""

MOST_HARMONICS = 64
"""Harmonics of a coupling function: each costs as much as the first."""


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
    return whole_number("d", d, 2, LARGEST_DIMENSION)


def one_each(omega: Any) -> Any:
    """Return ``omega`` unless it is a single matrix, which says no number.

    Parameters
    ----------
    omega : array_like or None
        Numbers or matrices.

    Raises
    ------
    SpecError
        If it is not an array of finite real numbers.
    """
    if omega is None or real_array("omega", omega).ndim == 2:
        return None
    return omega


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
    half = 0.5 * rates
    turned = np.swapaxes(half, -1, -2)
    off = np.abs(half + turned)
    if off.max() > 1e-12 * np.abs(half).max():
        where = tuple(int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        raise SpecError(
            "omega must be antisymmetric, omega[a, b] = -omega[b, a], got a sum of "
            f"{2.0 * float(off[where]):.3g} at index {where}"
        )
    return np.broadcast_to(half - turned, (n, d, d)).copy()


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
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vectors, axis=1)
    off = np.abs(length - 1.0)
    if off.size and off.max() > 1e-9:
        raise SpecError(
            f"{name} must be unit vectors, got length {length[off.argmax()]:.12g} of "
            f"number {off.argmax()}"
        )
    return vectors


def anchor_phases(anchors: Any) -> FloatArray:
    """Return fixed phases as unit vectors (m, 2).

    Parameters
    ----------
    anchors : array_like, shape (m,)
        Phases (rad).

    Raises
    ------
    SpecError
        If they are not a list of finite real numbers.
    """
    phases = real_array("anchors", anchors)
    if phases.ndim != 1:
        raise SpecError(f"anchors must have shape (m,), got {phases.shape}")
    return np.stack([np.cos(phases), np.sin(phases)], axis=-1)


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
    if values.shape != (n, len(directions)):
        raise SpecError(
            "anchor_weights must have one row per oscillator and one column per "
            f"anchor, shape {(n, len(directions))}, got {values.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        field = np.asarray(values @ directions)
    require_finite("the field of the anchors", field)
    return field


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


def harmonics_of(harmonics: Any, lag: Any, anchors: Any) -> FloatArray:
    """Return a_k and b_k of a coupling function, empty for the sine.

    Parameters
    ----------
    harmonics : array_like or None, shape (m, 2)
        Factors of sin(k d) and cos(k d).
    lag, anchors : array_like or None
        What the network was given beside them, which belongs to the sine.

    Raises
    ------
    SpecError
        If the shape does not fit, a value is not finite, there are more than 64, or
        the network has a lag or anchors as well.
    """
    if harmonics is None:
        return np.zeros(0)
    value = real_array("harmonics", harmonics)
    if value.ndim != 2 or value.shape[1] != 2 or not 1 <= len(value) <= MOST_HARMONICS:
        raise SpecError(
            "harmonics must be rows (a_k, b_k) of sin(k d) and cos(k d), shape (m, 2) "
            f"with m from 1 to {MOST_HARMONICS}, got shape {value.shape}"
        )
    if anchors is not None:
        raise SpecError(
            "harmonics and anchors exclude each other: an anchor pulls by a sine; make "
            "it an oscillator that nothing acts on"
        )
    if np.any(getattr(lag, "data", lag)):
        raise SpecError(
            "harmonics and lag exclude each other: a lag alpha turns (a_k, b_k) by "
            "-k alpha, give the turned ones"
        )
    return value


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
    value = real_array("diffusion", diffusion)
    if value.shape not in ((), (n,)):
        raise SpecError(
            f"diffusion must be a number or have shape ({n},), got {value.shape}"
        )
    if value.min(initial=0.0) < 0.0:
        first = int(np.argmax(value < 0.0))
        at = f" at index {first}" if value.ndim else ""
        raise SpecError(
            f"diffusion must be finite and >= 0, got {value.flat[first]}{at}"
        )
    return np.broadcast_to(value, (n,)).copy()
