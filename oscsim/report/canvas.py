"""Figures without global state: one look, and the same bits every time."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from oscsim.errors import SpecError

LOOK: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
}
INK, BLUE, ORANGE, PALE = "#1a1a1a", "#1f5f99", "#c8641b", "#b9cfe4"
"""Lightness 10, 39, 54 and 82 of 100: apart in grey too."""

MARKERS = "osD^vPX"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))


@contextmanager
def blank(width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure in the look of the project (inches)."""
    with mpl.rc_context(LOOK):
        yield Figure(figsize=(width, height), layout="constrained")


def labelled(figure: Figure) -> tuple[list[Artist], list[str]]:
    """Return one handle for every label of a figure's axes, for a common legend."""
    found: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def plain(text: str) -> str:
    """Return a text in which a dollar sign does not start a formula."""
    return text.replace("$", r"\$")


def require_oscillators(number: int) -> None:
    """Check that a histogram of oscillators has any.

    Raises
    ------
    SpecError
        If none was settled on a substrate.
    """
    if number == 0:
        raise SpecError(
            "no oscillator was settled in this run, got a tally of 0: use a rung "
            "above digital, without a published perturbation"
        )


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """Return a figure as an SVG element to stand inside an HTML page.

    Text stays text, ids carry the name, so that figures of one page do not
    meet, and nothing refers to another place.

    Parameters
    ----------
    figure : Figure
        What to draw.
    name : str
        Unique on the page: letters, digits and hyphens.
    label : str
        What a screen reader says; plain text without markup.
    """
    out = io.StringIO()
    with mpl.rc_context(LOOK | {"svg.hashsalt": name}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", svg)
    # Equal images share an id that nothing refers to.
    svg = re.sub(r'\s+id="image\w+"', "", svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def png(figure: Figure, dpi: int = 150) -> bytes:
    """Return a figure as a PNG file."""
    out = io.BytesIO()
    options: dict[str, Any] = {"metadata": {"Software": None}}
    with mpl.rc_context(LOOK):
        figure.savefig(out, format="png", dpi=dpi, **options)
    return out.getvalue()
