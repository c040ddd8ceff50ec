"""Imperfections of a sweep's devices that are on and that no axis varies."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from oscsim.design.axes import SETS, Value, field_of
from oscsim.design.table import SweepTable
from oscsim.substrate.device import IMPERFECTIONS, Device

OF_RUNG: Mapping[str, tuple[str, ...]] = {
    "ideal": (),
    "finite": ("settle_time", "start"),
    "noisy": ("settle_time", "start", "diffusion"),
    "device": (*IMPERFECTIONS, "range_limit"),
}
"""What acts at each rung, as `oscsim.substrate.device.Device.at_rung`."""


def unswept(
    table: SweepTable, device_of: Callable[[str], Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what is on in each device and that no axis varies, in any layer.

    Every rule holds with these on: no cell says what it would be without.

    Parameters
    ----------
    table : SweepTable
        The cells, and the rung of the specification.
    device_of : callable
        Gives the device of a cell by its digest.

    Returns
    -------
    dict of str to dict
        Fields and their values, by name of the device; a field that differs between
        the models' own devices has all its values in a list.
    """
    rung = str(table.spec.get("rung", "device"))
    acting = OF_RUNG.get(rung, OF_RUNG["device"])
    given = Counter(name for cell in table.cells for name in cell.point)
    fields = [
        field_of(name)
        for name, times in given.items()
        if len(table.axis(name)) > 1 or times < len(table.cells)
    ]
    varied = {SETS.get(field, field) for field in fields}
    first: dict[tuple[str, Value | None], str] = {}
    for cell in table.cells:
        first.setdefault((cell.subject, cell.point.get("device")), cell.digest)
    found: dict[str, dict[str, Any]] = {}
    for digest in first.values():
        device = device_of(digest)
        own = found.setdefault(str(device.get("name", "")), {})
        for field in acting:
            if field not in varied and _is_on(device, field):
                values = own.setdefault(field, [])
                if device[field] not in values:
                    values.append(device[field])
    return {
        name: {f: v[0] if len(v) == 1 else v for f, v in own.items()}
        for name, own in found.items()
    }


def _is_on(device: Mapping[str, Any], field: str) -> bool:
    if field == "range_limit":
        return bool(device.get(field)) and device.get("time_unit") == "s"
    return field in device and device[field] != _neutral()[field]


@cache
def _neutral() -> dict[str, Any]:
    """Return the fields of a device that does nothing, as a store holds them."""
    neutral = Device(name="", oscillator="ideal", time_unit="model")
    content: dict[str, Any] = json.loads(neutral.model_dump_json())
    return content
