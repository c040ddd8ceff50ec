"""Drawings on a design sheet whose points lead to cells."""

import re
from collections.abc import Collection, Mapping
from html import escape

from matplotlib.figure import Figure

from oscsim.report.markup import drawing

CELL = "cell:"
"""Address of a cell behind a point, before its number."""

_ANCHOR = re.compile(rf'<a xlink:href="{CELL}(\d+)"[^>]*>(.*?)</a>', re.DOTALL)


def linked_drawing(
    figure: Figure,
    name: str,
    caption: str,
    names: Mapping[int, str],
    detailed: Collection[int],
) -> str:
    """Return a figure with its caption, links at the points of detailed cells.

    The page's script makes them one stop of the keyboard, among which arrows move;
    the table below a figure has the same ones, in order.

    Parameters
    ----------
    figure : Figure
        With addresses ``cell:NUMBER`` behind its points.
    name : str
        Unique on the page.
    caption : str
        Plain text.
    names : mapping of int to str
        What the cells are.
    detailed : collection of int
        Cells that the page has details of.
    """

    def anchor(found: re.Match[str]) -> str:
        number, inside = int(found[1]), found[2]
        if number not in detailed:
            return inside
        title = f"<title>{escape(names[number])}</title>"
        return f'<a href="#cell-{number}">{title}{inside}</a>'

    place = re.sub(r"[^A-Za-z0-9-]", "-", name)
    drawn = _ANCHOR.sub(anchor, drawing(figure, place, caption))
    # The content of an image is hidden from screen readers, links included.
    return drawn.replace('role="img"', 'role="group"') if "<a href" in drawn else drawn
