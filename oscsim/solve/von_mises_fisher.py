"""Exact draws of the von Mises-Fisher law on a sphere of any dimension."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.errors import SpecError
from oscsim.physics.explog import log_lanes
from oscsim.physics.threads import over_rows
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, unit_circle_lanes
from oscsim.solve.stream import Stream, counter_index, stream_words
from oscsim.typing import BoolArray, FloatArray, IntArray

# From here on the draw is the mean to rounding, and kappa^2 is not infinite.
_SHARPEST = 1e150
# Time per component on one core, for the choice of threads.
DRAW_S = 6e-9


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
        Unit vectors, d >= 2.
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
    if mean.ndim != 2 or mean.shape[1] < 2:
        raise SpecError(
            f"mean must have shape (n_items, d) with d >= 2, got {mean.shape}"
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
    ones = np.ones(n)

    def turn(start: int, stop: int) -> int:
        rows = slice(start, stop)
        return turn_rows(
            words, first[rows], mean[rows], ones[rows], kappa[rows], out[rows]
        )

    over_rows(turn, n, draw_seconds(n, d))
    return out


def draw_seconds(n: int, d: int) -> float:
    """Return the rough time of n draws on one thread (s), for the choice of threads."""
    return n * (8e-9 + 3.3e-9 * d)


@kernel
def turn_rows(
    words: IntArray,
    index: IntArray,
    axis: FloatArray,
    length: FloatArray,
    kappa: FloatArray,
    out: FloatArray,
) -> int:
    """Draw about the mean axis/length of every row; return -1.

    All rows that are left are attempted, 64 at a time, until none is. Every
    number of an attempt is computed for all lanes; what is in those beyond the
    rows left is not used.
    """
    n, d = axis.shape
    pairs = (d + 1) // 2
    # Rows a few numbers longer than a power of two do not share cache sets.
    x = np.ones((2 * pairs, LANES + 8))
    lanes = np.ones((9, LANES))
    addresses = np.zeros((3, LANES), np.uint64)
    is_kept = np.zeros(LANES, np.bool_)
    left = np.empty(n, np.int64)
    n_left, attempt = 0, 0
    for i in range(n):
        left[n_left] = i
        n_left += kappa[i] < math.inf
        if not kappa[i] < math.inf:
            for k in range(d):
                out[i, k] = axis[i, k] / length[i]
    while n_left > 0:
        addresses[0, :] = attempt
        n_refused = 0
        for start in range(0, n_left, LANES):
            these = left[start : min(start + LANES, n_left)]
            for lane in range(these.shape[0]):
                addresses[1, lane] = index[these[lane]]
                lanes[0, lane] = min(kappa[these[lane]], _SHARPEST)
                lanes[8, lane] = length[these[lane]]
            _isotropic(words, addresses, d, x, lanes)
            _accept(d, x, lanes, is_kept)
            for lane in range(LANES):
                lanes[8, lane] = 1.0 / lanes[8, lane]
            if d == 2:
                _place_on_circle(these, x, lanes, axis, out)
            else:
                _place_on_sphere(these, x, lanes, is_kept, axis, out)
            for lane in range(these.shape[0]):
                left[n_refused] = these[lane]
                n_refused += not is_kept[lane]
        n_left, attempt = n_refused, attempt + 1
    return -1


@kernel(allocates=False)
def _isotropic(
    words: IntArray, addresses: IntArray, d: int, x: FloatArray, lanes: FloatArray
) -> None:
    """Write vectors without preferred direction into x and a uniform number."""
    steps, item, counters = addresses[0], addresses[1], addresses[2]
    u, v, scratch = lanes[1], lanes[2], lanes[3]
    if d == 2:
        uniform_lanes(words, steps, item, u, v)
        unit_circle_lanes(v, x[0], x[1])
        return
    pairs = (d + 1) // 2
    blocks = np.uint64(pairs + 1)
    for block in range(pairs + 1):
        for lane in range(LANES):
            counters[lane] = item[lane] * blocks + np.uint64(block)
        uniform_lanes(words, steps, counters, u, v)
        if block < pairs:
            normal_lanes(u, v, x[2 * block], x[2 * block + 1], scratch)


@kernel(allocates=False)
def _accept(d: int, x: FloatArray, lanes: FloatArray, is_kept: BoolArray) -> None:
    """Decide on one attempt per lane; write 1 - W and the tangent's factor.

    The first component of ``x`` gives Z, the others the direction of the tangent.
    1 + x_1 and 1 - x_1 of the unit vector are formed without cancellation.
    """
    kappa, u, log_u, rest = lanes[0], lanes[1], lanes[2], lanes[3]
    ratio, log_ratio = lanes[4], lanes[5]
    fall, scale, scratch = lanes[6], lanes[7], lanes[3]
    m = d - 1.0
    for lane in range(LANES):
        rest[lane] = x[1, lane] * x[1, lane]
    for k in range(2, d):
        for lane in range(LANES):
            rest[lane] += x[k, lane] * x[k, lane]
    for lane in range(LANES):
        first = abs(x[0, lane])
        across = rest[lane] if rest[lane] > 0.0 else 1.0
        is_kept[lane] = rest[lane] > 0.0
        length = math.sqrt(first * first + across)
        larger = 0.5 * (length + first) / length
        smaller = 0.5 * across / (length * (length + first))
        z = larger if x[0, lane] > 0.0 else smaller
        z_complement = smaller if x[0, lane] > 0.0 else larger
        double = 2.0 * kappa[lane]
        b = m / (double + math.sqrt(double * double + m * m))
        denominator = z_complement + b * z
        fall[lane] = 2.0 * b * z / denominator
        scale[lane] = math.sqrt(fall[lane] * 2.0 * z_complement / denominator / across)
        ratio[lane] = (1.0 + b) / (2.0 * denominator)
        log_u[lane] = double * b / (1.0 + b) - kappa[lane] * fall[lane]
    bound = log_u
    log_lanes(ratio, log_ratio, scratch)
    for lane in range(LANES):
        bound[lane] += m * log_ratio[lane]
    log_lanes(u, log_ratio, scratch)
    for lane in range(LANES):
        is_kept[lane] &= log_ratio[lane] <= bound[lane]


@kernel(allocates=False)
def _place_on_circle(
    these: IntArray, x: FloatArray, lanes: FloatArray, axis: FloatArray, out: FloatArray
) -> None:
    """Write what becomes the draw if it is accepted: the mean, turned."""
    fall, scale, inverse = lanes[6], lanes[7], lanes[8]
    for lane in range(these.shape[0]):
        i = these[lane]
        c = (1.0 - fall[lane]) * inverse[lane]
        s = scale[lane] * x[1, lane] * inverse[lane]
        s = s if axis[i, 0] >= 0.0 else -s
        out[i, 0] = c * axis[i, 0] - s * axis[i, 1]
        out[i, 1] = c * axis[i, 1] + s * axis[i, 0]


@kernel(allocates=False)
def _place_on_sphere(
    these: IntArray,
    x: FloatArray,
    lanes: FloatArray,
    is_kept: BoolArray,
    axis: FloatArray,
    out: FloatArray,
) -> None:
    """Write the accepted draws; a Householder reflection brings the tangent."""
    fall, scale, inverse = lanes[6], lanes[7], lanes[8]
    d = axis.shape[1]
    for lane in range(these.shape[0]):
        if not is_kept[lane]:
            continue
        centre, drawn, tangent = axis[these[lane]], out[these[lane]], x[:, lane]
        first = centre[0] * inverse[lane]
        reach, c = 1.0 + abs(first), 1.0 - fall[lane]
        dot = 0.0
        for k in range(1, d):
            dot += centre[k] * tangent[k]
        dot *= inverse[lane] * scale[lane] / reach
        drawn[0] = c * first - (dot if first >= 0.0 else -dot) * reach
        weight = (c - dot) * inverse[lane]
        for k in range(1, d):
            drawn[k] = weight * centre[k] + scale[lane] * tangent[k]
