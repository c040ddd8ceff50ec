"""Which model is best at one value of a hardware number."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from oscsim.design.apart import is_apart
from oscsim.design.axes import Value, field_of
from oscsim.design.lines import BETTER, line
from oscsim.design.table import CellResult, SweepTable, paired


@dataclass(frozen=True)
class Optimum:
    """Which checkpoint is best at one value of a number, each taken alone.

    Attributes
    ----------
    axis : str
        The number.
    value : float
        At this value.
    best : str
        Name of the checkpoint.
    d_osc : int or None
        Of it.
    metric : float
        Mean over chips.
    undecided : tuple of str
        Others that are not worse beyond the 95 % interval of the paired difference,
        over chips and items together (`oscsim.design.apart.are_apart`). What another
        training would change is not in it: `oscsim.design.best_dimension` has that,
        where there are several.
    """

    axis: str
    value: float
    best: str
    d_osc: int | None
    metric: float
    undecided: tuple[str, ...]


def optima(table: SweepTable, held: Mapping[str, Value]) -> Iterator[Optimum]:
    """Yield the best model at every value of every number with a good end."""
    if len(table.subjects) < 2:
        return
    for axis in held:
        if field_of(axis) not in BETTER:
            continue
        lines = {s: line(table, s, axis, held) for s in table.subjects}
        values = sorted(
            {float(c.point[axis]) for cells in lines.values() for c in cells}
        )
        for value in values:
            here = {
                s: cell
                for s, cells in lines.items()
                for cell in cells
                if cell.point[axis] == value
            }
            if len(here) > 1:
                yield _best(table, axis, value, here)


def _best(
    table: SweepTable, axis: str, value: float, here: Mapping[str, CellResult]
) -> Optimum:
    sign = 1 if table.is_loss_bits else -1
    best = min(here, key=lambda s: sign * float(here[s].values.mean()))
    undecided = []
    for subject, cell in here.items():
        if subject == best:
            continue
        counted = table.known[subject].counted
        both = (cell, here[best])
        values, _ = paired(both, [one.values for one in both])
        over_chips = sign * (values[:, 0] - values[:, 1])
        over_items = sign * (cell.items - here[best].items)[counted]
        if not (len(over_chips) and is_apart(over_chips, over_items)):
            undecided.append(subject)
    metric = float(here[best].values.mean())
    return Optimum(axis, value, best, table.d_osc(best), metric, tuple(undecided))
