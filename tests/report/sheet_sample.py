"""A sweep made up from known curves, without running any model."""

import itertools

import numpy as np

from oscsim.design.pareto import pareto
from oscsim.design.rule import fit_rule
from oscsim.design.rule_json import rule_json
from oscsim.design.subject import Known
from oscsim.design.table import CellResult, SweepTable
from oscsim.report.sheet_figures import drawn_figures
from oscsim.report.sheet_page import page

NOISES = (0.0, 0.001, 0.01, 0.1, 1.0)
BITS = (3, 4, 6)
DIGITAL = {"osc-d2": 2.0, "osc-d8": 1.8, "osc-d16": 1.75, "softmax": 1.7}
CHIPS = 3
SHAPE = np.linspace(0.98, 1.02, 5)
"""Items over their mean."""


def device_of(digest):
    """A device whose one varying field is the digest's last letter."""
    return {"name": "made-up", "oscillator": "sphere", "field": digest[-1]}


def value(name, point, chip):
    """Metric of one chip: worse with noise, more so at larger d_osc."""
    d_osc = int(name.split("-d")[1])
    noise = d_osc * point.get("relative_diffusion", 0.0)
    lost = noise / (1 + noise)
    lost += 0.75 * 2.0 ** -point.get("weight_bits", 24)
    lost += 0.02 * (point.get("device") == "b")
    return DIGITAL[name] * (1 + lost + 0.001 * chip * (1 + lost))


def sweep_table(
    *,
    axes=None,
    models=("osc-d2", "osc-d8", "osc-d16"),
    metric="bits_per_byte",
    priced=True,
    kept=lambda _: True,
    design="grid",
):
    """Cells at all combinations of the axes that are kept."""
    if axes is None:
        axes = {"relative_diffusion": NOISES, "weight_bits": BITS}
    is_bits = metric == "bits_per_byte"
    known = {
        name: Known(
            (digital if is_bits else 1 / digital) * SHAPE,
            np.ones(len(SHAPE), bool),
            np.tile(np.linspace(0.2, 3, 201)[:, None], 2),
        )
        for name, digital in DIGITAL.items()
        if name in (*models, "softmax")
    }
    cells = []
    for name in models:
        for combination in itertools.product(*axes.values()):
            point = dict(zip(axes, combination, strict=True))
            found = np.array([value(name, point, chip) for chip in range(CHIPS)])
            if not kept(point):
                continue
            found = found if is_bits else 1 / found
            joules = 1e-9 * int(name.split("-d")[1]) * point.get("weight_bits", 4)
            cells.append(
                CellResult(
                    digest=f"{len(cells):08x}",
                    subject=name,
                    point=point,
                    values=found,
                    chips=np.arange(len(found)),
                    items=found.mean() * SHAPE,
                    joules=(0.5 * joules, joules, 2 * joules) if priced else None,
                    latency_s=1e-6 if priced else None,
                    clipped=0.01,
                    zeroed=0.0,
                    undriven=0.02,
                    unsettled=0.25,
                )
            )
    subjects = {
        name: {
            "config": {"d_osc": int(name.split("-d")[1])} if "-d" in name else {},
            "is_twin": name == "softmax",
            "metric": metric,
            "baselines": {"digital softmax of the same size": [1e-9, 2e-9, 4e-9]}
            if name == "softmax"
            else {},
        }
        for name in known
    }
    return SweepTable(
        name="made-up",
        metric=metric,
        spec={"name": "made-up", "design": design},
        versions={"oscsim": "0"},
        subjects=subjects,
        known=known,
        cells=tuple(cells),
        missing=0,
    )


def everything(table):
    """Rule, its plain data, and the front: what a sheet is made from."""
    rule, front = fit_rule(table, resamples=20), pareto(table)
    return rule, rule_json(rule, (), (), front), front


def page_of(table, *, has_figures=True):
    """The page alone, without the files beside it."""
    rule, content, front = everything(table)
    drawn = list(drawn_figures(rule, front)) if has_figures else []
    return page(rule, content, front, device_of, drawn)
