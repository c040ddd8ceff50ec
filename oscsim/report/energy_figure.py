"""Where the joules go, on the substrate and in its rivals."""

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oscsim.bridge.cost import Cost
from oscsim.energy.ledger import Ledger
from oscsim.energy.prices import CONVERTER_ACTIONS, CORE_ACTIONS
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank, plain
from oscsim.report.numbers import scale_of
from oscsim.typing import FloatArray

SMALL = 0.01
OTHER = "other phases"
FILLS = (
    ("#1f3b5c", ""),
    ("#d9e4f0", "///"),
    ("#c8641b", ""),
    ("#f6e3d2", "|||"),
    ("#5f8fbf", "\\\\\\"),
    ("#8a8a8a", "xx"),
    ("#efefef", "--"),
    ("#3d7a4f", ""),
    ("#e7f2e4", "++"),
    ("#7a5a8a", ""),
    ("#ffffff", ""),
)
GROUPS = {
    "core": (BLUE, ""),
    "converters": (ORANGE, "///"),
    "everything else": (PALE, ""),
}


def by_phase(ledger: Ledger) -> dict[str, float]:
    """Return nominal joules per token by phase; they sum to the system total."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for entry in ledger.entries:
        parts[entry.phase].append(entry.joules)
    return {phase: math.fsum(values) for phase, values in parts.items()}


def by_group(ledger: Ledger) -> dict[tuple[str, str], float]:
    """Return nominal joules per token by (core | converters | else, component)."""
    parts: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for entry in ledger.entries:
        group = "everything else"
        if entry.action in CORE_ACTIONS:
            group = "core"
        elif entry.action in CONVERTER_ACTIONS:
            group = "converters"
        parts[group, entry.component].append(entry.joules)
    return {key: math.fsum(values) for key, values in parts.items()}


def energy_figure(cost: Cost) -> Figure:
    """Draw joules per token by phase beside the rivals, and by component.

    Above, nominal values on a linear axis, phases that are under 1 % in every
    bar taken together; the whisker is p10..p90 of the system total with its
    median, a range of assumptions. Below, the components of the substrate on
    a logarithmic axis.

    Parameters
    ----------
    cost : Cost
        From `oscsim.bridge.cost.price`.

    Returns
    -------
    Figure
    """
    ledgers = {"substrate": cost.substrate, **cost.rivals}
    parts = by_group(cost.substrate)
    heights = [0.42 * len(ledgers) + 1.2, 0.19 * len(parts) + 0.9]
    with blank(7.4, sum(heights)) as figure:
        panels = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)
        _draw_totals(panels[0, 0].subplots(), ledgers)
        _draw_components(panels[1, 0].subplots(), parts)
    return figure


def _draw_totals(ax: Axes, ledgers: Mapping[str, Ledger]) -> None:
    phases = _pooled({name: by_phase(ledger) for name, ledger in ledgers.items()})
    ranges = [ledger.range_j() for ledger in ledgers.values()]
    scale, prefix = scale_of(max(r.p90 for r in ranges))
    rows = np.arange(len(ledgers))
    left = np.zeros(len(ledgers))
    for number, (phase, joules) in enumerate(phases.items()):
        fill, hatch = FILLS[number % len(FILLS)]
        ax.barh(
            rows,
            joules / scale,
            left=left,
            height=0.6,
            color=fill,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
            label=phase,
        )
        left += joules / scale
    median = np.array([r.p50 for r in ranges]) / scale
    spread = np.array([[r.p50 - r.p10, r.p90 - r.p50] for r in ranges]).T / scale
    ax.errorbar(
        median,
        rows,
        xerr=spread,
        fmt="D",
        ms=4.5,
        mfc="white",
        mec=INK,
        ecolor=INK,
        capsize=4,
        label="system total: median, p10..p90 (assumption range)",
    )
    ax.set_yticks(rows, [plain(name) for name in ledgers])
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel(f"{prefix}J per token, nominal, by phase")
    ax.figure.legend(loc="outside upper center", ncols=3)


def _pooled(found: Mapping[str, Mapping[str, float]]) -> dict[str, FloatArray]:
    """Return joules by phase, largest first, one value a ledger; small ones pooled."""
    totals = {name: math.fsum(parts.values()) for name, parts in found.items()}
    phases = dict.fromkeys(phase for parts in found.values() for phase in parts)
    joules = {
        phase: np.array([parts.get(phase, 0.0) for parts in found.values()])
        for phase in phases
    }
    total = np.array([max(t, 1e-300) for t in totals.values()])
    kept = {p: j for p, j in joules.items() if np.any(j >= SMALL * total)}
    kept = dict(sorted(kept.items(), key=lambda part: -float(part[1].max())))
    rest = [j for p, j in joules.items() if p not in kept]
    if rest:
        kept[OTHER] = np.sum(rest, axis=0)
    return kept


def _draw_components(ax: Axes, parts: Mapping[tuple[str, str], float]) -> None:
    shown = {key: j for key, j in parts.items() if j > 0}
    order = sorted(shown, key=lambda key: (list(GROUPS).index(key[0]), -shown[key]))
    rows = np.arange(len(order))
    values = [shown[key] for key in order]
    for group, (fill, hatch) in GROUPS.items():
        mine = [row for row in rows if order[row][0] == group]
        ax.barh(
            mine,
            [values[row] for row in mine],
            height=0.7,
            color=fill,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
        )
    ax.set_xscale("log")
    ax.set_yticks(rows, [plain(component) for _, component in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlabel("J per token on the substrate, nominal, by component (log axis)")
    handles = [
        Patch(facecolor=fill, hatch=hatch, edgecolor=INK, linewidth=0.6, label=group)
        for group, (fill, hatch) in GROUPS.items()
    ]
    ax.figure.legend(handles=handles, loc="outside upper center", ncols=3)
