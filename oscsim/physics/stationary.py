"""Times and stationary laws of a driven oscillator."""

import math
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.special import i0e

from oscsim._jit import kernel
from oscsim.errors import SpecError
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
    phi0, eps, h_norm = (np.asarray(x, dtype=np.float64) for x in (phi0, eps, h_norm))
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
        Same shape as ``kappa``, relative error below 1e-13.

    Raises
    ------
    SpecError
        If ``d`` is below 2 or ``kappa`` negative or not a number.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, section 9.3.2.
    """
    if d < 2:
        raise SpecError(f"d must be at least 2, got {d}")
    kappa = np.asarray(kappa, dtype=np.float64)
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

    Raises
    ------
    SpecError
        If ``drive`` is negative, ``diffusion`` is not positive, or a value is
        not finite.

    Notes
    -----
    SciPy has no Bessel function of complex order; the ratio is evaluated by its
    continued fraction from far out inwards (10.33.1 of the DLMF).

    References
    ----------
    .. [1] Stratonovich (1967), Topics in the Theory of Random Noise, vol. 2,
       chapter 9 (stationary law of the noisy phase-locked loop).
    """
    _check_adler(detuning, drive, diffusion)
    order = complex(0.0, -detuning / diffusion)
    return complex(bessel_ratio(order, drive / diffusion))


def adler_drift(detuning: float, drive: float, diffusion: float) -> float:
    r"""Return the mean frequency of a noisy, detuned, driven phase (rad/s).

    .. math:: \langle \dot\theta \rangle
              = \frac{D}{\pi} \frac{\sinh(\pi a)}{|I_{ia}(\kappa)|^2},
              \qquad a = dw/D, \quad \kappa = L/D ,

    with |I_{ia}|^2 = (2/pi) int_0^{pi/2} I_0(2 kappa cos x) cosh(2 a x) dx, a
    sum of positive terms, so slips too rare to see keep their digits.

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
        not finite.

    References
    ----------
    .. [1] Stratonovich (1967), Topics in the Theory of Random Noise, vol. 2,
       chapter 9; the integral is 10.32.15 of the DLMF.
    """
    _check_adler(detuning, drive, diffusion)
    a, kappa = abs(detuning) / diffusion, drive / diffusion

    peak = math.asin(min(1.0, a / kappa)) if kappa > 0.0 else 0.5 * math.pi
    top = 2.0 * (kappa * math.cos(peak) + a * peak)

    def integrand(x: float) -> float:
        growth = math.exp(2.0 * (kappa * math.cos(x) + a * x) - top)
        return (
            float(i0e(2.0 * kappa * math.cos(x)))
            * growth
            * (0.5 + 0.5 * math.exp(-4.0 * a * x))
        )

    edges = np.unique(
        np.clip(
            peak + np.array([-99, -10, -3, 0, 3, 10, 99]) / math.sqrt(1.0 + kappa),
            0.0,
            0.5 * math.pi,
        )
    )
    edges = np.unique(np.concatenate([[0.0], edges, [0.5 * math.pi]]))
    total = sum(
        quad(integrand, low, high, epsabs=0.0, epsrel=1e-11, limit=200)[0]
        for low, high in pairwise(edges)
    )
    rise = math.exp(math.pi * a - top) * -math.expm1(-2.0 * math.pi * a)
    return math.copysign(diffusion * rise / (4.0 * total), detuning)


def beat_frequency(detuning: FloatArray, drive: FloatArray) -> FloatArray:
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
    dw, drive = np.asarray(detuning, np.float64), np.abs(np.asarray(drive, np.float64))
    margin = np.maximum(np.abs(dw) - drive, 0.0)
    return np.copysign(np.sqrt(margin * (np.abs(dw) + drive)), dw)


def lock_angle(detuning: FloatArray, drive: FloatArray) -> FloatArray:
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
    dw, drive = np.asarray(detuning, np.float64), np.asarray(drive, np.float64)
    if not np.all((np.abs(dw) <= drive) & (drive > 0)):
        raise SpecError(
            f"detuning {detuning} is outside the lock range of drive {drive}: "
            "|dw| <= L, L > 0"
        )
    return np.arcsin(dw / drive)


def _check_adler(detuning: float, drive: float, diffusion: float) -> None:
    if not (math.isfinite(detuning) and 0.0 <= drive < math.inf):
        raise SpecError(
            f"detuning and drive must be finite, drive >= 0, got {detuning} and {drive}"
        )
    if not 0.0 < diffusion < math.inf:
        raise SpecError(f"diffusion must be positive and finite, got {diffusion}")


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


@kernel
def _alignments(order: float, kappa: FloatArray, out: FloatArray) -> None:
    """Write the Bessel ratio at every kappa."""
    for i in range(kappa.shape[0]):
        out[i] = 1.0 if kappa[i] == math.inf else bessel_ratio(order, kappa[i])
