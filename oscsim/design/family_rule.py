"""Rules of a family: its scaling law and its best d_osc along a hardware number."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oscsim.design.axes import Value, field_of
from oscsim.design.best_dimension import BestDimension, best_dimension
from oscsim.design.curve import Better
from oscsim.design.family import Family, families
from oscsim.design.gap import GapAt, gap_at
from oscsim.design.lines import BETTER, line
from oscsim.design.table import CellResult, SweepTable
from oscsim.study.resample import RESAMPLES


@dataclass(frozen=True)
class Level:
    """One d_osc of a family at one value of a number.

    Attributes
    ----------
    trainings : tuple of str
        Checkpoints that have a result there.
    metric : float
        Mean over trainings and chips.
    spread : float
        Deviation between trainings, NaN of one.
    """

    trainings: tuple[str, ...]
    metric: float
    spread: float


@dataclass(frozen=True)
class FamilyAt:
    """A family at one value of a number.

    Attributes
    ----------
    value : float
        Of the number.
    levels : dict of int to Level
        By rising d_osc.
    gap : GapAt or None
        The gap to softmax and its law; None without twins, or of accuracies.
    best : BestDimension or None
        None where each d_osc has one training.
    """

    value: float
    levels: Mapping[int, Level]
    gap: GapAt | None
    best: BestDimension | None

    def standing(self, d_osc: int) -> str:
        """Return whether a d_osc is the best, not told apart from it, or neither."""
        best = self.best
        if best is None:
            return ""
        if d_osc == best.d_osc:
            return "best"
        return "undecided" if d_osc in best.undecided else ""


@dataclass(frozen=True)
class FamilyRule:
    """What a family says along one number, all others held.

    Attributes
    ----------
    family : Family
        Its checkpoints.
    axis : str
        The number.
    held : dict
        Values of the other axes.
    better : {"smaller", "larger"}
        Which values of the number are good.
    places : tuple of FamilyAt
        By rising value.
    why_no_gap : str
        Why there is no gap anywhere; empty where there is.
    """

    family: Family
    axis: str
    held: Mapping[str, Value]
    better: Better
    places: tuple[FamilyAt, ...]
    why_no_gap: str

    @property
    def no_law_from(self) -> float | None:
        """First value, from the good end on, from which on there is no law.

        None if there is a law at the bad end, or no gap at all.
        """
        first = None
        for place in self.places if self.better == "larger" else self.places[::-1]:
            if place.gap is None or place.gap.law is not None:
                break
            first = place.value
        return first


def family_rules(
    table: SweepTable, held: Mapping[str, Value], *, resamples: int = RESAMPLES
) -> Iterator[FamilyRule]:
    """Yield the rules of every family along every number that has a good end.

    Parameters
    ----------
    table : SweepTable
        The cells.
    held : mapping of str to value
        Where axes are held while another varies.
    resamples : int
        Of the intervals of gaps and laws. A floor is fitted at the good end only.
    """
    for family in families(table):
        why = _why_no_gap(table, family)
        for axis in held:
            better = BETTER.get(field_of(axis))
            if better is None:
                continue
            points = _points(table, family, axis, held)
            if len(points) < 2:
                continue
            good = min(points) if better == "smaller" else max(points)
            places = tuple(
                _place(table, family, value, cells, resamples, is_good=value == good)
                for value, cells in points.items()
            )
            others = {n: v for n, v in held.items() if n != axis}
            yield FamilyRule(family, axis, others, better, places, why)


def _why_no_gap(table: SweepTable, family: Family) -> str:
    if not table.is_loss_bits:
        return "a gap is one of perplexities, this sweep measures accuracy"
    if not family.twins:
        return "the sweep has no softmax twin of its size, training and data"
    return ""


def _points(
    table: SweepTable, family: Family, axis: str, held: Mapping[str, Value]
) -> dict[float, dict[int, list[CellResult]]]:
    """Return the cells of a family by value and d_osc, where two have common chips."""
    lines = {
        name: {float(c.point[axis]): c for c in line(table, name, axis, held)}
        for own in family.members.values()
        for name in own
    }
    found = {}
    for value in sorted({value for cells in lines.values() for value in cells}):
        there = {
            d: [lines[name][value] for name in own if value in lines[name]]
            for d, own in family.members.items()
        }
        cells = {d: own for d, own in there.items() if own}
        if len(cells) > 1 and _share_chips(cells):
            found[value] = cells
    return found


def _place(
    table: SweepTable,
    family: Family,
    value: float,
    cells: Mapping[int, Sequence[CellResult]],
    resamples: int,
    *,
    is_good: bool,
) -> FamilyAt:
    counted = table.known[next(iter(family.members.values()))[0]].counted
    gap = None
    if not _why_no_gap(table, family):
        gap = gap_at(
            cells,
            [table.known[name].digital for name in family.twins],
            counted,
            p=family.p or 0,
            has_floor=is_good,
            resamples=resamples,
        )
    return FamilyAt(
        value=value,
        levels={d: _level(own) for d, own in cells.items()},
        gap=gap,
        best=best_dimension(cells, counted, is_loss_bits=table.is_loss_bits),
    )


def _share_chips(cells: Mapping[int, Sequence[CellResult]]) -> bool:
    common: set[int] | None = None
    for own in cells.values():
        for cell in own:
            chips = set(cell.chips.tolist())
            common = chips if common is None else common & chips
    return bool(common)


def _level(cells: Sequence[CellResult]) -> Level:
    means = np.array([cell.values.mean() for cell in cells])
    spread = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    return Level(tuple(c.subject for c in cells), float(means.mean()), spread)
