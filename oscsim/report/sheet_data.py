"""What the sliders of a design sheet read: the grids of a sweep as plain data."""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from oscsim.design.axes import is_whole
from oscsim.design.curve import MOST_BY_LOG, is_log
from oscsim.design.rule import DesignRule
from oscsim.design.surrogate import Surrogate
from oscsim.report.axis_words import direction, metric_words, named
from oscsim.report.sheet_predictor import d_oscs
from oscsim.typing import FloatArray


def sheet_data(
    rule: DesignRule, grids: tuple[Surrogate, ...], detailed: Iterable[int]
) -> dict[str, Any]:
    """Return grids, axes and where the sliders start.

    Parameters
    ----------
    rule : DesignRule
        Gives the metric and the cells.
    grids : tuple of Surrogate
        At least one, all with the same axes.
    detailed : iterable of int
        Numbers of the cells that the page has details of.
    """
    table = rule.table
    first = grids[0]
    ordered = sorted(
        grids, key=lambda one: (table.d_osc(one.subject) or 0, one.subject)
    )
    start = {name: value for one in rule.rules for name, value in one.held.items()}
    for one in rule.rules:
        best = one.curve.values[0 if one.curve.better == "smaller" else -1]
        start.setdefault(one.axis, float(best))
    return {
        "metric": metric_words(table.metric),
        "direction": direction(table.metric),
        "isLossBits": table.is_loss_bits,
        "mostByLog": MOST_BY_LOG,
        "axes": [
            {
                "name": name,
                "words": named(name),
                "values": _numbers(values),
                "isLog": is_log(values),
                "isWhole": is_whole(name),
                "isPower": better == "smaller",
                "start": float(start.get(name, values[0])),
            }
            for name, values, better in zip(
                first.axes, first.values, first.better, strict=True
            )
        ],
        "choices": [
            {"name": name, "words": named(name), "values": list(map(str, values))}
            for name, values in (
                (name, dict.fromkeys(grid.chosen[name] for grid in grids))
                for name in first.chosen
            )
        ],
        "models": [_model(rule, grid) for grid in ordered],
        "dOscs": list(d_oscs(rule, grids)),
        "optima": _optima(rule),
        "detailed": sorted(detailed),
    }


def _optima(rule: DesignRule) -> list[dict[str, Any]]:
    """Return where it was tested which model is best, and what it does not beat."""
    held = {one.axis: one.held for one in rule.rules}
    return [
        {
            "at": {
                name: float(value) if isinstance(value, int | float) else value
                for name, value in {**held[one.axis], one.axis: one.value}.items()
            },
            "best": one.best,
            "undecided": list(one.undecided),
        }
        for one in rule.optima
        if one.axis in held
    ]


def embedded(data: dict[str, Any]) -> str:
    """Return data as JSON that can stand inside a script element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _model(rule: DesignRule, grid: Surrogate) -> dict[str, Any]:
    joules, missed = grid.joules, grid.left_out
    quantiles = None
    if joules is not None:
        quantiles = [_numbers(joules[..., k]) for k in range(3)]
    return {
        "name": grid.subject,
        "dOsc": rule.table.d_osc(grid.subject),
        "chosen": {name: str(value) for name, value in grid.chosen.items()},
        "digital": grid.digital,
        "cells": [int(number) for number in grid.cells.ravel()],
        "metric": _numbers(grid.metric),
        "halfWidth": _numbers(grid.half_width),
        "joules": quantiles,
        "unpriced": _unpriced(rule, grid),
        "latency": None if grid.latency_s is None else _numbers(grid.latency_s),
        "leftOut": None if missed is None else list(missed),
    }


def _unpriced(rule: DesignRule, grid: Surrogate) -> str:
    """Return why a grid has no joules; empty if it has."""
    cells = [rule.table.cells[int(number)] for number in grid.cells.ravel()]
    why = [cell.why_unpriced for cell in cells if cell.joules is None]
    if not why:
        return ""
    listed = "; ".join(dict.fromkeys(filter(None, why))) or "none was stored"
    if len(why) == len(cells):
        return listed
    return f"{len(why):,} of {len(cells):,} cells here have no price: {listed}"


def _numbers(values: FloatArray) -> list[float | None]:
    flat = np.asarray(values, np.float64).ravel().tolist()
    return [value if math.isfinite(value) else None for value in flat]
