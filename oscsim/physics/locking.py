"""What is measured on a path of oscillators: who turns together, and from when."""

import warnings
from typing import Any, Protocol, runtime_checkable

import numpy as np

from oscsim.arrays import real_array, real_number, real_view
from oscsim.errors import SpecError
from oscsim.physics.geometry import angle_between, wrap
from oscsim.typing import FloatArray, IntArray

_TURN = 2.0 * np.pi
_NEARLY_HALF = 0.9 * np.pi
"""A saved step this long may as well have gone the other way round (rad)."""


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
    do not show whole turns: every saved step must turn less than half of one,
    also within a fast slip between long rests.

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
        If ``path`` is no result of a simulation, fewer than two times remain, or
        the sphere has more than 2 dimensions.

    Warns
    -----
    RuntimeWarning
        If a saved step turns a unit vector by nearly half a turn, so that whole
        turns may be lost (a step of more may look like any smaller one: no
        warning is no proof); or if phases jump as wrapped ones do.
    """
    keep = _kept(path, after, at_least=2)
    if path.geometry == "sphere" and path.y.shape[-1] != 2:
        raise SpecError(
            "a frequency needs a phase: unit vectors of 2 components, got "
            f"{path.y.shape[-1]}"
        )
    angle = _angle_on_circle if path.geometry == "sphere" else _angle_of_phases
    moved, doubts = zip(*(angle(one[keep]) for one in path.y), strict=True)
    for doubt in dict.fromkeys(filter(None, doubts)):
        warnings.warn(doubt, RuntimeWarning, stacklevel=2)
    t = path.t[keep]
    return np.asarray(np.array(moved) / (t[-1] - t[0]))


def _angle_on_circle(z: Any) -> tuple[FloatArray, str]:
    """Return how far unit vectors turned (n,), and what makes that doubtful."""
    z = real_view("y", z)
    theta = np.arctan2(z[..., 1], z[..., 0])
    step = np.diff(theta, axis=0)
    turns = np.round(step / _TURN)
    step -= _TURN * turns
    largest = np.abs(step).max(initial=0.0, where=np.isfinite(step))
    doubt = ""
    if largest > _NEARLY_HALF:
        doubt = (
            "a unit vector turns by nearly half a turn between two saved times: "
            "whole turns may be lost, save more often"
        )
    return theta[-1] - theta[0] - _TURN * turns.sum(axis=0), doubt


def _angle_of_phases(theta: Any) -> tuple[FloatArray, str]:
    """Return how far phases moved (n,), and what makes that doubtful."""
    theta = real_view("y", theta)
    doubt = ""
    finite = theta[np.isfinite(theta).all(axis=1)]
    if len(finite) > 2 and np.ptp(finite) <= _TURN * (1.0 + 1e-12):
        jumps = np.abs(np.diff(finite, axis=0)).max()
        if jumps > np.pi:
            doubt = (
                "phases jump by more than half a turn and never leave one turn: if "
                "they are wrapped, unwrap them before their frequency is taken"
            )
    return np.asarray(theta[-1] - theta[0]), doubt


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
        rad/s. Locked phases differ by a bounded amount, so their frequencies over
        a time T agree to twice that amount over T, and far better once their
        differences rest.
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
    rates = real_array("frequencies", frequencies)
    if rates.ndim == 0 or rates.shape[-1] == 0:
        raise SpecError(
            f"frequencies must have shape (..., n), n >= 1, got {rates.shape}"
        )
    tolerance = real_number("tolerance", tolerance)
    if tolerance < 0.0:
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
    """Return how closely the motions of every two oscillators are related.

    Of phases, and of unit vectors in the plane, the phase-locking value
    |<exp(i (theta_i - theta_j))>| over the saved times: 1 for a constant phase
    difference, whatever it is. Without relation it is about 1 / sqrt(m) for m
    independent samples, which successive times rarely are. A pair that almost
    locks rests in one position for long: one whose difference obeys
    dpsi/dt = w - L sin(psi), w > L, has (w - sqrt(w^2 - L^2)) / L.

    Of unit vectors with more components the mean inner product <z_i . z_j>, in
    [-1, 1]: 1 for a pair that stays together, -1 for opposite ones. It tells how
    well they are aligned, not whether they are locked: a pair at a constant right
    angle has 0, as an unrelated one has.

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
        If ``path`` is no result of a simulation, or no time remains.

    References
    ----------
    .. [1] Lachaux et al. (1999), Human Brain Mapping 8, 194 (phase-locking value).
    """
    keep = _kept(path, after, at_least=1)
    y = real_view("y", path.y[:, keep])
    if path.geometry == "torus" or y.shape[-1] == 2:
        z = np.exp(1j * y) if path.geometry == "torus" else y[..., 0] + 1j * y[..., 1]
        mean = np.abs(np.einsum("kti,ktj->kij", z, z.conj(), optimize=True))
    else:
        mean = np.einsum("ktic,ktjc->kij", y, y, optimize=True)
    # A matrix product need not round (i, j) and (j, i) alike.
    mean = 0.5 * (mean + np.swapaxes(mean, 1, 2))
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
        If ``path`` is no result of a simulation, ``within`` is out of range or
        the target has another shape.
    """
    _require_path(path)
    within = real_number("within", within)
    if not 0.0 < within < np.pi:
        raise SpecError(f"within must be an angle in (0, pi) rad, got {within}")
    y = real_view("y", path.y)
    goal = y[:, -1:] if target is None else real_array("target", target)
    if target is not None and goal.shape != y.shape[2:]:
        raise SpecError(f"target must have shape {y.shape[2:]}, got {goal.shape}")
    if path.geometry == "torus":
        away = np.abs(wrap(y - goal))
    else:
        away = angle_between(y, goal)
    near = away <= within
    stays = np.flip(np.logical_and.accumulate(np.flip(near, axis=1), axis=1), axis=1)
    return np.asarray(np.where(stays[:, -1], path.t[stays.argmax(axis=1)], np.inf))


def _require_path(path: Any) -> None:
    if not isinstance(path, Path):
        raise SpecError(
            "path must be the result of a simulation, with t, y and geometry, got "
            f"{type(path).__name__}"
        )


def _kept(path: Path, after: float, *, at_least: int) -> slice:
    _require_path(path)
    after = real_number("after", after)
    times = np.asarray(path.t)
    left = int(np.count_nonzero(times >= after))
    if left < at_least:
        raise SpecError(
            f"{left} saved times from {after} s on, needed {at_least}: save more "
            f"often, or begin before t = {times[-1]:g} s"
        )
    return slice(times.size - left, None)
