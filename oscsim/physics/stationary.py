"""Times and stationary laws of a driven oscillator."""

import math

import numpy as np
from scipy.special import i0e, i1e

from oscsim._jit import kernel
from oscsim.arrays import real_number, real_view, whole_number
from oscsim.errors import SpecError
from oscsim.physics.slips import slip_terms
from oscsim.typing import FloatArray


def settling_time(
    phi0: FloatArray | float, eps: FloatArray | float, h_norm: FloatArray | float
) -> FloatArray:
    r"""Return the time to come from the angle ``phi0`` to within ``eps`` of the drive.

    .. math:: t = \frac{1}{|h|} \ln\frac{\tan(\phi_0/2)}{\tan(\epsilon/2)} .

    Parameters
    ----------
    phi0 : FloatArray or float
        Angle between the start and the drive (rad), in [0, pi].
    eps : FloatArray or float
        Angle that counts as settled (rad), in (0, pi).
    h_norm : FloatArray or float
        Length of the drive (rad/s), >= 0.

    Returns
    -------
    FloatArray
        Time (s) in the broadcast shape: 0 if already settled, infinite for a
        start at the antipode or without drive.

    Raises
    ------
    SpecError
        If an argument is outside its interval.
    """
    phi0, eps = real_view("phi0", phi0), real_view("eps", eps)
    h_norm = real_view("h_norm", h_norm)
    for name, value, is_right in (
        ("phi0", phi0, (phi0 >= 0) & (phi0 <= np.pi)),
        ("eps", eps, (eps > 0) & (eps < np.pi)),
        ("h_norm", h_norm, h_norm >= 0),
    ):
        if not np.all(is_right):
            raise SpecError(
                f"{name} is outside its interval, got {value[~is_right].flat[0]}: "
                "phi0 in [0, pi], eps in (0, pi), h_norm >= 0"
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(phi0 == np.pi, np.inf, np.tan(phi0 / 2)) / np.tan(eps / 2)
        time = np.log(np.maximum(ratio, 1.0)) / h_norm
    return np.where(ratio > 1.0, time, 0.0)


def alignment(d: int, kappa: FloatArray | float) -> FloatArray:
    r"""Return the mean alignment of the von Mises-Fisher law with its mean.

    .. math:: A_d(\kappa) = I_{d/2}(\kappa) / I_{d/2-1}(\kappa)

    Parameters
    ----------
    d : int
        Dimension, at least 2.
    kappa : FloatArray or float
        Concentration |h|/D, >= 0; infinite gives 1.

    Returns
    -------
    FloatArray
        Same shape as ``kappa``, relative error below 2e-13.

    Raises
    ------
    SpecError
        If ``d`` is below 2 or ``kappa`` negative or not a number.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, section 9.3.2.
    """
    d = whole_number("d", d, 2)
    kappa = real_view("kappa", kappa)
    if not np.all(kappa >= 0):
        raise SpecError(f"kappa must be >= 0, got {np.min(kappa)}")
    out = np.empty(kappa.size)
    _alignments(d / 2 - 1, np.ascontiguousarray(kappa).reshape(-1), out)
    return out.reshape(kappa.shape)


def adler_moment(detuning: float, drive: float, diffusion: float) -> complex:
    r"""Return the first circular moment of a noisy, detuned, driven phase.

    For dtheta = [dw - L sin(theta - chi)] dt + sqrt(2 D) dB, stationary,

    .. math:: \langle e^{i(\theta - \chi)} \rangle
              = \frac{I_{1-ia}(\kappa)}{I_{-ia}(\kappa)},
              \qquad a = dw/D, \quad \kappa = L/D .

    Parameters
    ----------
    detuning : float
        dw (rad/s).
    drive : float
        L (rad/s), >= 0.
    diffusion : float
        D (rad^2/s), > 0.

    Returns
    -------
    complex
        Real and imaginary part to a few 1e-15 of themselves, noiseless limit
        included.

    Raises
    ------
    SpecError
        If ``drive`` is negative, ``diffusion`` is not positive, or a value is
        not a finite real number.

    Notes
    -----
    SciPy has no Bessel function of complex order, and their continued fraction
    converges slowly at a = kappa. The products of I_{ia} with I_{-ia} and with
    I_{1-ia} are integrals of positive terms, whose ratio this is.

    References
    ----------
    .. [1] Stratonovich (1967), Topics in the Theory of Random Noise, vol. 2,
       chapter 9 (stationary law of the noisy phase-locked loop); the integrals
       are 10.32.15 of the DLMF.
    """
    offset, drive, diffusion = _check_adler(detuning, drive, diffusion)
    a, kappa = offset / diffusion, drive / diffusion
    if math.isinf(a) or math.isinf(kappa):
        beat = float(beat_frequency(offset, drive))
        ratio = 0.0 if drive == 0.0 else drive / (offset + beat)
        if offset < drive:
            ratio = offset / drive
        across = math.sqrt((1.0 - ratio) * (1.0 + ratio)) if offset < drive else 0.0
    else:
        u, weight, less, _ = slip_terms(offset, drive, diffusion)
        pull = weight * i1e(2.0 * kappa * np.sin(u))
        total = (weight * i0e(2.0 * kappa * np.sin(u)) * (2.0 - less)).sum()
        across = float((pull * np.sin(u) * (2.0 - less)).sum() / total)
        ratio = float((pull * np.cos(u) * less).sum() / total)
    return complex(across, math.copysign(ratio, detuning))


def adler_drift(detuning: float, drive: float, diffusion: float) -> float:
    r"""Return the mean frequency of a noisy, detuned, driven phase (rad/s).

    .. math:: \langle \dot\theta \rangle
              = \frac{D}{\pi} \frac{\sinh(\pi a)}{|I_{ia}(\kappa)|^2},
              \qquad a = dw/D, \quad \kappa = L/D ,

    evaluated as

    .. math:: \frac{D}{2 J} (1 - e^{-2 \pi a}), \qquad
              J = \int_0^{\pi/2} I_0(2 \kappa \sin u) e^{-2 a u}
              (1 + e^{-2 a (\pi - 2 u)}) du ,

    a sum of positive terms, so slips too rare to see keep their digits: the
    relative error is a few 1e-16 times 2 + the height of the barrier over D.

    Parameters
    ----------
    detuning : float
        dw (rad/s).
    drive : float
        L (rad/s), >= 0.
    diffusion : float
        D (rad^2/s), > 0.

    Returns
    -------
    float

    Raises
    ------
    SpecError
        If ``drive`` is negative, ``diffusion`` is not positive, or a value is
        not a finite real number.

    References
    ----------
    .. [1] Stratonovich (1967), Topics in the Theory of Random Noise, vol. 2,
       chapter 9; the integral is 10.32.15 of the DLMF.
    """
    offset, drive, diffusion = _check_adler(detuning, drive, diffusion)
    a, kappa = offset / diffusion, drive / diffusion
    if math.isinf(a) or math.isinf(kappa):
        return float(beat_frequency(detuning, drive))
    u, weight, less, height = slip_terms(offset, drive, diffusion)
    total = (weight * i0e(2.0 * kappa * np.sin(u)) * (2.0 - less)).sum()
    rise = -math.expm1(-2.0 * math.pi * a) * math.exp(-2.0 * height)
    return math.copysign(diffusion * rise / (2.0 * float(total)), detuning)


def beat_frequency(
    detuning: FloatArray | float, drive: FloatArray | float
) -> FloatArray:
    """Return sqrt(dw^2 - L^2) (rad/s) of a noiseless driven phase, 0 if locked.

    Parameters
    ----------
    detuning, drive : FloatArray or float
        dw and L (rad/s), broadcast.

    Returns
    -------
    FloatArray
        The mean of dtheta/dt, with the sign of the detuning.

    References
    ----------
    .. [1] Adler (1946), Proc. IRE 34, 351.
    """
    dw, drive = real_view("detuning", detuning), np.abs(real_view("drive", drive))
    margin = np.maximum(np.abs(dw) - drive, 0.0)
    half_sum = 0.5 * np.abs(dw) + 0.5 * drive
    return np.asarray(np.copysign(np.sqrt(2.0 * margin) * np.sqrt(half_sum), dw))


def lock_angle(detuning: FloatArray | float, drive: FloatArray | float) -> FloatArray:
    """Return the static error asin(dw / L) (rad) of a locked, noiseless phase.

    Parameters
    ----------
    detuning, drive : FloatArray or float
        dw and L > 0 (rad/s), broadcast.

    Raises
    ------
    SpecError
        If |dw| > L: the phase does not lock.

    References
    ----------
    .. [1] Adler (1946), Proc. IRE 34, 351.
    """
    dw, drive = real_view("detuning", detuning), real_view("drive", drive)
    if not np.all((np.abs(dw) <= drive) & (drive > 0)):
        raise SpecError(
            f"detuning {detuning} is outside the lock range of drive {drive}: "
            "|dw| <= L, L > 0"
        )
    return np.arcsin(dw / drive)


def _check_adler(
    detuning: float, drive: float, diffusion: float
) -> tuple[float, float, float]:
    """Return the size of the detuning, the drive and the diffusion, checked."""
    offset, drive = real_number("detuning", detuning), real_number("drive", drive)
    diffusion = real_number("diffusion", diffusion)
    if drive < 0.0:
        raise SpecError(f"drive must be >= 0, got {drive}")
    if diffusion <= 0.0:
        raise SpecError(f"diffusion must be positive, got {diffusion}")
    return abs(offset), drive, diffusion


@kernel
def bessel_ratio(order: complex, kappa: float) -> complex:
    """Return I_{order+1}(kappa) / I_{order}(kappa), real part of order >= 0.

    r_m = kappa / (2 (order + m + 1) + kappa r_{m+1}), started far out from the
    leading uniform asymptotics, whose error each step contracts by |r|^2.
    """
    depth = 12
    if kappa < 1e8:
        depth += int(6.0 * math.sqrt(kappa))
    tail = order + depth
    ratio = kappa / (tail + 0.5 + ((tail + 1.5) * (tail + 1.5) + kappa * kappa) ** 0.5)
    for m in range(depth, 0, -1):
        ratio = kappa / (2.0 * (order + m) + kappa * ratio)
    return ratio


ALIGNED = 1e100
"""Concentration above which the alignment is 1 in float64, before its square is inf."""


@kernel
def _alignments(order: float, kappa: FloatArray, out: FloatArray) -> None:
    """Write the Bessel ratio at every kappa."""
    for i in range(kappa.shape[0]):
        out[i] = 1.0 if kappa[i] > ALIGNED else bessel_ratio(order, kappa[i])
