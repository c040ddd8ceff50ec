"""Exact flow of a driven oscillator: dz/dt = Omega z + (I - z z^T) h, h frozen.

No time step anywhere: without detuning the flow is elementary in the angle to
the field, with detuning it is the projective action of a matrix exponential.
"""

import numpy as np

from oscsim.errors import SpecError
from oscsim.physics.closed_form import settle_rows
from oscsim.physics.detuned_flow import settle_circle_kernel, settle_matrix_kernel
from oscsim.physics.stationary import (
    adler_drift,
    adler_moment,
    alignment,
    beat_frequency,
    lock_angle,
    settling_time,
)
from oscsim.physics.threads import over_rows
from oscsim.typing import FloatArray

__all__ = [
    "adler_drift",
    "adler_moment",
    "alignment",
    "beat_frequency",
    "lock_angle",
    "settle",
    "settle_detuned",
    "settling_time",
]

# Time per component on one core, for the choice of threads.
_SETTLE_S = 2e-9


def settle(h: FloatArray, z0: FloatArray, t: FloatArray | float) -> FloatArray:
    r"""Return the state of driven oscillators after time ``t``, exactly.

    With z* = h/|h|, phi the angle between z and z*, a = 1 + cos phi_0,
    b = 1 - cos phi_0 and e = exp(-|h| t),

    .. math::

        z(t) = \frac{(a - b e^2)\, z^* + 2 e\, (z_0 - \cos\phi_0\, z^*)}
                    {a + b e^2} ,

    which is tan(phi/2) = tan(phi_0/2) e. Here a = |z_0 + z*|^2 / 2 and
    b = |z_0 - z*|^2 / 2, so neither end loses digits.

    Parameters
    ----------
    h : FloatArray, shape (..., d)
        Drive (rad/s), d >= 2.
    z0 : FloatArray, shape (..., d)
        Unit vectors at time 0.
    t : FloatArray or float, shape (...)
        Time (s), >= 0; infinite gives h/|h|.

    Returns
    -------
    FloatArray, shape (..., d)
        Unit vectors. Where h = 0, and where z0 = -h/|h| to rounding, it is z0.

    Raises
    ------
    SpecError
        If the shapes do not fit, a time is negative, or a value is not finite.

    References
    ----------
    .. [1] Lohe (2009), J. Phys. A 42, 395101 (the flow on the sphere); the closed
       form follows by separating variables in dphi/dt = -|h| sin(phi).
    """
    h, z0, shape = _broadcast_states(h, z0, np.shape(t))
    d = shape[-1]
    one_time = np.ndim(t) == 0
    times = _broadcast_times(t, () if one_time else shape[:-1])
    h, z0, out = h.reshape(-1, d), z0.reshape(-1, d), np.empty((h.size // d, d))

    def settle_range(first: int, last: int) -> int:
        rows = slice(first, last)
        own = times if one_time else times[rows]
        return settle_rows(h[rows], z0[rows], own, out[rows])

    _refuse(over_rows(settle_range, len(h), _SETTLE_S * h.size), times)
    return out.reshape(shape)


def settle_detuned(
    h: FloatArray, omega: FloatArray | float, z0: FloatArray, t: FloatArray | float
) -> FloatArray:
    r"""Return the state of driven, detuned oscillators after time ``t``, exactly.

    z(t) = u/s with (u, s) = exp(G t) (z_0, 1), G = [[Omega, h], [h^T, 0]]. For
    d = 2 with z = (cos theta, sin theta) the same flow acts linearly on
    (cos theta/2, sin theta/2) with the generator

    .. math::

        A = \tfrac12 \begin{pmatrix} h_x & h_y - \omega \\
                                     h_y + \omega & -h_x \end{pmatrix},
        \qquad A^2 = \tfrac14 (|h|^2 - \omega^2) I ,

    whose exponential is elementary: hyperbolic when |omega| < |h| (locked),
    trigonometric when |omega| > |h| (beating).

    Parameters
    ----------
    h : FloatArray, shape (..., d)
        Drive (rad/s), d >= 2.
    omega : FloatArray or float, shape (...) or (..., d, d)
        Detuning (rad/s): a scalar per oscillator (d = 2 only), positive
        anticlockwise, or antisymmetric matrices. An array whose last two axes
        are (d, d) is read as matrices.
    z0 : FloatArray, shape (..., d)
        Unit vectors at time 0.
    t : FloatArray or float, shape (...)
        Time (s), >= 0 and finite.

    Returns
    -------
    FloatArray, shape (..., d)
        Unit vectors.

    Raises
    ------
    SpecError
        If the shapes do not fit, a matrix is not antisymmetric, a time is
        negative or infinite, or a value is not finite.

    Notes
    -----
    For d > 2 a start at the angle delta from the unstable fixed point loses
    accuracy as 1e-16 / delta^2; for d = 2 only as 1e-16 / delta. The matrix
    route costs about 30 products of (d+1, d+1) matrices per oscillator.

    References
    ----------
    .. [1] Watanabe & Strogatz (1994), Physica D 74, 197 (the flow for d = 2 as a
       Moebius map).
    .. [2] Tanaka (2014), New J. Phys. 16, 023016 (projective maps for any d).
    """
    matrices, omega = split_detuning(omega, np.shape(h)[-1])
    batch = np.shape(omega)[:-2] if matrices else np.shape(omega)
    h, z0, shape = _broadcast_states(h, z0, np.broadcast_shapes(np.shape(t), batch))
    d = shape[-1]
    times = _broadcast_times(t, shape[:-1])
    h, z0, out = h.reshape(-1, d), z0.reshape(-1, d), np.empty((times.size, d))
    if matrices:
        omega = np.broadcast_to(omega, (*shape[:-1], d, d)).reshape(-1, d, d)
        failed = settle_matrix_kernel(h, np.ascontiguousarray(omega), z0, times, out)
    else:
        omega = np.ascontiguousarray(np.broadcast_to(omega, shape[:-1]).ravel())
        failed = settle_circle_kernel(h, omega, z0, times, out)
    _refuse(failed, times)
    return out.reshape(shape)


def split_detuning(omega: FloatArray | float, d: int) -> tuple[bool, FloatArray]:
    """Return whether ``omega`` holds matrices, and it as a checked array.

    Matrices for d = 2 are returned as scalars, their entry [1, 0].

    Parameters
    ----------
    omega : FloatArray or float, shape (...) or (..., d, d)
        Detuning (rad/s).
    d : int
        Dimension of the oscillators.

    Raises
    ------
    SpecError
        If scalars are given for d > 2 or a matrix is not antisymmetric.
    """
    omega = np.asarray(omega, dtype=np.float64)
    if omega.ndim < 2 or omega.shape[-2:] != (d, d):
        if d != 2:
            raise SpecError(
                f"a scalar detuning needs d = 2, got d = {d}: give omega as "
                f"antisymmetric matrices of shape (..., {d}, {d})"
            )
        return False, omega
    gap = np.abs(omega + np.swapaxes(omega, -1, -2))
    if not np.all(gap <= 1e-12 * (np.abs(omega).max(initial=0.0))):
        raise SpecError(
            f"omega must be antisymmetric, got a matrix with |omega + omega^T| = "
            f"{gap.max():.3g}"
        )
    return (False, omega[..., 1, 0]) if d == 2 else (True, omega)


def _broadcast_states(
    h: FloatArray, z0: FloatArray, batch: tuple[int, ...]
) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    h, z0 = np.asarray(h, dtype=np.float64), np.asarray(z0, dtype=np.float64)
    if h.ndim == 0 or z0.ndim == 0 or h.shape[-1] != z0.shape[-1] or h.shape[-1] < 2:
        raise SpecError(
            "h and z0 must have the same last axis d >= 2, got shapes "
            f"{h.shape} and {z0.shape}"
        )
    try:
        lead = np.broadcast_shapes(h.shape[:-1], z0.shape[:-1], batch)
    except ValueError:
        raise SpecError(
            f"h {h.shape}, z0 {z0.shape} and the axes {batch} of t and omega "
            "do not broadcast"
        ) from None
    shape = (*lead, h.shape[-1])
    return (
        np.ascontiguousarray(np.broadcast_to(h, shape)),
        np.ascontiguousarray(np.broadcast_to(z0, shape)),
        shape,
    )


def _broadcast_times(t: FloatArray | float, lead: tuple[int, ...]) -> FloatArray:
    t = np.broadcast_to(np.asarray(t, dtype=np.float64), lead)
    return np.ascontiguousarray(t).reshape(-1)


def _refuse(failed: int, times: FloatArray) -> None:
    if failed >= 0:
        raise SpecError(
            f"oscillator {failed} (flat index): h, omega and z0 must be finite and t "
            f">= 0 (finite with omega); here t = {times[failed % times.size]}"
        )
