"""Time-step kernels of noisy driven oscillators."""

import math

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.driven import (
    apply_projective,
    circle_propagator,
    half_angle,
    norm,
)
from oscsim.physics.propagator import projective_exponential
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes, unit_circle_lanes
from oscsim.typing import FloatArray, IntArray

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
    n_steps: IntArray,
    deviation: FloatArray,
    z: FloatArray,
) -> None:
    """Advance every oscillator on the sphere in place; empty ``omega`` is none."""
    n, d = h.shape
    blocks = (d + 1) // 2
    group = LANES // blocks
    is_detuned = omega.shape[0] > 0
    lanes = np.empty((5, LANES))
    steps, counters = np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64)
    size = d + 1 if is_detuned else 1
    half, full = np.empty((size, size)), np.empty((size, size))
    work = np.empty((5, size, size))
    x, target, kick = np.empty(d), np.empty(d), np.empty(2 * blocks)
    for i in range(n):
        if n_steps[i] == 0:
            continue
        length = norm(h[i])
        for k in range(d):
            target[k] = h[i, k] / length if length > 0.0 else 0.0
        if is_detuned:
            projective_exponential(h[i], omega[i], 0.5 * dt[i], half, work)
            projective_exponential(h[i], omega[i], dt[i], full, work)
        e_half, e_full = math.exp(-0.5 * length * dt[i]), math.exp(-length * dt[i])
        _drift(z[i], x, target, e_half, half, is_detuned)
        for start in range(0, n_steps[i], group):
            for lane in range(group * blocks):
                steps[lane] = np.uint64(start + lane // blocks)
                counters[lane] = index[i] * np.uint64(blocks) + np.uint64(lane % blocks)
            uniform_lanes(words, steps, counters, lanes[0], lanes[1])
            normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
            for step in range(min(group, n_steps[i] - start)):
                for block in range(blocks):
                    kick[2 * block] = lanes[2, step * blocks + block]
                    kick[2 * block + 1] = lanes[3, step * blocks + block]
                _kick(z[i], kick, deviation[i])
                if start + step + 1 < n_steps[i]:
                    _drift(z[i], x, target, e_full, full, is_detuned)
        _drift(z[i], x, target, e_half, half, is_detuned)


@kernel
def _drift(
    z: FloatArray,
    x: FloatArray,
    target: FloatArray,
    e: float,
    propagator: FloatArray,
    is_detuned: bool,
) -> None:
    """Move ``z`` along the exact drift and back to length 1; ``x`` is scratch.

    Without detuning this is ``settle`` of physics.driven with the start written
    out: z <- [2 e z + ((1 - e^2) + c (1 - e)^2) z*] / [(1 + c) + (1 - c) e^2].
    """
    d = z.shape[0]
    if is_detuned:
        apply_projective(propagator, z, x)
        for k in range(d):
            z[k] = x[k]
        return
    c = 0.0
    for k in range(d):
        c += z[k] * target[k]
    push = (1.0 - e) * ((1.0 + e) + c * (1.0 - e))
    square = 0.0
    for k in range(d):
        z[k] = 2.0 * e * z[k] + push * target[k]
        square += z[k] * z[k]
    scale = 1.0 / math.sqrt(square)
    for k in range(d):
        z[k] *= scale


@kernel
def _kick(z: FloatArray, x: FloatArray, deviation: float) -> None:
    """Move ``z`` along the geodesic of the tangent part of ``deviation * x``."""
    d = z.shape[0]
    along = 0.0
    for k in range(d):
        along += z[k] * x[k]
    square = 0.0
    for k in range(d):
        x[k] -= along * z[k]
        square += x[k] * x[k]
    if square > 0.0:
        angle = deviation * math.sqrt(square)
        c, s = math.cos(angle), math.sin(angle) / math.sqrt(square)
        for k in range(d):
            z[k] = c * z[k] + s * x[k]
