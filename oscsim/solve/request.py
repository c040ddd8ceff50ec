"""What a caller asks of a run: brought into numbers, or refused in a sentence."""

import math
import numbers
from typing import Any

import numpy as np

from oscsim.arrays import shown
from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.solve.plan import ADAPTIVE, METHOD_NAMES

OBSERVABLES = ("order_parameter", "effective_frequency")

# What the counters of the noise can tell apart.
MOST = 2**32
_LEAST_RTOL = 2.3e-14


def check_choices(
    network: Any, method: Any, on_failure: Any, progress: Any = None
) -> None:
    """Refuse what is not a network, or not one of the things to choose from.

    Parameters
    ----------
    network : Network
        What is to be run.
    method, on_failure : str
        As in ``simulate``.
    progress : callable, optional
        As in ``simulate``.

    Raises
    ------
    SpecError
        If one is anything else.
    """
    if not isinstance(network, Network):
        raise SpecError(
            f"network must be a Network, got {shown(network)}: build one with "
            "Network.kuramoto, Network.lohe or Network.driven"
        )
    if not isinstance(method, str) or method not in METHOD_NAMES:
        raise SpecError(
            f"method must be one of {', '.join(METHOD_NAMES)}, got {shown(method)}"
        )
    if not isinstance(on_failure, str) or on_failure not in ("raise", "return"):
        raise SpecError(
            f"on_failure must be 'raise' or 'return', got {shown(on_failure)}"
        )
    if progress is not None and not callable(progress):
        raise SpecError(
            "progress must be a function of (done, in all), or None, got "
            f"{shown(progress)}"
        )


def observed(observe: Any, network: Network, method: str) -> tuple[str, ...]:
    """Return the names of what is to be observed.

    Parameters
    ----------
    observe : str or sequence of str, optional
        As in ``simulate``.
    network : Network
        What is to be run.
    method : str
        Integration method.

    Raises
    ------
    SpecError
        If a name is unknown, or the network or the method cannot show it.
    """
    if observe is None:
        return ()
    names: tuple[Any, ...] = (observe,)
    if isinstance(observe, list | tuple | set | frozenset):
        names = tuple(observe)
    for name in names:
        if not isinstance(name, str) or name not in OBSERVABLES:
            raise SpecError(
                f"observe must be of {', '.join(OBSERVABLES)}, or None, got "
                f"{shown(name)}"
            )
    if method in ADAPTIVE:
        raise SpecError(f"observe needs a method with a fixed step, got {method!r}")
    if "effective_frequency" in names and network.geometry == "sphere":
        raise SpecError(
            "effective_frequency needs phases: unit vectors have none, use "
            "Network.kuramoto or Network.driven(..., geometry='torus')"
        )
    return names


def precision(dtype: Any) -> Any:
    """Return float64 or float32.

    Parameters
    ----------
    dtype : numpy dtype
        As in ``simulate``.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        raise SpecError(
            f"dtype must be float64 or float32, got {shown(dtype)}"
        ) from None
    if found not in (np.float64, np.float32):
        raise SpecError(f"dtype must be float64 or float32, got {found}")
    return found


def tolerances(rtol: Any, atol: Any) -> tuple[float, float]:
    """Return the errors allowed to an adaptive method.

    Parameters
    ----------
    rtol, atol : float
        As in ``simulate``.

    Raises
    ------
    SpecError
        If ``rtol`` is not in [2.3e-14, 1), a hundred times the rounding of
        float64 at least, or ``atol`` not positive and finite.
    """
    relative, absolute = real("rtol", rtol), real("atol", atol)
    if not _LEAST_RTOL <= relative < 1.0:
        raise SpecError(f"rtol must be at least {_LEAST_RTOL} and below 1, got {rtol}")
    if not 0.0 < absolute < math.inf:
        raise SpecError(f"atol must be positive and finite, got {atol}")
    return relative, absolute


def real(name: str, value: Any) -> float:
    """Return a real number as a float, infinite where float64 ends.

    Parameters
    ----------
    name : str
        What it is.
    value : float
        The number.

    Raises
    ------
    SpecError
        If it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SpecError(f"{name} must be a real number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0.0 else -math.inf  # type: ignore[operator]


def steps(t1: Any, dt: Any, method: str, save_every: int | None) -> tuple[int, float]:
    """Return the number of steps and the step (s).

    Parameters
    ----------
    t1, dt : float
        End time and step (s); an adaptive method needs no step.
    method : str
        Integration method.
    save_every : int, optional
        Steps between saved states.

    Raises
    ------
    SpecError
        If one is out of range, or a step is missing.
    """
    if dt is not None:
        step = real("dt", dt)
        return number_of_steps(real("t1", t1), step), step
    if method not in ADAPTIVE:
        raise SpecError(f"method {method!r} needs dt, the step in seconds")
    if save_every is not None:
        raise SpecError("save_every counts steps: give dt as well")
    end = real("t1", t1)
    if not 0.0 < end < math.inf:
        raise SpecError(f"t1 must be positive and finite, got {t1}")
    return 1, end


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
    ratio = t1 / dt
    if not ratio < MOST - 0.5:
        raise SpecError(f"at most 2^32 steps, got {ratio:.6g}: use a larger dt")
    n_steps = round(ratio)
    if abs(n_steps * dt - t1) > 1e-9 * t1:
        raise SpecError(
            f"t1 = {t1} is not a whole number of steps of {dt}: the nearest are "
            f"{n_steps} steps, t1 = {n_steps * dt:.12g}"
        )
    return n_steps
