"""What is measured on a set of oscillators."""

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import FloatArray


def order_parameter(state: FloatArray, geometry: str = "torus") -> FloatArray:
    """Return the length of the mean unit vector over the oscillators.

    r = |(1/N) sum_j exp(i theta_j)| on the torus, r = |(1/N) sum_j z_j| on the
    sphere. 0 <= r <= 1 holds exactly; a single oscillator gives 1, which says
    nothing about synchrony, and N independent random phases give
    E[r^2] = 1/N, not 0.

    Parameters
    ----------
    state : FloatArray, shape (..., n) or (..., n, d)
        Phases (rad), or unit vectors.
    geometry : {"torus", "sphere"}
        Which of the two ``state`` is.

    Returns
    -------
    FloatArray, shape (...)

    Raises
    ------
    SpecError
        If ``geometry`` is neither, or there is no oscillator.

    References
    ----------
    .. [1] Kuramoto (1984), Chemical Oscillations, Waves, and Turbulence,
       section 5.4.
    """
    if geometry not in ("torus", "sphere"):
        raise SpecError(f"geometry must be 'torus' or 'sphere', got {geometry!r}")
    state = np.asarray(state, dtype=np.float64)
    if geometry == "torus":
        state = np.stack([np.cos(state), np.sin(state)], axis=-1)
    if state.ndim < 2 or state.shape[-2] == 0:
        raise SpecError(f"no oscillators in a state of shape {state.shape}")
    if state.shape[-2] == 1:
        return np.ones(state.shape[:-2])
    return np.asarray(np.minimum(np.linalg.norm(state.mean(axis=-2), axis=-1), 1.0))
