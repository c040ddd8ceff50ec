"""Kernels of the detuned flow: a 2 x 2 propagator on the circle, else a matrix."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.propagator import projective_exponential
from oscsim.typing import FloatArray


@kernel
def half_angle(x: float, y: float) -> tuple[float, float]:
    """Return a multiple of (cos theta/2, sin theta/2) for (x, y) = (cos, sin)."""
    return (1.0 + x, y) if x >= 0.0 else (y, 1.0 - x)


@kernel
def circle_propagator(
    hx: float, hy: float, omega: float, t: float
) -> tuple[float, float, float, float]:
    """Return exp(A t) up to a positive factor, by rows; A of ``settle_detuned``.

    cosh and sinh are divided by exp(rate t / 2), so nothing overflows; the
    product (|h| - |omega|)(|h| + |omega|) keeps the digits near the edge.
    """
    length = math.hypot(hx, hy)
    margin = length - abs(omega)
    rate = math.sqrt(abs(margin)) * math.sqrt(length + abs(omega))
    if margin > 0.0:
        shrink = -math.expm1(-rate * t)
        diagonal, slope = 1.0 - 0.5 * shrink, 0.5 * shrink / rate
    elif margin < 0.0:
        diagonal, slope = math.cos(0.5 * rate * t), math.sin(0.5 * rate * t) / rate
    else:
        diagonal, slope = 1.0, 0.5 * t
    return (
        diagonal + slope * hx,
        slope * (hy - omega),
        slope * (hy + omega),
        diagonal - slope * hx,
    )


@kernel
def settle_circle_kernel(
    h: FloatArray, omega: FloatArray, z0: FloatArray, t: FloatArray, out: FloatArray
) -> int:
    """Write the states on the circle; return the first bad index, or -1."""
    for i in range(h.shape[0]):
        m00, m01, m10, m11 = circle_propagator(h[i, 0], h[i, 1], omega[i], t[i])
        p, q = half_angle(z0[i, 0], z0[i, 1])
        p, q = m00 * p + m01 * q, m10 * p + m11 * q
        square = p * p + q * q
        if not (0.0 <= t[i] < math.inf and square < math.inf):
            return i
        if square == 0.0:
            out[i] = z0[i]
            continue
        out[i, 0] = (p - q) * (p + q) / square
        out[i, 1] = 2.0 * p * q / square
    return -1


@kernel
def settle_matrix_kernel(
    h: FloatArray, omega: FloatArray, z0: FloatArray, t: FloatArray, out: FloatArray
) -> int:
    """Write the states by one matrix exponential each; return a bad index or -1."""
    n, d = h.shape
    m = np.empty((d + 1, d + 1))
    work = np.empty((5, d + 1, d + 1))
    for i in range(n):
        if not 0.0 <= t[i] < math.inf:
            return i
        projective_exponential(h[i], omega[i], t[i], m, work)
        if not apply_projective(m, z0[i], out[i]):
            return i
    return -1


@kernel
def apply_projective(m: FloatArray, z: FloatArray, out: FloatArray) -> bool:
    """Write the unit vector u/|u|, (u, s) = m (z, 1); return whether it exists."""
    d = z.shape[0]
    square = 0.0
    for j in range(d):
        total = m[j, d]
        for k in range(d):
            total += m[j, k] * z[k]
        out[j] = total
        square += total * total
    if not 0.0 < square < math.inf:
        return False
    scale = 1.0 / math.sqrt(square)
    for j in range(d):
        out[j] *= scale
    return True
