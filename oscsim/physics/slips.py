"""The integral behind the slips of a noisy, detuned, driven phase."""

import math

import numpy as np

from oscsim.typing import FloatArray

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def slip_terms(
    offset: float, drive: float, diffusion: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    r"""Return what the stationary law of a noisy driven phase is summed from.

    Products of Bessel functions of order near i a are integrals over u in
    (0, pi/2) of Bessel functions of 2 kappa sin u times
    exp(2 (kappa sin u - a u)) (1 +- exp(-2 a (pi - 2 u))), with a = dw/D and
    kappa = L/D. Large numbers are nowhere subtracted from each other.

    Parameters
    ----------
    offset : float
        Size of the detuning dw (rad/s).
    drive : float
        L (rad/s), >= 0.
    diffusion : float
        D (rad^2/s), > 0; the two ratios must be finite.

    Returns
    -------
    FloatArray
        Points u.
    FloatArray
        Weights, with the first exponential over its largest value.
    FloatArray
        1 - exp(-2 a (pi - 2 u)).
    float
        h, where that largest value is exp(2 h): half the barrier over D, 0 for a
        phase that is not locked.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions, 10.32.15.
    """
    a, kappa = offset / diffusion, drive / diffusion
    # locked, the largest is at u = phi with cos phi = dw / L, otherwise at 0
    peak = height = 0.0
    if offset < drive:
        peak = 2.0 * math.asin(math.sqrt(0.5 * (drive - offset) / drive))
        height = kappa * float(_sine_less(np.array(peak), cosine=True))
    u, weight = _nodes(max(a, kappa, 1.0), peak, kappa)
    if offset < drive:
        v = u - peak
        fall = 2.0 * math.sin(peak) * np.sin(0.5 * v) ** 2
        fall = kappa * (fall + offset / drive * _sine_less(v))
    else:
        fall = (offset - drive) / diffusion * u + kappa * _sine_less(u)
    less = -np.expm1(-2.0 * a * (math.pi - 2.0 * u))
    return u, weight * np.exp(-2.0 * fall), less, height


def _nodes(largest: float, peak: float, kappa: float) -> tuple[FloatArray, FloatArray]:
    """Return points and weights on (0, pi/2), dense at 0 and at the peak.

    Gauss-Legendre on intervals that double in length away from both; the first
    are shorter than any scale on which the integrand changes there.
    """
    end = 0.5 * math.pi
    doublings = np.arange(math.ceil(math.log2(8.0 * end * largest)) + 1)
    edges = [np.zeros(1), end * 0.5**doublings]
    if peak > 0.0:
        scale = min(1.0 / math.sqrt(kappa * math.sin(peak)), kappa ** (-1 / 3), 1.0)
        steps = scale * np.append(np.arange(0.0, 8.0, 0.5), 2.0 ** np.arange(3, 40))
        edges += [peak - steps, peak + steps]
    sides = np.unique(np.clip(np.concatenate(edges), 0.0, end))
    low, half = sides[:-1, None], 0.5 * np.diff(sides)[:, None]
    return (low + half * (1.0 + _POINTS)).ravel(), (half * _WEIGHTS).ravel()


def _sine_less(x: FloatArray, *, cosine: bool = False) -> FloatArray:
    """Return x - sin x, or sin x - x cos x, by their series for |x| < 1."""
    square, series = x * x, np.ones_like(x)
    for n in range(10, 0, -1):
        ratio = 2 * n * (2 * n + 3) if cosine else (2 * n + 2) * (2 * n + 3)
        series = 1.0 - square / ratio * series
    exact = np.sin(x) - x * np.cos(x) if cosine else x - np.sin(x)
    lead = x * square / (3.0 if cosine else 6.0)
    return np.where(np.abs(x) < 1.0, lead * series, exact)
