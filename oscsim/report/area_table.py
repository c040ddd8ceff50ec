"""The silicon of an array on a terminal: what is known, and what is not."""

from rich.console import Console
from rich.table import Table

from oscsim.bridge.array import OnArray
from oscsim.energy.area import MM2, Area
from oscsim.report.timeline_table import sweep_name

AREA_HEADER = ("part", "nominal", "p10 .. p90", "area of one")


def print_area(console: Console, found: OnArray) -> None:
    """Print parts with their areas, the sum, and area times time per token.

    Parameters
    ----------
    console : Console
        Where to print.
    found : OnArray
        From `oscsim.bridge.array.on_array`.
    """
    if found.area is None:
        return
    table = Table(title="area, as far as it is known")
    for heading in AREA_HEADER:
        right = heading in AREA_HEADER[1:3]
        table.add_column(heading, justify="right" if right else "left")
    rows = area_rows(found.area)
    for row in rows:
        table.add_row(*row, end_section=row is rows[-2])
    console.print(table)
    console.print(f"{'; '.join(area_notes(found, found.area))}.", highlight=False)


def area_rows(found: Area) -> list[tuple[str, ...]]:
    """Return one row a part and the sum of those that are known."""
    rows = [
        (part.name, "not known", "", "")
        if part.nominal_mm2 is None or part.spread_mm2 is None
        else (
            part.name,
            f"{part.nominal_mm2:.3g} mm2",
            f"{part.spread_mm2.p10:.3g} .. {part.spread_mm2.p90:.3g}",
            " x ".join(part.components),
        )
        for part in found.parts
    ]
    spread = found.spread_mm2
    if not found.known:
        return [*rows, ("sum of the known", "none", "", "")]
    total = ("sum of the known", f"{found.nominal_mm2:.3g} mm2")
    return [*rows, (*total, f"{spread.p10:.3g} .. {spread.p90:.3g}", "")]


def area_notes(found: OnArray, area: Area) -> list[str]:
    """Return coverage, area times time per token by sweep, and what was assumed."""
    said = [area.coverage]
    if area.known:
        products = ", ".join(
            f"{area.nominal_mm2 / MM2 / one.tokens_per_s:.3g} um2 s ({sweep_name(one)})"
            for one in found.timed
        )
        said.append(f"known area times time per token: {products}")
    return [*said, *area.notes]
