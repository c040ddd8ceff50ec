"""From the cells of a sweep to the hardware numbers that are good enough."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oscsim.design.axes import Value, field_of
from oscsim.design.axis_rule import AxisRule, axis_rules
from oscsim.design.family_rule import FamilyRule, family_rules
from oscsim.design.lines import BETTER, is_number
from oscsim.design.optimum import Optimum
from oscsim.design.optimum import optima as best_models
from oscsim.design.ranking import Ranking
from oscsim.design.ranking import rankings as ranked
from oscsim.design.replicates import RESAMPLES
from oscsim.design.table import SweepTable, counted
from oscsim.errors import SpecError

if TYPE_CHECKING:
    import xarray as xr

OF_FAMILIES = 10
"""Resamples of families for each over chips."""

LOSSES = (0.01, 0.02, 0.05, 0.10)
"""Shares of the digital metric that may be lost."""


@dataclass(frozen=True, eq=False, repr=False)
class DesignRule:
    """All rules of a sweep.

    Attributes
    ----------
    table : SweepTable
        The cells.
    losses : tuple of float
        Shares that may be lost.
    rules : tuple of AxisRule
        By checkpoint and number.
    optima : tuple of Optimum
        The best model at each value of each number.
    held : dict
        Where axes are held while another varies.
    rankings : tuple of Ranking
        Axes whose values have no order.
    families : tuple of FamilyRule
        Models that differ in d_osc and training only, by number.
    """

    table: SweepTable
    losses: tuple[float, ...]
    rules: tuple[AxisRule, ...]
    optima: tuple[Optimum, ...]
    held: Mapping[str, Value]
    rankings: tuple[Ranking, ...] = ()
    families: tuple[FamilyRule, ...] = ()

    def __repr__(self) -> str:
        losses = ", ".join(f"{100 * loss:g} %" for loss in self.losses)
        return (
            f"<DesignRule of {self.table.name!r}: {counted(self.rules, 'rule')} for "
            f"losses of {losses}>"
        )

    def to_xarray(self) -> "xr.Dataset":
        """Return cells, rules, laws, optima and front, as `rule_dataset` says."""
        from oscsim.design.pareto import pareto  # noqa: PLC0415
        from oscsim.design.rule_dataset import rule_dataset  # noqa: PLC0415

        return rule_dataset(self, pareto(self.table))


def fit_rule(
    table: SweepTable,
    *,
    losses: Sequence[float] = LOSSES,
    at: Mapping[str, Value | None] | None = None,
    resamples: int = RESAMPLES,
) -> DesignRule:
    """Make the rules of a sweep.

    Parameters
    ----------
    table : SweepTable
        From `oscsim.design.table.read_table`.
    losses : sequence of float
        Shares of the digital metric that may be lost, > 0.
    at : mapping of str to value, optional
        Where to hold axes; others are held at their best value, those without a
        good end at their first.
    resamples : int
        Bootstrap resamples over chips; of families, whose windows and trainings are
        resampled too, ten times as many.

    Raises
    ------
    SpecError
        If a loss is not positive, or ``at`` names no axis or value of the sweep.
    """
    for loss in losses:
        if not (math.isfinite(loss) and loss > 0):
            raise SpecError(f"a loss must be finite and > 0, got {loss}")
    held = _held(table, at or {})
    rules = tuple(axis_rules(table, held, losses, resamples))
    optima = tuple(best_models(table, held))
    rankings = tuple(ranked(table, held, resamples))
    families = tuple(family_rules(table, held, resamples=OF_FAMILIES * resamples))
    return DesignRule(table, tuple(losses), rules, optima, held, rankings, families)


def _held(table: SweepTable, at: Mapping[str, Value | None]) -> dict[str, Value]:
    chosen = {name: "none" if value is None else value for name, value in at.items()}
    for name, value in chosen.items():
        known = table.axis(name)
        if not known:
            raise SpecError(
                f"{name} is no axis of this sweep: {', '.join(table.axes) or 'none'}"
            )
        if value not in known:
            raise SpecError(f"{name} was run at {known}, not at {value!r}")
    found = {}
    for name in table.axes:
        values = table.axis(name)
        better = BETTER.get(field_of(name))
        numbers = [v for v in values if is_number(v)]
        if name in chosen:
            found[name] = chosen[name]
        elif better is None or len(numbers) < len(values):
            found[name] = "none" if "none" in values else values[0]
        else:
            found[name] = min(numbers) if better == "smaller" else max(numbers)
    return found
