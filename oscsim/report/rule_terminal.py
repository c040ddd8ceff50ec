"""The rules of a sweep as tables on a terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from oscsim.design.axis_rule import AxisRule
from oscsim.design.cheapest import cheapest
from oscsim.design.interactions import Interaction, Sobol
from oscsim.design.pareto import (
    ParetoPoint,
    own_fronts,
    unpriced_axes,
    unpriced_reasons,
)
from oscsim.design.replicates import Interval
from oscsim.design.rule import DesignRule
from oscsim.report.axis_words import said_point, said_value
from oscsim.report.cheapest_table import print_cheapest
from oscsim.report.conditions import said_conditions
from oscsim.report.family_terminal import print_families
from oscsim.report.numbers import quantity
from oscsim.report.points_terminal import print_points
from oscsim.report.rule_words import said_allowed, said_interval
from oscsim.report.unswept_words import unswept_words

if TYPE_CHECKING:
    from rich.console import Console

MOST_PAIRS = 6
MOST_FRONT = 12

MISS = (
    "miss: the largest of points that lose up to 10 % and more than their own error, "
    "as a share of the whole loss"
)
ALONE = "each checkpoint alone: what another training would change is not in it"
BRACKETS = (
    "brackets: 95 % over chips and what reading between stored values may miss; "
    "< or >: beyond what was run; bits are whole"
)


def print_rule(
    console: "Console",
    rule: DesignRule,
    pairs: tuple[Interaction, ...],
    shares: tuple[Sobol, ...],
    front: tuple[ParetoPoint, ...],
    *,
    why_not: Mapping[str, str] | None = None,
    on: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Print what is good enough, what is best, and what is worse together."""
    table = rule.table
    left = f", {table.missing} without results" if table.missing else ""
    console.print(f"{table.name}: {table.metric}, {len(table.cells):,} cells{left}")
    conditions = said_conditions(table)
    if conditions:
        console.print(conditions)
    _print_allowed(console, rule)
    for said in unswept_words(on or {}):
        console.print(said)
    print_points(console, table)
    _print_laws(console, rule)
    print_families(console, rule)
    if not any(one.family.has_trainings for one in rule.families):
        _print_optima(console, rule)
    _print_rankings(console, rule)
    _print_pairs(console, pairs, shares)
    for model, reason in (why_not or {}).items():
        console.print(f"no Sobol indices of {model}: {reason}")
    print_cheapest(console, cheapest(table, rule.losses))
    _print_front(console, front)
    _print_own(console, own_fronts(table))
    for said in unpriced_words(
        unpriced_axes(table), unpriced_reasons(table), len(table.cells)
    ):
        console.print(f"note: {said}")


def _print_allowed(console: "Console", rule: DesignRule) -> None:
    if not rule.rules:
        if not rule.rankings:
            console.print(
                "no number was run at two values or more with all others held: there "
                "is no rule"
            )
        return
    grid = Table(title="good enough for a loss of at most", caption=BRACKETS)
    for name in ("model", "d_osc", f"digital {rule.table.metric}", "number", "held at"):
        grid.add_column(name, overflow="fold")
    for loss in rule.losses:
        said = f"{loss:.3g}" if loss < 0.001 else f"{100 * loss:g} %"
        grid.add_column(said, overflow="fold")
    for one in rule.rules:
        sign = "<=" if one.curve.better == "smaller" else ">="
        held = said_point(one.held) or "-"
        cells = [said_allowed(one, loss) for loss in rule.losses]
        grid.add_row(
            one.subject,
            str(one.d_osc or "-"),
            f"{rule.table.known[one.subject].value:.4f}",
            f"{one.axis} {sign}",
            held,
            *cells,
        )
    console.print(grid)


def _print_laws(console: "Console", rule: DesignRule) -> None:
    laws = [one for one in rule.rules if one.law is not None]
    if laws:
        console.print(_laws_table(laws))
    why: dict[str, list[str]] = {}
    for one in rule.rules:
        if one.law is None:
            why.setdefault(f"{one.axis}: {one.why_no_law}", []).append(one.subject)
    for said, models in why.items():
        console.print(f"no law of {said} ({', '.join(models)})")


def _laws_table(laws: Sequence[AxisRule]) -> Table:
    grid = Table(title="loss beyond the best value = C x^b", caption=MISS)
    for name in ("model", "number", "x", "C", "b", "R2", "chi2", "miss"):
        grid.add_column(name, overflow="fold")
    for one in laws:
        law = one.law
        if law is not None:
            miss = one.law_miss
            grid.add_row(
                one.subject,
                one.axis,
                one.law_of,
                said_interval(law.amplitude),
                said_interval(law.exponent),
                f"{law.r2:.4f}",
                "-" if math.isnan(law.chi2) else f"{law.chi2:.2g}",
                "-" if math.isnan(miss) else f"{100 * miss:.0f} %",
            )
    return grid


def _print_optima(console: "Console", rule: DesignRule) -> None:
    if not rule.optima:
        return
    grid = Table(title="best model at each value", caption=ALONE)
    for name in ("number", "value", "best", "d_osc", rule.table.metric, "undecided"):
        grid.add_column(name, overflow="fold")
    for one in rule.optima:
        grid.add_row(
            one.axis,
            said_value(one.value),
            one.best,
            str(one.d_osc or "-"),
            f"{one.metric:.4f}",
            ", ".join(one.undecided) or "-",
        )
    console.print(grid)


def _print_rankings(console: "Console", rule: DesignRule) -> None:
    for one in rule.rankings:
        held = said_point(one.held)
        grid = Table(
            title=f"{one.subject}: loss by {one.axis}"
            + (f", held at {held}" if held else "")
        )
        grid.add_column(one.axis, overflow="fold")
        grid.add_column("loss, % of the digital metric", overflow="fold")
        for value, loss in one.places:
            percent = Interval(*(100 * part for part in loss))
            grid.add_row(str(value), said_interval(percent))
        console.print(grid)


def _print_pairs(
    console: "Console", pairs: tuple[Interaction, ...], shares: tuple[Sobol, ...]
) -> None:
    if pairs:
        grid = Table(title="two numbers at their worst: loss together less apart")
        for name in ("model", "numbers", "apart", "together", "excess"):
            grid.add_column(name, overflow="fold")
        for pair in pairs[:MOST_PAIRS]:
            both = " and ".join(
                f"{n} {said_value(v)}"
                for n, v in zip(pair.axes, pair.values, strict=True)
            )
            grid.add_row(
                pair.subject,
                both,
                f"{pair.apart:.4f}",
                f"{pair.together:.4f}",
                said_interval(pair.excess),
            )
        console.print(grid)
    for one in shares:
        parts = ", ".join(
            f"{name} {first:.2f} ({total:.2f})"
            for name, first, total in zip(one.axes, one.first, one.total, strict=True)
        )
        surface = (
            ""
            if one.surface_r2 is None
            else f"; of a quadratic surface, R2 {one.surface_r2:.2f} of cells left out"
        )
        console.print(
            f"Sobol indices of {one.subject}, first (total): {parts}{surface}"
        )


def _print_front(console: "Console", front: tuple[ParetoPoint, ...]) -> None:
    kept = [point for point in front if point.is_front]
    if not kept:
        return
    grid = Table(
        title="nothing is better and cheaper",
        caption="open: not told apart from the cheaper one above it",
    )
    for name in (
        "model",
        "what",
        "metric",
        "",
        "energy per token, p50",
        "us per token",
    ):
        grid.add_column(name, overflow="fold")
    for point in kept[:MOST_FRONT]:
        where = said_point(point.point)
        latency = "-" if point.latency_s is None else f"{1e6 * point.latency_s:.3g}"
        grid.add_row(
            point.name,
            where or point.kind,
            f"{point.metric:.4f}",
            "open" if point.is_within_error else "",
            quantity(point.joules[1], "J"),
            latency,
        )
    console.print(grid)
    if len(kept) > MOST_FRONT:
        console.print(f"and {len(kept) - MOST_FRONT} more (--json)")
    close = sum(point.is_within_error and not point.is_front for point in front)
    if close:
        console.print(
            f"{close} behind the front are within error of it (--out: front.csv)"
        )


def _print_own(console: "Console", own: tuple[ParetoPoint, ...]) -> None:
    """Print the front of each model's own cells, without what may buy nothing."""
    kept = [point for point in own if not point.is_within_error]
    if len(kept) < 2:
        return
    grid = Table(
        title="of a model on the substrate alone: what its joules buy",
        caption="each told apart from the cheaper one above it; all of them: --json",
    )
    for name in (
        "model",
        "cell",
        "metric",
        "energy per token, p50",
        "more than the cheapest",
    ):
        grid.add_column(name, overflow="fold")
    for point in kept[:MOST_FRONT]:
        least = min(one.joules[1] for one in own if one.name == point.name)
        grid.add_row(
            point.name,
            said_point(point.point),
            f"{point.metric:.4f}",
            quantity(point.joules[1], "J"),
            quantity(point.joules[1] - least, "J"),
        )
    console.print(grid)
    if len(kept) > MOST_FRONT:
        console.print(f"and {len(kept) - MOST_FRONT} more (--json)")


def unpriced_words(
    axes: Sequence[str], reasons: Mapping[str, int], n_cells: int
) -> tuple[str, ...]:
    """Return what must be said of numbers that change no joules, and of cells without.

    Parameters
    ----------
    axes : sequence of str
        From `oscsim.design.pareto.unpriced_axes`.
    reasons : mapping of str to int
        From `oscsim.design.pareto.unpriced_reasons`.
    n_cells : int
        Cells in all.

    Returns
    -------
    tuple of str
        Sentences, none if there is nothing to be said.
    """
    found = []
    if axes:
        found.append(
            f"Joules do not follow {', '.join(axes)}: no law with a source says what "
            "a better one costs, so that it looks free. Compare joules between models "
            "and digital ways, not along these numbers."
        )
    if any("diffusion" in name for name in axes):
        found.append(
            "Less phase diffusion does take power: D >= 4 pi^2 k T f^2 / P of an "
            "overdamped oscillator. No cell is charged for it; oscsim energy shows how "
            "far above that bound a device is."
        )
    for reason, n in reasons.items():
        who = f"{n:,} of {n_cells:,} cells have" if n < n_cells else "No cell has"
        none = "" if n < n_cells else "a price"
        found.append(
            f"{who} {none or 'no price'}: {reason}."
            + ("" if none else " None of these is on the front.")
        )
    return tuple(found)
