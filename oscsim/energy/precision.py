"""How well a locked oscillator holds a phase: heat, mismatch, converter."""

import math
from dataclasses import dataclass

from oscsim.energy.bounds import locked_sigma, mismatch_angle, phase_bits
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device


@dataclass(frozen=True)
class Precision:
    """How well one locked oscillator at one drive can hold a phase.

    Attributes
    ----------
    drive : float
        |h| (rad/s).
    thermal_rad : float
        Standard deviation from thermal diffusion.
    mismatch_rad : float
        Standard deviation from the spread of frequencies between oscillators.
    read_bits : int or None
        Of the converter; None without one.
    """

    drive: float
    thermal_rad: float
    mismatch_rad: float
    read_bits: int | None

    @property
    def thermal_bits(self) -> float:
        """Bits over a turn that heat leaves; infinite without diffusion."""
        return phase_bits(self.thermal_rad)

    @property
    def mismatch_bits(self) -> float:
        """Bits over a turn that mismatch leaves; infinite without any."""
        return phase_bits(self.mismatch_rad)

    @property
    def limited_by(self) -> str:
        """The least of the three, in a word."""
        found = {"heat": self.thermal_bits, "mismatch": self.mismatch_bits}
        if self.read_bits is not None:
            found["read-out"] = float(self.read_bits)
        return min(found, key=lambda name: found[name])


def precision(device: Device, drive: float | None = None) -> Precision:
    """Return what heat, mismatch and the converter leave of a phase.

    Parameters
    ----------
    device : Device
        In seconds.
    drive : float, optional
        |h| (rad/s); the coupling at full scale by default. Give a quantile of
        a run's drives: trained ones are often far smaller.

    Raises
    ------
    DeviceError
        If the device is in model units.
    SpecError
        If ``drive`` is not positive.
    """
    h = drive_of(device, drive)
    return Precision(
        drive=h,
        thermal_rad=locked_sigma(device.diffusion, h),
        mismatch_rad=mismatch_angle(device.detuning_sigma, h),
        read_bits=device.adc_bits,
    )


def drive_of(device: Device, drive: float | None = None) -> float:
    """Return a drive |h| (rad/s), the coupling at full scale by default.

    Raises
    ------
    DeviceError
        If the device is in model units.
    SpecError
        If ``drive`` is not positive.
    """
    if device.coupling_max is None:
        raise DeviceError(
            f"device {device.name} is in model units: limits need time_unit 's'"
        )
    found = device.coupling_max if drive is None else drive
    if not (found > 0 and math.isfinite(found)):
        raise SpecError(f"drive must be finite and > 0 rad/s, got {found}")
    return found
