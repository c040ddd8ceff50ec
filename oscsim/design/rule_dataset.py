"""Cells, rules, laws, optima and the front as one data set of named dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from oscsim.design.family_dataset import family_variables
from oscsim.design.pareto import ParetoPoint
from oscsim.design.rule import DesignRule
from oscsim.design.table_dataset import JOULES, QUANTILES, about, cell_variables, number

_MISS = {"long_name": "as a share of the whole loss, of losses above their own error"}


def rule_dataset(rule: DesignRule, points: Sequence[ParetoPoint]) -> xr.Dataset:
    """Return cells, rules, laws, optima and the front.

    Dimensions: ``cell`` and ``chip`` (NaN where a cell has fewer, or a chip has no
    value), ``rule`` (a model and a number) with ``allowed_loss``, ``optimum``,
    ``point`` of the plane of metric and energy, ``quantile`` of joules; of families
    as `oscsim.design.family_dataset.family_variables`. Allowed
    values are infinite where every stored value is good enough, or none is.

    Parameters
    ----------
    rule : DesignRule
        From `oscsim.design.rule.fit_rule`.
    points : sequence of ParetoPoint
        From `oscsim.design.pareto.pareto`.
    """
    found: dict[str, Any] = cell_variables(rule.table) | _points(points)
    if rule.rules:
        found |= _rules(rule)
    if rule.optima:
        found |= _optima(rule)
    if rule.families:
        found |= family_variables(rule.families)
    coordinates = {"quantile": list(QUANTILES), "allowed_loss": list(rule.losses)}
    return xr.Dataset(found, coordinates, about(rule.table))


def _rules(rule: DesignRule) -> dict[str, Any]:
    rules, nothing = rule.rules, (np.nan,) * 3
    found: dict[str, Any] = {
        "rule_model": ("rule", [one.subject for one in rules]),
        "rule_axis": ("rule", [one.axis for one in rules]),
        "rule_better": ("rule", [one.curve.better for one in rules]),
    }
    allowed = np.array([[one.allowed[x] for x in rule.losses] for one in rules])
    for k, end in enumerate(("", "_low", "_high")):
        found[f"allowed{end}"] = (("rule", "allowed_loss"), allowed[..., k])
    laws = [one.law for one in rules]
    amplitude = [nothing if law is None else law.amplitude for law in laws]
    exponent = [nothing if law is None else law.exponent for law in laws]
    for k, end in enumerate(("", "_low", "_high")):
        found[f"law_amplitude{end}"] = ("rule", [a[k] for a in amplitude])
        found[f"law_exponent{end}"] = ("rule", [b[k] for b in exponent])
    found["law_of"] = ("rule", [one.law_of for one in rules])
    found["law_r2"] = ("rule", [np.nan if law is None else law.r2 for law in laws])
    found["law_chi2"] = ("rule", [np.nan if law is None else law.chi2 for law in laws])
    misses = [one.law_miss for one in rules]
    found["law_largest_miss_below_10_percent"] = ("rule", misses, _MISS)
    return found


def _optima(rule: DesignRule) -> dict[str, Any]:
    optima = rule.optima
    return {
        "optimum_axis": ("optimum", [one.axis for one in optima]),
        "optimum_value": ("optimum", [one.value for one in optima]),
        "optimum_model": ("optimum", [one.best for one in optima]),
        "optimum_d_osc": ("optimum", [number(one.d_osc) for one in optima]),
        "optimum_metric": ("optimum", [one.metric for one in optima]),
        "optimum_undecided": ("optimum", [", ".join(o.undecided) for o in optima]),
    }


def _points(points: Sequence[ParetoPoint]) -> dict[str, Any]:
    if not points:
        return {}
    return {
        "point_model": ("point", [p.name for p in points]),
        "point_kind": ("point", [p.kind for p in points]),
        "point_metric": ("point", [p.metric for p in points]),
        "point_half_width": ("point", [p.half_width for p in points]),
        "point_joules": (("point", "quantile"), [p.joules for p in points], JOULES),
        "point_is_front": ("point", [int(p.is_front) for p in points]),
        "point_is_within_error": ("point", [int(p.is_within_error) for p in points]),
    }
