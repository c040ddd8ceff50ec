"""Exponential of the generator of a driven oscillator, up to a positive factor."""

import math

from oscsim._jit import kernel
from oscsim.typing import FloatArray

_LARGEST_NORM = 0.25


@kernel
def multiply(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Write a b; the three arrays are distinct and square."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        for k in range(n):
            factor = a[i, k]
            for j in range(n):
                out[i, j] += factor * b[k, j]


@kernel
def generator_norm(h: FloatArray, omega: FloatArray) -> float:
    """Return the Frobenius norm of G = [[omega, h], [h^T, 0]] (rad/s)."""
    square = 0.0
    for i in range(h.shape[0]):
        square += 2.0 * h[i] * h[i]
        for j in range(h.shape[0]):
            square += omega[i, j] * omega[i, j]
    return math.sqrt(square)


@kernel
def _rescale(g: FloatArray, out: FloatArray) -> float:
    """Write g over its largest entry; return ln of that entry."""
    n = g.shape[0]
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(g[i, j]))
    for i in range(n):
        for j in range(n):
            out[i, j] = g[i, j] / largest
    return math.log(largest)


@kernel
def projective_exponential(
    h: FloatArray, omega: FloatArray, t: float, out: FloatArray, work: FloatArray
) -> float:
    """Write exp(G t) divided by a positive factor; return ln of the factor.

    G = [[omega, h], [h^T, 0]], shape (d+1, d+1). Scaling to a norm below 1/4,
    the Taylor polynomial of degree 12 in three groups of four (Paterson &
    Stockmeyer 1973; remainder 2e-18), then squaring, divided by the largest
    entry each time so that nothing overflows. ``work`` is (5, d+1, d+1).
    """
    d = h.shape[0]
    g, g2, g3, g4 = work[0], work[1], work[2], work[3]
    n_squarings = 0
    size = generator_norm(h, omega) * t
    while _LARGEST_NORM < size < math.inf:
        size *= 0.5
        n_squarings += 1
    step = t / 2.0**n_squarings
    for i in range(d):
        for j in range(d):
            g[i, j] = omega[i, j] * step
        g[i, d] = h[i] * step
        g[d, i] = h[i] * step
    g[d, d] = 0.0
    multiply(g, g, g2)
    multiply(g2, g, g3)
    multiply(g2, g2, g4)
    _taylor(work, out)
    log_factor = 0.0
    for _ in range(n_squarings):
        multiply(out, out, g)
        log_factor = 2.0 * log_factor + _rescale(g, out)
    return log_factor


@kernel
def _taylor(work: FloatArray, out: FloatArray) -> None:
    """Write sum_{k <= 12} g^k / k!, given g, g^2, g^3, g^4; overwrites work[4]."""
    n = out.shape[0]
    g, g2, g3, g4, held = work[0], work[1], work[2], work[3], work[4]
    for i in range(n):
        for j in range(n):
            held[i, j] = (
                g[i, j] / 362880.0
                + g2[i, j] / 3628800.0
                + g3[i, j] / 39916800.0
                + g4[i, j] / 479001600.0
            )
        held[i, i] += 1.0 / 40320.0
    multiply(g4, held, out)
    for i in range(n):
        for j in range(n):
            out[i, j] += g[i, j] / 120.0 + g2[i, j] / 720.0 + g3[i, j] / 5040.0
        out[i, i] += 1.0 / 24.0
    multiply(g4, out, held)
    for i in range(n):
        for j in range(n):
            out[i, j] = held[i, j] + g[i, j] + 0.5 * g2[i, j] + g3[i, j] / 6.0
        out[i, i] += 1.0


@kernel
def contraction_rate(h: FloatArray, omega: FloatArray, work: FloatArray) -> float:
    """Return the rate at which nearby states approach each other (rad/s).

    The largest real eigenvalue of G, read from the growth of exp(G t) over
    2^20 / |G|, hence to about 1e-5 |G|; 0 when the oscillator does not lock.
    ``work`` is (6, d+1, d+1).
    """
    size = generator_norm(h, omega)
    if size == 0.0:
        return 0.0
    t = 2.0**20 / size
    return max(0.0, projective_exponential(h, omega, t, work[5], work[:5]) / t)
