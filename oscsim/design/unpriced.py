"""Why cells of a sweep have no price."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oscsim.design.axes import Value, digital_places, layer_of, whole_layers
from oscsim.design.cells import Cell
from oscsim.energy.bit_laws import bit_laws
from oscsim.energy.components import Library
from oscsim.energy.device_remarks import FREE
from oscsim.energy.prices import Prices
from oscsim.substrate.device import Device, Rung

NO_MAP = "the device has no price map"
NO_TIME = "it settles in no finite time"
OWN = "layers or heads have hardware of their own"
NOT_KEPT = "none was kept when it was run"

FIELDS = {
    "coupler_s": "weight_bits",
    "coupling_write": "weight_bits",
    "anchor_write": "anchor_bits",
    "state_read": "adc_bits",
}
"""Field that says of how many bits an action is."""

_PRICELESS = {*FREE, "name", "description", "provenance", "changes"}


def why_no_price(cell: Cell) -> str:
    """Return why a cell that is to be run will have no price, empty if it will.

    Counts of a pass tell what digital layers do from what oscillators do, so there
    is a price where all oscillators are on one hardware and layers are digital as a
    whole. Of a layer with digital heads they do not say which head did what.
    """
    return why_unpriced(cell.setting.acting_device, has_own=cell.digital_layers is None)


def why_unpriced(device: Device, *, has_own: bool) -> str:
    """Return why what runs on a device has no price, empty if it has one.

    Parameters
    ----------
    device : Device
        With what acts of it.
    has_own : bool
        Whether layers or heads have hardware of their own beside it.
    """
    if device.energy is None:
        return NO_MAP
    if device.time_unit != "s" or not math.isfinite(device.settle_time):
        return NO_TIME
    return too_many_bits(device) or _no_bits(device) or (OWN if has_own else "")


def _no_bits(device: Device) -> str:
    """Return which bits a priced device had and was left without."""
    priced = Prices.of_device(device, Library.load()).terms
    free = {
        field
        for action, field in FIELDS.items()
        if action in priced and device.changes.get(field, "").endswith(" -> None")
    }
    return " and ".join(
        f"{field} is none, and its price is one of bits" for field in sorted(free)
    )


def too_many_bits(device: Device) -> str:
    """Return which bits of a priced device are beyond the laws of prices."""
    followed = Prices.of_device(device, Library.load()).followed
    beyond = [action for action, one in followed.items() if one.is_beyond]
    if not beyond or device.energy is None:
        return ""
    laws, terms = bit_laws().by_component, Prices.of(device.energy.prices).terms
    most: dict[str, int] = {}
    for action in beyond:
        price = terms.get(action) or terms["coupling_write"]
        ends = [laws[name].bits[1] for one in price for name in one if name in laws]
        field = FIELDS[action]
        most[field] = min(*ends, most.get(field, ends[0]))
    return " and ".join(
        f"{field} is above {end}, the most that a law of its price covers"
        for field, end in sorted(most.items())
    )


def reasons(cells: Iterable[Cell]) -> dict[str, int]:
    """Return why cells will have no price, with how many."""
    return dict(Counter(filter(None, map(why_no_price, cells))))


class StoredReasons:
    """Why cells of a store have no price.

    Parameters
    ----------
    device_of : callable
        Gives the device of a cell as plain data, by its digest.
    rung : str
        Which imperfections act.
    """

    def __init__(self, device_of: Callable[[str], dict[str, Any]], rung: Rung) -> None:
        self.device_of, self.rung = device_of, rung
        self.known: dict[tuple[str, bool], str] = {}

    def of(
        self, digest: str, point: Mapping[str, Value], config: Mapping[str, Any]
    ) -> str:
        """Return why one that has a result has no price.

        Parameters
        ----------
        digest : str
            Of the cell.
        point : mapping of str to value
            Its place on the axes.
        config : mapping
            Sizes of its model.
        """
        content = self.device_of(digest)
        kept = {name: v for name, v in content.items() if name not in _PRICELESS}
        has_own = _has_own(point, config)
        key = (json.dumps(kept, sort_keys=True), has_own)
        if key not in self.known:
            # numbers of a store that are infinite are words
            plain = {n: math.inf if v == "Infinity" else v for n, v in content.items()}
            device = Device.model_validate_json(json.dumps(plain))
            said = why_unpriced(device.at_rung(self.rung), has_own=has_own)
            self.known[key] = said or NOT_KEPT
        return self.known[key]


def _has_own(point: Mapping[str, Value], config: Mapping[str, Any]) -> bool:
    """Return whether a point may give layers or heads hardware of their own."""
    if any(layer_of(name) is not None for name in point):
        return True
    if point.get("digital", "none") == "none":
        return False
    n_heads = int(config["n_heads"])
    places = digital_places(point["digital"], config["n_layers"], n_heads)
    return len(places) > n_heads * len(whole_layers(places, n_heads))
