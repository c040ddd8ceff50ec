"""What it takes to write couplings and anchors: joules, and a memory that lasts."""

import math

from oscsim.energy.components import Library
from oscsim.energy.mapping import Mapping
from oscsim.energy.prices import Prices
from oscsim.errors import ComponentError, DeviceError
from oscsim.substrate.device import Device


def write_energy_j(mapping: Mapping, library: Library | None = None) -> float:
    """Return the nominal energy of a sweep's coupling and anchor writes (J per token).

    Raises
    ------
    ComponentError
        If the device has no prices, or none of a coupling write.
    """
    library = Library.load() if library is None else library
    prices = Prices.of_device(mapping.device, library)
    if "coupling_write" not in prices.terms:
        raise ComponentError(
            f"device {mapping.device.name} has no price of coupling_write"
        )
    written = {"coupling_write": mapping.pairs, "anchor_write": mapping.anchor_words}
    joules = math.fsum(
        number * prices.nominal(action, library) for action, number in written.items()
    )
    return joules / mapping.tokens


def require_endurance_known(device: Device) -> None:
    """Check that a device priced with a non-volatile memory says how long it lasts.

    Raises
    ------
    DeviceError
        If couplings are written into one without a ``write_endurance``.
    """
    if device.energy is None or device.write_endurance is not None:
        return
    products = Prices.of_device(device).terms.get("coupling_write", ())
    written = [n for product in products for n in product if n.startswith("nvm.")]
    if written:
        raise DeviceError(
            f"device {device.name} prices coupling_write with {written[0]}, a "
            "non-volatile memory: couplings are rewritten for every query, so state "
            "its write_endurance"
        )
