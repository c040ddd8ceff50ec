"""Figures as wide as a journal's column, in the formats that are asked for."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.report.canvas import LOOK, blank, png

_ANCHOR = re.compile(rb"<a xlink:href=[^>]*>(.*?)</a>", re.DOTALL)
WIDTH_MM = 85.0
MOST_LETTERS = 28
"""Of labels of which two stand side by side."""

SMALL: Any = {
    "font.size": 7.5,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.5,
    "legend.fontsize": 6.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


@contextmanager
def column(height_mm: float) -> Iterator[Figure]:
    """Give an empty figure 85 mm wide in the look of the project."""
    with blank(WIDTH_MM / 25.4, height_mm / 25.4) as figure, mpl.rc_context(SMALL):
        yield figure


def legend(figure: Figure, ax: Axes) -> None:
    """Put the legend of some axes above them, in as many columns as fit."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=_columns(labels),
        handlelength=2.6,
        columnspacing=0.8,
        borderpad=0.2,
    )


def legend_mm(labels: Sequence[str]) -> float:
    """Return the height that a legend of these labels takes (mm)."""
    return 3.4 * -(-len(labels) // _columns(labels))


def _columns(labels: Sequence[str]) -> int:
    return 2 if max(map(len, labels), default=0) <= MOST_LETTERS else 1


def formats(figure: Figure, name: str) -> dict[str, bytes]:
    """Return a figure as PNG (300 dpi), SVG and PDF by file name.

    The same figure gives the same bytes: no dates, fixed ids.

    Parameters
    ----------
    figure : Figure
        What to draw.
    name : str
        File name without its ending.
    """
    return {
        f"{name}.png": png(figure, dpi=300),
        f"{name}.svg": _saved(figure, "svg", {"Date": None}, name),
        f"{name}.pdf": _saved(figure, "pdf", {"CreationDate": None}, name),
    }


def _saved(figure: Figure, kind: str, metadata: dict[str, Any], name: str) -> bytes:
    out = io.BytesIO()
    with mpl.rc_context(LOOK | {"svg.hashsalt": name}):
        figure.savefig(out, format=kind, metadata=metadata)
    written = out.getvalue()
    # Addresses behind points lead nowhere outside their page.
    return _ANCHOR.sub(rb"\1", written) if kind == "svg" else written
