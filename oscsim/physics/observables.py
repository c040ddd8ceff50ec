"""What is measured on a set of oscillators."""

from typing import Protocol, runtime_checkable

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import FloatArray


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
    sphere. 0 <= r <= 1 holds exactly; a single oscillator gives 1, which says
    nothing about synchrony, and N independent random phases give
    E[r^2] = 1/N, not 0.

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

    References
    ----------
    .. [1] Kuramoto (1984), Chemical Oscillations, Waves, and Turbulence,
       section 5.4.
    """
    values, kind = _unpack(state, geometry)
    z = np.asarray(values, dtype=np.float64)
    if kind == "torus":
        z = np.stack([np.cos(z), np.sin(z)], axis=-1)
    if z.ndim < 2 or z.shape[-2] == 0:
        raise SpecError(f"no oscillators in a state of shape {z.shape}")
    if z.shape[-2] == 1:
        return np.ones(z.shape[:-2])
    return np.asarray(np.minimum(np.linalg.norm(z.mean(axis=-2), axis=-1), 1.0))


def _unpack(state: FloatArray | States, geometry: str | None) -> tuple[FloatArray, str]:
    if geometry not in (None, "torus", "sphere"):
        raise SpecError(f"geometry must be 'torus' or 'sphere', got {geometry!r}")
    if not isinstance(state, States):
        return np.asarray(state), geometry or "torus"
    if geometry not in (None, state.geometry):
        raise SpecError(
            f"geometry {geometry!r} contradicts the simulation's {state.geometry!r}"
        )
    return state.y, state.geometry
