"""Look-up of measured rows, and times at equal error."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]


class NotMeasuredError(Exception):
    """A contender that a target needs is missing."""


class Times:
    """Look-up of the measured rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if "missing" not in row]
        self.gone = [row for row in rows if "missing" in row]

    def all(self, row: str, family: str) -> list[Row]:
        """Return the contenders of one family in one row."""
        return [r for r in self.rows if (r["row"], r["family"]) == (row, family)]

    def fastest(self, row: str, family: str) -> Row:
        """Return the contender of the family that takes the least wall time."""
        self.best(row, family)
        return min(self.all(row, family), key=lambda r: r["wall_per_unit_s"])

    def named(self, row: str, start: str) -> float:
        """Return the wall time per unit of the fastest ceiling so called."""
        found = [
            r for r in self.all(row, "ceiling") if r["contender"].startswith(start)
        ]
        if not found:
            raise NotMeasuredError(f"no {start} in {row}")
        return float(min(r["wall_per_unit_s"] for r in found))

    def number(self, row: str, key: str) -> int:
        """Return a size that all contenders of a row share."""
        sizes = [r[key] for r in self.rows if r["row"] == row and key in r]
        if not sizes:
            raise NotMeasuredError(f"no {key} in {row}: not run")
        return int(sizes[0])

    def best(self, row: str, family: str, key: str = "wall_per_unit_s") -> float:
        """Return the time per unit of the family's fastest contender."""
        found = self.all(row, family)
        if not found:
            reasons = [
                g["missing"]
                for g in self.gone
                if (g["row"], g["family"]) == (row, family)
            ]
            raise NotMeasuredError(
                f"no {family} in {row}: {'; '.join(reasons) or 'not run'}"
            )
        return float(min(r[key] for r in found))


def at_error(rows: Iterable[Row], error: float, key: str) -> float:
    """Return the time to reach an error, log-log between measured tolerances.

    The fastest of the fronts: a point counts only if no faster one is better.
    """
    points = sorted((r[key], r["error"]) for r in rows if r["error"])
    front: list[tuple[float, float]] = []
    for cost, found in points:
        if not front or found < front[-1][1]:
            front.append((cost, found))
    if not front or front[-1][1] > error:
        raise NotMeasuredError(f"no contender reached an error of {error:g}")
    for (cost0, error0), (cost1, error1) in pairwise(front):
        if error1 <= error <= error0:
            part = math.log(error0 / error) / math.log(error0 / error1)
            return cost0 * (cost1 / cost0) ** part
    return front[0][0]
