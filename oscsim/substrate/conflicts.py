"""Combinations of device fields of which one could not act."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oscsim.substrate.device import Device

STIFF = 1e4


def conflicts(device: "Device") -> Iterator[tuple[bool, str]]:
    """Yield every rule: whether the device breaks it, and what to say then.

    Parameters
    ----------
    device : Device
        Its fields are each in their own range.
    """
    model_units = device.time_unit == "model"
    needs_scale = "needs a full scale: time_unit 's' and coupling_max"
    yield (
        not model_units and device.coupling_max is None,
        "coupling_max (rad/s) is needed when time_unit is 's'",
    )
    yield (
        model_units and device.coupling_max is not None,
        "coupling_max has no meaning when time_unit is 'model'",
    )
    for name in ("weight_bits", "coupling_offset", "stuck_on"):
        yield model_units and bool(getattr(device, name)), f"{name} {needs_scale}"
    yield (
        device.weight_bits is not None and not device.range_limit,
        "range_limit = false cannot act with weight_bits: converters have an end",
    )
    yield (
        device.frequency_mismatch > 0 and device.frequency_hz is None,
        "frequency_mismatch is relative: it needs frequency_hz",
    )
    yield (
        device.start == "previous" and math.isinf(device.settle_time),
        (
            "start = 'previous' cannot act when settle_time is inf: "
            "a settled state does not depend on its start"
        ),
    )
    yield (
        device.start == "previous" and device.query_slots == "all",
        (
            "start = 'previous' needs query_slots = 1: an oscillator that serves "
            "one query does not start where another one ended"
        ),
    )
    yield (
        1e6 < device.settle_time < math.inf,
        f"settle_time must be at most 1e6, or inf, got {device.settle_time:g}",
    )
    detuning = device.detuning_sigma
    yield (
        device.diffusion > 0 and detuning > STIFF * (device.coupling_max or 1.0),
        (
            f"a detuning of {detuning:.3g} rad/s is more than {STIFF:g} times the "
            "full-scale coupling: nothing would lock"
        ),
    )
    yield (
        device.query_slots == 1 and (device.oscillators or 1) > 1,
        (
            "query_slots = 1 has one oscillator for a head: oscillators must be 1 or "
            f"absent, got {device.oscillators}"
        ),
    )
    yield (
        (device.bus_bits is None) != (device.bus_hz is None),
        "a bus has a width and a rate: give both bus_bits and bus_hz",
    )
    yield (
        device.digital_ops_per_s is not None and device.digital_macs_per_s is None,
        "digital_ops_per_s alone times no model: give digital_macs_per_s beside it",
    )
    stuck = device.stuck_off + device.stuck_on
    yield stuck > 1, f"stuck_off + stuck_on = {stuck} is more than 1"
