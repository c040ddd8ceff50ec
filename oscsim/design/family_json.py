"""The rules of families as plain data."""

import math
from typing import Any

from oscsim.design.family_rule import FamilyAt, FamilyRule
from oscsim.design.gap import GapAt
from oscsim.study.floored import FlooredLaw
from oscsim.study.scaling import ScalingLaw


def family_json(rule: FamilyRule) -> dict[str, Any]:
    """Return what is known of a family along one number.

    ``gap`` is perplexity per byte above the softmax twin; ``null`` where there is
    none. An upper end of a law that is ``null`` is open.
    ``no_law_from`` is the first value from which on there is no law.
    """
    family = rule.family
    return {
        "family": family.name,
        "p": family.p,
        "width": family.width,
        "trainings": {str(d): list(names) for d, names in family.members.items()},
        "twins": list(family.twins),
        "repeated": list(family.repeated),
        "axis": rule.axis,
        "held": dict(sorted(rule.held.items())),
        "why_no_gap": rule.why_no_gap,
        "no_law_from": rule.no_law_from,
        "values": [_place(one) for one in rule.places],
    }


def _place(place: FamilyAt) -> dict[str, Any]:
    gap, best = place.gap, place.best
    return {
        "value": place.value,
        "levels": [
            {
                "d_osc": d,
                "trainings": len(level.trainings),
                "metric": level.metric,
                "spread": number(level.spread),
                "gap": None if gap is None else list(gap.gaps[d]),
            }
            for d, level in place.levels.items()
        ],
        "law": None if gap is None or gap.law is None else _law(gap, gap.law),
        "why_no_law": "" if gap is None else gap.why_no_law,
        "meets_softmax": None if gap is None else gap.meets,
        "floor": None
        if gap is None or gap.laws.floored is None
        else _floor(gap.laws.floored),
        "best": None
        if best is None
        else {
            "d_osc": best.d_osc,
            "metric": best.metric,
            "trainings": best.trainings,
            "undecided": list(best.undecided),
            "undecided_without_trainings": list(best.undecided_alone),
            "stands_over_trainings": best.stands,
        },
    }


def _law(gap: GapAt, law: ScalingLaw) -> dict[str, Any]:
    return {
        "dimensions": list(law.dimensions),
        "alpha": _with_ends(law.alpha, law.alpha95),
        "amplitude": _with_ends(law.amplitude, law.amplitude95),
        "alpha_by_scatter": _with_ends(law.alpha, law.scatter95),
        "residual": law.residual,
        "largest_miss": gap.largest_miss,
        "chi2": number(law.chi2),
        "holds": law.holds,
        "intervals_over": list(gap.sources),
        "falls_throughout": law.falls,
        "dropped": law.dropped,
    }


def _floor(found: FlooredLaw) -> dict[str, Any]:
    return {
        "perplexity": _with_ends(found.floor, found.floor95),
        "by_scatter": _with_ends(found.floor, found.scatter95),
        "alpha": _with_ends(found.alpha, found.alpha95),
        "amplitude": found.amplitude,
        "is_told": found.tells,
    }


def _with_ends(value: float, ends: tuple[float, float]) -> list[float | None]:
    return [number(part) for part in (value, *ends)]


def number(value: float) -> float | None:
    """Return a number, None where it is not finite."""
    return float(value) if math.isfinite(value) else None
