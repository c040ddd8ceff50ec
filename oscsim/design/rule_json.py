"""A design rule as plain data: the same text for the same store, no paths or times."""

import math
from collections.abc import Mapping
from typing import Any

from oscsim.design.axis_rule import AxisRule
from oscsim.design.cheapest import Cheapest, PricedCell, cheapest
from oscsim.design.family_json import family_json
from oscsim.design.interactions import Interaction, Sobol
from oscsim.design.laws import PowerLaw
from oscsim.design.pareto import (
    ParetoPoint,
    own_fronts,
    unpriced_axes,
    unpriced_cells,
    unpriced_reasons,
)
from oscsim.design.replicates import Interval
from oscsim.design.rule import DesignRule


def rule_json(
    rule: DesignRule,
    pairs: tuple[Interaction, ...],
    shares: tuple[Sobol, ...],
    front: tuple[ParetoPoint, ...],
    *,
    why_not: Mapping[str, str] | None = None,
    on: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return everything that is known from a sweep.

    Of the priced cells it holds the front and what is digital. Numbers that are
    infinite say so in words: ``"all"`` where every stored value
    is good enough, ``"none"`` where none is. ``why_not`` says why a model has no
    Sobol indices (`oscsim.design.shares`), ``on`` what is on and not swept
    (`oscsim.design.unswept`).
    """
    table = rule.table
    return {
        "name": table.name,
        "metric": table.metric,
        "versions": dict(table.versions),
        "cells": len(table.cells),
        "cells_missing": table.missing,
        "models": [
            {
                "name": name,
                "d_osc": table.d_osc(name),
                "digital": table.known[name].value,
                "is_twin": content["is_twin"],
            }
            for name, content in table.subjects.items()
        ],
        "losses": list(rule.losses),
        "rules": [_axis_json(one) for one in rule.rules],
        "optima": [
            {
                "axis": one.axis,
                "value": one.value,
                "best": one.best,
                "d_osc": one.d_osc,
                "metric": one.metric,
                "undecided": list(one.undecided),
            }
            for one in rule.optima
        ],
        "interactions": [
            {
                "model": pair.subject,
                "axes": list(pair.axes),
                "values": list(pair.values),
                "apart": pair.apart,
                "together": pair.together,
                "excess": _interval_json(pair.excess),
            }
            for pair in pairs
        ],
        "sobol": [
            {
                "model": one.subject,
                "axes": list(one.axes),
                "first": [float(x) for x in one.first],
                "total": [float(x) for x in one.total],
                "surface_r2": one.surface_r2,
            }
            for one in shares
        ],
        "why_no_sobol": dict(why_not or {}),
        "on_not_swept": {name: dict(own) for name, own in (on or {}).items()},
        "pareto": [
            _point_json(point) for point in front if point.is_front or not point.point
        ],
        "own_fronts": [_point_json(point) for point in own_fronts(table)],
        "cheapest": [_cheapest_json(one) for one in cheapest(table, rule.losses)],
        "priced": len(front),
        "behind_within_error": sum(p.is_within_error and not p.is_front for p in front),
        "unpriced_axes": list(unpriced_axes(table)),
        "families": [family_json(one) for one in rule.families],
        "unpriced_cells": unpriced_cells(table),
        "unpriced_reasons": unpriced_reasons(table),
        "rankings": [
            {
                "model": one.subject,
                "axis": one.axis,
                "held": dict(sorted(one.held.items())),
                "places": [
                    {"value": value, "loss": _interval_json(loss)}
                    for value, loss in one.places
                ],
            }
            for one in rule.rankings
        ],
    }


def _cheapest_json(one: Cheapest) -> dict[str, Any]:
    return {
        "model": one.subject,
        "loss_at_most": one.most,
        "cheapest": _priced_json(one.found, one.most),
        "certain": _priced_json(one.certain, one.most),
        "least": _priced_json(one.least, one.most),
        "why_no_price": one.why_none,
    }


def _priced_json(cell: PricedCell | None, most: float) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "point": dict(sorted(cell.point.items())),
        "loss": cell.loss,
        "half_width": _number(cell.half_width),
        "is_certain": cell.is_certain(most),
        "joules": list(cell.joules),
        "latency_s": cell.latency_s,
    }


def _point_json(point: ParetoPoint) -> dict[str, Any]:
    return {
        "model": point.name,
        "kind": point.kind,
        "point": dict(sorted(point.point.items())),
        "metric": point.metric,
        "half_width": _number(point.half_width),
        "joules": list(point.joules),
        "latency_s": point.latency_s,
        "is_front": point.is_front,
        "is_within_error": point.is_within_error,
    }


def _axis_json(rule: AxisRule) -> dict[str, Any]:
    curve = rule.curve
    return {
        "model": rule.subject,
        "d_osc": rule.d_osc,
        "axis": rule.axis,
        "better": curve.better,
        "held": dict(sorted(rule.held.items())),
        "values": [float(v) for v in curve.values],
        "loss": [float(v) for v in curve.mean],
        "chips": len(curve.losses),
        "monotone": [float(v) for v in curve.monotone],
        "wiggle": curve.wiggle,
        "allowed": {
            f"{loss:g}": _allowed_json(found, curve.better)
            | {"whole": _whole_json(rule, loss)}
            for loss, found in rule.allowed.items()
        },
        "least": {"value": rule.least[0], "loss": _interval_json(rule.least[1])},
        "law": None if rule.law is None else _law_json(rule.law, rule),
        "why_no_law": rule.why_no_law,
    }


def _whole_json(rule: AxisRule, loss: float) -> dict[str, Any] | None:
    found = rule.allowed_whole(loss)
    return None if found is None else _allowed_json(found, rule.curve.better)


def _law_json(law: PowerLaw, rule: AxisRule) -> dict[str, Any]:
    return {
        "of": rule.law_of,
        "amplitude": _interval_json(law.amplitude),
        "exponent": _interval_json(law.exponent),
        "r2": _number(law.r2),
        "chi2": _number(law.chi2),
        "holds": law.holds,
        "largest_miss_below_10_percent": _number(rule.law_miss),
        "x": [float(x) for x in law.x],
    }


def _interval_json(found: Interval) -> list[float | None]:
    return [_number(part) for part in found]


def _allowed_json(found: Interval, better: str) -> dict[str, Any]:
    """Return an interval whose infinite ends are words."""
    best = 1 if better == "smaller" else -1

    def said(value: float) -> float | str | None:
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "all" if value * best > 0 else "none"
        return value

    return {
        "value": said(found.value),
        "low": said(found.low),
        "high": said(found.high),
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
