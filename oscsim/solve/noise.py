"""Uniform and normal numbers and random points, addressed by a stream."""

import numpy as np

from oscsim._jit import kernel
from oscsim.errors import SpecError
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes
from oscsim.solve.stream import Stream, counter_index, stream_words
from oscsim.solve.von_mises_fisher import von_mises_fisher
from oscsim.typing import FloatArray, IntArray

__all__ = ["Stream", "normals", "points_on_sphere", "uniforms", "von_mises_fisher"]


def uniforms(stream: Stream, index: IntArray, n: int, step: int = 0) -> FloatArray:
    """Return ``n`` uniform numbers in (0, 1) for every item.

    The numbers are odd multiples of 2^-53, so neither 0 nor 1 occurs.

    Parameters
    ----------
    stream : Stream
        Address of the numbers.
    index : IntArray, shape (n_items,)
        Global numbers of the items.
    n : int
        Numbers per item.
    step : int
        Time step or attempt.

    Returns
    -------
    FloatArray, shape (n_items, n)

    Raises
    ------
    SpecError
        If a field of the stream, ``step``, ``n`` or ``index`` is out of range.

    References
    ----------
    .. [1] Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy
       as 1, 2, 3", SC11, section 3.3 (Philox4x32-10).
    """
    return _draw(stream, index, n, step, is_normal=False)


def normals(stream: Stream, index: IntArray, n: int, step: int = 0) -> FloatArray:
    """Return ``n`` standard normal numbers for every item.

    Box-Muller pairs of the numbers that :func:`uniforms` returns at the same
    address, which also says what the arguments are, the result and the errors; the
    largest possible magnitude is 8.57.

    References
    ----------
    .. [1] Box & Muller (1958), Ann. Math. Statist. 29, 610, eq. (1).
    """
    return _draw(stream, index, n, step, is_normal=True)


def _draw(
    stream: Stream, index: IntArray, n: int, step: int, *, is_normal: bool
) -> FloatArray:
    if n < 1:
        raise SpecError(f"n must be at least 1, got {n}")
    words = stream_words(stream, step)
    first = counter_index(index, (n + 1) // 2)
    out = np.empty((first.size, n))
    _fill(words, step, first, is_normal, out)
    return out


@kernel
def _fill(
    words: IntArray, step: int, index: IntArray, is_normal: bool, out: FloatArray
) -> None:
    """Write the numbers of every item, a pair from each of its blocks."""
    n = out.shape[1]
    blocks = (n + 1) // 2
    n_blocks = index.shape[0] * blocks
    steps = np.full(LANES, step, dtype=np.uint64)
    counters = np.zeros(LANES, dtype=np.uint64)
    u, v, a, b, scratch = (
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES),
    )
    item, block = 0, 0
    for start in range(0, n_blocks, LANES):
        n_used = min(LANES, n_blocks - start)
        first_item, first_block = item, block
        for lane in range(n_used):
            counters[lane] = index[item] * np.uint64(blocks) + np.uint64(block)
            block += 1
            if block == blocks:
                item, block = item + 1, 0
        uniform_lanes(words, steps, counters, u, v)
        if is_normal:
            normal_lanes(u, v, a, b, scratch)
        else:
            a[:] = u
            b[:] = v
        item, block = first_item, first_block
        for lane in range(n_used):
            out[item, 2 * block] = a[lane]
            if 2 * block + 1 < n:
                out[item, 2 * block + 1] = b[lane]
            block += 1
            if block == blocks:
                item, block = item + 1, 0


def points_on_sphere(stream: Stream, index: IntArray, d: int) -> FloatArray:
    """Return one point per item, uniform on the unit sphere S^{d-1}.

    A standard normal vector divided by its length.

    Parameters
    ----------
    stream : Stream
        Address of the numbers.
    index : IntArray, shape (n_items,)
        Global numbers of the items.
    d : int
        Dimension of the space around the sphere, at least 2.

    Returns
    -------
    FloatArray, shape (n_items, d)

    Raises
    ------
    SpecError
        If ``d`` is below 2, or the stream or ``index`` is out of range.

    References
    ----------
    .. [1] Muller (1959), Comm. ACM 2 (4), 19.
    """
    if d < 2:
        raise SpecError(f"a sphere needs d of at least 2, got {d}")
    x = normals(stream, index, d)
    x /= np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    return x
