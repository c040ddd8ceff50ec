"""From the numbers on a data sheet to the phase diffusion D (rad^2/s)."""

import math
from collections.abc import Iterable

from scipy.constants import Boltzmann

from oscsim.errors import SpecError

# Least single-sideband noise of a ring is this times (k T / P) (f / df)^2.
_RING_PHASE_NOISE = 7.33


def diffusion_from_sigma(sigma: float) -> float:
    """Return D = sigma^2 / 2 for a noise of sigma (rad) per square root of a second.

    d theta = sigma dB has the variance sigma^2 t, and sqrt(2 D) dB the variance
    2 D t.

    Parameters
    ----------
    sigma : float
        Standard deviation after one second (rad / sqrt(s)), >= 0.

    Raises
    ------
    SpecError
        If ``sigma`` is negative or not finite.
    """
    _require("sigma", sigma, is_zero_allowed=True)
    return 0.5 * sigma * sigma


def diffusion_of_independent(sigmas: Iterable[float]) -> float:
    """Return D of independent noises acting together: their variances add.

    Parameters
    ----------
    sigmas : iterable of float
        Standard deviations after one second (rad / sqrt(s)), each >= 0.

    Raises
    ------
    SpecError
        If one of them is negative or not finite.
    """
    return sum(diffusion_from_sigma(sigma) for sigma in sigmas)


def diffusion_from_phase_noise(level_dbc_hz: float, offset_hz: float) -> float:
    """Return D = 2 pi^2 df^2 10^(L/10) from phase noise in its 1/f^2 region.

    A carrier whose phase has the variance 2 D t has the autocorrelation
    exp(-D |t|), hence far from its line L = 2 D / (2 pi df)^2.

    Parameters
    ----------
    level_dbc_hz : float
        Single-sideband phase noise L (dBc/Hz).
    offset_hz : float
        Offset from the carrier df (Hz), > 0.

    Raises
    ------
    SpecError
        If an argument is not finite or the offset is not positive.

    References
    ----------
    .. [1] Demir, Mehrotra & Roychowdhury (2000), IEEE Trans. Circuits Syst. I 47,
       655 (Lorentzian spectrum of an oscillator with diffusing phase).
    """
    _require("offset_hz", offset_hz)
    if not math.isfinite(level_dbc_hz):
        raise SpecError(f"level_dbc_hz must be finite, got {level_dbc_hz}")
    ratio = math.pow(10.0, level_dbc_hz / 10.0)
    return 2.0 * math.pi**2 * offset_hz**2 * ratio


def thermal_diffusion_bound(
    frequency_hz: float, power_w: float, temperature_k: float = 300.0
) -> float:
    """Return the thermodynamic lower bound D = 4 pi^2 k T f^2 / P (rad^2/s).

    Holds for overdamped oscillators; an underdamped LC tank can beat it.

    Parameters
    ----------
    frequency_hz : float
        Frequency of oscillation f (Hz).
    power_w : float
        Power drawn P (W).
    temperature_k : float
        Absolute temperature T (K).

    Raises
    ------
    SpecError
        If an argument is not positive and finite.
    """
    for name, value in (
        ("frequency_hz", frequency_hz),
        ("power_w", power_w),
        ("temperature_k", temperature_k),
    ):
        _require(name, value)
    energy = float(Boltzmann) * temperature_k
    return 4.0 * math.pi**2 * energy * frequency_hz**2 / power_w


def ring_diffusion_minimum(
    frequency_hz: float, power_w: float, temperature_k: float = 300.0
) -> float:
    """Return the least D of a ring oscillator, 2 pi^2 * 7.33 k T f^2 / P (rad^2/s).

    It lies 3.67 times above the thermodynamic bound.

    Parameters
    ----------
    frequency_hz : float
        Frequency of oscillation (Hz).
    power_w : float
        Power drawn (W).
    temperature_k : float
        Absolute temperature (K).

    Raises
    ------
    SpecError
        If an argument is not positive and finite.

    References
    ----------
    .. [1] Navid, Lee & Dutton (2005), IEEE J. Solid-State Circuits 40, 630.
    """
    bound = thermal_diffusion_bound(frequency_hz, power_w, temperature_k)
    return 0.5 * _RING_PHASE_NOISE * bound


def _require(name: str, value: float, *, is_zero_allowed: bool = False) -> None:
    is_right = value >= 0.0 if is_zero_allowed else value > 0.0
    if not (is_right and math.isfinite(value)):
        bound = ">= 0" if is_zero_allowed else "> 0"
        raise SpecError(f"{name} must be finite and {bound}, got {value}")
