"""What is said of families of models, on a terminal and on a sheet."""

import math
from collections.abc import Iterable

from oscsim.design.family_rule import FamilyAt, FamilyRule
from oscsim.report.axis_words import said_point, said_value
from oscsim.report.numbers import between
from oscsim.study.scaling import ScalingLaw

LAW_HEADER = (
    "d_osc fitted",
    "alpha",
    "C",
    "alpha by scatter",
    "largest miss",
    "chi2 per freedom",
    "so it",
    "without a gap",
    "equals softmax at d_osc",
)
BEST_HEADER = (
    "best d_osc",
    "of trainings",
    "not told apart from it",
    "on these trainings alone",
)


def title_of(rule: FamilyRule) -> str:
    """Return what a family is, with its trainings by d_osc."""
    counts = ", ".join(
        f"{d} ({len(names)})" if len(names) > 1 else str(d)
        for d, names in rule.family.members.items()
    )
    held = said_point(rule.held)
    where = f"; held at {held}" if held else ""
    return f"{rule.family.name}, d_osc {counts}; along {rule.axis}{where}"


def law_cells(place: FamilyAt) -> tuple[str, ...]:
    """Return the row of a law, under `LAW_HEADER`; empty cells where there is none."""
    gap = place.gap
    if gap is None:
        return ("",) * len(LAW_HEADER)
    law = gap.law
    if law is None:
        return ("none", *[""] * (len(LAW_HEADER) - 2), gap.meets)
    return (
        _listed(law.dimensions),
        said_alpha(law),
        f"{law.amplitude:.2f} {between(*law.amplitude95, 2)}",
        between(*law.scatter95, 2),
        f"{100 * gap.largest_miss:.0f} %",
        "-" if math.isnan(law.chi2) else f"{float(f'{law.chi2:.2g}'):g}",
        "holds within errors" if law.holds else "describes, roughly",
        f"{100 * law.dropped:.0f} %",
        gap.meets,
    )


def said_alpha(law: ScalingLaw) -> str:
    """Return alpha with its interval, open where resamples have no gap."""
    return f"{law.alpha:.2f} {between(*law.alpha95, 2)}"


def said_sources(rule: FamilyRule) -> str:
    """Return what the intervals of gaps and laws are over."""
    gaps = [place.gap for place in rule.places if place.gap is not None]
    *others, last = dict.fromkeys(source for gap in gaps for source in gap.sources)
    return f"{', '.join(others)} and {last}" if others else last


def best_cells(place: FamilyAt) -> tuple[str, ...]:
    """Return the row of a best d_osc, under `BEST_HEADER`."""
    best = place.best
    if best is None:
        return ("-",) * len(BEST_HEADER)
    return (
        str(best.d_osc),
        str(best.trainings),
        _listed(best.undecided),
        _listed(best.undecided_alone),
    )


def said_of_family(rule: FamilyRule) -> list[str]:
    """Return in sentences where the law ends and what stands over trainings."""
    said = []
    if rule.why_no_gap:
        said.append(f"no gap to softmax: {rule.why_no_gap}")
    elif rule.no_law_from is not None:
        said.append(f"no law from {rule.axis} {said_value(rule.no_law_from)} on")
    said += [
        f"at {said_value(place.value)}: no law, {place.gap.why_no_law}"
        for place in rule.places
        if place.gap is not None and place.gap.why_no_law
    ]
    if not rule.family.has_trainings:
        said.append(
            "one training of each d_osc: what another training would change is not in "
            "any interval, and the best is that of these checkpoints"
        )
    else:
        good = [p for p in rule.places if p.best is not None]
        stands = [
            said_value(p.value) for p in good if p.best is not None and p.best.stands
        ]
        said.append(
            f"the best d_osc stands over trainings at {len(stands)} of {len(good)} "
            "values" + (f": {', '.join(stands)}" if stands else "")
        )
        alone = [d for d, names in rule.family.members.items() if len(names) == 1]
        if alone:
            said.append(
                f"d_osc {_listed(alone)} have one training: they are taken to scatter "
                "as the others do"
            )
    if rule.family.repeated:
        said.append(
            f"left out, as another has the same d_osc and seed: "
            f"{', '.join(rule.family.repeated)}"
        )
    return said


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "-"
