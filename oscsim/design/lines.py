"""Cells along one hardware number, and which of its ends is good."""

from collections.abc import Mapping

import numpy as np

from oscsim.design.axes import Value
from oscsim.design.curve import Better
from oscsim.design.table import CellResult, SweepTable

BETTER: Mapping[str, Better] = {
    **dict.fromkeys(
        (
            "coupling_mismatch",
            "coupling_offset",
            "anchor_mismatch",
            "anchor_gain_mismatch",
            "frequency_mismatch",
            "frequency_offset",
            "stuck_off",
            "stuck_on",
            "diffusion",
            "relative_diffusion",
            "readout_noise",
        ),
        "smaller",
    ),
    **dict.fromkeys(
        (
            "weight_bits",
            "anchor_bits",
            "adc_bits",
            "settle_time",
            "relative_settle_time",
        ),
        "larger",
    ),
}
"""Hardware numbers that have a good end; rules are made for these."""


def is_number(value: Value) -> bool:
    """Return whether a value of an axis is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def line(
    table: SweepTable, subject: str, axis: str, held: Mapping[str, Value]
) -> list[CellResult]:
    """Return the cells of a subject along an axis, by rising value.

    Failed and non-numeric values are left out.
    """
    fixed = {n: v[0] for n in table.single_axes if (v := table.axis(n))}
    others = {name: value for name, value in held.items() if name != axis}
    values = sorted(float(v) for v in table.axis(axis) if is_number(v))
    found = (table.cell(subject, fixed | others | {axis: v}) for v in values)
    return [c for c in found if c is not None and np.isfinite(c.values).all()]
