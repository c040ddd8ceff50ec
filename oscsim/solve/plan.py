"""What a run is made of, checked before anything is allocated."""

import math
from typing import Any, NamedTuple

import numpy as np

from oscsim.arrays import real_array
from oscsim.errors import SpecError
from oscsim.network.arguments import diffusion_of
from oscsim.network.spec import Network
from oscsim.solve.noise import Stream, points_on_sphere, uniforms
from oscsim.solve.steppers import METHODS
from oscsim.solve.stream import stream_words
from oscsim.typing import FloatArray, IntArray

START_STAGE, NOISE_STAGE = 1, 2
ADAPTIVE = ("adaptive", "rk45")
METHOD_NAMES = (*METHODS, *ADAPTIVE)


class Plan(NamedTuple):
    """Everything about a run but the network and its starts.

    Attributes
    ----------
    method : str
        Integration method.
    dt : float
        Step (s).
    n_steps : int
        Number of steps.
    save_every : int
        Steps between saved states.
    diffusion : FloatArray, shape (n_osc,)
        D (rad^2/s), empty without noise.
    seed : int
        Seed of starts and noise.
    dtype : numpy dtype
        Of states and parameters.
    n_runs : int
        Number of trajectories, those of a batch included.
    is_observing : bool
        Whether order parameters are kept instead of states.
    """

    method: str
    dt: float
    n_steps: int
    save_every: int
    diffusion: FloatArray
    seed: int
    dtype: Any
    n_runs: int
    is_observing: bool

    @property
    def n_rows(self) -> int:
        """Number of steps at which something is saved, the start included."""
        return 1 + -(-self.n_steps // self.save_every)

    @property
    def rows(self) -> IntArray:
        """Steps at which something is saved, the first 0."""
        steps = np.arange(0, self.n_steps + 1, self.save_every)
        return steps if steps[-1] == self.n_steps else np.append(steps, self.n_steps)


def diffusion_for(network: Network, diffusion: Any, method: str) -> FloatArray:
    """Return D per oscillator, empty if it is 0 everywhere.

    Parameters
    ----------
    network : Network
        Has a diffusion of its own, which counts if none is given.
    diffusion : array_like or None
        D (rad^2/s).
    method : str
        Integration method.

    Raises
    ------
    SpecError
        If it is out of range, naming the first such entry, or the method has no
        noise.
    """
    value = network.diffusion
    if diffusion is not None:
        value = diffusion_of(diffusion, network.n_osc)
    if not value.any():
        return np.zeros(0)
    if method not in ("heun", "euler-maruyama"):
        raise SpecError(
            f"method '{method}' has no noise term, got diffusion > 0: use 'heun' or "
            "'euler-maruyama'"
        )
    return value


def starts(
    network: Network, start: FloatArray | None, n_runs: int, seed: int
) -> FloatArray:
    """Return the start of every trajectory, checked.

    Parameters
    ----------
    network : Network
        Says what a state is.
    start : FloatArray, optional
        One state or one per trajectory.
    n_runs : int
        Trajectories.
    seed : int
        Of random starts.

    Returns
    -------
    FloatArray, shape (n_runs, n, d)
        d = 1 on the torus.

    Raises
    ------
    SpecError
        If the shape does not fit, a value is not a finite real number, or a
        vector not of unit length to 1e-9 (1e-6 in float32).
    """
    shape = (n_runs, *network.state_shape)
    flat = (n_runs, network.n_osc, -1)
    if start is None:
        return np.stack(
            [_random_start(network, seed, k) for k in range(n_runs)]
        ).reshape(flat)
    value = real_array("start", start)
    if value.shape not in (shape, shape[1:]):
        raise SpecError(
            f"start must have shape {shape[1:]} or {shape}, got {value.shape}"
        )
    if network.geometry == "sphere":
        length = np.linalg.norm(value, axis=-1, keepdims=True)
        is_single = getattr(start, "dtype", None) == np.float32
        if not np.all(np.abs(length - 1.0) < (1e-6 if is_single else 1e-9)):
            raise SpecError(
                "start must hold unit vectors, got the length "
                f"{length.flat[int(np.argmax(np.abs(length - 1.0)))]:.12g}"
            )
        value = value / length
    return np.broadcast_to(value, shape).reshape(flat)


def _random_start(network: Network, seed: int, trajectory: int) -> FloatArray:
    stream = Stream(seed, START_STAGE, repeat=trajectory)
    oscillators = np.arange(network.n_osc)
    if network.geometry == "torus":
        return math.pi * (2.0 * uniforms(stream, oscillators, 1)[:, 0] - 1.0)
    return points_on_sphere(stream, oscillators, int(network.field.shape[1]))


def noise_words(seed: int, n_runs: int) -> IntArray:
    """Return the address of every trajectory's noise.

    Parameters
    ----------
    seed : int
        Seed of the run.
    n_runs : int
        Trajectories.

    Returns
    -------
    IntArray, shape (n_runs, 4)

    Raises
    ------
    SpecError
        If the seed is not a whole number in [0, 2^32).
    """
    if isinstance(seed, bool):
        raise SpecError(f"seed must be a whole number in [0, 2^32), got {seed}")
    words = np.tile(stream_words(Stream(seed, NOISE_STAGE)), (n_runs, 1))
    words[:, 3] = np.arange(n_runs)
    return words
