"""What is measured on a path of oscillators: who turns together, and from when."""

from typing import Protocol, runtime_checkable

import numpy as np

from oscsim.errors import SpecError
from oscsim.physics.geometry import angle_between, wrap
from oscsim.typing import FloatArray, IntArray


@runtime_checkable
class Path(Protocol):
    """Saved states of a simulation with their times."""

    @property
    def t(self) -> FloatArray:
        """Times (s), shape (n_saved,)."""

    @property
    def y(self) -> FloatArray:
        """Phases (n_trajectories, n_saved, n) or unit vectors (..., n, d)."""

    @property
    def geometry(self) -> str:
        """``"torus"`` or ``"sphere"``."""


def effective_frequencies(path: Path, after: float = 0.0) -> FloatArray:
    """Return the mean rate of every oscillator over the saved times.

    (theta(t_end) - theta(t_begin)) / (t_end - t_begin). Phases of a simulation
    are not wrapped, so any number of turns counts. Unit vectors in the plane
    must be saved at least twice a turn.

    Parameters
    ----------
    path : Trajectory
        Result of a simulation.
    after : float
        Leave out what was saved before this time (s): the transient.

    Returns
    -------
    FloatArray, shape (n_trajectories, n)
        rad/s.

    Raises
    ------
    SpecError
        If fewer than two times remain, or the sphere has more than 2 dimensions.
    """
    keep = _kept(path, after, at_least=2)
    t, y = path.t[keep], np.asarray(path.y, dtype=np.float64)[:, keep]
    if path.geometry == "sphere":
        if y.shape[-1] != 2:
            raise SpecError(
                "a frequency needs a phase: unit vectors of 2 components, got "
                f"{y.shape[-1]}"
            )
        y = np.unwrap(np.arctan2(y[..., 1], y[..., 0]), axis=1)
    return np.asarray((y[:, -1] - y[:, 0]) / (t[-1] - t[0]))


def locked_clusters(
    frequencies: FloatArray | Path, tolerance: float, after: float = 0.0
) -> IntArray:
    """Return which oscillators share an effective frequency.

    The members of a cluster differ by at most ``tolerance``. The largest set
    that does so is the first cluster, and so on among those that remain on
    either side of it.

    Parameters
    ----------
    frequencies : FloatArray, shape (..., n), or Trajectory
        Effective frequencies (rad/s), see :func:`effective_frequencies`; or the
        result of a simulation, whose frequencies are taken from ``after`` on.
    tolerance : float
        rad/s. Locked phases differ by less than a turn, so their frequencies over
        a time T agree to 2 pi / T, and far better once their differences rest.
    after : float
        Leave out what was saved before this time (s): the transient.

    Returns
    -------
    IntArray, shape (..., n)
        Number of each oscillator's cluster: 0 for the largest, equal ones by
        rising frequency.

    Raises
    ------
    SpecError
        If a frequency is not finite, there is none, or ``tolerance`` is
        negative or not finite.
    """
    if isinstance(frequencies, Path):
        frequencies = effective_frequencies(frequencies, after)
    rates = np.asarray(frequencies, dtype=np.float64)
    if rates.ndim == 0 or rates.shape[-1] == 0 or not np.isfinite(rates).all():
        raise SpecError("frequencies must be finite numbers of shape (..., n), n >= 1")
    if not 0.0 <= tolerance < np.inf:
        raise SpecError(f"tolerance must be finite and >= 0, got {tolerance}")
    labels = [_clusters(row, tolerance) for row in rates.reshape(-1, rates.shape[-1])]
    return np.array(labels, dtype=np.int64).reshape(rates.shape)


def _clusters(rates: FloatArray, tolerance: float) -> IntArray:
    order = np.argsort(rates, kind="stable")
    rising = rates[order]
    beyond = np.searchsorted(rising, rising + tolerance, side="right")
    begins = np.zeros(rates.size, dtype=bool)
    segments = [(0, rates.size)]
    while segments:
        low, high = segments.pop()
        if low == high:
            continue
        size = np.minimum(beyond[low:high], high) - np.arange(low, high)
        largest = np.flatnonzero(size == size.max())
        first = low + int(largest[largest.size // 2])
        last = first + int(size.max())
        if size.max() == 1:
            begins[low:high] = True
            continue
        begins[[low, first]] = True
        begins[last : last + 1] = True
        segments += [(low, first), (last, high)]
    cluster = np.empty(rates.size, dtype=np.int64)
    cluster[order] = np.cumsum(begins) - 1
    by_size = np.argsort(-np.bincount(cluster), kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(by_size.size)
    return np.asarray(rank[cluster])


def pairwise_coherence(path: Path, after: float = 0.0) -> FloatArray:
    """Return how constant the relation of every two oscillators is in time.

    |<exp(i (theta_i - theta_j))>| over the saved times on the torus: 1 for a
    locked pair whatever its phase difference, about 1 / sqrt(n_saved) for an
    unrelated one. On the sphere, where a fixed relation is a fixed angle only,
    <z_i . z_j> in [-1, 1].

    Parameters
    ----------
    path : Trajectory
        Result of a simulation.
    after : float
        Leave out what was saved before this time (s): the transient.

    Returns
    -------
    FloatArray, shape (n_trajectories, n, n)
        Symmetric, the diagonal 1.

    Raises
    ------
    SpecError
        If no time remains.

    References
    ----------
    .. [1] Lachaux et al. (1999), Human Brain Mapping 8, 194 (phase-locking value).
    """
    keep = _kept(path, after, at_least=1)
    y = np.asarray(path.y, dtype=np.float64)[:, keep]
    if path.geometry == "torus":
        z = np.exp(1j * y)
        mean = np.abs(np.einsum("kti,ktj->kij", z, z.conj(), optimize=True))
    else:
        mean = np.einsum("ktic,ktjc->kij", y, y, optimize=True)
    mean = np.clip(mean / y.shape[1], -1.0, 1.0)
    mean[:, *np.diag_indices(mean.shape[-1])] = 1.0
    return np.asarray(mean)


def settling_times(
    path: Path, within: float, target: FloatArray | None = None
) -> FloatArray:
    """Return from when on every oscillator stays near a state.

    The first saved time at which the angle to the target is at most ``within``
    and remains so at all later ones.

    Parameters
    ----------
    path : Trajectory
        Result of a simulation. A network that turns as a whole never settles.
    within : float
        Angle (rad) in (0, pi).
    target : FloatArray, shape (n,) or (n, d), optional
        Phases (rad) or unit vectors; the last state of every trajectory if
        absent, which all reach by definition.

    Returns
    -------
    FloatArray, shape (n_trajectories, n)
        s; inf where the last saved state is farther away.

    Raises
    ------
    SpecError
        If ``within`` is out of range or the target has another shape.
    """
    if not 0.0 < within < np.pi:
        raise SpecError(f"within must be an angle in (0, pi) rad, got {within}")
    y = np.asarray(path.y, dtype=np.float64)
    if target is None:
        goal = y[:, -1:]
    elif np.shape(target) == y.shape[2:]:
        goal = np.asarray(target, dtype=np.float64)
    else:
        raise SpecError(f"target must have shape {y.shape[2:]}, got {np.shape(target)}")
    if path.geometry == "torus":
        away = np.abs(wrap(y - goal))
    else:
        away = angle_between(y, goal)
    near = away <= within
    stays = np.flip(np.logical_and.accumulate(np.flip(near, axis=1), axis=1), axis=1)
    return np.asarray(np.where(stays[:, -1], path.t[stays.argmax(axis=1)], np.inf))


def _kept(path: Path, after: float, *, at_least: int) -> slice:
    times = np.asarray(path.t)
    left = int(np.count_nonzero(times >= after))
    if left < at_least:
        raise SpecError(
            f"{left} saved times from {after} s on, needed {at_least}: save more "
            f"often, or begin before t = {times[-1]:g} s"
        )
    return slice(times.size - left, None)
