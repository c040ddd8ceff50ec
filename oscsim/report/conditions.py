"""What the cells of a sweep share: items, draws, rung and device, in one line."""

from collections.abc import Mapping
from typing import Any

from oscsim.design.table import SweepTable


def said_conditions(table: SweepTable) -> str:
    """Return on what, with which draws and on which device a sweep was run.

    Parameters
    ----------
    table : SweepTable
        Gives the specification; what it does not say is left out.
    """
    spec = table.spec
    found = [_items(table), _data(spec)]
    for name in ("seed", "repeats", "rung"):
        if name in spec:
            found.append(f"{name} {spec[name]}")
    return ", ".join([*(one for one in found if one), *_device(table)])


def _items(table: SweepTable) -> str:
    """Return how many items each model saw: windows of bytes, or others."""
    word = "window" if table.is_loss_bits else "item"
    counts = sorted(
        {about["items"] for about in table.subjects.values() if "items" in about}
    )
    if not counts:
        return ""
    many = " or ".join(f"{n:,}" for n in counts)
    context = table.spec.get("context")
    of = f" of {context} bytes" if context and table.is_loss_bits else ""
    return f"{many} {word}{'s' * (counts != [1])}{of}"


def _data(spec: Mapping[str, Any]) -> str:
    """Return which data: the first digits of their SHA-256."""
    sums = spec.get("data") or []
    return f"data {' and '.join(f'{one:.8}' for one in sums)}" if sums else ""


def _device(table: SweepTable) -> list[str]:
    """Return the device and the fields that were changed everywhere."""
    spec = table.spec
    if "device" not in spec:
        return []
    if "device" in (*table.axes, *table.single_axes):
        named = "device as the axis says"
    elif spec["device"] is None:
        named = "each model's default device"
    else:
        named = f"device {spec['device']}"
    changed = [f"{name} {value}" for name, value in (spec.get("set") or {}).items()]
    return [named + (f" with {', '.join(changed)}" if changed else "")]
