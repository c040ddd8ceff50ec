"""What one sentence attends to, digitally and on a chip."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from oscsim.bridge.maps import AttentionMaps
from oscsim.report.canvas import blank, plain
from oscsim.typing import FloatArray

LABELLED = 12
"""Up to this many tokens the cells carry their values."""

REACH = 0.25
"""End of the colour scale of a difference, unless one is larger."""

TINY = "<.005"

COLOURS = "cividis"
"""Its lightness rises all the way, so that it survives in grey."""


def attention_figure(maps: AttentionMaps) -> Figure:
    """Draw attention digitally, on the chip, and the difference, a row a head.

    Digital and chip share one colour scale from 0; the difference has its own,
    -0.25 to 0.25 in every report unless it reaches further.

    Parameters
    ----------
    maps : AttentionMaps
        From `oscsim.bridge.maps.attention_maps`.

    Returns
    -------
    Figure
    """
    layers, heads, n, _ = maps.digital.shape
    rows = layers * heads
    side = max(2.2, 0.3 * n if n <= LABELLED else 0.2 * n)
    top = float(max(maps.digital.max(), maps.chip.max()))
    gap = maps.chip - maps.digital
    reach = max(float(np.abs(gap).max()), REACH)
    with blank(3 * side + 3.0, rows * (side + 0.9)) as figure:
        axes = figure.subplots(rows, 3, squeeze=False)
        for row in range(rows):
            layer, head = divmod(row, heads)
            where = "" if rows == 1 else f", layer {layer} head {head}"
            shared = {"digital": maps.digital, "chip": maps.chip}
            for ax, (name, values) in zip(axes[row], shared.items(), strict=False):
                shown = _draw_map(ax, values[layer, head], maps.words, 0, top)
                ax.set_title(name + where)
            off = _draw_map(axes[row, 2], gap[layer, head], maps.words, -reach, reach)
            axes[row, 2].set_title(f"chip - digital{where}")
            axes[row, 0].set_ylabel("query i")
        for ax in axes[-1]:
            ax.set_xlabel("anchor j")
        figure.colorbar(shown, ax=axes[:, :2], label="attention a_ij", aspect=30)
        figure.colorbar(off, ax=axes[:, 2], label="difference of a_ij", aspect=30)
    return figure


def _draw_map(
    ax: Axes, values: FloatArray, words: tuple[str, ...], low: float, high: float
) -> AxesImage:
    image = ax.imshow(values, cmap=COLOURS, vmin=low, vmax=high)
    labels = [plain(word) for word in words]
    ticks = np.arange(len(words))
    ax.set_xticks(ticks, labels, rotation=90)
    ax.set_yticks(ticks, labels)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(words) > LABELLED:
        return image
    for (i, j), value in np.ndenumerate(values):
        dark = value < low + 0.5 * (high - low)
        text = _written(float(value), signed=low < 0)
        ax.text(
            j,
            i,
            text,
            ha="center",
            va="center",
            fontsize=4.2 if text == TINY else 5.5,
            color="white" if dark else "black",
        )
    return image


def _written(value: float, *, signed: bool) -> str:
    """Return two digits; less than half of the last one is 0 only below 0.0005."""
    if abs(value) < 0.0005:
        return "0"
    if abs(value) < 0.005:
        return TINY
    return f"{value:{'+' if signed else ''}.2f}".replace("0.", ".", 1)
