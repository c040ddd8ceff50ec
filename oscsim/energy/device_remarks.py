"""What a device says that prices alone do not: resolutions, and when it is on."""

import math

from oscsim.substrate.device import Device
from oscsim.units import ring_diffusion_minimum, thermal_diffusion_bound

OVERDAMPED = ("ring", "relaxation")
"""Kinds of oscillator that the thermodynamic bound on phase diffusion binds."""


RESOLVED = ("coupler_s", "coupling_write", "anchor_write", "state_read")
"""Actions that have a resolution."""


def bits_of(device: Device) -> dict[str, int]:
    """Return the resolution of each action of a device that has one."""
    found = {
        "coupler_s": device.weight_bits,
        "coupling_write": device.weight_bits,
        "anchor_write": device.anchor_bits,
        "state_read": device.adc_bits,
    }
    return {action: bits for action, bits in found.items() if bits is not None}


def while_loading(device: Device) -> str:
    """Return what oscillators, anchors and couplers do while couplings load."""
    if device.runs_while_loading:
        return (
            "oscillators, anchors and couplers run while their couplings load "
            "(runs_while_loading = true), and are gated off in tiles that wait"
        )
    return (
        "oscillators, anchors and couplers are taken to be gated off while couplings "
        "load (runs_while_loading = false) and in tiles that wait"
    )


FREE = (
    "coupling_mismatch",
    "coupling_offset",
    "anchor_mismatch",
    "anchor_gain_mismatch",
    "frequency_mismatch",
    "frequency_offset",
    "stuck_off",
    "stuck_on",
    "diffusion",
    "readout_noise",
)
"""Numbers that no price follows: no source says what a better one costs."""


def not_followed(device: Device) -> str:
    """Return which numbers of a device were changed without a price that follows."""
    changed = [name for name in FREE if name in device.changes]
    if not changed:
        return ""
    listed = ", ".join(f"{name} {device.changes[name]}" for name in changed)
    return f"no price follows {listed}: a better one costs as much as a worse one"


def below_bound(device: Device, power_w: float) -> str:
    """Return whether an oscillator has less noise than its power allows.

    ``D >= 4 pi^2 k T f^2 / P`` of an overdamped oscillator at 300 K, and 3.67 times
    that of a ring. D = 0 is a model without noise, of which nothing is said.

    Parameters
    ----------
    device : Device
        With its diffusion and frequency.
    power_w : float
        Of one oscillator without its periphery (W).

    Returns
    -------
    str
        A sentence; empty if there is no bound, or D is not below it.

    References
    ----------
    .. [1] Oberreiter, Seifert & Barato (2022), arXiv:2112.01607.
    .. [2] Navid, Lee & Dutton (2005), IEEE J. Solid-State Circuits 40, 630.
    """
    is_bound = device.oscillator in OVERDAMPED and device.frequency_hz is not None
    if not is_bound or not device.diffusion > 0 or not power_w > 0:
        return ""
    ring = device.oscillator == "ring"
    least = ring_diffusion_minimum if ring else thermal_diffusion_bound
    bound = least(device.frequency_hz or math.nan, power_w)
    if device.diffusion >= bound:
        return ""
    formula = "144.7 k T f^2 / P of a ring" if ring else "4 pi^2 k T f^2 / P"
    needed = power_w * bound / device.diffusion
    return (
        f"diffusion {device.diffusion:.3g} rad^2/s is below the {bound:.3g} that "
        f"{power_w * 1e6:.3g} uW allow ({formula}): it takes at least "
        f"{needed * 1e6:.3g} uW an oscillator, which is not charged"
    )
