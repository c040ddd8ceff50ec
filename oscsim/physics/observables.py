"""What is measured on a set of oscillators at one instant."""

import warnings
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy.sparse import issparse

from oscsim.arrays import real_array, real_sparse, real_view
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

Weights: TypeAlias = Any
"""A square array or a SciPy sparse matrix, ``weights[i, j]`` from j to i."""


@runtime_checkable
class States(Protocol):
    """States that say what they are, as a simulation returns them."""

    @property
    def y(self) -> FloatArray:
        """Phases (..., n) or unit vectors (..., n, d)."""

    @property
    def geometry(self) -> str:
        """Which of the two: ``"torus"`` or ``"sphere"``."""


def order_parameter(
    state: FloatArray | States, geometry: str | None = None
) -> FloatArray:
    """Return the length of the mean unit vector over the oscillators.

    r = |(1/N) sum_j exp(i theta_j)| on the torus, r = |(1/N) sum_j z_j| on the
    sphere. 0 <= r <= 1 holds exactly. N independent random phases give
    E[r^2] = 1/N, not 0. A single oscillator gives 1, which says nothing about
    synchrony: a warning says so.

    Parameters
    ----------
    state : FloatArray, shape (..., n) or (..., n, d), or Trajectory
        Phases (rad), or unit vectors; or the result of a simulation.
    geometry : {"torus", "sphere"}, optional
        Which of the two an array is, ``"torus"`` by default. A simulation
        knows it itself.

    Returns
    -------
    FloatArray, shape (...)
        For a simulation (n_trajectories, n_saved).

    Raises
    ------
    SpecError
        If ``geometry`` is neither, contradicts the simulation, or there is no
        oscillator.

    Warns
    -----
    UserWarning
        If there is one oscillator.

    References
    ----------
    .. [1] Kuramoto (1984), Chemical Oscillations, Waves, and Turbulence,
       section 5.4.
    """
    z = unit_vectors(state, geometry)
    if z.shape[-2] == 1:
        warnings.warn(
            "the order parameter of one oscillator is 1 by definition",
            UserWarning,
            stacklevel=2,
        )
        return np.asarray(np.where(np.isfinite(z).all(axis=(-2, -1)), 1.0, np.nan))
    return np.asarray(np.minimum(np.linalg.norm(z.mean(axis=-2), axis=-1), 1.0))


def local_order_parameter(
    state: FloatArray | States, weights: Weights | float, geometry: str | None = None
) -> FloatArray:
    """Return how well the neighbours of every oscillator agree, in [0, 1].

    r_i = |sum_j K_ij z_j| / sum_j |K_ij|: 1 if all that act on i pull the same
    way, which for a negative weight is away from its oscillator.

    Parameters
    ----------
    state : FloatArray, shape (..., n) or (..., n, d), or Trajectory
        Phases (rad), or unit vectors; or the result of a simulation.
    weights : FloatArray or SciPy sparse, shape (n, n), or float
        ``weights[i, j]`` is the influence of j on i; the diagonal is ignored. A
        number means all-to-all, whatever its size.
    geometry : {"torus", "sphere"}, optional
        Which of the two an array is, ``"torus"`` by default.

    Returns
    -------
    FloatArray, shape (..., n)
        NaN for an oscillator on which nobody acts.

    Raises
    ------
    SpecError
        If shapes do not fit or a weight is not finite.

    References
    ----------
    .. [1] Restrepo, Ott & Hunt (2005), Phys. Rev. E 71, 036151, eq. (4), with
       absolute values in the normalisation.
    """
    z = unit_vectors(state, geometry)
    weights = _real(weights)
    if weights.ndim == 0:
        size = float(weights != 0.0)
        total = np.full(z.shape[-2], size * (z.shape[-2] - 1))
        pull = size * (z.sum(axis=-2, keepdims=True) - z)
    else:
        without_self = _without_diagonal(weights, z.shape[-2])
        # a ratio of sums: large weights must not overflow in them
        without_self = without_self / (abs(without_self).max() or 1.0)
        total = np.asarray(abs(without_self).sum(axis=1)).ravel()
        pull = _times(without_self, z)
    field = np.linalg.norm(pull, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.minimum(field / np.where(total > 0, total, np.nan), 1.0))


def pair_potential(
    state: FloatArray | States,
    weights: Weights | float,
    *,
    anchors: FloatArray | None = None,
    anchor_weights: FloatArray | None = None,
    shil: FloatArray | float = 0.0,
    shil_phase: FloatArray | float = 0.0,
    geometry: str | None = None,
) -> FloatArray:
    """Return the energy that a network without rotation, lag and noise descends.

    E = -(1/2) sum_ij K_ij <z_i, z_j> - sum_ia W_ia <z_i, r_a>
        - (1/2) sum_i I_i cos(2 theta_i - psi_i),

    so that dtheta_i/dt = -dE/dtheta_i on the torus, and dz_i/dt is minus the
    tangential gradient on the sphere. With rotation E is still defined, but
    need not descend.

    Parameters
    ----------
    state : FloatArray, shape (..., n) or (..., n, d), or Trajectory
        Phases (rad), or unit vectors; or the result of a simulation.
    weights : FloatArray or SciPy sparse, shape (n, n), or float
        Symmetric K (rad/s), the diagonal ignored; a number means all-to-all,
        K_ij = K / n.
    anchors : FloatArray, shape (a,) or (a, d), optional
        Fixed phases (rad), or unit vectors.
    anchor_weights : FloatArray, shape (n, a), optional
        W (rad/s).
    shil : FloatArray or float, shape (n,)
        Sub-harmonic injection I (rad/s), torus only.
    shil_phase : FloatArray or float, shape (n,)
        Its phase psi (rad).
    geometry : {"torus", "sphere"}, optional
        Which of the two an array is, ``"torus"`` by default.

    Returns
    -------
    FloatArray, shape (...)
        Energy (rad/s).

    Raises
    ------
    SpecError
        If weights are not symmetric, shapes do not fit, one of anchors and
        their weights is missing, or there is injection on a sphere.
    """
    z = unit_vectors(state, geometry)
    n = z.shape[-2]
    weights = _real(weights)
    if weights.ndim == 0:
        square = np.square(z.sum(axis=-2)).sum(axis=-1) - n
        energy = -0.5 * float(weights) / n * square
    else:
        without_self = _without_diagonal(weights, n)
        gap = abs(without_self - without_self.T)
        if gap.size and gap.max() > 1e-12 * abs(without_self).max():
            raise SpecError(
                "only symmetric weights have a potential, got weights[i, j] and "
                f"weights[j, i] that differ by up to {gap.max():.3g}"
            )
        energy = -0.5 * (z * _times(without_self, z)).sum(axis=(-2, -1))
    if (anchors is None) != (anchor_weights is None):
        raise SpecError("anchors and anchor_weights go together, got one of them")
    if anchors is not None and anchor_weights is not None:
        field = _anchor_field(anchors, anchor_weights, z.shape[-2:])
        energy = energy - (z * field).sum(axis=(-2, -1))
    return np.asarray(energy - _injection(state, geometry, shil, shil_phase))


def unit_vectors(state: FloatArray | States, geometry: str | None = None) -> FloatArray:
    """Return states as unit vectors of shape (..., n, d), d = 2 for phases.

    Parameters
    ----------
    state : FloatArray, shape (..., n) or (..., n, d), or Trajectory
        Phases (rad), or unit vectors; or the result of a simulation.
    geometry : {"torus", "sphere"}, optional
        Which of the two an array is, ``"torus"`` by default.

    Raises
    ------
    SpecError
        If ``geometry`` is neither, contradicts the simulation, there is no
        oscillator, or a state is not made of real numbers.
    """
    z, kind = unpack(state, geometry)
    if kind == "torus":
        z = np.stack([np.cos(z), np.sin(z)], axis=-1)
    if z.ndim < 2 or z.shape[-2] == 0:
        raise SpecError(f"no oscillators in a state of shape {z.shape}")
    return z


def unpack(state: FloatArray | States, geometry: str | None) -> tuple[FloatArray, str]:
    """Return the numbers of a state and their geometry, checked."""
    if geometry not in (None, "torus", "sphere"):
        raise SpecError(f"geometry must be 'torus' or 'sphere', got {geometry!r}")
    if not isinstance(state, States):
        return real_view("state", state), geometry or "torus"
    if geometry not in (None, state.geometry):
        raise SpecError(
            f"geometry {geometry!r} contradicts the simulation's {state.geometry!r}"
        )
    return real_view("state", state.y), state.geometry


def _real(weights: Weights | float) -> Any:
    convert: Any = real_sparse if issparse(weights) else real_array
    return convert("weights", weights)


def _without_diagonal(found: Any, n: int) -> Any:
    """Return checked weights, which it may change, without their diagonal."""
    if found.shape != (n, n):
        raise SpecError(f"weights must have shape ({n}, {n}), got {found.shape}")
    if not issparse(found):
        np.fill_diagonal(found, 0.0)
        return found
    entries = found.tocoo()
    entries.data = np.where(entries.row == entries.col, 0.0, entries.data)
    return entries.tocsr()


def _times(weights: Any, z: FloatArray) -> FloatArray:
    """Return sum_j weights[i, j] z_j for states of shape (..., n, d)."""
    first = np.moveaxis(z, -2, 0)
    product = weights @ first.reshape(first.shape[0], -1)
    return np.moveaxis(np.asarray(product).reshape(first.shape), 0, -2)


def _anchor_field(
    anchors: FloatArray, weights: FloatArray, shape: tuple[int, ...]
) -> FloatArray:
    n, d = shape
    points, values = (
        real_array("anchors", anchors),
        real_array("anchor_weights", weights),
    )
    if points.ndim == 1:
        points = np.stack([np.cos(points), np.sin(points)], axis=-1)
    if points.ndim != 2 or points.shape[1] != d:
        raise SpecError(
            f"anchors must have shape (a,) or (a, {d}), got {np.shape(anchors)}"
        )
    if values.shape != (n, len(points)):
        raise SpecError(
            f"anchor_weights must have shape ({n}, {len(points)}), a row for each "
            f"oscillator, got {values.shape}"
        )
    return np.asarray(values @ points)


def _injection(
    state: FloatArray | States,
    geometry: str | None,
    shil: FloatArray | float,
    shil_phase: FloatArray | float,
) -> FloatArray | float:
    strength, phase = real_array("shil", shil), real_array("shil_phase", shil_phase)
    if not strength.any():
        return 0.0
    theta, kind = unpack(state, geometry)
    if kind == "sphere":
        raise SpecError("sub-harmonic injection acts on phases, got unit vectors")
    for name, value in (("shil", strength), ("shil_phase", phase)):
        if value.shape not in ((), theta.shape[-1:]):
            raise SpecError(
                f"{name} must be a number or have shape {theta.shape[-1:]}, got "
                f"{value.shape}"
            )
    return np.asarray(0.5 * (strength * np.cos(2.0 * theta - phase)).sum(axis=-1))
