"""Time-step kernels of noisy driven oscillators."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.closed_form import norm
from oscsim.physics.detuned_flow import (
    apply_projective,
    circle_propagator,
    half_angle,
)
from oscsim.physics.propagator import multiply, projective_exponential
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, unit_circle_lanes
from oscsim.typing import FloatArray, IntArray

# A step of one oscillator has to fit into the lanes, two numbers in each.
MAX_DIMENSION = 2 * LANES

_TURN_PER_HALF_KICK = 0.25 / math.pi


@kernel
def circle_paths(
    words: IntArray,
    index: IntArray,
    h: FloatArray,
    omega: FloatArray,
    dt: FloatArray,
    n_steps: IntArray,
    deviation: FloatArray,
    z: FloatArray,
) -> None:
    """Advance every oscillator on the circle in place.

    Drift and kick are linear in (cos theta/2, sin theta/2): a fixed 2 x 2 matrix
    and a rotation by half the kick, whose deviation is ``deviation``.
    """
    lanes = np.empty((5, LANES))
    steps, counters = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    for i in range(h.shape[0]):
        if n_steps[i] == 0:
            continue
        p, q = half_angle(z[i, 0], z[i, 1])
        m00, m01, m10, m11 = circle_propagator(h[i, 0], h[i, 1], omega[i], 0.5 * dt[i])
        p, q = m00 * p + m01 * q, m10 * p + m11 * q
        f00, f01, f10, f11 = circle_propagator(h[i, 0], h[i, 1], omega[i], dt[i])
        counters[:] = index[i]
        for start in range(0, n_steps[i], LANES):
            _half_kicks(words, start, deviation[i], steps, counters, lanes)
            for lane in range(min(LANES, n_steps[i] - start)):
                c, s = lanes[2, lane], lanes[3, lane]
                p, q = c * p - s * q, s * p + c * q
                if start + lane + 1 < n_steps[i]:
                    p, q = f00 * p + f01 * q, f10 * p + f11 * q
            scale = 1.0 / math.hypot(p, q)
            p, q = p * scale, q * scale
        p, q = m00 * p + m01 * q, m10 * p + m11 * q
        square = p * p + q * q
        z[i, 0] = (p - q) * (p + q) / square
        z[i, 1] = 2.0 * p * q / square


@kernel
def _half_kicks(
    words: IntArray,
    start: int,
    deviation: float,
    steps: IntArray,
    counters: IntArray,
    lanes: FloatArray,
) -> None:
    """Write cosine and sine of half a random kick for the next LANES steps.

    Both go into rows 2 and 3 of ``lanes``; one normal number per step is used.
    """
    for lane in range(LANES):
        steps[lane] = np.uint64(start + lane)
    uniform_lanes(words, steps, counters, lanes[0], lanes[1])
    normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
    for lane in range(LANES):
        lanes[0, lane] = lanes[2, lane] * deviation * _TURN_PER_HALF_KICK
    unit_circle_lanes(lanes[0], lanes[2], lanes[3])


@kernel
def sphere_paths(
    words: IntArray,
    index: IntArray,
    h: FloatArray,
    omega: FloatArray,
    dt: FloatArray,
    first: int,
    n_steps: IntArray,
    deviation: FloatArray,
    z: FloatArray,
) -> None:
    """Advance every oscillator on the sphere in place; empty ``omega`` is none.

    Steps are numbered from ``first``.
    """
    n, d = h.shape
    is_detuned = omega.shape[0] > 0
    size = d + 1 if is_detuned else 1
    half, full = np.empty((size, size)), np.empty((size, size))
    work = np.empty((5, size, size))
    target, scratch = np.empty(d), np.empty(d)
    for i in range(n):
        if n_steps[i] == 0:
            continue
        length = norm(h[i])
        for k in range(d):
            target[k] = h[i, k] / length if length > 0.0 else 0.0
        if is_detuned:
            projective_exponential(h[i], omega[i], 0.5 * dt[i], half, work)
            multiply(half, half, full)
        e = math.exp(-0.5 * length * dt[i])
        _drift(z[i], scratch, target, e, half)
        _sphere_path(
            words,
            index[i],
            first,
            z[i],
            target,
            e,
            half,
            full,
            n_steps[i],
            deviation[i],
        )


@kernel
def _sphere_path(
    words: IntArray,
    index: int,
    first: int,
    z: FloatArray,
    target: FloatArray,
    e: float,
    half: FloatArray,
    full: FloatArray,
    n_steps: int,
    deviation: float,
) -> None:
    """Kick and drift one oscillator; the last drift is half a step (e, half)."""
    d = z.shape[0]
    pairs = (d + 1) // 2
    group = LANES // pairs
    lanes = np.empty((5, LANES))
    counters = np.zeros((2, LANES), np.uint64)
    x = np.empty(2 * pairs)
    for start in range(0, n_steps, group):
        _sphere_noise(words, index, first + start, pairs, counters, lanes)
        for step in range(min(group, n_steps - start)):
            for pair in range(pairs):
                x[2 * pair] = lanes[2, step * pairs + pair]
                x[2 * pair + 1] = lanes[3, step * pairs + pair]
            _kick(z, x, deviation)
            if start + step + 1 < n_steps:
                _drift(z, x, target, e * e, full)
        scale = 1.0 / norm(z)
        for k in range(d):
            z[k] *= scale
    _drift(z, x, target, e, half)


@kernel
def _sphere_noise(
    words: IntArray,
    index: int,
    start: int,
    pairs: int,
    counters: IntArray,
    lanes: FloatArray,
) -> None:
    """Write ``pairs`` pairs of normal numbers for each of the next steps.

    Into rows 2 and 3 of ``lanes``, one step after another.
    """
    first = index * np.uint64(pairs)
    for step in range(LANES // pairs):
        for pair in range(pairs):
            counters[0, step * pairs + pair] = np.uint64(start + step)
            counters[1, step * pairs + pair] = first + np.uint64(pair)
    uniform_lanes(words, counters[0], counters[1], lanes[0], lanes[1])
    normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])


@kernel
def _drift(
    z: FloatArray, x: FloatArray, target: FloatArray, e: float, propagator: FloatArray
) -> None:
    """Move ``z`` along the exact drift; ``x`` is scratch.

    By the propagator if it has the right size; otherwise this is ``settle`` of
    physics.driven with the start written out:
    z <- [2 e z + ((1 - e^2) + c (1 - e)^2) z*] / [(1 + c) + (1 - c) e^2].
    """
    if propagator.shape[0] > 1:
        _apply(z, x, propagator)
    else:
        _pull(z, target, e)


@kernel
def _apply(z: FloatArray, x: FloatArray, propagator: FloatArray) -> None:
    """Replace ``z`` by the action of the propagator."""
    apply_projective(propagator, z, x)
    for k in range(z.shape[0]):
        z[k] = x[k]


@kernel
def _pull(z: FloatArray, target: FloatArray, e: float) -> None:
    """Move ``z`` towards ``target``, e = exp(-|h| dt)."""
    d = z.shape[0]
    c = 0.0
    for k in range(d):
        c += z[k] * target[k]
    scale = 1.0 / ((1.0 + c) + (1.0 - c) * e * e)
    keep = 2.0 * e * scale
    push = (1.0 - e) * ((1.0 + e) + c * (1.0 - e)) * scale
    for k in range(d):
        z[k] = keep * z[k] + push * target[k]


@kernel
def _kick(z: FloatArray, x: FloatArray, deviation: float) -> None:
    """Turn ``z`` along the tangent part g of ``deviation * x``; overwrites ``x``.

    z <- [(1 - q/4) z + g] / (1 + q/4), q = |g|^2: a rotation by 2 atan(|g|/2).
    """
    d = z.shape[0]
    along = 0.0
    for k in range(d):
        along += z[k] * x[k]
    q = 0.0
    for k in range(d):
        x[k] = deviation * (x[k] - along * z[k])
        q += x[k] * x[k]
    scale = 1.0 / (1.0 + 0.25 * q)
    keep = (1.0 - 0.25 * q) * scale
    for k in range(d):
        z[k] = keep * z[k] + scale * x[k]
