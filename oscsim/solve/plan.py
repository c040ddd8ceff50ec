"""What a run is made of, checked before anything is allocated."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.memory import free_memory
from oscsim.network.arguments import diffusion_of
from oscsim.network.spec import Network
from oscsim.solve.noise import Stream, points_on_sphere, uniforms
from oscsim.solve.steppers import METHODS
from oscsim.solve.stream import stream_words
from oscsim.typing import FloatArray, IntArray

START_STAGE, NOISE_STAGE = 1, 2
ADAPTIVE = ("adaptive", "rk45")
METHOD_NAMES = (*METHODS, *ADAPTIVE)
OBSERVABLES = ("order_parameter", "effective_frequency")

# Where the stability regions meet the negative real axis.
_REACH = {"rk4": 2.78, "heun": 2.0, "euler-maruyama": 2.0}


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


def number_of_steps(t1: float, dt: float) -> int:
    """Return t1 / dt, checked to be a whole number.

    Parameters
    ----------
    t1, dt : float
        End time and step (s).

    Raises
    ------
    SpecError
        If one is out of range or t1 is not a multiple of dt to within 1e-9.
    """
    if not 0.0 < dt < math.inf:
        raise SpecError(f"dt must be positive and finite, got {dt}")
    if not dt * (1.0 - 1e-9) <= t1 < math.inf:
        raise SpecError(f"t1 must be finite and at least one step of {dt}, got {t1}")
    n_steps = round(t1 / dt)
    if abs(n_steps * dt - t1) > 1e-9 * t1:
        raise SpecError(
            f"t1 = {t1} is not a whole number of steps of {dt}: the nearest are "
            f"{n_steps} steps, t1 = {n_steps * dt:.12g}"
        )
    if n_steps >= 2**32:
        raise SpecError(f"at most 2^32 steps, got {n_steps}: use a larger dt")
    return n_steps


def check_counts(**counts: Any) -> None:
    """Refuse anything but whole numbers >= 1 (None passes).

    Parameters
    ----------
    **counts : int or None
        By name.

    Raises
    ------
    SpecError
        If one is not.
    """
    for name, value in counts.items():
        if value is not None and (value != int(value) or value < 1):
            raise SpecError(f"{name} must be a whole number >= 1, got {value}")


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
        If it is out of range or the method has no noise.
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


def check_stability(network: Network, method: str, dt: float) -> None:
    """Refuse a step that the coupling makes unstable; warn of fast rotation.

    Parameters
    ----------
    network : Network
        What is coupled.
    method : str
        Integration method; the discrete map has no limit.
    dt : float
        Step (s).

    Raises
    ------
    SpecError
        If sum_j |K_ij| dt of an oscillator is beyond the method's reach.
    """
    if method not in _REACH:
        return
    largest = float(network.strengths().max())
    if largest * dt > _REACH[method]:
        raise SpecError(
            f"dt = {dt:.6g} is unstable for '{method}': sum |K| dt = "
            f"{largest * dt:.4g} of an oscillator is above {_REACH[method]}; use dt "
            f"<= {_REACH[method] / largest:.3g}"
        )
    turn = float(np.abs(network.omega).max(initial=0.0)) * dt
    if turn > 1.0:
        warnings.warn(
            f"an oscillator turns by {turn:.3g} rad per step: fast rotation is "
            "resolved poorly, use a smaller dt or a rotating frame",
            RuntimeWarning,
            stacklevel=3,
        )


def check_memory(n_bytes: int) -> None:
    """Refuse to begin what cannot fit.

    Parameters
    ----------
    n_bytes : int
        What the run will allocate.

    Raises
    ------
    SpecError
        If that is more than the memory that is free.
    """
    free = free_memory()
    if n_bytes > free:
        raise SpecError(
            f"this run needs {n_bytes / 1e9:.3g} GB and {free / 1e9:.3g} GB are free: "
            "save less often, observe='order_parameter', or fewer trajectories"
        )


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
        If the shape does not fit, a value is not finite, or a vector not of unit
        length.
    """
    shape = (n_runs, *network.state_shape)
    flat = (n_runs, network.n_osc, -1)
    if start is None:
        return np.stack(
            [_random_start(network, seed, k) for k in range(n_runs)]
        ).reshape(flat)
    value = np.array(start, dtype=np.float64)
    if value.shape not in (shape, shape[1:]):
        raise SpecError(
            f"start must have shape {shape[1:]} or {shape}, got {value.shape}"
        )
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        where = tuple(int(k) for k in bad[0])
        raise SpecError(f"start must be finite, got {value[where]} at index {where}")
    if network.geometry == "sphere":
        length = np.linalg.norm(value, axis=-1, keepdims=True)
        if not np.all(np.abs(length - 1.0) < 1e-9):
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
