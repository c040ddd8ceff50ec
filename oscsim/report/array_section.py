"""The section of a report on the array: bounds of physics, passes and seconds."""

from oscsim.bridge.array import OnArray
from oscsim.report.limits_table import (
    BRACKETS,
    LIMIT_HEADER,
    limit_rows,
    precision_line,
)
from oscsim.report.markup import items, paragraph, table
from oscsim.report.timeline_table import (
    sweep_header,
    sweep_notes,
    sweep_rows,
    sweep_title,
)


def array_section(found: OnArray) -> str:
    """Return sweeps of a mapped model and the bounds that its device sits above."""
    header = sweep_header(found.timed)
    parts = [
        paragraph(f"{sweep_title(found.timed)}."),
        table(header, sweep_rows(found.timed), numbers=range(1, len(header))),
        items(sweep_notes(found.timed)),
        "<h3>Bounds of physics, 300 K</h3>",
        table(LIMIT_HEADER, limit_rows(found.limits), numbers=(1, 2, 3)),
    ]
    if not all(limit.holds for limit in found.limits):
        parts.append(paragraph(BRACKETS, "faint"))
    parts.append(paragraph(precision_line(found.held)))
    return "\n".join(parts)
