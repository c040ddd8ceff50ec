"""Kernels of the undetuned flow: 64 rows at a time, odd ones one by one."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.explog import LANES, decay_lanes
from oscsim.typing import BoolArray, FloatArray

# |z0 + h/|h||^2 below this is the antipode to rounding: which way such a start
# would leave is noise of the arithmetic, so it stays.
_ANTIPODE = 1e-30
# A shorter drive has no reciprocal: it counts as none.
_LEAST_LENGTH = 1e-305
_LEAST_SQUARE, _MOST_SQUARE = 1e-280, 1e280


@kernel(allocates=False)
def _is_usual(square: float) -> bool:
    """Return whether a sum of squares has neither over- nor underflown."""
    return (square > _LEAST_SQUARE) & (square < _MOST_SQUARE)


@kernel
def norm(x: FloatArray) -> float:
    """Return the Euclidean length of ``x`` without overflow or underflow."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * x[k]
    if _is_usual(total):
        return math.sqrt(total)
    largest = 0.0
    for k in range(x.shape[0]):
        largest = max(largest, abs(x[k]))
    if not _LEAST_LENGTH < largest < math.inf:
        return math.sqrt(total) if largest > 0.0 else total
    total = 0.0
    for k in range(x.shape[0]):
        total += (x[k] / largest) * (x[k] / largest)
    return largest * math.sqrt(total)


@kernel
def lengths(h: FloatArray, out: FloatArray) -> int:
    """Write |h|; return the first row that is not finite, or -1."""
    n = h.shape[0]
    squares, roots, pair = np.ones(LANES), np.ones(LANES), np.ones((2, LANES))
    for start in range(0, n, LANES):
        n_used = min(LANES, n - start)
        _squares(h[start:], n_used, pair, squares)
        for lane in range(LANES):
            roots[lane] = math.sqrt(squares[lane] if _is_usual(squares[lane]) else 0.0)
        for lane in range(n_used):
            i = start + lane
            out[i] = roots[lane]
            if roots[lane] == 0.0:
                out[i] = norm(h[i])
                if not out[i] < math.inf:
                    return i
    return -1


@kernel(allocates=False)
def _squares(h: FloatArray, n_used: int, pair: FloatArray, out: FloatArray) -> None:
    """Write |h|^2 of some rows; ``pair`` is room for their components if d = 2."""
    d = h.shape[1]
    if d == 2:
        for lane in range(n_used):
            pair[0, lane], pair[1, lane] = h[lane, 0], h[lane, 1]
        for lane in range(LANES):
            out[lane] = pair[0, lane] * pair[0, lane] + pair[1, lane] * pair[1, lane]
        return
    for lane in range(n_used):
        total = 0.0
        for k in range(d):
            total += h[lane, k] * h[lane, k]
        out[lane] = total


@kernel
def settle_rows(h: FloatArray, z0: FloatArray, t: FloatArray, out: FloatArray) -> int:
    """Write the settled states; return the first row that cannot be, or -1.

    ``t`` holds one time per row, or one for all.
    """
    n, d = h.shape
    stride = 1 if t.shape[0] > 1 else 0
    room = np.ones((15, LANES))
    is_plain = np.ones(LANES, np.bool_)
    for start in range(0, n, LANES):
        n_used = min(LANES, n - start)
        for lane in range(n_used):
            room[0, lane] = t[(start + lane) * stride]
        if d == 2:
            _on_circle(h[start:], z0[start:], n_used, room, is_plain, out[start:])
        else:
            _on_sphere(h[start:], z0[start:], n_used, room, is_plain, out[start:])
        for i in range(start, start + n_used):
            if not is_plain[i - start] and not _settle_row(
                h[i], z0[i], t[i * stride], out[i]
            ):
                return i
    return -1


@kernel(reassociate=False, allocates=False)
def _on_circle(
    h: FloatArray,
    z0: FloatArray,
    n_used: int,
    room: FloatArray,
    is_plain: BoolArray,
    out: FloatArray,
) -> None:
    """Write a block of settled states for d = 2."""
    square, a, b = room[1], room[3], room[4]
    x, y, u, v = room[11], room[12], room[13], room[14]
    for lane in range(n_used):
        u[lane], v[lane] = h[lane, 0], h[lane, 1]
        x[lane], y[lane] = z0[lane, 0], z0[lane, 1]
    for lane in range(LANES):
        square[lane] = u[lane] * u[lane] + v[lane] * v[lane]
        inverse = _inverse_root(square[lane])
        p, q = u[lane] * inverse, v[lane] * inverse
        u[lane], v[lane] = p, q
        a[lane] = (x[lane] + p) * (x[lane] + p) + (y[lane] + q) * (y[lane] + q)
        b[lane] = (x[lane] - p) * (x[lane] - p) + (y[lane] - q) * (y[lane] - q)
    _weights(room, is_plain)
    along, across, side, rest = room[7], room[8], room[9], room[10]
    for lane in range(LANES):
        p, q = u[lane], v[lane]
        away = (x[lane] + side[lane] * p) + rest[lane] * p
        x[lane] = along[lane] * p + across[lane] * away
        away = (y[lane] + side[lane] * q) + rest[lane] * q
        y[lane] = along[lane] * q + across[lane] * away
    for lane in range(n_used):
        out[lane, 0], out[lane, 1] = x[lane], y[lane]


@kernel(allocates=False)
def _inverse_root(square: float) -> float:
    """Return 1 / sqrt(square), or 1 where the rows are done one by one."""
    is_plain = (square > _LEAST_SQUARE) & (square < _MOST_SQUARE)
    return 1.0 / math.sqrt(square if is_plain else 1.0)


@kernel(allocates=False)
def _on_sphere(
    h: FloatArray,
    z0: FloatArray,
    n_used: int,
    room: FloatArray,
    is_plain: BoolArray,
    out: FloatArray,
) -> None:
    """Write a block of settled states for any d."""
    square, inverse, a, b = room[1], room[2], room[3], room[4]
    d = h.shape[1]
    _squares(h, n_used, room[11:13], square)
    for lane in range(LANES):
        inverse[lane] = _inverse_root(square[lane])
    for lane in range(n_used):
        scale, plus, minus = inverse[lane], 0.0, 0.0
        for k in range(d):
            target = h[lane, k] * scale
            plus += (z0[lane, k] + target) * (z0[lane, k] + target)
            minus += (z0[lane, k] - target) * (z0[lane, k] - target)
        a[lane], b[lane] = plus, minus
    _weights(room, is_plain)
    for lane in range(n_used):
        _combine(
            h[lane],
            z0[lane],
            inverse[lane],
            room[7, lane],
            room[8, lane],
            room[9, lane],
            room[10, lane],
            out[lane],
        )


@kernel(reassociate=False, allocates=False)
def _weights(room: FloatArray, is_plain: BoolArray) -> None:
    """Write the weights of z* and of z0 - cos(phi_0) z*, and how to get the latter.

    It is (z0 + side z*) + rest z*: the sum in brackets loses no digits on the
    side where it is small. Also write which rows this holds for.
    """
    t, square, a, b, scratch = room[0], room[1], room[3], room[4], room[5]
    e, along, across, side, rest = room[6], room[7], room[8], room[9], room[10]
    for lane in range(LANES):
        holds = (square[lane] > _LEAST_SQUARE) & (square[lane] < _MOST_SQUARE)
        holds &= (t[lane] >= 0.0) & (a[lane] >= _ANTIPODE)
        holds &= a[lane] + b[lane] < math.inf
        is_plain[lane] = holds
        along[lane] = math.sqrt(square[lane]) * t[lane] if holds else 0.0
        a[lane], b[lane] = (a[lane], b[lane]) if holds else (1.0, 1.0)
    decay_lanes(along, e, scratch)
    for lane in range(LANES):
        far = b[lane] * e[lane] * e[lane]
        scale = 1.0 / (a[lane] + far)
        along[lane] = 1.0 - 2.0 * far * scale
        across[lane] = 4.0 * e[lane] * scale
        is_far = a[lane] < b[lane]
        side[lane] = 1.0 if is_far else -1.0
        rest[lane] = -0.5 * a[lane] if is_far else 0.5 * b[lane]


@kernel(reassociate=False, allocates=False)
def _combine(
    h: FloatArray,
    z0: FloatArray,
    inverse: float,
    along: float,
    across: float,
    side: float,
    rest: float,
    out: FloatArray,
) -> None:
    for k in range(h.shape[0]):
        target = h[k] * inverse
        out[k] = along * target + across * ((z0[k] + side * target) + rest * target)


@kernel
def _settle_row(h: FloatArray, z0: FloatArray, t: float, out: FloatArray) -> bool:
    """Write one settled state whatever the drive; return whether there is one."""
    length, check = norm(h), 0.0
    for k in range(h.shape[0]):
        check += z0[k]
    if not (t >= 0.0 and length < math.inf and abs(check) < math.inf):
        return False
    a, b = 0.0, 0.0
    for k in range(h.shape[0]):
        target = h[k] / length if length > 0.0 else 0.0
        a += (z0[k] + target) * (z0[k] + target)
        b += (z0[k] - target) * (z0[k] - target)
    if length == 0.0 or a < _ANTIPODE:
        out[:] = z0
        return True
    e = math.exp(-length * t)
    scale = 1.0 / (a + b * e * e)
    is_far = a < b
    _combine(
        h,
        z0,
        1.0 / length,
        1.0 - 2.0 * b * e * e * scale,
        4.0 * e * scale,
        1.0 if is_far else -1.0,
        -0.5 * a if is_far else 0.5 * b,
        out,
    )
    return True
