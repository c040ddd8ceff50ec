"""Details of single cells of a sweep, to which points of its figures lead."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from oscsim.design.replicates import half_width
from oscsim.design.table import CellResult, SweepTable
from oscsim.report.axis_words import metric_words, said_point
from oscsim.report.markup import Content, Link, paragraph, table
from oscsim.report.numbers import percent, quantity

DeviceOf = Callable[[str], dict[str, Any]]
"""Gives the device of a cell by the digest of the cell."""

_LEFT_OUT = ("changes", "provenance")


def place_of(number: int) -> str:
    """Return the id of a cell's details."""
    return f"cell-{number}"


def link_to(number: int, text: str, detailed: Iterable[int]) -> Content:
    """Return a link to a cell, or the text where the page has no details of it."""
    return Link(place_of(number), text) if number in detailed else text


def cell_name(cell: CellResult) -> str:
    """Return model and point of a cell."""
    return ", ".join(filter(None, [cell.subject, said_point(cell.point)]))


def cell_title(cell: CellResult) -> str:
    """Return model and point of a cell, and its metric."""
    return f"{cell_name(cell)}: {cell.values.mean():.4f}"


def cells_section(
    results: SweepTable, numbers: Iterable[int], device_of: DeviceOf
) -> str:
    """Return the details of cells, closed until one is asked for.

    Parameters
    ----------
    results : SweepTable
        All cells.
    numbers : iterable of int
        Which of them.
    device_of : callable
        Gives the device of a cell by its digest.
    """
    numbers = list(numbers)
    devices = {n: _fields(device_of(results.cells[n].digest)) for n in numbers}
    names = dict.fromkeys(name for fields in devices.values() for name in fields)
    same = {
        name
        for name in names
        if len({json.dumps(fields.get(name)) for fields in devices.values()}) == 1
    }
    parts = [_common(devices, [name for name in names if name in same], results)]
    if len(numbers) < len(results.cells):
        parts.append(
            paragraph(
                f"Details of {len(numbers):,} of {len(results.cells):,} cells: those "
                "on a line of the figures or on the front. The NetCDF file has all."
            )
        )
    of_model: dict[str, list[str]] = {}
    for number in numbers:
        own = {n: v for n, v in devices[number].items() if n not in same}
        found = of_model.setdefault(results.cells[number].subject, [])
        found.append(_cell(results, number, own))
    parts += [
        f"<details><summary>{escape(model)}: {len(found):,} cells</summary>"
        f'<div class="inside">{"".join(found)}</div></details>'
        for model, found in of_model.items()
    ]
    return "\n".join(parts)


def _fields(device: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in device.items() if n not in _LEFT_OUT}


def _common(
    devices: Mapping[int, Mapping[str, Any]], same: list[str], results: SweepTable
) -> str:
    """Return what the devices of all cells share."""
    if not devices:
        return ""
    first = next(iter(devices.values()))
    rows = [(name, _said(first[name])) for name in same if name in first]
    single = [(name, str(results.axis(name)[0])) for name in results.single_axes]
    many = "every cell" if len(devices) > 1 else "the cell"
    return (
        f"<details><summary>Device fields that {many} shares</summary>"
        f"{table(('field', 'value'), [*single, *rows])}</details>"
    )


def _said(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _cell(results: SweepTable, number: int, own: Mapping[str, Any]) -> str:
    cell = results.cells[number]
    value, spread = float(cell.values.mean()), half_width(cell.values)
    word = metric_words(results.metric)
    around = f" ± {spread:.4f}" if math.isfinite(spread) else ""
    rows = [
        (f"{word}, mean over chips", f"{value:.4f}{around}"),
        (f"{word}, digital", f"{results.known[cell.subject].value:.4f}"),
        ("loss", percent_of(float(results.loss(cell).mean()))),
        (f"{word} of each chip", ", ".join(f"{v:.4f}" for v in cell.values)),
    ]
    if cell.joules is not None:
        low, middle, high = (quantity(j, "J") for j in cell.joules)
        rows.append(("energy per token", f"{middle}, p10..p90 {low}..{high}"))
    if cell.latency_s is not None:
        rows.append(("time per token", quantity(cell.latency_s, "s")))
    rows += [
        ("couplings clipped to full scale", percent(cell.clipped)),
        ("couplings rounded to 0", percent(cell.zeroed)),
        ("oscillators without a drive", percent(cell.undriven)),
        ("oscillators not settled in time", percent(cell.unsettled)),
        *((name, _said(v)) for name, v in own.items()),
        ("digest", cell.digest),
    ]
    return (
        f'<details class="cell"><summary id="{place_of(number)}">'
        f"{escape(cell_title(cell))}</summary>"
        f"{table(('what', 'value'), rows)}</details>"
    )


def percent_of(share: float) -> str:
    """Return a share as a percentage; of a loss below 0, a gain, with its sign."""
    return f"{100 * share:.2f} %".removeprefix("-" if abs(share) < 5e-5 else "")
