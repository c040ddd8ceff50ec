"""A library small enough to price by hand."""

from typing import Any

from oscsim.energy.components import Library


def entry(name: str, value: float, unit: str = "pJ", **fields: Any) -> dict[str, Any]:
    """One component as a file would hold it; exact unless low or high is given."""
    return {
        "id": name,
        "action": "something",
        "value": value,
        "low": value,
        "high": value,
        "unit": unit,
        "node_nm": 0,
        "vdd": 1.0,
        "year": 2020,
        "source": "a paper",
        "confidence": "primary",
        "scale": "none",
    } | fields


def library(*extra: dict[str, Any]) -> Library:
    return Library.parse(
        [
            entry("read", 1.0),
            entry("write", 1.2),
            entry("ring", 0.05, per="cycle"),
            entry("bias", 3.0, "uW"),
            entry("twice", 2.0, "ratio"),
            entry("third", 1 / 3, "ratio"),
            entry("guess", 4.0, confidence="assumed"),
            entry("factor", 4.0, "ratio", confidence="assumed"),
            entry("shrink", 0.5, "ratio", confidence="memory"),
            *extra,
        ]
    )
