"""What a rule does not vary, in words for a terminal and a sheet."""

from collections.abc import Mapping
from typing import Any

from oscsim.report.axis_words import said_value


def unswept_words(on: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence a device: which of its imperfections are on throughout.

    Parameters
    ----------
    on : mapping of str to mapping
        From `oscsim.design.unswept.unswept`.
    """
    return [
        f"on in {device} and not swept: "
        + ", ".join(f"{field} {_said(value)}" for field, value in fields.items())
        for device, fields in on.items()
        if fields
    ]


def _said(value: Any) -> str:
    if isinstance(value, list):
        return " or ".join(map(_said, value))
    return "none" if value is None else said_value(value)
