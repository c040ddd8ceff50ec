"""The cells of a sweep as a data set of named dimensions."""

from typing import Any

import numpy as np
import xarray as xr

from oscsim.design.axes import Value
from oscsim.design.table import SweepTable

QUANTILES = (0.1, 0.5, 0.9)


def table_dataset(table: SweepTable) -> xr.Dataset:
    """Return the cells of a sweep.

    Dimensions: ``cell`` and ``chip`` (NaN where a cell has fewer, or a chip has no
    value), and ``quantile`` of joules. Axes are variables ``axis_NAME``.

    Parameters
    ----------
    table : SweepTable
        From `oscsim.design.table.read_table`.
    """
    coordinates = {"quantile": list(QUANTILES)}
    return xr.Dataset(cell_variables(table), coordinates, about(table))


def about(table: SweepTable) -> dict[str, str]:
    """Return the attributes of a data set: sweep, metric and versions."""
    versions = {f"version_{name}": v for name, v in table.versions.items()}
    return {"sweep": table.name, "metric": table.metric} | versions


def cell_variables(table: SweepTable) -> dict[str, Any]:
    """Return the cells as variables over ``cell``, ``chip`` and ``quantile``."""
    cells = table.cells
    chips = 1 + max(int(cell.chips.max()) for cell in cells)
    metric = np.full((len(cells), chips), np.nan)
    loss = metric.copy()
    for k, cell in enumerate(cells):
        metric[k, cell.chips] = cell.values
        loss[k, cell.chips] = table.loss(cell)
    nothing = (np.nan,) * 3
    found: dict[str, Any] = {
        "model": ("cell", [cell.subject for cell in cells]),
        "d_osc": ("cell", [number(table.d_osc(cell.subject)) for cell in cells]),
        "digital": ("cell", [table.known[cell.subject].value for cell in cells]),
        "metric": (("cell", "chip"), metric),
        "loss": (("cell", "chip"), loss, _LOSS),
        "joules": (("cell", "quantile"), [c.joules or nothing for c in cells], JOULES),
        "latency": ("cell", [number(c.latency_s) for c in cells], {"units": "s"}),
    }
    for share in ("clipped", "zeroed", "undriven", "unsettled"):
        found[share] = ("cell", [getattr(cell, share) for cell in cells])
    for name in (*table.axes, *table.single_axes):
        values = [cell.point.get(name) for cell in cells]
        found[f"axis_{name}"] = ("cell", _column(values))
    return found


JOULES = {"units": "J", "long_name": "system total per token"}
_LOSS = {"long_name": "share of the digital metric lost"}


def _column(values: list[Value | None]) -> list[Any]:
    """Return numbers where all are, and texts otherwise."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return [float(v) for v in values if v is not None]
    return ["" if v is None else str(v) for v in values]


def number(value: float | None) -> float:
    """Return a number, NaN where there is none."""
    return np.nan if value is None else float(value)
