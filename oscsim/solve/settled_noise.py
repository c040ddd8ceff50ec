"""Driven oscillators with noise that have long settled."""

import numpy as np

from oscsim.errors import SpecError
from oscsim.physics.closed_form import lengths
from oscsim.physics.threads import over_rows
from oscsim.solve.driven_step import sphere_paths
from oscsim.solve.stream import Stream, stream_words
from oscsim.solve.von_mises_fisher import draw_seconds, turn_rows
from oscsim.typing import FloatArray, IntArray

# What is left of the start's error, itself of the size of the detuning, is e^-5.
_WINDOW = 5.0
_STEP = 0.3
# Number of the first step: those below belong to the attempts at the start's draw.
_FIRST_STEP = 2**24
# Time of one step per component on one core, for the choice of threads.
_STEP_S = 1.5e-8


def draw_settled(
    h: FloatArray, diffusion: FloatArray, stream: Stream, index: IntArray
) -> FloatArray:
    """Return exact draws without detuning: von Mises-Fisher about h/|h|.

    Parameters
    ----------
    h : FloatArray, shape (n, d)
        Drive (rad/s).
    diffusion : FloatArray, shape (n,)
        D (rad^2/s), > 0.
    stream : Stream
        Address of the noise.
    index : IntArray, shape (n,)
        Global number of each oscillator.

    Returns
    -------
    FloatArray, shape (n, d)

    Raises
    ------
    SpecError
        If a drive is not finite.
    """
    words = stream_words(stream)
    h, out = np.ascontiguousarray(h), np.empty(h.shape)

    def draw(first: int, last: int) -> int:
        rows = slice(first, last)
        axis, length = h[rows], np.empty(last - first)
        failed = lengths(axis, length)
        if failed >= 0:
            return failed
        kappa = length / diffusion[rows]
        free = length == 0.0
        if free.any():
            axis = axis.copy()
            axis[free, 0] = length[free] = 1.0
        return turn_rows(words, index[rows], axis, length, kappa, out[rows])

    refuse_drive(over_rows(draw, len(h), draw_seconds(*h.shape)), h)
    return out


def draw_detuned(
    h: FloatArray,
    omega: FloatArray,
    fixed: FloatArray,
    rate: FloatArray,
    length: FloatArray,
    diffusion: FloatArray,
    stream: Stream,
    index: IntArray,
) -> FloatArray:
    r"""Return draws of the settled law of locked, detuned oscillators.

    For small noise that law is von Mises-Fisher about the fixed point z* with
    kappa = lambda/D, since the flow near z* contracts at the rate lambda from all
    sides alike; the draw starts there and is stepped for five relaxation times
    1 / (lambda + (d-1) D), in steps of 0.3 / (|h| + (d-1) D). A kick's variance carries
    the factor sinh(lambda dt) / (lambda dt), with which half a drift, a kick and
    half a drift leave the variance D / lambda of small noise exactly where it is;
    at kappa = 0.5 to 20 the step changes 1 - <z.z*> by 0.2 % at most.

    Parameters
    ----------
    h : FloatArray, shape (n, d)
        Drive (rad/s).
    omega : FloatArray, shape (n, d, d)
        Detuning (rad/s), antisymmetric.
    fixed : FloatArray, shape (n, d)
        Stable fixed points z*.
    rate : FloatArray, shape (n,)
        lambda = h . z* (rad/s), > 0.
    length : FloatArray, shape (n,)
        |h| (rad/s).
    diffusion : FloatArray, shape (n,)
        D (rad^2/s), > 0.
    stream : Stream
        Address of the noise.
    index : IntArray, shape (n,)
        Global number of each oscillator.

    Returns
    -------
    FloatArray, shape (n, d)
    """
    words = stream_words(stream)
    n, d = h.shape
    run = _WINDOW / (rate + (d - 1) * diffusion)
    n_steps = np.ceil(run * (length + (d - 1) * diffusion) / _STEP).astype(np.int64)
    dt = run / n_steps
    per_kick = 2.0 * diffusion * dt * (1.0 + diffusion * dt)
    deviation = np.sqrt(per_kick * np.sinh(rate * dt) / (rate * dt))
    out, ones = np.empty_like(h), np.ones(n)

    def draw(first: int, last: int) -> int:
        rows = slice(first, last)
        kappa = rate[rows] / diffusion[rows]
        turn_rows(words, index[rows], fixed[rows], ones[rows], kappa, out[rows])
        sphere_paths(
            words,
            index[rows],
            h[rows],
            omega[rows],
            dt[rows],
            _FIRST_STEP,
            n_steps[rows],
            deviation[rows],
            out[rows],
        )
        return -1

    over_rows(draw, n, float(n_steps.sum()) * d * _STEP_S)
    return out


def refuse_drive(failed: int, h: FloatArray) -> None:
    """Refuse the row of ``h`` that is not finite; -1 is none."""
    if failed >= 0:
        bad = h[failed][~np.isfinite(h[failed])]
        found = f"{bad[0]}" if bad.size else f"{h[failed]}, whose length is not"
        raise SpecError(f"h must be finite, got {found}")
