"""Angles and points on the circle and the sphere."""

import numpy as np
from scipy.special import betainc

from oscsim.errors import SpecError
from oscsim.typing import FloatArray

_TURN = 2.0 * np.pi


def wrap(theta: FloatArray | float) -> FloatArray:
    """Return angles moved by whole turns into (-pi, pi].

    Angles that are already inside come back unchanged, bit for bit.

    Parameters
    ----------
    theta : FloatArray or float
        Angles (rad).

    Returns
    -------
    FloatArray
        Same shape.
    """
    theta = np.asarray(theta, dtype=np.float64)
    wrapped = theta - _TURN * np.ceil((theta - np.pi) / _TURN)
    wrapped = np.where(wrapped <= -np.pi, np.pi, np.minimum(wrapped, np.pi))
    return np.where((theta > -np.pi) & (theta <= np.pi), theta, wrapped)


def circular_mean(theta: FloatArray, axis: int = -1) -> FloatArray:
    """Return the direction of the mean of exp(i theta), in (-pi, pi].

    Parameters
    ----------
    theta : FloatArray
        Angles (rad).
    axis : int
        Axis to average over.

    Returns
    -------
    FloatArray
        ``theta`` without that axis. Meaningless where the mean vector is 0.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, eq. (2.2.4).
    """
    theta = np.asarray(theta, dtype=np.float64)
    return wrap(np.arctan2(np.sin(theta).mean(axis), np.cos(theta).mean(axis)))


def circular_variance(theta: FloatArray, axis: int = -1) -> FloatArray:
    """Return 1 - |mean of exp(i theta)|, in [0, 1].

    Parameters
    ----------
    theta : FloatArray
        Angles (rad).
    axis : int
        Axis to average over.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, section 2.3.1.
    """
    theta = np.asarray(theta, dtype=np.float64)
    length = np.hypot(np.sin(theta).mean(axis), np.cos(theta).mean(axis))
    return np.asarray(1.0 - np.minimum(length, 1.0))


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the angle between unit vectors, 2 atan2(|a - b|, |a + b|).

    Unlike the arc cosine it keeps its digits near 0 and pi.

    Parameters
    ----------
    a, b : FloatArray, shape (..., d)
        Unit vectors, broadcast.

    Returns
    -------
    FloatArray, shape (...)
        Angles (rad) in [0, pi].

    References
    ----------
    .. [1] Kahan (2006), How futile are mindless assessments of roundoff in
       floating-point computation?, section 12.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    difference, total = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(2.0 * np.arctan2(difference, total))


def antipodal_probability(angle: FloatArray | float, d: int) -> FloatArray:
    r"""Return the share of the sphere S^{d-1} within ``angle`` of a given point.

    For a uniform random start this is the probability to begin that close to
    the point opposite the drive, where settling is slow:

    .. math:: P = \tfrac12 I_{\sin^2 \alpha}\left(\tfrac{d-1}{2},
              \tfrac12\right), \qquad \alpha \le \pi/2 ,

    with I the regularised incomplete beta function, and 1 - P(pi - alpha)
    beyond the equator.

    Parameters
    ----------
    angle : FloatArray or float
        Angle (rad) in [0, pi].
    d : int
        Dimension of the space around the sphere, at least 2.

    Returns
    -------
    FloatArray
        Same shape as ``angle``.

    Raises
    ------
    SpecError
        If ``d`` is below 2 or an angle outside [0, pi].

    References
    ----------
    .. [1] Li (2011), Asian J. Math. Stat. 4, 66 (area of a hyperspherical cap).
    """
    if d < 2:
        raise SpecError(f"d must be at least 2, got {d}")
    angle = np.asarray(angle, dtype=np.float64)
    if not np.all((angle >= 0) & (angle <= np.pi)):
        raise SpecError(f"angle must lie in [0, pi], got {angle}")
    cap = 0.5 * betainc((d - 1) / 2, 0.5, np.sin(angle) ** 2)
    return np.asarray(np.where(angle <= np.pi / 2, cap, 1.0 - cap))
