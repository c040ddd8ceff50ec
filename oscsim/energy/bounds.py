"""Bounds of physics on an oscillator and a converter, in closed form."""

import math

from oscsim.energy.components import Library
from oscsim.energy.prices import PICO
from oscsim.errors import SpecError
from oscsim.units import thermal_diffusion_bound


def phase_bits(sigma: float) -> float:
    """Return the bits over a turn of a phase with a standard deviation.

    ``log2(2 pi / (sqrt(12) sigma))``: the converter whose quantisation error
    is as large. Infinite for 0.

    Parameters
    ----------
    sigma : float
        Standard deviation (rad), >= 0.

    Raises
    ------
    SpecError
        If ``sigma`` is negative or not a number.
    """
    if not sigma >= 0:
        raise SpecError(f"sigma must be >= 0 rad, got {sigma}")
    return math.inf if sigma == 0 else math.log2(2 * math.pi / (math.sqrt(12) * sigma))


def locked_sigma(diffusion: float, drive: float) -> float:
    """Return the standard deviation ``sqrt(D / |h|)`` of a locked phase (rad).

    Per tangent direction, for ``d theta = -|h| sin theta dt + sqrt(2 D) dW``
    and D much smaller than |h|.

    Parameters
    ----------
    diffusion : float
        D (rad^2/s), >= 0.
    drive : float
        |h| (rad/s), > 0.

    Raises
    ------
    SpecError
        If an argument is out of range.
    """
    if not diffusion >= 0:
        raise SpecError(f"diffusion must be >= 0 rad^2/s, got {diffusion}")
    _positive("drive", drive, "rad/s")
    return math.sqrt(diffusion / drive)


def mismatch_angle(detuning: float, drive: float) -> float:
    """Return the static phase error of a detuned oscillator, ``detuning / |h|`` (rad).

    ``asin`` of it is exact; from 1 on the oscillator does not lock. With a
    relative frequency error s this is ``s / kappa``, kappa = |h| / (2 pi f).

    Parameters
    ----------
    detuning : float
        rad/s, >= 0.
    drive : float
        |h| (rad/s), > 0.

    Raises
    ------
    SpecError
        If an argument is out of range.
    """
    if not detuning >= 0:
        raise SpecError(f"detuning must be >= 0 rad/s, got {detuning}")
    _positive("drive", drive, "rad/s")
    return detuning / drive


def settling_bound(
    time_constants: float, kappa: float, sigma: float, *, temperature_k: float = 300.0
) -> float:
    """Return the least energy of an overdamped oscillator that locks (J).

    ``n k T / (kappa sigma)^2`` for n time constants 1/|h| at the precision
    sigma: ``P n / |h|`` with P from ``D >= 4 pi^2 k T f^2 / P`` and
    ``sigma^2 = D / |h|``.

    Parameters
    ----------
    time_constants : float
        n, > 0; ``B ln 2`` to come to 2^-B of the start.
    kappa : float
        |h| / (2 pi f), > 0.
    sigma : float
        Standard deviation of the phase (rad), > 0.
    temperature_k : float
        T (K).

    Raises
    ------
    SpecError
        If an argument is not positive and finite.

    References
    ----------
    .. [1] Oberreiter, Seifert & Barato (2022), arXiv:2112.01607 (energy per
       period against coherence).
    """
    for name, value in (
        ("time_constants", time_constants),
        ("kappa", kappa),
        ("sigma", sigma),
    ):
        _positive(name, value, "")
    power_times_time = thermal_diffusion_bound(1.0, 1.0, temperature_k)
    return time_constants * power_times_time / (2 * math.pi * kappa * sigma) ** 2


def sampling_bound(library: Library, bits: int) -> float:
    """Return the least energy of sampling a voltage, ``12 k T 4^B`` (J).

    The capacitor whose kT/C noise is one quantisation error of B bits over its
    supply, charged once.

    Raises
    ------
    SpecError
        If ``bits`` is below 1.
    """
    _at_least_one("bits", bits)
    return 12 * library["phys.kT300"].value * PICO * math.pow(4.0, bits)


def converter_floor(library: Library, bits: int) -> float:
    """Return the lower envelope of the converter survey (J a conversion).

    ``floor + k 4^B``: the best published converters at any speed and node. At
    few bits the floor rules (Walden's regime), at many the term of heat
    (Schreier's).

    Raises
    ------
    SpecError
        If ``bits`` is below 1.
    """
    _at_least_one("bits", bits)
    floor, slope = library["adc.envelope_floor"], library["adc.envelope_k"]
    return (floor.value + slope.value * math.pow(4.0, bits)) * PICO


def walden_j(energy_j: float, bits: float) -> float:
    """Return Walden's figure of merit ``E / 2^B`` (J a step)."""
    _positive("energy_j", energy_j, "J")
    return energy_j / math.pow(2.0, bits)


def schreier_db(energy_j: float, bits: float) -> float:
    """Return Schreier's figure of merit ``SNDR + 10 lg(BW / P)`` (dB).

    SNDR = 6.02 B + 1.76 dB, and BW / P = 1 / (2 E) at the Nyquist rate.
    """
    _positive("energy_j", energy_j, "J")
    sndr = 20 * bits * math.log10(2) + 10 * math.log10(1.5)
    return sndr - 10 * math.log10(2 * energy_j)


def _positive(name: str, value: float, unit: str) -> None:
    if not (value > 0 and math.isfinite(value)):
        needed = f"{name} must be finite and > 0 {unit}".rstrip()
        raise SpecError(f"{needed}, got {value}")


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise SpecError(f"{name} must be at least 1, got {value}")
