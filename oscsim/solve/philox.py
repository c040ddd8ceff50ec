"""Philox4x32-10 and Box-Muller, on blocks of lanes.

Every caller fills a multiple of ``LANES`` lanes, so that a number is computed by
the same machine instructions whatever its neighbours are: its bits depend only on
the key and the counter.
"""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.sincos import quarter_turn, turned
from oscsim.typing import FloatArray, IntArray

LANES = 64

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)

_SPARE_BITS = np.uint64(12)
_STEP, _HALF_STEP = 2.0**-52, 2.0**-53

_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_MANTISSA_BITS = np.int64(52)
_LN2 = 0.6931471805599453
_TWO_PI = 2.0 * math.pi


@kernel(allocates=False, inlined=True)
def _round(
    c0: np.uint64,
    c1: np.uint64,
    c2: np.uint64,
    c3: np.uint64,
    k0: np.uint64,
    k1: np.uint64,
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the counter after a round of Philox4x32 (Salmon et al. 2011, 3.3).

    The words of 32 bits are in 64 bits whose upper halves may hold anything.
    """
    p0 = (c0 & _MASK) * _M0
    p1 = (c2 & _MASK) * _M1
    return (p1 >> _HALF) ^ c1 ^ k0, p1, (p0 >> _HALF) ^ c3 ^ k1, p0


@kernel(allocates=False, inlined=True)
def _joined(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64
) -> tuple[np.uint64, np.uint64]:
    return (c0 << _HALF) | (c1 & _MASK), (c2 << _HALF) | (c3 & _MASK)


@kernel(allocates=False, inlined=True)
def _philox(
    k0: np.uint64,
    k1: np.uint64,
    c0: np.uint64,
    c1: np.uint64,
    c2: np.uint64,
    c3: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Return one Philox4x32-10 block as two 64-bit words."""
    for _ in range(10):
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
        k0 = k0 + _W0
        k1 = k1 + _W1
    return _joined(c0, c1, c2, c3)


@kernel(allocates=False, inlined=True)
def _fraction(word: np.uint64) -> float:
    """Return the odd multiple of 2^-53 in (0, 1) that the upper 52 bits tell."""
    return np.float64(np.int64(word >> _SPARE_BITS)) * _STEP + _HALF_STEP


@kernel(allocates=False)
def philox_lanes(
    words: IntArray, step: IntArray, index: IntArray, high: IntArray, low: IntArray
) -> None:
    """Write one Philox4x32-10 block per lane as two 64-bit words.

    ``words`` is (seed, stage, chip, repeat); the block of a lane has the key
    (seed, stage) and the counter (chip, repeat, step, index), all uint64 that
    hold 32 bits.
    """
    k0, k1, c0, c1 = words[0], words[1], words[2], words[3]
    for lane in range(high.shape[0]):
        high[lane], low[lane] = _philox(k0, k1, c0, c1, step[lane], index[lane])


@kernel(allocates=False)
def uniform_lanes(
    words: IntArray, step: IntArray, index: IntArray, u: FloatArray, v: FloatArray
) -> None:
    """Write two uniform numbers per lane, odd multiples of 2^-53 in (0, 1).

    Arguments as for :func:`philox_lanes`.
    """
    k0, k1, c0, c1 = words[0], words[1], words[2], words[3]
    for lane in range(u.shape[0]):
        high, low = _philox(k0, k1, c0, c1, step[lane], index[lane])
        u[lane], v[lane] = _fraction(high), _fraction(low)


@kernel(allocates=False)
def uniform_row(
    words: IntArray, step: int, first: int, u: FloatArray, v: FloatArray
) -> None:
    """Write the same at one step and the counters first, first + 1 and so on.

    A good part of the first two rounds is then common to all lanes. Two halves are
    worked on in turn, as every operation of a round waits for the last one.
    """
    n = u.shape[0] // 2
    early_u, late_u, early_v, late_v = u[:n], u[n:], v[:n], v[n:]
    key0, key1, w0, w1 = words[0], words[1], words[2], words[3]
    w2, start, half = np.uint64(step), np.uint64(first), np.uint64(n)
    for lane in range(n):
        k0, k1 = key0, key1
        a0, a1, a2, a3 = w0, w1, w2, start + np.uint64(lane)
        b0, b1, b2, b3 = w0, w1, w2, a3 + half
        for _ in range(10):
            a0, a1, a2, a3 = _round(a0, a1, a2, a3, k0, k1)
            b0, b1, b2, b3 = _round(b0, b1, b2, b3, k0, k1)
            k0 = k0 + _W0
            k1 = k1 + _W1
        high, low = _joined(a0, a1, a2, a3)
        early_u[lane], early_v[lane] = _fraction(high), _fraction(low)
        high, low = _joined(b0, b1, b2, b3)
        late_u[lane], late_v[lane] = _fraction(high), _fraction(low)


@kernel(allocates=False, inlined=True)
def _unit_circle(v: float) -> tuple[float, float]:
    """Return cos(2 pi v) and sin(2 pi v); the nearest quarter comes off exactly."""
    quarter = np.rint(4.0 * v)
    sine, cosine = quarter_turn(_TWO_PI * (v - 0.25 * quarter))
    sine, cosine = turned(np.int64(quarter), sine, cosine)
    return cosine, sine


@kernel(allocates=False)
def unit_circle_lanes(v: FloatArray, c: FloatArray, s: FloatArray) -> None:
    """Write cos(2 pi v) and sin(2 pi v), v in (0, 1), to one unit in the last place."""
    for lane in range(v.shape[0]):
        c[lane], s[lane] = _unit_circle(v[lane])


@kernel(allocates=False, inlined=True)
def _radius(bits: int, m: float) -> float:
    """Return sqrt(-2 ln u) from the bits of u = 2^e m, m in [sqrt(1/2), sqrt(2)).

    The minimax series in (m - 1)/(m + 1) of fdlibm's ``e_log.c``.
    """
    e = np.float64((bits - _SQRT_HALF_BITS) >> _MANTISSA_BITS)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.479819860511658591e-01
    p = p * z + 1.531383769920937332e-01
    p = p * z + 1.818357216161805012e-01
    p = p * z + 2.222219843214978396e-01
    p = p * z + 2.857142874366239149e-01
    p = p * z + 3.999999999940941908e-01
    p = p * z + 6.666666666666735130e-01
    return math.sqrt(-2.0 * (e * _LN2 + s * (2.0 + z * p)))


@kernel(allocates=False)
def normal_lanes(
    u: FloatArray, v: FloatArray, a: FloatArray, b: FloatArray, scratch: FloatArray
) -> None:
    """Write two independent standard normal numbers per lane (Box & Muller 1958).

    a = sqrt(-2 ln u) cos(2 pi v), b = sqrt(-2 ln u) sin(2 pi v). Root and division
    wait while the angle is worked on, hence both in one loop.
    """
    u_bits = u.view(np.int64)
    m_bits = scratch.view(np.int64)
    for lane in range(u.shape[0]):
        bits = u_bits[lane] - _SQRT_HALF_BITS
        m_bits[lane] = (bits & _MANTISSA) + _SQRT_HALF_BITS
    for lane in range(u.shape[0]):
        r = _radius(u_bits[lane], scratch[lane])
        cosine, sine = _unit_circle(v[lane])
        a[lane] = r * cosine
        b[lane] = r * sine
