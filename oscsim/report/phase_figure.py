"""Order, rates and attention of Kuramoto attention models by depth."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.errors import SpecError
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.study.phase_layers import PhaseLayers

SHADES = (INK, BLUE, ORANGE)
PANELS = (
    ("r_local", "mean |G|", (0.0, 1.0)),
    ("r_global", "R of a window", (0.0, 1.0)),
    ("omega", "mean |omega| (rad/token)", None),
    ("entropy_share", "entropy / uniform", (0.0, 1.0)),
)


def phase_layers_figure(results: Sequence[PhaseLayers]) -> Figure:
    """Draw R_local, R_global, omega and attention entropy against depth.

    One line a result; where one was measured on a chip, a fifth panel shows how
    far its updates are from the trained map's, against the size of these.

    Parameters
    ----------
    results : sequence of PhaseLayers
        At least one, for example digital, map and flow.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is nothing to draw.
    """
    if not results:
        raise SpecError("nothing to draw: got 0 tables, give at least one")
    on_chips = [r for r in results if np.isfinite(r.rows[0].gap)]
    columns = len(PANELS) + bool(on_chips)
    with blank(1.9 * columns + 0.6, 2.5) as figure:
        axes = figure.subplots(1, columns, squeeze=False)[0]
        for ax, (name, label, ends) in zip(axes, PANELS, strict=False):
            _draw(ax, results, results, name)
            ax.set_ylabel(label)
            if ends is None:
                ax.set_ylim(bottom=0.0)
            else:
                ax.set_ylim(ends[0], 1.03 * ends[1])
        if on_chips:
            _draw(axes[-1], results, on_chips, "gap")
            axes[-1].set_ylabel("rms from the map (rad)")
            axes[-1].set_ylim(bottom=0.0)
        for ax in axes:
            ax.set_xlabel("layer")
            ax.set_xticks([row.layer for row in results[0].rows])
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _draw(
    ax: Axes, results: Sequence[PhaseLayers], shown: Sequence[PhaseLayers], name: str
) -> None:
    for number, result in enumerate(results):
        if result not in shown:
            continue
        ax.plot(
            [row.layer for row in result.rows],
            [getattr(row, name) for row in result.rows],
            color=SHADES[number % len(SHADES)],
            ls=LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)],
            ms=4.5,
            label=plain(result.on),
        )
