"""Claims of circuits as tables and as plain data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from oscsim.spice.check import CircuitCheck, Outcome


def print_circuit(console: Console, check: CircuitCheck) -> None:
    """Print the claims of a circuit: expected, measured, difference, verdict."""
    told = check.expectations
    kind = " (counter-example)" if told.counter_example else ""
    console.print(f"{check.name}{kind}: {told.purpose}", style="bold")
    console.print(told.equation, highlight=False)
    table = Table(box=None, pad_edge=False)
    for heading in ("claim", "case", "expected", "measured", "off by", "allowed", ""):
        table.add_column(heading, overflow="fold")
    for outcome in check.outcomes:
        claim = outcome.claim
        table.add_row(
            claim.name,
            claim.case,
            _value(claim.expected, claim.unit),
            _value(outcome.measured, claim.unit),
            _number(outcome.error),
            f"{claim.tolerance:.3g}",
            "pass" if outcome.passed else "FAIL",
        )
    console.print(table)
    for outcome in check.outcomes:
        if outcome.remark:
            console.print(f"{outcome.claim.name}: {outcome.remark}", highlight=False)
    sources = dict.fromkeys(outcome.claim.source for outcome in check.outcomes)
    for source in sources:
        console.print(f"expected from: {source}", highlight=False)
    console.print(
        f"{len(check.runs)} run(s) of ngspice, {check.seconds:.1f} s", highlight=False
    )


def print_circuits(console: Console, checks: Mapping[str, CircuitCheck | str]) -> None:
    """Print a line per circuit; a text stands for one that did not run.

    Parameters
    ----------
    console : Console
        Where to print.
    checks : mapping of str to CircuitCheck or str
        The circuits by name.
    """
    table = Table(box=None, pad_edge=False)
    for heading in ("circuit", "claims", "closest to its limit", "time", ""):
        table.add_column(heading, overflow="fold")
    for name, check in checks.items():
        if isinstance(check, str):
            table.add_row(name, "-", check, "-", "FAIL")
            continue
        held = sum(outcome.passed for outcome in check.outcomes)
        worst = max(check.outcomes, key=_share)
        table.add_row(
            name,
            f"{held}/{len(check.outcomes)}",
            f"{worst.claim.name}: off by {_number(worst.error)} of "
            f"{worst.claim.tolerance:.3g} {worst.claim.unit}",
            f"{check.seconds:.1f} s",
            "pass" if check.passed else "FAIL",
        )
    console.print(table)


def summary_of(check: CircuitCheck) -> dict[str, Any]:
    """Return a check as plain data; an infinite difference becomes None."""
    return {
        "circuit": check.name,
        "purpose": check.expectations.purpose,
        "counter_example": check.expectations.counter_example,
        "passed": check.passed,
        "seconds": check.seconds,
        "claims": [
            {
                "name": outcome.claim.name,
                "case": outcome.claim.case,
                "kind": outcome.claim.kind,
                "signals": list(outcome.claim.signals),
                "expected": _plain(outcome.claim.expected),
                "measured": _plain(outcome.measured),
                "difference": outcome.error if np.isfinite(outcome.error) else None,
                "tolerance": outcome.claim.tolerance,
                "unit": outcome.claim.unit,
                "source": outcome.claim.source,
                "passed": outcome.passed,
                "remark": outcome.remark,
            }
            for outcome in check.outcomes
        ],
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else np.asarray(value).tolist()


def _share(outcome: Outcome) -> float:
    """Return how much of the tolerance is used, 0 for a verdict that holds."""
    if outcome.error == 0:
        return 0.0
    return outcome.error / max(outcome.claim.tolerance, 1e-300)


def _value(value: Any, unit: str) -> str:
    if isinstance(value, str):
        return value
    array = np.asarray(value)
    told = f"{array:.6g}" if array.ndim == 0 else f"{array.size} values"
    return told if unit == "1" else f"{told} {unit}"


def _number(error: float) -> str:
    return f"{error:.2g}" if np.isfinite(error) else "all"
