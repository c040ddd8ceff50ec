"""The rules of a sweep, and the data of their figures, as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

from oscsim.design.pareto import ParetoPoint
from oscsim.design.replicates import half_width
from oscsim.design.rule import DesignRule
from oscsim.report.best_figure import metrics_along, optima_along
from oscsim.report.loss_figure import law_line, rules_along


def rule_csv(content: dict[str, Any]) -> bytes:
    """Return one row a model, number and loss: what is good enough.

    ``allowed`` is ``all`` where every stored value is good enough and ``none``
    where none is; an interval that ends so ends beyond the data. It holds the
    scatter over chips and what reading between stored values may miss. Of bits
    ``allowed_whole`` is that in whole ones, rounded to the good side, as the reports
    say it. ``least_loss`` is the least that was seen, with half its 95 % Student
    interval over chips and the value it was seen at; ``digital`` the metric that
    losses are shares of. Empty: unknown.

    Parameters
    ----------
    content : dict
        From `oscsim.design.rule_json.rule_json`.
    """
    header = (
        "model,d_osc,number,better,held_at,chips,loss,allowed,allowed_low,allowed_high"
        ",allowed_whole,allowed_whole_low,allowed_whole_high,least_loss,"
        "least_loss_half_width,least_loss_at,digital"
    )
    digital = {one["name"]: one["digital"] for one in content["models"]}
    none = dict.fromkeys(("value", "low", "high"))
    rows = [
        (
            one["model"],
            one["d_osc"],
            one["axis"],
            one["better"],
            "; ".join(f"{name}={value}" for name, value in one["held"].items()),
            one["chips"],
            loss,
            found["value"],
            found["low"],
            found["high"],
            *((found["whole"] or none)[end] for end in none),
            one["least"]["loss"][0],
            _half(one["least"]["loss"]),
            one["least"]["value"],
            digital[one["model"]],
        )
        for one in content["rules"]
        for loss, found in one["allowed"].items()
    ]
    return written(header.split(","), rows)


def _half(found: list[float | None]) -> float | None:
    value, _, high = found
    return None if value is None or high is None else high - value


def laws_csv(content: dict[str, Any]) -> bytes:
    """Return one row a model and number: the law of its loss, or why there is none.

    ``largest_miss_below_10_percent``: of the points that lose up to 10 % and more
    than their own 95 % error, the law less the data as a share of the whole loss.
    """
    header = (
        "model,d_osc,number,x,amplitude,amplitude_low,amplitude_high,exponent,"
        "exponent_low,exponent_high,r2,chi2,largest_miss_below_10_percent,"
        "x_least,x_most,why_no_law"
    )
    rows = []
    for one in content["rules"]:
        law = one["law"]
        numbers: list[Any] = [None] * 12
        if law is not None:
            ends = [min(law["x"]), max(law["x"])]
            fit = [*law["amplitude"], *law["exponent"], law["r2"], law["chi2"]]
            miss = law["largest_miss_below_10_percent"]
            numbers = [law["of"], *fit, miss, *ends]
        rows.append(
            (one["model"], one["d_osc"], one["axis"], *numbers, one["why_no_law"])
        )
    return written(header.split(","), rows)


def loss_csv(rule: DesignRule, axis: str) -> bytes:
    """Return the points (``kind`` cell) and the lines (law) of a loss figure."""
    header = ("model", "d_osc", "kind", axis, "loss", "half_width", "monotone", "chips")
    rows: list[Sequence[Any]] = []
    for one in rules_along(rule, axis):
        curve = one.curve
        for k, value in enumerate(curve.values):
            losses = curve.losses[:, k]
            numbers = (value, losses.mean(), half_width(losses), curve.monotone[k])
            rows.append((one.subject, one.d_osc, "cell", *numbers, len(losses)))
        line = law_line(one, rule)
        if line is not None:
            rows += [
                (one.subject, one.d_osc, "law", value, loss, None, None, None)
                for value, loss in zip(*line, strict=True)
            ]
    return written(header, rows)


def best_csv(rule: DesignRule, axis: str) -> bytes:
    """Return the metric of every model at every value of a number, the best marked."""
    metric = rule.table.metric
    header = ("model", "d_osc", axis, metric, "half_width", "chips", "is")
    optima = {one.value: one for one in optima_along(rule, axis)}
    rows = []
    for model, metrics in metrics_along(rule, axis).items():
        for value, chips in metrics.items():
            best = optima.get(value)
            place = ""
            if best is not None:
                is_open = model in best.undecided
                place = "best" if model == best.best else "undecided" if is_open else ""
            found = (value, chips.mean(), half_width(chips), len(chips), place)
            rows.append((model, rule.table.d_osc(model), *found))
    return written(header, rows)


def front_csv(rule: DesignRule, points: Sequence[ParetoPoint]) -> bytes:
    """Return every priced cell and digital baseline, the front marked."""
    axes = list(dict.fromkeys(name for p in points for name in p.point))
    header = (
        "model",
        "kind",
        *axes,
        rule.table.metric,
        "half_width",
        "joules_p10",
        "joules_p50",
        "joules_p90",
        "latency_s",
        "is_front",
        "is_within_error",
    )
    rows = [
        (
            p.name,
            p.kind,
            *(p.point.get(name) for name in axes),
            p.metric,
            p.half_width,
            *p.joules,
            p.latency_s,
            int(p.is_front),
            int(p.is_within_error),
        )
        for p in points
    ]
    return written(header, rows)


def written(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV: numbers in full, empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_plain(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else value
