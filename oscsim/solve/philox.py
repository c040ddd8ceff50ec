"""Philox4x32-10 and Box-Muller, on blocks of a fixed number of lanes.

Every caller fills all ``LANES`` lanes, so that a number is computed by the same
machine instructions whatever its neighbours are: its bits depend only on the
key and the counter.
"""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.typing import FloatArray, IntArray

LANES = 64

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)

_EXPONENT_BITS = np.uint64(12)
_ONE_BITS = np.uint64(0x3FF0000000000000)
_ONE_LESS_HALF_STEP = 1.0 - 2.0**-53

_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_MANTISSA_BITS = np.int64(52)
_LN2 = 0.6931471805599453
_TWO_PI = 2.0 * math.pi


@kernel(allocates=False)
def philox_lanes(
    words: IntArray, step: IntArray, index: IntArray, high: IntArray, low: IntArray
) -> None:
    """Write one Philox4x32-10 block per lane as two 64-bit words.

    ``words`` is (seed, stage, chip, repeat); the block of a lane has the key
    (seed, stage) and the counter (chip, repeat, step, index), all uint64 that
    hold 32 bits. Ten rounds as in Salmon et al. (2011), section 3.3.
    """
    for lane in range(LANES):
        k0, k1 = words[0] & _MASK, words[1] & _MASK
        c0, c1 = words[2] & _MASK, words[3] & _MASK
        c2, c3 = step[lane] & _MASK, index[lane] & _MASK
        for _ in range(10):
            p0 = c0 * _M0
            p1 = c2 * _M1
            c0 = (p1 >> _HALF) ^ c1 ^ k0
            c1 = p1 & _MASK
            c2 = (p0 >> _HALF) ^ c3 ^ k1
            c3 = p0 & _MASK
            k0 = (k0 + _W0) & _MASK
            k1 = (k1 + _W1) & _MASK
        high[lane] = (c0 << _HALF) | c1
        low[lane] = (c2 << _HALF) | c3


@kernel(allocates=False)
def uniform_lanes(
    words: IntArray, step: IntArray, index: IntArray, u: FloatArray, v: FloatArray
) -> None:
    """Write two uniform numbers per lane, odd multiples of 2^-53 in (0, 1).

    52 random bits become the fraction of a number in [1, 2), from which
    1 - 2^-53 is subtracted; arguments as for :func:`philox_lanes`.
    """
    u_bits = u.view(np.uint64)
    v_bits = v.view(np.uint64)
    philox_lanes(words, step, index, u_bits, v_bits)
    for lane in range(LANES):
        u_bits[lane] = (u_bits[lane] >> _EXPONENT_BITS) | _ONE_BITS
        v_bits[lane] = (v_bits[lane] >> _EXPONENT_BITS) | _ONE_BITS
    for lane in range(LANES):
        u[lane] -= _ONE_LESS_HALF_STEP
        v[lane] -= _ONE_LESS_HALF_STEP


@kernel(allocates=False)
def unit_circle_lanes(v: FloatArray, c: FloatArray, s: FloatArray) -> None:
    """Write cos(2 pi v) and sin(2 pi v), v in (0, 1), to one unit in the last place.

    The quarter turn nearest to v is taken off exactly; the rest is the minimax
    pair of fdlibm's ``k_cos.c`` and ``k_sin.c`` on [-pi/4, pi/4].
    """
    for lane in range(LANES):
        quarter = np.rint(4.0 * v[lane])
        x = _TWO_PI * (v[lane] - 0.25 * quarter)
        q = np.int64(quarter)
        z = x * x
        p = 1.58969099521155010221e-10
        p = p * z - 2.50507602534068634195e-08
        p = p * z + 2.75573137070700676789e-06
        p = p * z - 1.98412698298579493134e-04
        p = p * z + 8.33333333332248946124e-03
        p = p * z - 1.66666666666666324348e-01
        sine = x + x * z * p
        p = -1.13596475577881948265e-11
        p = p * z + 2.08757232129817482790e-09
        p = p * z - 2.75573143513906633035e-07
        p = p * z + 2.48015872894767294178e-05
        p = p * z - 1.38888888888741095749e-03
        p = p * z + 4.16666666666666019037e-02
        cosine = 1.0 - 0.5 * z + z * z * p
        is_odd = (q & 1) != 0
        a = sine if is_odd else cosine
        b = cosine if is_odd else sine
        c[lane] = -a if ((q + 1) & 2) != 0 else a
        s[lane] = -b if (q & 2) != 0 else b


@kernel(allocates=False)
def normal_lanes(
    u: FloatArray, v: FloatArray, a: FloatArray, b: FloatArray, scratch: FloatArray
) -> None:
    """Write two independent standard normal numbers per lane (Box & Muller 1958).

    a = sqrt(-2 ln u) cos(2 pi v), b = sqrt(-2 ln u) sin(2 pi v). The logarithm
    splits u = 2^e m with m in [sqrt(1/2), sqrt(2)) and uses the minimax series
    in (m - 1)/(m + 1) of fdlibm's ``e_log.c``.
    """
    u_bits = u.view(np.int64)
    m_bits = scratch.view(np.int64)
    unit_circle_lanes(v, a, b)
    for lane in range(LANES):
        bits = u_bits[lane] - _SQRT_HALF_BITS
        m_bits[lane] = (bits & _MANTISSA) + _SQRT_HALF_BITS
    for lane in range(LANES):
        e = np.float64((u_bits[lane] - _SQRT_HALF_BITS) >> _MANTISSA_BITS)
        s = (scratch[lane] - 1.0) / (scratch[lane] + 1.0)
        z = s * s
        p = 1.479819860511658591e-01
        p = p * z + 1.531383769920937332e-01
        p = p * z + 1.818357216161805012e-01
        p = p * z + 2.222219843214978396e-01
        p = p * z + 2.857142874366239149e-01
        p = p * z + 3.999999999940941908e-01
        p = p * z + 6.666666666666735130e-01
        r = math.sqrt(-2.0 * (e * _LN2 + s * (2.0 + z * p)))
        a[lane] *= r
        b[lane] *= r
