"""Families of models as variables of a data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oscsim.design.family_rule import FamilyAt, FamilyRule

_GAP = {"long_name": "perplexity per byte above softmax"}


def family_variables(rules: Sequence[FamilyRule]) -> dict[str, Any]:
    """Return families by ``family_value`` and by ``family_level``.

    A ``family_value`` is a family at one value of a number, with its law and its best
    d_osc over trainings; a ``family_level`` one d_osc there. NaN where there is none;
    an upper end of a law that is infinite is open.

    Parameters
    ----------
    rules : sequence of FamilyRule
        At least one.
    """
    places = [(one, place) for one in rules for place in one.places]
    levels = [(one, place, d) for one, place in places for d in place.levels]
    at = [place.levels[d] for _, place, d in levels]
    gaps = np.array([_gap(place, d) for _, place, d in levels])
    laws = np.array([_law(place) for _, place in places])
    found: dict[str, Any] = {
        "family": ("family_value", [one.family.name for one, _ in places]),
        "family_axis": ("family_value", [one.axis for one, _ in places]),
        "family_at": ("family_value", [place.value for _, place in places]),
        "family_why_no_law": ("family_value", [_why(place) for _, place in places]),
        "family_best_d_osc": ("family_value", [_best(place) for _, place in places]),
        "level_family": ("family_level", [one.family.name for one, _, _ in levels]),
        "level_axis": ("family_level", [one.axis for one, _, _ in levels]),
        "level_at": ("family_level", [place.value for _, place, _ in levels]),
        "level_d_osc": ("family_level", [d for _, _, d in levels]),
        "level_trainings": ("family_level", [len(one.trainings) for one in at]),
        "level_metric": ("family_level", [one.metric for one in at]),
        "level_spread": ("family_level", [one.spread for one in at]),
        "level_standing": ("family_level", [p.standing(d) for _, p, d in levels]),
    }
    for k, end in enumerate(("", "_low", "_high")):
        found[f"level_gap{end}"] = ("family_level", gaps[:, k], _GAP)
        found[f"family_alpha{end}"] = ("family_value", laws[:, k])
        found[f"family_amplitude{end}"] = ("family_value", laws[:, 3 + k])
    found["family_chi2"] = ("family_value", laws[:, 6])
    return found


def _gap(place: FamilyAt, d_osc: int) -> tuple[float, ...]:
    return (np.nan,) * 3 if place.gap is None else tuple(place.gap.gaps[d_osc])


def _law(place: FamilyAt) -> tuple[float, ...]:
    law = None if place.gap is None else place.gap.law
    if law is None:
        return (np.nan,) * 7
    return (law.alpha, *law.alpha95, law.amplitude, *law.amplitude95, law.chi2)


def _why(place: FamilyAt) -> str:
    return "" if place.gap is None else place.gap.why_no_law


def _best(place: FamilyAt) -> float:
    return np.nan if place.best is None else float(place.best.d_osc)
