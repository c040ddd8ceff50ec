"""Exponential and logarithm of 64 numbers at a time, by polynomials that vectorise.

Every caller fills all ``LANES`` lanes, so that a value is computed by the same
machine instructions whatever its neighbours are.
"""

import numpy as np

from oscsim._jit import kernel
from oscsim.typing import FloatArray

LANES = 64

# exp(-x) is set to 0 from here on: the next smaller results lose digits.
_FLAT = 708.0
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_BIAS, _MANTISSA_BITS = np.int64(1023), np.int64(52)
_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)


@kernel(reassociate=False, allocates=False)
def decay_lanes(x: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    """Write exp(-x), x >= 0 or infinite, to one unit in the last place.

    The nearest multiple n of ln 2 is taken off in two parts (Cody & Waite 1980);
    the Taylor series of degree 13 is exact to rounding on [-ln 2 / 2, ln 2 / 2];
    2^-n is written as bits. Results below 1e-307 are 0.
    """
    power = scratch.view(np.int64)
    for lane in range(LANES):
        is_flat = x[lane] >= _FLAT
        y = 0.0 if is_flat else -x[lane]
        n = np.rint(y * _LOG2_E)
        r = (y - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 1.984126984126984e-04
        p = p * r + 1.388888888888889e-03
        p = p * r + 8.333333333333333e-03
        p = p * r + 4.1666666666666664e-02
        p = p * r + 1.6666666666666666e-01
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        out[lane] = 0.0 if is_flat else p
        power[lane] = (np.int64(n) + _BIAS) << _MANTISSA_BITS
    for lane in range(LANES):
        out[lane] *= scratch[lane]


@kernel(reassociate=False, allocates=False)
def log_lanes(x: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    """Write ln x, x positive and not subnormal, to two units in the last place.

    x = 2^e m with m in [sqrt(1/2), sqrt(2)), and the minimax series in
    (m - 1)/(m + 1) of fdlibm's ``e_log.c``. ``out`` must not be ``x``.
    """
    bits, m_bits = x.view(np.int64), scratch.view(np.int64)
    for lane in range(LANES):
        m_bits[lane] = ((bits[lane] - _SQRT_HALF_BITS) & _MANTISSA) + _SQRT_HALF_BITS
    for lane in range(LANES):
        e = np.float64((bits[lane] - _SQRT_HALF_BITS) >> _MANTISSA_BITS)
        s = (scratch[lane] - 1.0) / (scratch[lane] + 1.0)
        z = s * s
        p = 1.479819860511658591e-01
        p = p * z + 1.531383769920937332e-01
        p = p * z + 1.818357216161805012e-01
        p = p * z + 2.222219843214978396e-01
        p = p * z + 2.857142874366239149e-01
        p = p * z + 3.999999999940941908e-01
        p = p * z + 6.666666666666735130e-01
        out[lane] = e * _LN2_HIGH + (s * (2.0 + z * p) + e * _LN2_LOW)
