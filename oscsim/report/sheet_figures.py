"""Every figure of a sweep with its data."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from oscsim.design.axes import Value
from oscsim.design.family_rule import FamilyRule
from oscsim.design.pareto import ParetoPoint
from oscsim.design.rule import DesignRule
from oscsim.errors import SpecError
from oscsim.report.best_figure import best_figure
from oscsim.report.family_csv import gap_csv
from oscsim.report.front_figure import front_figure
from oscsim.report.gap_figure import gap_figure
from oscsim.report.loss_figure import loss_figure, rules_along
from oscsim.report.rule_csv import best_csv, front_csv, loss_csv
from oscsim.report.sheet_drawing import CELL
from oscsim.report.sheet_sections import cells_of


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure, what it is called, and its data.

    Attributes
    ----------
    kind : {"loss", "best", "gap", "front"}
        What is drawn.
    axis : str
        Against which number; empty of the front.
    figure : Figure
        85 mm wide.
    data : bytes
        As CSV.
    family : str
        Which is drawn, where the sweep has several; empty otherwise.
    """

    kind: str
    axis: str
    figure: Figure
    data: bytes
    family: str = ""

    @property
    def name(self) -> str:
        """File name without an ending."""
        family = re.sub(r"[^A-Za-z0-9]+", "", self.family)
        return "-".join(part for part in (self.kind, self.axis, family) if part)


def drawn_figures(rule: DesignRule, front: tuple[ParetoPoint, ...]) -> Iterator[Drawn]:
    """Yield every figure that the sweep has the cells for.

    Parameters
    ----------
    rule : DesignRule
        From `oscsim.design.rule.fit_rule`.
    front : tuple of ParetoPoint
        From `oscsim.design.pareto.pareto`.
    """
    numbers = numbers_of(rule)
    for axis in dict.fromkeys(one.axis for one in rule.rules):
        links = {
            one.subject: [f"{CELL}{numbers[id(c)]}" for c in cells_of(rule, one)]
            for one in rules_along(rule, axis)
        }
        drawn = loss_figure(rule, axis, links)
        yield Drawn("loss", axis, drawn, loss_csv(rule, axis))
        try:
            drawn = best_figure(rule, axis)
        except SpecError:
            continue
        yield Drawn("best", axis, drawn, best_csv(rule, axis))
    for one in rule.families:
        try:
            drawn = gap_figure(one)
        except SpecError:
            continue
        data = gap_csv(one, rule.table.metric)
        yield Drawn("gap", one.axis, drawn, data, family_of(rule, one))
    if any(point.kind == "cell" for point in front):
        places = places_of(rule)
        found = {k: places.get(key_of(p.name, p.point)) for k, p in enumerate(front)}
        addresses = {k: f"{CELL}{n}" for k, n in found.items() if n is not None}
        drawn = front_figure(front, rule.table.metric, addresses)
        yield Drawn("front", "", drawn, front_csv(rule, front))


def family_of(rule: DesignRule, one: FamilyRule) -> str:
    """Return the name of a family where the sweep has several, empty otherwise."""
    names = {other.family.name for other in rule.families}
    return one.family.name if len(names) > 1 else ""


def numbers_of(rule: DesignRule) -> dict[int, int]:
    """Return the number of every cell by its identity."""
    return {id(cell): k for k, cell in enumerate(rule.table.cells)}


def key_of(name: str, point: Mapping[str, Value]) -> tuple[Any, ...]:
    """Return what a cell is found by: model and point."""
    return (name, *sorted(point.items(), key=str))


def places_of(rule: DesignRule) -> dict[tuple[Any, ...], int]:
    """Return the number of every cell by model and point."""
    return {key_of(c.subject, c.point): k for k, c in enumerate(rule.table.cells)}
