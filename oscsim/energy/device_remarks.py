"""What a device says that prices alone do not: resolutions, and when it is on."""

from oscsim.substrate.device import Device


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
