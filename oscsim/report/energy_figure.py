"""Where the joules go, on the substrate and in its rivals."""

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.bridge.cost import Cost, attention_by_phase, attention_j
from oscsim.energy.ledger import Ledger
from oscsim.energy.prices import CONVERTER_ACTIONS, CORE_ACTIONS
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank, plain
from oscsim.report.numbers import scale_of
from oscsim.typing import IntArray

PHASES = {
    "projection": ("projection", "#1f3b5c", ""),
    "ffn": ("feed-forward", "#c8641b", ""),
    "memory": ("embedding and cache", "#efefef", "--"),
    "weights": ("couplings or scores", "#d9e4f0", "///"),
    "load": ("loading couplings", "#f6e3d2", "|||"),
    "settle": ("settle", "#3d7a4f", ""),
    "readout": ("read-out", "#e7f2e4", "++"),
    "similarity": ("similarity", "#5f8fbf", "\\\\\\"),
    "normalise": ("normalise", "#ffffff", ""),
    "value": ("values", "#7a5a8a", ""),
    "control": ("leakage, clock, calibration", "#8a8a8a", "xx"),
}
"""Name, colour and hatch of a phase, the same in every report."""

GROUPS = {
    "core": (BLUE, "o"),
    "converters": (ORANGE, "s"),
    "everything else": (INK, "D"),
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

    Above, nominal values of all phases on a linear axis; the whisker is
    p10..p90 of the system total with its median, a range of assumptions.
    In the middle the phases of the attention stage alone, in the same
    colours. Below, the components of the substrate as points on a
    logarithmic axis.

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
    bars = 0.42 * len(ledgers)
    heights = [bars + 1.5, bars + 0.8, 0.19 * len(parts) + 0.9]
    with blank(7.4, sum(heights)) as figure:
        panels = figure.subfigures(3, 1, squeeze=False, height_ratios=heights)
        _draw_totals(panels[0, 0].subplots(), ledgers)
        _draw_attention(panels[1, 0].subplots(), ledgers)
        _draw_components(panels[2, 0].subplots(), parts)
    return figure


def _draw_totals(ax: Axes, ledgers: Mapping[str, Ledger]) -> None:
    ranges = [ledger.range_j() for ledger in ledgers.values()]
    scale, prefix = scale_of(max(r.p90 for r in ranges))
    parts = {name: by_phase(ledger) for name, ledger in ledgers.items()}
    rows = _stack(ax, parts, scale)
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
        label="system total: median, p10..p90",
    )
    ax.set_xlim(left=0)
    ax.set_xlabel(
        f"{prefix}J per token; bars nominal, by phase; whiskers an assumption range"
    )
    ax.figure.legend(loc="outside upper center", ncols=3)


def _draw_attention(ax: Axes, ledgers: Mapping[str, Ledger]) -> None:
    largest = max(attention_j(ledger) for ledger in ledgers.values())
    scale, prefix = scale_of(largest)
    parts = {name: attention_by_phase(ledger) for name, ledger in ledgers.items()}
    _stack(ax, parts, scale)
    ax.set_xlim(left=0)
    ax.set_title("the attention stage alone, with its cache")
    ax.set_xlabel(f"{prefix}J per token, nominal, colours as above")


def _stack(
    ax: Axes, found: Mapping[str, Mapping[str, float]], scale: float
) -> IntArray:
    """Draw one bar a ledger of the phases that any of them has; return the rows."""
    rows = np.arange(len(found))
    left = np.zeros(len(found))
    for phase, (label, fill, hatch) in PHASES.items():
        joules = np.array([one.get(phase, 0.0) for one in found.values()]) / scale
        if not joules.any():
            continue
        ax.barh(
            rows,
            joules,
            left=left,
            height=0.6,
            color=fill,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
            label=label,
        )
        left += joules
    ax.set_yticks(rows, [plain(name) for name in found])
    ax.invert_yaxis()
    return rows


def _draw_components(ax: Axes, parts: Mapping[tuple[str, str], float]) -> None:
    shown = {key: j for key, j in parts.items() if j > 0}
    order = sorted(shown, key=lambda key: (list(GROUPS).index(key[0]), -shown[key]))
    for group, (colour, marker) in GROUPS.items():
        mine = [row for row, key in enumerate(order) if key[0] == group]
        ax.plot(
            [shown[order[row]] for row in mine],
            mine,
            marker,
            color=colour,
            ms=6,
            label=group,
        )
    ax.set_xscale("log")
    ax.set_yticks(range(len(order)), [plain(component) for _, component in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="x", color=PALE, lw=0.6)
    ax.grid(axis="y", color=PALE, lw=0.6, ls=":")
    ax.set_axisbelow(True)
    ax.set_title("the substrate by component")
    ax.set_xlabel("J per token, nominal (log axis)")
    ax.figure.legend(loc="outside lower center", ncols=3)
