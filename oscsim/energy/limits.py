"""What physics allows, beside what a design spends."""

import math
from dataclasses import dataclass

from oscsim.energy.bounds import (
    converter_floor,
    sampling_bound,
    schreier_db,
    settling_bound,
    walden_j,
)
from oscsim.energy.components import Library
from oscsim.energy.device_remarks import OVERDAMPED
from oscsim.energy.precision import drive_of
from oscsim.energy.prices import PICO, Prices
from oscsim.energy.pricing import ADC_FLOOR
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device
from oscsim.units import ring_diffusion_minimum, thermal_diffusion_bound


@dataclass(frozen=True)
class Limit:
    """A bound of physics, or of everything built so far, and a design beside it.

    Attributes
    ----------
    name : str
        What is bounded.
    actual, bound : float
        Of the design, and what it cannot fall below, in ``unit``.
    unit : str
        ``"rad^2/s"`` or ``"J"``.
    formula : str
        The bound in symbols, with its source.
    holds : bool
        Whether the bound binds this design; if not, it is a scale only.
    note : str
        Why it does not bind, or what was taken.
    """

    name: str
    actual: float
    bound: float
    unit: str
    formula: str
    holds: bool = True
    note: str = ""

    @property
    def factor(self) -> float:
        """How many times above the bound the design sits."""
        return self.actual / self.bound


def physics_limits(
    device: Device, library: Library | None = None, drive: float | None = None
) -> tuple[Limit, ...]:
    """Return the bounds that a priced device can be held against.

    Phase diffusion at the core power of one oscillator, the energy to settle
    one to the precision of its converter, a conversion, and a coupling write.
    What the device does not state is left out.

    Parameters
    ----------
    device : Device
        With prices, in seconds.
    library : Library, optional
        Components; the bundled ones by default.
    drive : float, optional
        |h| (rad/s), as in `precision`.

    Returns
    -------
    tuple of Limit

    Raises
    ------
    ComponentError
        If the device has no prices, or a price is malformed.
    DeviceError
        If the device is in model units.
    SpecError
        If ``drive`` is not positive.

    Notes
    -----
    At 300 K. The thermodynamic bound holds for overdamped oscillators; an
    underdamped one (LC, mechanical, Josephson) can beat it.
    """
    library = Library.load() if library is None else library
    h = drive_of(device, drive)
    prices = Prices.of_device(device, library)
    limits: list[Limit] = []
    if device.frequency_hz is not None and "oscillator_s" in prices.terms:
        limits += _of_oscillator(device, prices, library, h)
    limits += _of_converters(device, prices, library)
    return tuple(limits)


def why_unbound(device: Device) -> str:
    """Return why a device has no bound on its phase; empty if it has one."""
    energy = device.energy
    if energy is None or (device.frequency_hz and "oscillator_s" in energy.prices):
        return ""
    said = f"No bound of phase diffusion and of settling for {device.name}: "
    if "component_s" in energy.prices:
        return said + "they are of one phase, and its state has components"
    return said + "it has no frequency_hz, or no price of an oscillator"


def core_power(device: Device, library: Library) -> float:
    """Return the power of one oscillator without its periphery (W).

    Raises
    ------
    ComponentError
        If the device has no prices or no price of an oscillator.
    """
    prices = Prices.of_device(device, library)
    if "oscillator_s" not in prices.terms:
        raise ComponentError(f"device {device.name} has no price of oscillator_s")
    return prices.core_power_w(library)


def _of_oscillator(
    device: Device, prices: Prices, library: Library, drive: float
) -> list[Limit]:
    frequency = device.frequency_hz or math.nan
    power = core_power(device, library)
    holds = device.oscillator in OVERDAMPED
    free = "" if holds else "underdamped: not bound by it"
    thermodynamic = thermal_diffusion_bound(frequency, power)
    limits = []
    if device.diffusion > 0:
        limits.append(
            Limit(
                "phase diffusion",
                device.diffusion,
                thermodynamic,
                "rad^2/s",
                "4 pi^2 k T f^2 / P (thermodynamic; arXiv:2112.01607)",
                holds,
                free,
            )
        )
    if device.diffusion > 0 and device.oscillator == "ring":
        limits.append(
            Limit(
                "phase diffusion of a ring",
                device.diffusion,
                ring_diffusion_minimum(frequency, power),
                "rad^2/s",
                "144.7 k T f^2 / P (Navid, Lee, Dutton 2005)",
            )
        )
    if device.diffusion > 0 and device.oscillator == "relaxation":
        ratio = library["phys.D_relax_min"].value / library["phys.D_TUR"].value
        limits.append(
            Limit(
                "phase diffusion of a relaxation oscillator",
                device.diffusion,
                ratio * thermodynamic,
                "rad^2/s",
                "61.2 k T f^2 / P (Navid, Lee, Dutton 2005; from memory)",
            )
        )
    if device.adc_bits is not None and math.isfinite(device.settle_time):
        step = 2 * math.pi / (math.sqrt(12) * 2.0**device.adc_bits)
        limits.append(
            Limit(
                f"settling one oscillator to {device.adc_bits} bits",
                power * device.settle_time,
                settling_bound(
                    device.adc_bits * math.log(2),
                    drive / (2 * math.pi * frequency),
                    step,
                ),
                "J",
                "n k T / (kappa sigma)^2, n = B ln 2, sigma of one step",
                holds,
                free,
            )
        )
    return limits


def _of_converters(device: Device, prices: Prices, library: Library) -> list[Limit]:
    limits = []
    bits = device.adc_bits
    if bits is not None and "state_read" in prices.terms:
        energy, base = _energy("state_read", prices, library)
        raised = ""
        if base.startswith("adc.") and energy < library[ADC_FLOOR].value * PICO:
            # what the ledger charges
            energy = library[ADC_FLOOR].value * PICO
            raised = f"; {base} raised to {ADC_FLOOR}, as charged"
        merits = (
            f"{walden_j(energy, bits) * 1e15:.3g} fJ a step (Walden), "
            f"{schreier_db(energy, bits):.0f} dB (Schreier)"
        )
        is_voltage = base.startswith("adc.")
        other = "" if is_voltage else "a time converter: the scale of voltages only; "
        limits += [
            Limit(
                f"conversion of {bits} bits",
                energy,
                converter_floor(library, bits),
                "J",
                "best of the converter survey, .267 pJ + .145 aJ 4^B",
                is_voltage,
                other + merits + raised,
            ),
            Limit(
                f"sample of {bits} bits",
                energy,
                sampling_bound(library, bits),
                "J",
                "12 k T 4^B (kT/C)",
                is_voltage,
                other.removesuffix("; "),
            ),
        ]
    if device.weight_bits is not None and "coupling_write" in prices.terms:
        energy, _ = _energy("coupling_write", prices, library)
        limits.append(
            Limit(
                f"writing a coupling of {device.weight_bits} bits",
                energy,
                device.weight_bits * library["phys.landauer"].value * PICO,
                "J",
                "k T ln 2 a bit (Landauer)",
            )
        )
    return limits


def _energy(action: str, prices: Prices, library: Library) -> tuple[float, str]:
    first = prices.base(action, prices.terms[action][0], library)
    return prices.nominal(action, library), first.id
