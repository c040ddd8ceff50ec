"""The published machines and their predictions as a table on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from oscsim.energy.chip_check import CAVEAT, TOLERATED, ChipCheck, tally
from oscsim.report.numbers import quantity


def print_validation(console: Console, checks: Sequence[ChipCheck]) -> None:
    """Print model, machine and ratio, and the cause of each ratio beyond 3.

    Published figures stand in a column of their own, named as published.

    Parameters
    ----------
    console : Console
        Where to print.
    checks : sequence of ChipCheck
        From `oscsim.energy.validation.validate`.
    """
    table = Table()
    table.add_column("machine")
    table.add_column("figure")
    for heading in ("model", "model, p10 .. p90", "published", "model /\npublished"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for check in checks:
        table.add_row(
            check.chip,
            check.quantity,
            _shown(check.predicted, check),
            _spread(check),
            ("< " if check.is_bound else "") + _shown(check.published, check),
            _ratio(check),
            verdict(check),
        )
    console.print(table)
    for check in checks:
        said = [check.what, f"what it shows: {check.shows}"]
        if check.cause:
            said.append(f"beyond {TOLERATED:g} because {check.cause}")
        if check.note:
            said.append(check.note)
        console.print(
            f"{check.chip}, {check.quantity}: {'; '.join(said)}.", highlight=False
        )
    console.print(f"{tally(checks)}.", highlight=False)
    console.print(f"This {CAVEAT}.", highlight=False)


def verdict(check: ChipCheck) -> str:
    """Return in words how a prediction compares, and whether it was recalled."""
    ratio = check.ratio
    if check.predicted is None:
        found = "not predicted"
    elif ratio is None:
        found = "no figure to compare"
    elif check.is_unexplained:
        found = f"beyond {TOLERATED:g}, unexplained"
    elif check.is_beyond:
        found = f"beyond {TOLERATED:g}, cause below"
    elif check.is_bound:
        found = "within the bound" if ratio <= 1 else f"within {TOLERATED:g} of a bound"
    else:
        found = f"within {TOLERATED:g}"
    if check.kind == "stand-in" and not check.is_beyond:
        found += ", with a stand-in"
    return f"{found}; not verified" if check.is_from_memory else found


def _ratio(check: ChipCheck) -> str:
    if check.ratio is None:
        return "-"
    return ("> " if check.is_bound else "") + f"{check.ratio:.2g}"


def _shown(value: float | None, check: ChipCheck) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if check.unit == "count" else quantity(value, check.unit)


def _spread(check: ChipCheck) -> str:
    if check.spread is None:
        return "-"
    if check.unit == "count":
        return f"{check.spread.p10:.3g} .. {check.spread.p90:.3g}"
    low, high = (
        quantity(end, check.unit) for end in (check.spread[0], check.spread[2])
    )
    return f"{low} .. {high}"
