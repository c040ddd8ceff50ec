"""From the cells of a sweep to the hardware numbers that are good enough."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oscsim.bridge.language_compare import student_interval
from oscsim.design.axes import Value, field_of
from oscsim.design.curve import Curve
from oscsim.design.family_rule import FamilyRule, family_rules
from oscsim.design.laws import PowerLaw, lost_alignment, power_law
from oscsim.design.lines import BETTER, is_number, line
from oscsim.design.replicates import RESAMPLES, Interval, interval
from oscsim.design.table import CellResult, SweepTable, paired
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

OF_FAMILIES = 10
"""Resamples of families for each over chips."""

LOSSES = (0.01, 0.02, 0.05, 0.10)
"""Shares of the digital metric that may be lost."""


@dataclass(frozen=True, eq=False)
class AxisRule:
    """What one hardware number costs one model, all others held.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    d_osc : int or None
        Components of an oscillator.
    axis : str
        The number.
    held : dict
        Values of the other axes: the best ones, or what was asked for.
    curve : Curve
        Loss (share of the digital metric) against it.
    allowed : dict of float to Interval
        For each loss the value that is just good enough, as
        `oscsim.design.curve.Curve.allowed`; infinite where all stored values are,
        or none is.
    law : PowerLaw or None
        Loss beyond that at the best value, against `law_of`.
    law_of : str
        What the law is in: what the number does, less what it does at the best
        value run, where that is not 0.
    why_no_law : str
        Empty if there is one.
    """

    subject: str
    d_osc: int | None
    axis: str
    held: Mapping[str, Value]
    curve: Curve
    allowed: Mapping[float, Interval]
    law: PowerLaw | None
    law_of: str
    why_no_law: str


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
        Others that are not worse beyond the 95 % Student interval of the paired
        difference, over chips and over items. What another training would change is
        not in it: `oscsim.design.best_dimension` has that, where there are several.
    """

    axis: str
    value: float
    best: str
    d_osc: int | None
    metric: float
    undecided: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """Choices without an order, such as which layers stay digital, by their loss.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    axis : str
        What is chosen.
    held : dict
        Values of the other axes.
    places : tuple of (value, Interval)
        Every choice with the loss over chips, least first.
    """

    subject: str
    axis: str
    held: Mapping[str, Value]
    places: tuple[tuple[Value, Interval], ...]


@dataclass(frozen=True, eq=False)
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


def fit_rule(
    table: SweepTable,
    *,
    losses: Sequence[float] = LOSSES,
    at: Mapping[str, Value] | None = None,
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
    rules = tuple(_rules(table, held, losses, resamples))
    optima = tuple(_optima(table, held))
    rankings = tuple(_rankings(table, held, resamples))
    families = tuple(family_rules(table, held, resamples=OF_FAMILIES * resamples))
    return DesignRule(table, tuple(losses), rules, optima, held, rankings, families)


def _rankings(
    table: SweepTable, held: Mapping[str, Value], resamples: int
) -> Iterator[Ranking]:
    fixed = {name: table.axis(name)[0] for name in table.single_axes}
    for subject in table.subjects:
        for axis in held:
            if field_of(axis) in BETTER:
                continue
            others = {name: value for name, value in held.items() if name != axis}
            places = []
            for value in table.axis(axis):
                cell = table.cell(subject, fixed | others | {axis: value})
                if cell is not None and np.isfinite(cell.values).all():
                    places.append((value, _loss(table, cell, resamples)))
            if len(places) > 1:
                places.sort(key=lambda place: place[1].value)
                yield Ranking(subject, axis, others, tuple(places))


def _loss(table: SweepTable, cell: CellResult, resamples: int) -> Interval:
    loss = table.loss(cell)
    if len(loss) < 2:
        return Interval(float(loss[0]), math.nan, math.nan)
    return interval(loss[:, None], lambda mean: float(mean[0]), resamples=resamples)


def _held(table: SweepTable, at: Mapping[str, Value]) -> dict[str, Value]:
    for name, value in at.items():
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
        if name in at:
            found[name] = at[name]
        elif better is None or len(numbers) < len(values):
            found[name] = "none" if "none" in values else values[0]
        else:
            found[name] = min(numbers) if better == "smaller" else max(numbers)
    return found


def curve_of(
    table: SweepTable, subject: str, axis: str, held: Mapping[str, Value]
) -> Curve | None:
    """Return the loss along an axis, None where fewer than two values were run.

    Chips that not every cell has count in the means, not in the intervals.
    """
    cells = line(table, subject, axis, held)
    if len(cells) < 2:
        return None
    losses, common = paired(cells, [table.loss(cell) for cell in cells])
    if not len(common):
        return None
    values = np.array([float(cell.point[axis]) for cell in cells])
    return Curve(values, losses, BETTER[field_of(axis)])


def _rules(
    table: SweepTable,
    held: Mapping[str, Value],
    losses: Sequence[float],
    resamples: int,
) -> Iterator[AxisRule]:
    for subject in table.subjects:
        for axis in held:
            if field_of(axis) not in BETTER:
                continue
            curve = curve_of(table, subject, axis, held)
            if curve is None:
                continue
            plain = AxisRule(
                subject=subject,
                d_osc=table.d_osc(subject),
                axis=axis,
                held={n: v for n, v in held.items() if n != axis},
                curve=curve,
                allowed={x: curve.allowed(x, resamples=resamples) for x in losses},
                law=None,
                law_of="",
                why_no_law="",
            )
            yield _with_law(plain, table, resamples)


def _with_law(rule: AxisRule, table: SweepTable, resamples: int) -> AxisRule:
    found = disturbance(rule, table)
    if found is None:
        return replace(rule, why_no_law="no law is known for this number")
    x, law_of = found
    losses, reference = rule.curve.losses, int(np.argmin(x))
    beyond = losses - losses[:, [reference]]
    kept = x > (0.0 if x[reference] == 0 else x[reference])
    if x[reference] > 0:
        x = x - x[reference]
        law_of = f"{law_of}, less that at {rule.curve.values[reference]:g}"
    try:
        law = power_law(x[kept], beyond[:, kept], resamples=resamples)
    except SpecError as error:
        return replace(rule, law_of=law_of, why_no_law=str(error))
    return replace(rule, law=law, law_of=law_of)


def disturbance(
    rule: AxisRule, table: SweepTable, values: FloatArray | None = None
) -> tuple[FloatArray, str] | None:
    """Return what a hardware number does to the states, and its name.

    Parameters
    ----------
    rule : AxisRule
        Gives axis and values.
    table : SweepTable
        Gives the drives |h| of the model, in the unit that the number is
        relative to.
    values : FloatArray, optional
        Of the number; those of the rule's curve by default.

    Returns
    -------
    tuple of FloatArray and str, or None
        Of noise the alignment lost, ``1 - A_d(|h| / D)`` over the drives; of
        settling the mean of ``exp(-|h| T)``; of bits ``2^-b``; of errors
        themselves. None where nothing is known.
    """
    field = field_of(rule.axis)
    values = rule.curve.values if values is None else values
    if field in ("weight_bits", "anchor_bits", "adc_bits"):
        return 2.0**-values, "2^-bits"
    drives = _relative_drives(rule, table)
    if field == "relative_diffusion" and drives is not None and rule.d_osc:
        lost = [lost_alignment(rule.d_osc, drives, float(d)) for d in values]
        return np.array(lost), "alignment lost, 1 - A_d(|h|/D)"
    if field == "relative_settle_time" and drives is not None:
        left = [float(np.exp(-drives * t).mean()) for t in values]
        return np.array(left), "mean exp(-|h| T)"
    if BETTER[field] == "smaller" and field != "relative_diffusion":
        return np.array(values), field
    return None


def _relative_drives(rule: AxisRule, table: SweepTable) -> FloatArray | None:
    """Return |h| over its median at equal steps of probability, None without."""
    known = table.known[rule.subject]
    if not len(known.drive_quantiles):
        return None
    cells = line(table, rule.subject, rule.axis, rule.held)
    in_full_scales = any(cell.in_full_scales for cell in cells)
    drives = known.drive_quantiles[:, int(in_full_scales)]
    middle: FloatArray = 0.5 * (drives[1:] + drives[:-1])
    relative: FloatArray = middle / known.median_drive(in_full_scales=in_full_scales)
    return relative


def _optima(table: SweepTable, held: Mapping[str, Value]) -> Iterator[Optimum]:
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
        if not (_is_above(over_chips) and _is_above(over_items)):
            undecided.append(subject)
    metric = float(here[best].values.mean())
    return Optimum(axis, value, best, table.d_osc(best), metric, tuple(undecided))


def _is_above(differences: FloatArray) -> bool:
    """Whether the 95 % Student interval of a mean is above 0."""
    found = student_interval(differences)
    return found is not None and found[0] > 0
