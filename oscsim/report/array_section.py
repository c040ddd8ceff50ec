"""The section of a report on the array: passes, seconds, area, bounds of physics."""

from oscsim.bridge.array import OnArray
from oscsim.bridge.phase_times import PHASE_TIME_NOTES
from oscsim.report.area_table import AREA_HEADER, area_notes, area_rows
from oscsim.report.limits_table import (
    BRACKETS,
    LIMIT_HEADER,
    limit_rows,
    precision_line,
)
from oscsim.report.markup import items, paragraph, table
from oscsim.report.phase_times_table import HEADER, window_rows, window_title
from oscsim.report.timeline_table import (
    sweep_header,
    sweep_notes,
    sweep_rows,
    sweep_title,
)


def array_section(found: OnArray) -> str:
    """Return sweeps of a mapped model and the bounds that its device sits above."""
    parts = [
        *_sweeps(found),
        "<h3>Bounds of physics, 300 K</h3>",
        table(LIMIT_HEADER, limit_rows(found.limits), numbers=(1, 2, 3)),
    ]
    if not all(limit.holds for limit in found.limits):
        parts.append(paragraph(BRACKETS, "faint"))
    if found.unbound:
        parts.append(paragraph(f"{found.unbound}."))
    if found.held is not None:
        parts.append(paragraph(precision_line(found.held)))
    return "\n".join(parts)


def _sweeps(found: OnArray) -> list[str]:
    if found.windows is not None:
        return [
            paragraph(f"{window_title(found.windows)}."),
            table(HEADER, window_rows(found.windows), numbers=(1, 2)),
            items(PHASE_TIME_NOTES),
        ]
    header = sweep_header(found.timed)
    return [
        paragraph(f"{sweep_title(found.timed)}."),
        table(
            header,
            sweep_rows(found.timed, found.write_j),
            numbers=range(1, len(header)),
        ),
        items(sweep_notes(found.timed)),
        *_silicon(found),
    ]


def _silicon(found: OnArray) -> list[str]:
    if found.area is None:
        return []
    return [
        "<h3>Area, as far as it is known</h3>",
        table(AREA_HEADER, area_rows(found.area), numbers=(1, 2)),
        items(area_notes(found, found.area)),
    ]
