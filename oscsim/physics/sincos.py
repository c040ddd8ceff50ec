"""Sine and cosine of whole arrays, by polynomials that vectorise."""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from oscsim._jit import FORWARDED, kernel
from oscsim.typing import FloatArray

# Beyond these the products of the reduction are no longer exact.
_FAR64, _FAR32 = 1.0e6, np.float32(8000.0)

_TWO_OVER_PI = 0.6366197723675814
_PIO2_A = 1.57079632673412561417e00
_PIO2_B = 6.07710050630396597660e-11
_PIO2_C = 2.02226624879595063154e-21

_F = np.float32
_TWO_OVER_PI32 = _F(0.6366197723675814)
_PIO2_A32, _PIO2_B32, _PIO2_C32 = (
    _F(1.5703125),
    _F(4.837512969970703125e-4),
    _F(7.549789954891882e-8),
)
_ONE32, _HALF32 = _F(1.0), _F(0.5)
_S1, _S2, _S3 = _F(-1.6666654611e-1), _F(8.3321608736e-3), _F(-1.9515295891e-4)
_C1, _C2, _C3 = (
    _F(4.166664568298827e-2),
    _F(-1.388731625493765e-3),
    _F(2.443315711809948e-5),
)
_ZERO32 = _F(0.0)


@kernel(reassociate=False, allocates=False)
def _far(theta: FloatArray, limit: float, s: FloatArray, c: FloatArray) -> None:
    """Write what lies beyond the limit by the library, NaN for what is no angle."""
    for i in range(theta.shape[0]):
        if not abs(theta[i]) <= limit:
            x = np.float64(theta[i])
            is_angle = abs(x) < math.inf
            s[i] = math.sin(x) if is_angle else math.nan
            c[i] = math.cos(x) if is_angle else math.nan


@kernel(reassociate=False, allocates=False, inlined=True)
def quarter_turn(x: float) -> tuple[float, float]:
    """Return sine and cosine of one angle in [-pi/4, pi/4].

    The minimax pair of fdlibm's ``k_sin.c`` and ``k_cos.c``.
    """
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
    return sine, 1.0 - 0.5 * z + z * z * p


@kernel(reassociate=False, allocates=False, inlined=True)
def turned(q: np.signedinteger[Any], sine: float, cosine: float) -> tuple[float, float]:
    """Return sine and cosine of an angle after q quarter turns more."""
    is_odd = (q & 1) != 0
    a = cosine if is_odd else sine
    b = sine if is_odd else cosine
    return -a if (q & 2) != 0 else a, -b if ((q + 1) & 2) != 0 else b


@kernel(reassociate=False, allocates=False)
def _sincos64(theta: FloatArray, s: FloatArray, c: FloatArray) -> None:
    """Reduce by pi/2 in three parts (Cody & Waite 1980), then a quarter turn.

    Angles beyond 1e6 rad, where the reduction loses digits, go to the library.
    """
    n_far = 0
    for i in range(theta.shape[0]):
        is_near = abs(theta[i]) <= _FAR64
        n_far += 0 if is_near else 1
        x = theta[i] if is_near else 0.0
        quarter = np.rint(x * _TWO_OVER_PI)
        r = x - quarter * _PIO2_A
        r = r - quarter * _PIO2_B
        r = r - quarter * _PIO2_C
        sine, cosine = quarter_turn(r)
        s[i], c[i] = turned(np.int64(quarter), sine, cosine)
    if n_far > 0:
        _far(theta, _FAR64, s, c)


@kernel(reassociate=False, allocates=False)
def _sincos32(theta: FloatArray, s: FloatArray, c: FloatArray) -> None:
    """Single precision: the same with the polynomials of Cephes' ``sinf.c``.

    The far angles are counted apart: a counter of 64 bits would halve the number
    of angles per vector.
    """
    n_far = 0
    for i in range(theta.shape[0]):
        n_far += 0 if abs(theta[i]) <= _FAR32 else 1
    for i in range(theta.shape[0]):
        x = theta[i] if abs(theta[i]) <= _FAR32 else _ZERO32
        quarter = np.rint(x * _TWO_OVER_PI32)
        r = x - quarter * _PIO2_A32
        r = r - quarter * _PIO2_B32
        r = r - quarter * _PIO2_C32
        z = r * r
        sine = r + r * z * (_S1 + z * (_S2 + z * _S3))
        cosine = _ONE32 - _HALF32 * z + z * z * (_C1 + z * (_C2 + z * _C3))
        s[i], c[i] = turned(np.int32(quarter), sine, cosine)
    if n_far > 0:
        _far(theta, float(_FAR32), s, c)


def sincos(theta: FloatArray, s: FloatArray, c: FloatArray) -> None:
    """Write sin(theta) and cos(theta), to about one unit in the last place.

    NaN and infinite angles give NaN.

    Parameters
    ----------
    theta : FloatArray, shape (n,)
        Angles (rad), float64 or float32.
    s, c : FloatArray, shape (n,)
        Overwritten.
    """
    (_sincos32 if theta.dtype == np.float32 else _sincos64)(theta, s, c)


@overload(sincos, jit_options=FORWARDED)
def _sincos_in_kernels(theta, s, c):  # type: ignore[no-untyped-def]
    chosen = _sincos32 if theta.dtype == types.float32 else _sincos64
    return lambda theta, s, c: chosen(theta, s, c)  # noqa: PLW0108
