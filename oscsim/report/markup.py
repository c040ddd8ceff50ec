"""Small pieces of HTML; every text that comes from outside is escaped here."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple, TypeAlias

from matplotlib.figure import Figure

from oscsim.report.canvas import inline_svg


class Link(NamedTuple):
    """A text that leads to a place on the page."""

    place: str
    text: str


Content: TypeAlias = str | Link


def shown(content: Content) -> str:
    """Return the content of a table's cell as HTML."""
    if isinstance(content, Link):
        return f'<a href="#{escape(content.place)}">{escape(content.text)}</a>'
    return escape(content)


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph, with a class if one is given."""
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escape(text)}</p>"


def items(texts: Iterable[str]) -> str:
    """Return a list, or a dash where there is nothing."""
    lines = [f"<li>{escape(text)}</li>" for text in texts]
    return f"<ul>{''.join(lines)}</ul>" if lines else "<p>-</p>"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Content]],
    *,
    numbers: Iterable[int] = (),
    idle: Iterable[int] = (),
) -> str:
    """Return a table that becomes a list of cards on a narrow screen.

    Parameters
    ----------
    header : sequence of str
        Column names.
    rows : iterable of sequence of str or Link
        Cells; an empty cell is left out of a card.
    numbers : iterable of int
        Columns aligned to the right.
    idle : iterable of int
        Rows in faint ink.
    """
    right, faint = set(numbers), set(idle)

    def cell(tag: str, column: int, text: Content) -> str:
        kind = ' class="number"' if column in right else ""
        named = tag == "td" and column > 0 and text
        name = f' data-name="{escape(header[column])}"' if named else ""
        return f"<{tag}{kind}{name}>{shown(text)}</{tag}>"

    head = "".join(cell("th", k, text) for k, text in enumerate(header))
    body = "".join(
        f"<tr{' class=' + chr(34) + 'idle' + chr(34) if number in faint else ''}>"
        + "".join(cell("td", k, text) for k, text in enumerate(row))
        + "</tr>\n"
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="wide"><table class="stack"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def drawing(figure: Figure, name: str, caption: str, *, large: bool = False) -> str:
    """Return a figure with its caption; a large one scrolls on a narrow screen."""
    kind = ' class="large"' if large else ""
    svg = inline_svg(figure, name, escape(caption))
    return (
        f'<figure id="{name}"{kind}><div class="drawing">{svg}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
