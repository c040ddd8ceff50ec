"""How far above the bounds of physics a device sits, on a terminal."""

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from oscsim.energy.limits import Limit
from oscsim.energy.precision import Precision
from oscsim.report.numbers import quantity

LIMIT_HEADER = ("quantity", "this device", "bound", "times above", "bound from")
BRACKETS = "In brackets: the bound does not bind this design."


def limit_rows(limits: Sequence[Limit]) -> list[tuple[str, ...]]:
    """Return one row a bound, under `LIMIT_HEADER`."""
    return [
        (
            limit.name,
            _shown(limit.actual, limit.unit),
            _shown(limit.bound, limit.unit),
            f"{limit.factor:.3g}" if limit.holds else f"({limit.factor:.3g})",
            limit.formula if not limit.note else f"{limit.formula}; {limit.note}",
        )
        for limit in limits
    ]


def print_limits(
    console: Console, limits: Sequence[Limit], held: Precision | None = None
) -> None:
    """Print what a design spends beside what physics asks, and what limits phases.

    Parameters
    ----------
    console : Console
        Where to print.
    limits : sequence of Limit
        From `oscsim.energy.limits.physics_limits`.
    held : Precision, optional
        From `oscsim.energy.limits.precision`.
    """
    table = Table(title="bounds of physics, 300 K")
    for heading in LIMIT_HEADER:
        is_number = heading in LIMIT_HEADER[1:4]
        table.add_column(heading, justify="right" if is_number else "left")
    for row in limit_rows(limits):
        table.add_row(*row)
    if limits:
        console.print(table)
        if not all(limit.holds for limit in limits):
            console.print(BRACKETS)
    if held is not None:
        console.print(precision_line(held), highlight=False)


def precision_line(held: Precision) -> str:
    """Return in a sentence what heat, mismatch and read-out leave of a phase."""
    parts = [
        _bits("heat", held.thermal_rad, held.thermal_bits),
        _bits("mismatch", held.mismatch_rad, held.mismatch_bits),
    ]
    if held.read_bits is not None:
        parts.append(f"read-out {held.read_bits} bits")
    return (
        f"A phase locked at |h| = {held.drive:.3g} rad/s: {', '.join(parts)}; "
        f"limited by {held.limited_by}. Weaker drives hold it less well."
    )


def _bits(cause: str, sigma: float, bits: float) -> str:
    if math.isinf(bits):
        return f"{cause} none"
    return f"{cause} {quantity(sigma, 'rad')} ({bits:.1f} bits)"


def _shown(value: float, unit: str) -> str:
    return quantity(value, "J") if unit == "J" else f"{value:.3g} {unit}"
