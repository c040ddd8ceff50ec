"""Whether a fixed step is short enough for a network."""

import math
import warnings

import numpy as np

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.typing import FloatArray

# Where the stability regions meet the negative real axis.
_REACH = {"rk4": 2.78, "heun": 2.0, "euler-maruyama": 2.0}

_ROUNDING = 1.0 + 1e-12
_CHUNK = 1024
_LARGEST = float(np.finfo(np.float64).max)


def check_stability(network: Network, method: str, dt: float) -> None:
    """Refuse a step that is unstable; warn of one that may be, or turns too far.

    With r_i = sum_j |K_ij| + |h_i| + 2 |I_i| (coupling, drive and anchors,
    injection) an oscillator whose neighbours rest relaxes at a rate of r_i at
    most: beyond r_i dt = 2.78 (Runge-Kutta) or 2 a step can amplify that. Where
    neighbours answer, no rate is above r_i + sum_j |K_ij|, the theorem of
    Gershgorin for the Jacobian, of which a mutual pair reaches -2 K. A coupling
    function G with harmonics counts as K times the largest slope that it can have,
    sum_k k |(a_k, b_k)|.

    Parameters
    ----------
    network : Network
        What is coupled.
    method : str
        Integration method; the discrete map and adaptive steps have no limit.
    dt : float
        Step (s).

    Raises
    ------
    SpecError
        If r_i dt of an oscillator is beyond the method's reach.

    Warns
    -----
    RuntimeWarning
        If (r_i + sum_j |K_ij|) dt is, or an oscillator rotates by more than 1 rad
        per step.

    References
    ----------
    .. [1] Hairer & Wanner (1996), Solving Ordinary Differential Equations II,
       section IV.2 (stability regions of explicit methods).
    """
    reach = _REACH.get(method)
    if reach is None:
        return
    with np.errstate(over="ignore"):
        coupling = network.strengths() * _steepest(network)
        own = np.linalg.norm(network.field, axis=1)
        if network.shil.size:
            own = own + 2.0 * np.linalg.norm(network.shil, axis=1)
        rate = min(float((coupling + own).max()), _LARGEST)
        bound = min(float((2.0 * coupling + own).max()), _LARGEST)
    if rate * dt > reach * _ROUNDING:
        raise SpecError(
            f"dt = {dt:.6g} is unstable for '{method}': {_terms(network, '')} dt = "
            f"{rate * dt:.4g} of an oscillator is above {reach}; use dt <= "
            f"{_at_most(reach / rate)}"
        )
    if bound * dt > reach * _ROUNDING:
        _warn(
            f"dt = {dt:.6g} may be unstable or too coarse for '{method}': "
            f"{_terms(network, '2 ')} dt = {bound * dt:.4g} of an oscillator is above "
            f"{reach}; use dt <= {_at_most(reach / bound)}"
        )
    turn = _fastest(network, dt) * dt
    if turn > 1.0:
        _warn(
            f"an oscillator turns by {turn:.3g} rad per step: fast rotation is "
            "resolved poorly, use a smaller dt or a rotating frame"
        )


def _steepest(network: Network) -> float:
    """Return a bound for the slope of the coupling function, 1 for the sine."""
    if not network.harmonics.size:
        return 1.0
    sizes = np.hypot(network.harmonics[:, 0], network.harmonics[:, 1])
    return float(sizes @ np.arange(1.0, len(sizes) + 1.0))


def check_resolution(
    network: Network, start: FloatArray, t1: float, n_steps: int
) -> None:
    """Warn where phases are so large that adding steps to them loses digits.

    Parameters
    ----------
    network : Network
        Says how fast phases grow.
    start : FloatArray, shape (n_runs, n, d)
        Where they begin.
    t1 : float
        End time (s).
    n_steps : int
        Number of steps, each of which rounds to the spacing of float64.

    Warns
    -----
    RuntimeWarning
        If phases may be off by more than .01 rad for that reason alone.
    """
    if network.geometry == "sphere":
        return
    with np.errstate(over="ignore"):
        reached = np.abs(start).max() + np.abs(network.omega).max(initial=0.0) * t1
        spacing = float(np.spacing(reached))
    if 0.01 < 0.5 * spacing * n_steps < math.inf:
        _warn(
            f"phases reach {reached:.3g} rad, where float64 resolves {spacing:.3g} "
            "rad: begin within a turn, use a rotating frame or fewer steps"
        )


def _warn(message: str) -> None:
    """Warn where ``simulate`` was called."""
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def _terms(network: Network, factor: str) -> str:
    """Return what was added up, in the letters of the equations."""
    slope = " |G'|" if network.harmonics.size else ""
    terms = [] if network.coupling is None else [f"{factor}sum |K|{slope}"]
    terms += ["|h|"] if network.field.any() else []
    terms += ["2 |I|"] if network.shil.any() else []
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _at_most(value: float) -> str:
    """Return ``value`` in three digits, rounded towards 0."""
    digits = 2 - math.floor(math.log10(value))
    text = f"{value:.3g}"
    return text if float(text) <= value else f"{float(text) - 10.0**-digits:.3g}"


def _fastest(network: Network, dt: float) -> float:
    """Return the largest rate of rotation (rad/s) as far as it matters.

    Of an antisymmetric matrix it is the spectral norm, at most the largest sum of
    a row and, as singular values come in pairs, the Frobenius norm over sqrt(2):
    the eigenvalues are found only where both are too large, and only until
    something that turns by more than 1 rad per step is.
    """
    rates = network.omega
    if network.geometry == "torus":
        return float(np.abs(rates).max(initial=0.0))
    if not len(rates):
        return 0.0
    if (rates == rates[0]).all():
        rates = rates[:1]
    bound = _bounds(rates)
    uncertain = np.flatnonzero(bound * dt > 1.0)
    uncertain = uncertain[np.argsort(-bound[uncertain], kind="stable")]
    largest = 0.0
    for start in range(0, uncertain.size, _CHUNK):
        some = rates[uncertain[start : start + _CHUNK]]
        largest = max(largest, float(np.linalg.norm(some, 2, axis=(1, 2)).max()))
        if largest * dt > 1.0:
            break
    return largest


def _bounds(rates: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        rows = np.abs(rates).sum(axis=2).max(axis=1)
        pairs = np.sqrt(0.5 * np.square(rates).sum(axis=(1, 2)))
    return np.asarray(np.minimum(rows, pairs))
