"""Driven oscillators with thermal noise: an exact draw, or a split time step."""

from typing import NamedTuple

import numpy as np

from oscsim._jit import kernel
from oscsim.errors import SpecError
from oscsim.physics.closed_form import lengths
from oscsim.physics.driven import settle, settle_detuned, split_detuning
from oscsim.physics.locked import locked_states
from oscsim.physics.propagator import contraction_rate
from oscsim.solve.driven_step import MAX_DIMENSION, circle_paths, sphere_paths
from oscsim.solve.settled_noise import draw_detuned, draw_settled, refuse_drive
from oscsim.solve.stream import Stream, counter_index, stream_words
from oscsim.typing import BoolArray, FloatArray, IntArray

# Noise older than this many relaxation times has decayed to e^-20 of its effect.
_WINDOW = 20.0
_STEP = 0.05


def sample_driven(
    h: FloatArray,
    z0: FloatArray,
    t: FloatArray | float,
    diffusion: FloatArray | float,
    stream: Stream,
    index: IntArray,
    omega: FloatArray | None = None,
) -> FloatArray:
    r"""Return one random state per driven oscillator after time ``t``.

    dz = [Omega z + (I - z z^T) h] dt + sqrt(2 D) (I - z z^T) o dB
    (Stratonovich: Brownian motion on the sphere). Settled, after 20 relaxation
    times or more, and without detuning the law is von Mises-Fisher with kappa =
    |h|/D about h/|h| and is drawn exactly. Otherwise the equation is stepped: half
    a step of the exact drift, a tangent kick, half a step of drift.

    Parameters
    ----------
    h : FloatArray, shape (n, d)
        Drive (rad/s).
    z0 : FloatArray, shape (n, d)
        Unit vectors at time 0.
    t : FloatArray or float, shape (n,)
        Time (s), may be infinite.
    diffusion : FloatArray or float, shape (n,)
        D (rad^2/s), >= 0.
    stream : Stream
        Address of the noise.
    index : IntArray, shape (n,)
        Global number of each oscillator: the result for an oscillator depends
        on nothing else of the batch, bit for bit.
    omega : FloatArray, shape (n,) or (n, d, d), optional
        Detuning (rad/s): scalars for d = 2, or antisymmetric matrices.

    Returns
    -------
    FloatArray, shape (n, d)

    Raises
    ------
    SpecError
        If shapes do not fit, a value is not finite, ``diffusion`` or ``t`` is
        negative, d > 128 without an exact law, or t is infinite for a detuned
        oscillator that neither locks nor diffuses.

    Notes
    -----
    The step is 0.05 / (|h| + |Omega| + (d-1) D), |Omega| the Frobenius norm over
    sqrt(2). Only the last 20 relaxation times, 1 / (rate of contraction +
    (d-1) D), are stepped; before that the state is taken noiseless. On the circle
    a kick is exact. On the sphere it is the rotation by 2 atan(|g|/2) along a
    tangent Gaussian g of variance 2 D dt (1 + D dt) per direction: expanding a
    zonal function of degree l to dt^2 gives its eigenvalue exp(-l(l+d-2) D dt),
    so the kick, and with it the whole step, is weakly second order.

    Settled, locked and detuned oscillators of d > 2 are drawn about their fixed
    point and stepped from there for five relaxation times (`draw_detuned`).
    Unlocked oscillators with D far below the detuning need many steps, about
    400 |Omega| / D.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, chapters 9 and 13 (the
       von Mises-Fisher law).
    .. [2] Strang (1968), SIAM J. Numer. Anal. 5, 506 (the splitting).
    """
    h, z0, t, diffusion = _checked(h, z0, t, diffusion)
    n, d = h.shape
    index = counter_index(index, (d + 1) // 2 + 1)
    if index.size != n:
        raise SpecError(
            f"index must have one entry per oscillator: {n}, not {index.size}"
        )
    if omega is not None:
        omega = _checked_detuning(omega, n, d)
    if omega is None and (np.isinf(t) & (diffusion > 0)).all():
        return draw_settled(h, diffusion, stream, index)
    h, length = np.ascontiguousarray(h), np.empty(n)
    refuse_drive(lengths(h, length), h)
    motion = _motion(h, length, omega)
    relaxation = motion.contraction + (d - 1) * diffusion
    is_noisy = diffusion > 0
    is_long = is_noisy & (np.where(is_noisy, t, 0.0) * relaxation >= _WINDOW)
    is_long &= motion.has_law
    if d > MAX_DIMENSION and not (omega is None and is_long.all()):
        raise SpecError(
            f"noise is stepped only for d <= {MAX_DIMENSION}, got d = {d}: "
            "give t = inf without detuning, which is drawn exactly"
        )
    if not is_long.any():
        return _stepped(h, z0, t, diffusion, stream, index, omega, motion)
    out, rest = np.empty_like(h), ~is_long
    own = (diffusion[is_long], stream, index[is_long])
    if omega is None:
        out[is_long] = draw_settled(h[is_long], *own)
    else:
        out[is_long] = draw_detuned(
            h[is_long],
            omega[is_long],
            motion.fixed[is_long],
            motion.contraction[is_long],
            length[is_long],
            *own,
        )
    if rest.any():
        out[rest] = _stepped(
            h[rest],
            z0[rest],
            t[rest],
            diffusion[rest],
            stream,
            index[rest],
            None if omega is None else omega[rest],
            motion.of(rest),
        )
    return out


class _Motion(NamedTuple):
    """How the oscillators move without noise; an entry per oscillator.

    Attributes
    ----------
    length, contraction, detuning : FloatArray, shape (n,)
        |h|, the rate at which nearby states approach each other, and the size of
        the detuning (rad/s).
    fixed : FloatArray, shape (n, d)
        Stable fixed points, where ``has_law``; without detuning empty.
    has_law : BoolArray, shape (n,)
        Whether the settled law is known, or nearly.
    """

    length: FloatArray
    contraction: FloatArray
    detuning: FloatArray
    fixed: FloatArray
    has_law: BoolArray

    def of(self, rows: BoolArray) -> "_Motion":
        """Return a part."""
        fixed = self.fixed[rows] if len(self.fixed) else self.fixed
        return _Motion(
            self.length[rows],
            self.contraction[rows],
            self.detuning[rows],
            fixed,
            self.has_law[rows],
        )

    def speed(self, diffusion: FloatArray) -> FloatArray:
        """Return the rate of the fastest motion (rad/s) with a diffusion."""
        d = self.fixed.shape[1]
        rate: FloatArray = self.length + self.detuning + (d - 1) * diffusion
        return rate


def _motion(h: FloatArray, length: FloatArray, omega: FloatArray | None) -> _Motion:
    n, d = h.shape
    nowhere = np.empty((0, d))
    if omega is None:
        return _Motion(length, length, np.zeros(n), nowhere, np.ones(n, bool))
    if omega.ndim == 1:
        size = np.abs(omega)
        rate = np.sqrt(np.maximum(length - size, 0.0) * (length + size))
        return _Motion(length, rate, size, nowhere, np.zeros(n, bool))
    size = np.sqrt(np.einsum("ijk,ijk->i", omega, omega) / 2.0)
    omega = np.ascontiguousarray(omega)
    fixed, rate = np.empty((n, d)), np.empty(n)
    locked_states(h, omega, fixed, rate)
    is_locked = rate > 0
    rest = ~is_locked
    if rest.any():
        found = np.empty(int(rest.sum()))
        _matrix_rates(h[rest], omega[rest], found)
        is_moving = found > 1e-4 * (length + size)[rest]
        rate[rest] = np.where(is_moving, found, 0.0)
    return _Motion(length, rate, size, fixed, is_locked)


def _checked(
    h: FloatArray,
    z0: FloatArray,
    t: FloatArray | float,
    diffusion: FloatArray | float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    h, z0 = np.asarray(h, dtype=np.float64), np.asarray(z0, dtype=np.float64)
    if h.ndim != 2 or h.shape != z0.shape or h.shape[1] < 2:
        raise SpecError(
            "h and z0 must have the same shape (n, d), d >= 2, got "
            f"{h.shape} and {z0.shape}"
        )
    times = _per_oscillator("t", t, len(h))
    noise = _per_oscillator("diffusion", diffusion, len(h))
    if not np.isfinite(noise).all():
        raise SpecError("diffusion must be finite")
    return h, z0, times, noise


def _per_oscillator(name: str, value: FloatArray | float, n: int) -> FloatArray:
    value = np.asarray(value, dtype=np.float64)
    if value.shape not in ((), (n,)):
        raise SpecError(
            f"{name} must be a number or have shape ({n},), got {value.shape}"
        )
    if not np.all(value >= 0):
        raise SpecError(f"{name} must be >= 0, got {np.min(value)}")
    return np.broadcast_to(value, (n,))


def _checked_detuning(omega: FloatArray, n: int, d: int) -> FloatArray:
    matrices, omega = split_detuning(omega, d)
    shape = (n, d, d) if matrices else (n,)
    if omega.shape != shape:
        raise SpecError(
            f"omega must have shape ({n},) or ({n}, {d}, {d}), got {omega.shape}"
        )
    if not np.isfinite(omega).all():
        raise SpecError("omega must be finite")
    return omega


def _stepped(
    h: FloatArray,
    z0: FloatArray,
    t: FloatArray,
    diffusion: FloatArray,
    stream: Stream,
    index: IntArray,
    omega: FloatArray | None,
    motion: _Motion,
) -> FloatArray:
    d = h.shape[1]
    with np.errstate(divide="ignore"):
        window = _WINDOW / (motion.contraction + (d - 1) * diffusion)
    if omega is not None and not np.isfinite(np.minimum(window, t)).all():
        i = int(np.argmax(np.isinf(window) & np.isinf(t)))
        raise SpecError(
            f"oscillator {i} of the batch has t = inf but neither locks nor diffuses: "
            "give a finite t"
        )
    run = np.where(diffusion > 0, np.minimum(t, window), 0.0)
    if omega is None:
        z = settle(h, z0, t - run)
    else:
        head = np.where(np.isinf(t), 2.0 * window, t - run)
        z = settle_detuned(h, omega, z0, head)
    speed = motion.speed(diffusion)
    n_steps = np.ceil(run * speed / _STEP).astype(np.int64)
    dt = run / np.maximum(n_steps, 1)
    excess = diffusion * dt if d > 2 else 0.0
    deviation = np.sqrt(2.0 * diffusion * dt * (1.0 + excess))
    words = stream_words(stream)
    if d == 2:
        scalar = np.zeros(len(h)) if omega is None else np.ascontiguousarray(omega)
        circle_paths(words, index, h, scalar, dt, n_steps, deviation, z)
    else:
        matrix = np.empty((0, d, d)) if omega is None else np.ascontiguousarray(omega)
        sphere_paths(words, index, h, matrix, dt, 0, n_steps, deviation, z)
    return z


@kernel
def _matrix_rates(h: FloatArray, omega: FloatArray, out: FloatArray) -> None:
    """Write the contraction rate of every oscillator."""
    d = h.shape[1]
    work = np.empty((6, d + 1, d + 1))
    for i in range(h.shape[0]):
        out[i] = contraction_rate(h[i], omega[i], work)
