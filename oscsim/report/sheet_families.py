"""What a design sheet says of families: their scaling law, their best d_osc."""

from collections.abc import Iterable
from html import escape

from oscsim.design.rule import DesignRule
from oscsim.report.axis_words import metric_words, said_value
from oscsim.report.family_words import (
    BEST_HEADER,
    LAW_HEADER,
    best_cells,
    law_cells,
    said_of_family,
    said_sources,
    title_of,
)
from oscsim.report.markup import items, paragraph, table
from oscsim.report.sheet_drawing import linked_drawing
from oscsim.report.sheet_figures import Drawn, family_of

EXPLAINED = (
    "Gap: perplexity per byte of the oscillator models above that of their softmax "
    "twin, means over trainings, on the same windows. Where it falls with d_osc it is "
    "fitted as C d_osc^-alpha on the d_osc below the first that is not worse than "
    "softmax. Brackets: 95 % over {sources}; by scatter: what the "
    "points about the line say alone. Without a gap: resamples in which a gap is not "
    "positive. Alpha and C count as infinite in these; where they are more than 2.5 % "
    "the upper end is open. chi2: squared residuals of the gaps about the closest "
    "C d_osc^-alpha over their squared errors (half their 95 % by 1.96). A law holds "
    "within errors if it is at most 3 per degree of freedom and no gap is off by more "
    "than 2 errors. Nothing is said beyond the d_osc fitted."
)
BEST = (
    "Best over trainings: the mean of all trainings of a d_osc counts. Not told apart: "
    "not worse beyond the 95 % interval of the difference with items, chips and the "
    "scatter between trainings in it, its 2.5 % shared among the other d_osc. On these "
    "trainings alone: the same without that scatter, as if there were no other "
    "trainings."
)
CAPTION = (
    "The gap to softmax against d_osc with 95 % intervals; lines: laws over the "
    "d_osc fitted; open points: values without a law. Linear within ±.1, logarithmic "
    "beyond; points of one d_osc stand side by side."
)
CAPTION_BEST = (
    "The best d_osc over trainings (filled), and those not told apart from it (open)."
)


def families_section(rule: DesignRule, drawn: Iterable[Drawn]) -> str:
    """Return figures and tables of all families; empty of none."""
    figures = {(one.axis, one.family): one for one in drawn if one.kind == "gap"}
    parts = []
    for one in rule.families:
        said = items(said_of_family(one))
        tables = ""
        if not one.why_no_gap:
            rows = [(said_value(p.value), *law_cells(p)) for p in one.places]
            said_law = EXPLAINED.format(sources=said_sources(one))
            tables += paragraph(said_law) + table(
                (one.axis, *LAW_HEADER), rows, numbers=(0,)
            )
        if one.family.has_trainings:
            metric = metric_words(rule.table.metric)
            rows = [
                (
                    said_value(p.value),
                    "-" if p.best is None else f"{p.best.metric:.4f}",
                    *best_cells(p),
                )
                for p in one.places
            ]
            tables += paragraph(BEST) + table(
                (one.axis, metric, *BEST_HEADER), rows, numbers=(0, 1)
            )
        if not tables:
            continue
        figure = ""
        found = figures.get((one.axis, family_of(rule, one)))
        if found is not None:
            captions = [
                *([] if one.why_no_gap else [CAPTION]),
                *([CAPTION_BEST] if one.family.has_trainings else []),
            ]
            caption = " Below: ".join(captions)
            figure = linked_drawing(found.figure, found.name, caption, {}, set())
            figure = f'<div class="figures">{figure}</div>'
        parts.append(f"<h3>{escape(title_of(one))}</h3>{figure}{said}{tables}")
    return "".join(parts)
