"""The benchmark as one figure: targets, and cost against size."""

from typing import Any

from matplotlib.axes import Axes

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, PALE, blank, png

GROWTH = {
    "float64 N": "oscsim",
    "float32 N": "oscsim, float32",
    "scipy N": "scipy.sparse",
    "float64 d": "oscsim, stepped",
    "numpy d": "numpy, stepped",
    "closed d": "oscsim, closed form",
}


def draw(report: dict[str, Any]) -> bytes:
    """Return the figure of a whole report as a PNG file."""
    with blank(8.6, 6.6) as figure:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1))
        _targets(figure.add_subplot(grid[:, 0]), report["targets"])
        _growth(figure.add_subplot(grid[0, 1]), report["rows"], "growth N")
        _growth(figure.add_subplot(grid[1, 1]), report["rows"], "growth d")
        return png(figure)


def _targets(axes: Axes, targets: dict[str, Any]) -> None:
    """Draw how far each figure is from what was asked; right of 1 is reached."""
    names = list(targets)
    for place, name in enumerate(reversed(names)):
        entry = targets[name]
        measured = entry["measured"]
        if measured is None:
            axes.text(1.05, place, "not measured", va="center", fontsize=7, color=INK)
            continue
        gain = max(measured, 1e-6) / entry["target"]
        gain = gain if entry["sense"] == ">=" else 1 / gain
        reached = entry["reached"]
        axes.barh(
            place,
            gain - 1,
            left=1,
            height=0.7,
            color=BLUE if reached else PALE,
            edgecolor=INK,
            hatch=None if reached else "////",
            linewidth=0.6,
        )
        axes.annotate(
            f"{measured:.3g}",
            (gain, place),
            xytext=(3 if gain >= 1 else -3, 0),
            textcoords="offset points",
            ha="left" if gain >= 1 else "right",
            va="center",
            fontsize=7,
        )
    labels = [
        f"{n}  ({targets[n]['sense'].replace('>=', '≥').replace('<=', '≤')} "
        f"{targets[n]['target']:g})"
        for n in reversed(names)
    ]
    axes.set_yticks(range(len(names)), labels, fontsize=7)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    low, high = low / 1.6, high * 1.6
    axes.set_xlim(low, high)
    ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32) if low < t < high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_xlabel("measured / target, or target / measured where less is better")


def _growth(axes: Axes, rows: list[dict[str, Any]], row: str) -> None:
    chosen = [r for r in rows if r["row"] == row and "missing" not in r]
    families = list(dict.fromkeys(r["family"] for r in chosen))
    for number, family in enumerate(families):
        points = sorted(
            (r["size"], r["wall_per_unit_s"] * 1e9)
            for r in chosen
            if r["family"] == family
        )
        axes.plot(
            *zip(*points, strict=True),
            marker=MARKERS[number],
            linestyle=LINES[number],
            color=(BLUE, ORANGE, INK)[number % 3],
            markersize=4,
            label=GROWTH.get(family, family),
        )
    axes.set_xscale("log", base=10 if row.endswith("N") else 2)
    axes.set_yscale("log")
    is_size = row.endswith("N")
    axes.set_xlabel("oscillators N (8 neighbours)" if is_size else "components d")
    axes.set_ylabel(
        "ns per edge and evaluation" if is_size else "ns per component (and step)"
    )
    if families:
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * 2.5)
        axes.legend(ncols=2 if is_size else 1, fontsize=7)
