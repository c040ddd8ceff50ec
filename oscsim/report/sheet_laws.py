"""The fitted laws of a sweep as a table, and how far each can be used."""

import math

from oscsim.design.axis_rule import AxisRule
from oscsim.design.laws import PowerLaw
from oscsim.design.rule import DesignRule
from oscsim.report.loss_figure import LEAST_R2
from oscsim.report.markup import items, paragraph, table
from oscsim.report.rule_words import said_interval
from oscsim.report.sheet_sections import ordered


def laws_table(rule: DesignRule) -> str:
    """Return the fitted laws, and why others have none."""
    with_law = [one for one in ordered(rule) if one.law is not None]
    rows = [
        (
            one.subject,
            str(one.d_osc or "-"),
            one.axis,
            one.law_of,
            said_interval(one.law.amplitude),
            said_interval(one.law.exponent),
            f"{one.law.r2:.4f}",
            "-" if math.isnan(one.law.chi2) else f"{float(f'{one.law.chi2:.2g}'):g}",
            said_miss(one),
            said_fit(one.law),
        )
        for one in with_law
        if one.law is not None
    ]
    header = (
        "model",
        "d_osc",
        "number",
        "x",
        "C",
        "b",
        "R²",
        "χ² per freedom",
        "largest miss below 10 %",
        "so it",
    )
    said = [
        f"{one.subject}, {one.axis}: no law, {one.why_no_law}"
        for one in ordered(rule)
        if one.law is None
    ]
    found = ""
    if rows:
        found = "<h3>Laws: loss beyond the best value = C x^b</h3>" + paragraph(
            "χ² far above 1: the scatter over chips does not explain what the law "
            "misses, so that it describes the data but does not hold. It holds within "
            "scatter if χ² is at most 3 and no point is off by more than 2 standard "
            "errors, of 8 chips or more. Largest miss: of the points that lose up to "
            "10 % and more than their own error, the law less the data as a share of "
            "the whole loss. What is good enough is read off the cells, not off a law."
        )
        found += table(header, rows, numbers=(6, 7, 8))
    return found + (items(said) if said else "")


def said_fit(law: PowerLaw) -> str:
    """Return in words how well a law fits."""
    if not law.r2 >= LEAST_R2:
        return "is poor: use the data"
    return "holds within scatter" if law.holds else "describes, roughly"


def said_miss(one: AxisRule) -> str:
    """Return the largest miss of a law below a loss of 10 %, as a share of it."""
    miss = one.law_miss
    return "-" if math.isnan(miss) else f"{100 * miss:.0f} %"
