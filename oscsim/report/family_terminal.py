"""Families of models as tables on a terminal."""

from typing import TYPE_CHECKING

from rich.table import Table

from oscsim.design.rule import DesignRule
from oscsim.report.axis_words import said_value
from oscsim.report.family_words import (
    BEST_HEADER,
    LAW_HEADER,
    best_cells,
    law_cells,
    said_of_family,
    said_sources,
    title_of,
)

if TYPE_CHECKING:
    from rich.console import Console

LAW_CAPTION = (
    "gap: perplexity per byte above softmax = C d_osc^-alpha, with 95 % over "
    "{sources}; open: beyond any number, as alpha is in resamples without a gap; by "
    "scatter: of the points about the line; chi2: of the gaps about the closest "
    "C d_osc^-alpha, up to 3 where it holds, with no gap off by more than 2 errors; "
    "nothing is said beyond the d_osc fitted"
)
BEST_CAPTION = (
    "not told apart: within 95 % over items, chips and trainings, shared among the "
    "comparisons; on these trainings alone: over items and chips"
)


def print_families(console: "Console", rule: DesignRule) -> None:
    """Print the scaling law and the best d_osc of every family."""
    for one in rule.families:
        if not one.why_no_gap:
            caption = LAW_CAPTION.format(sources=said_sources(one))
            grid = Table(title=f"gap to softmax: {title_of(one)}", caption=caption)
            for name in (one.axis, *LAW_HEADER):
                grid.add_column(name, overflow="fold")
            for place in one.places:
                grid.add_row(said_value(place.value), *law_cells(place))
            console.print(grid)
        if one.family.has_trainings:
            grid = Table(
                title=f"best over trainings: {title_of(one)}", caption=BEST_CAPTION
            )
            for name in (one.axis, rule.table.metric, *BEST_HEADER):
                grid.add_column(name, overflow="fold")
            for place in one.places:
                best = place.best
                metric = "-" if best is None else f"{best.metric:.4f}"
                grid.add_row(said_value(place.value), metric, *best_cells(place))
            console.print(grid)
        console.print(f"{one.family.name} along {one.axis}:")
        for said in said_of_family(one):
            console.print(f"- {said}")
