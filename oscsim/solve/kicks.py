"""The noise of one time step, laid out as the state is."""

import numpy as np

from oscsim._jit import kernel
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, uniform_row
from oscsim.typing import FloatArray, IntArray

_MOST_LANES = 8 * LANES


@kernel(allocates=False)
def fill_noise(
    words: IntArray,
    step: int,
    first: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write one normal number per component, times the oscillator's deviation.

    ``out`` is (d, n): components of the oscillators first .. first + n - 1. On the
    torus (d = 1) two oscillators share a block, on the sphere each has ceil(d/2) of
    its own, so that a number depends on the key, the step and the oscillator alone.
    ``counters`` is (2, LANES): step and index; ``lanes`` is of the width that
    ``n_lanes`` tells.
    """
    d, n = out.shape
    if d == 1:
        _fill_circle(words, step, first, deviation, lanes, out[0])
        return
    for lane in range(LANES):
        counters[0, lane] = np.uint64(step)
    blocks = (d + 1) // 2
    for start in range(0, n, LANES):
        n_used = min(LANES, n - start)
        for block in range(blocks):
            for lane in range(LANES):
                at = (first + start + lane) * blocks + block
                counters[1, lane] = np.uint64(at)
            uniform_lanes(words, counters[0], counters[1], lanes[0], lanes[1])
            normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
            for a in range(2 * block, min(d, 2 * block + 2)):
                values = lanes[2 + a - 2 * block]
                row, spread = out[a, start:], deviation[start:]
                for lane in range(n_used):
                    row[lane] = spread[lane] * values[lane]


@kernel
def n_lanes(d: int, n: int) -> int:
    """Return how many lanes to fill at a time, for n oscillators of d components.

    Many at once where they all serve, as starting a loop costs as much as some
    lanes.
    """
    if d > 1:
        return LANES
    return min(_MOST_LANES, (n + 2 * LANES - 1) // (2 * LANES) * LANES)


@kernel(allocates=False)
def _fill_circle(
    words: IntArray,
    step: int,
    first: int,
    deviation: FloatArray,
    lanes: FloatArray,
    out: FloatArray,
) -> None:
    """Write the noise of phases, those 64 apart in a group of 128 from one block."""
    last, group = first + out.shape[0], 2 * LANES
    for start in range(first - first % group, last, 2 * lanes.shape[1]):
        n_groups = min(lanes.shape[1] // LANES, (last - start + group - 1) // group)
        n_used = n_groups * LANES
        u, v, a = lanes[0, :n_used], lanes[1, :n_used], lanes[2, :n_used]
        b, scratch = lanes[3, :n_used], lanes[4, :n_used]
        uniform_row(words, step, start // 2, u, v)
        normal_lanes(u, v, a, b, scratch)
        for lane in range(0, n_used, LANES):
            at = start + 2 * lane - first
            if at >= 0 and at + group <= out.shape[0]:
                row, spread = out[at:], deviation[at:]
                for i in range(LANES):
                    row[i] = spread[i] * a[lane + i]
                    row[LANES + i] = spread[LANES + i] * b[lane + i]
            else:
                _scale_part(a[lane:], at, deviation, out)
                _scale_part(b[lane:], at + LANES, deviation, out)


@kernel(allocates=False)
def _scale_part(
    values: FloatArray, at: int, deviation: FloatArray, out: FloatArray
) -> None:
    """Write those of 64 numbers beginning at ``at`` that have a place in ``out``."""
    low, high = max(at, 0), min(at + LANES, out.shape[0])
    row, spread, part = out[low:], deviation[low:], values[low - at :]
    for i in range(high - low):
        row[i] = spread[i] * part[i]


@kernel(allocates=False)
def draw(
    words: IntArray,
    step: int,
    trajectory: int,
    oscillator: int,
    deviation: FloatArray,
    counters: IntArray,
    lanes: FloatArray,
    ambient: FloatArray,
    n_copies: int,
    noise: FloatArray,
) -> None:
    """Write the noise of one step for all copies; ``ambient`` (d, n) is room."""
    d, width = ambient.shape
    if n_copies == 1:
        room = noise.reshape(d, width)
        fill_noise(
            words[trajectory], step, oscillator, deviation, counters, lanes, room
        )
        return
    for m in range(n_copies):
        at = min(trajectory + m, words.shape[0] - 1)
        fill_noise(words[at], step, oscillator, deviation, counters, lanes, ambient)
        for a in range(d):
            row = noise[(a * n_copies + m) * width :]
            for i in range(width):
                row[i] = ambient[a, i]
