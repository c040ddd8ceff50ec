"""Exact draws of the von Mises-Fisher law on a sphere of any dimension."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.errors import SpecError
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, unit_circle_lanes
from oscsim.solve.stream import Stream, counter_index, stream_words
from oscsim.typing import FloatArray, IntArray

MAX_DIMENSION = 2 * (LANES - 1)


def von_mises_fisher(
    stream: Stream, index: IntArray, mean: FloatArray, kappa: FloatArray | float
) -> FloatArray:
    r"""Return one exact draw of the von Mises-Fisher law per item.

    The density on S^{d-1} is proportional to exp(kappa <z, mean>). Wood's
    rejection [1]_ with the envelope variable Z = (1 + x_1)/2 of a uniform point
    x, which has the Beta((d-1)/2, (d-1)/2) law, written so that nothing cancels
    for large kappa: with b = (d-1) / (2 kappa + sqrt(4 kappa^2 + (d-1)^2)),

    .. math::

        1 - W = \frac{2 b Z}{1 - (1 - b) Z}, \qquad
        \ln U \le \kappa \left(\frac{2b}{1+b} - (1 - W)\right)
        + (d-1) \ln \frac{1 + b}{2 (1 - (1-b) Z)} .

    Parameters
    ----------
    stream : Stream
        Address of the numbers; the attempt number is the counter's ``step``.
    index : IntArray, shape (n_items,)
        Global numbers of the items.
    mean : FloatArray, shape (n_items, d)
        Unit vectors, 2 <= d <= 126.
    kappa : FloatArray, shape (n_items,), or float
        Concentration >= 0; infinite gives the mean itself.

    Returns
    -------
    FloatArray, shape (n_items, d)

    Raises
    ------
    SpecError
        If shapes differ, a mean is not a unit vector, or kappa is negative or
        not a number.

    References
    ----------
    .. [1] Wood (1994), Commun. Statist. Simul. 23, 157, algorithm VM*.
    """
    mean = np.ascontiguousarray(mean, dtype=np.float64)
    if mean.ndim != 2 or not 2 <= mean.shape[1] <= MAX_DIMENSION:
        raise SpecError(
            f"mean must have shape (n_items, d) with 2 <= d <= {MAX_DIMENSION}, "
            f"got {mean.shape}"
        )
    n, d = mean.shape
    blocks = 1 if d == 2 else (d + 1) // 2 + 1
    words, first = stream_words(stream), counter_index(index, blocks)
    kappa = np.ascontiguousarray(np.broadcast_to(np.asarray(kappa, np.float64), (n,)))
    if first.shape != (n,):
        raise SpecError(f"index must have one entry per mean: {n}, got {first.size}")
    bad = np.flatnonzero(~(np.abs(np.einsum("ij,ij->i", mean, mean) - 1.0) < 1e-9))
    if bad.size:
        raise SpecError(f"mean {bad[0]} is not a unit vector: {mean[bad[0]]}")
    bad = np.flatnonzero(~(kappa >= 0))
    if bad.size:
        raise SpecError(f"kappa must be >= 0, got {kappa[bad[0]]} for item {bad[0]}")
    out = np.empty_like(mean)
    _von_mises_fisher(words, first, mean, kappa, out)
    return out


@kernel
def _von_mises_fisher(
    words: IntArray,
    index: IntArray,
    mean: FloatArray,
    kappa: FloatArray,
    out: FloatArray,
) -> None:
    """Attempt all items that are left, as many at a time as fit in the lanes."""
    n, d = mean.shape
    pairs = 1 if d == 2 else (d + 1) // 2
    blocks = 1 if d == 2 else pairs + 1
    group = LANES // blocks
    steps = np.zeros(LANES, dtype=np.uint64)
    counters = np.zeros(LANES, dtype=np.uint64)
    u, v, a, b = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    scratch = np.empty(LANES)
    x = np.empty(2 * pairs)
    left = np.arange(n)
    n_left, attempt = n, 0
    while n_left > 0:
        steps[:] = attempt
        n_kept = 0
        for start in range(0, n_left, group):
            n_used = min(group, n_left - start)
            for k in range(n_used):
                base = index[left[start + k]] * np.uint64(blocks)
                for block in range(blocks):
                    counters[k * blocks + block] = base + np.uint64(block)
            uniform_lanes(words, steps, counters, u, v)
            if d == 2:
                unit_circle_lanes(v, a, b)
            else:
                normal_lanes(u, v, a, b, scratch)
            for k in range(n_used):
                i = left[start + k]
                for pair in range(pairs):
                    x[2 * pair] = a[k * blocks + pair]
                    x[2 * pair + 1] = b[k * blocks + pair]
                test = math.log(u[k * blocks + blocks - 1])
                if not _place(x, test, mean[i], kappa[i], out[i]):
                    left[n_kept] = i
                    n_kept += 1
        n_left, attempt = n_kept, attempt + 1


@kernel
def _place(
    x: FloatArray, log_u: float, mean: FloatArray, kappa: float, out: FloatArray
) -> bool:
    """Accept or refuse one attempt; write the draw into ``out`` if accepted.

    ``x`` is isotropic: its first component gives Z, the others the direction of
    the tangent, which a Householder reflection carries to the mean.
    """
    d = mean.shape[0]
    if kappa == math.inf:
        out[:] = mean
        return True
    rest = 0.0
    for k in range(1, d):
        rest += x[k] * x[k]
    length = math.sqrt(x[0] * x[0] + rest)
    if not rest > 0.0:
        return False
    # 1 + x_1 and 1 - x_1 of the unit vector, each without cancellation.
    larger = (length + abs(x[0])) / length
    smaller = rest / (length * (length + abs(x[0])))
    z = 0.5 * (larger if x[0] > 0.0 else smaller)
    z_complement = 0.5 * (smaller if x[0] > 0.0 else larger)
    m = d - 1.0
    b = m / (2.0 * kappa + math.hypot(2.0 * kappa, m))
    denominator = z_complement + b * z
    fall = 2.0 * b * z / denominator
    bound = kappa * (2.0 * b / (1.0 + b) - fall)
    bound += m * math.log((1.0 + b) / (2.0 * denominator))
    if log_u > bound:
        return False
    rise = 2.0 * z_complement / denominator
    scale = math.sqrt(fall * rise / rest)
    sign = 1.0 if mean[0] >= 0.0 else -1.0
    dot = 0.0
    for k in range(1, d):
        dot += mean[k] * x[k]
    dot *= scale / (1.0 + abs(mean[0]))
    out[0] = (1.0 - fall) * mean[0] - sign * dot * (1.0 + abs(mean[0]))
    for k in range(1, d):
        out[k] = (1.0 - fall) * mean[k] + scale * x[k] - dot * mean[k]
    return True
