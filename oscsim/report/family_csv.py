"""Families of models as CSV: laws, and the points of their figures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oscsim.design.family_rule import FamilyAt, FamilyRule
from oscsim.report.rule_csv import written


def families_csv(rules: Sequence[FamilyRule]) -> bytes:
    """Return one row a family, number and value: law, floor, and best d_osc.

    ``alpha`` to ``dropped`` are of ``gap = C d_osc^-alpha`` (perplexity per byte
    above the softmax twin), empty with a reason in ``why_no_law``; an upper end that
    is ``inf`` is open; ``floor`` of
    ``perplexity = P_inf + C d_osc^-alpha``; ``best_d_osc`` over trainings, empty
    where each d_osc has one.
    """
    header = (
        "family,number,value,fitted_d_osc,alpha,alpha_low,alpha_high,amplitude,"
        "amplitude_low,amplitude_high,alpha_scatter_low,alpha_scatter_high,residual,"
        "largest_miss,chi2,holds,dropped,falls_throughout,why_no_law,meets_softmax_at,floor,"
        "floor_low,floor_high,best_d_osc,best_metric,best_trainings,undecided,"
        "undecided_without_trainings"
    )
    rows = [
        (one.family.name, one.axis, place.value, *_law(place), *_best(place))
        for one in rules
        for place in one.places
    ]
    return written(header.split(","), rows)


def _law(place: FamilyAt) -> tuple[Any, ...]:
    gap = place.gap
    if gap is None:
        return (None,) * 20
    law, floored = gap.law, gap.laws.floored
    numbers: tuple[Any, ...] = (None,) * 15
    if law is not None:
        numbers = (
            " ".join(map(str, law.dimensions)),
            law.alpha,
            *law.alpha95,
            law.amplitude,
            *law.amplitude95,
            *law.scatter95,
            law.residual,
            gap.largest_miss,
            law.chi2,
            int(law.holds),
            law.dropped,
            int(law.falls),
        )
    floor = (None,) * 3 if floored is None else (floored.floor, *floored.floor95)
    return (*numbers, gap.why_no_law, gap.meets, *floor)


def _best(place: FamilyAt) -> tuple[Any, ...]:
    best = place.best
    if best is None:
        return (None,) * 5
    return (
        best.d_osc,
        best.metric,
        best.trainings,
        " ".join(map(str, best.undecided)),
        " ".join(map(str, best.undecided_alone)),
    )


def gap_csv(rule: FamilyRule, metric: str) -> bytes:
    """Return the points (``kind`` model) and lines (law) of a family's figure.

    Columns: value of the number, d_osc, its trainings, the metric (mean over
    trainings and chips), its deviation between trainings, the gap with its ends, and
    whether the d_osc is ``best`` there or ``undecided``.
    """
    header = (
        "kind",
        rule.axis,
        "d_osc",
        "trainings",
        metric,
        "spread",
        "gap",
        "gap_low",
        "gap_high",
        "is",
    )
    rows: list[Sequence[Any]] = []
    for place in rule.places:
        for d, level in place.levels.items():
            gap = (None,) * 3 if place.gap is None else place.gap.gaps[d]
            numbers = (len(level.trainings), level.metric, level.spread)
            rows.append(("model", place.value, d, *numbers, *gap, place.standing(d)))
        line = law_points(place)
        if line is not None:
            nothing = (None,) * 3
            rows += [
                ("law", place.value, d, *nothing, gap, None, None, "")
                for d, gap in zip(*line, strict=True)
            ]
    return written(header, rows)


def law_points(place: FamilyAt) -> tuple[list[float], list[float]] | None:
    """Return d_osc and gap along a law, between what was fitted; None without one."""
    law = None if place.gap is None else place.gap.law
    if law is None:
        return None
    first, last = law.dimensions[0], law.dimensions[-1]
    at = np.clip(np.geomspace(first, last, 41), first, last)
    return at.tolist(), [law.gap(float(d)) for d in at]
