"""The sources of an energy figure as BibTeX: what the library says, nothing more."""

import hashlib
import re
from collections.abc import Iterable

from oscsim.energy.components import Component

DOI = re.compile(r"doi:\s?(10\.\d{4,9}/[^\s,;()]+)")
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
UNSOURCED = re.compile(r"a choice|no citation")
CITES = re.compile(
    r"\b(19|20)\d\d\b|doi:|arXiv:|et al|@[0-9a-f]{7}|\(datasheet\)|PMC\d"
)
SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
}


def bibtex(components: Iterable[Component]) -> str:
    """Return one ``@misc`` entry per source text, with what rests on it.

    The text stands as it is in the library; a DOI or an arXiv number is
    repeated as a field only where the text holds one, a year only where a number
    was read and not derived. Numbers that are a choice, or whose source names no
    publication, are listed in a comment at the end.

    Parameters
    ----------
    components : iterable of Component
        What was used.
    """
    by_source: dict[str, list[Component]] = {}
    for part in components:
        by_source.setdefault(part.source, []).append(part)
    entries, bare = [], []
    for source, parts in by_source.items():
        is_choice = all(part.confidence == "assumed" for part in parts)
        if is_choice or UNSOURCED.search(source) or not CITES.search(source):
            bare += parts
        else:
            entries.append(_entry(source, parts))
    # BibTeX reads an @ outside entries as the start of one
    comment = [
        f"% {part.id}: {_line(part.source)}".replace("@", " at ") for part in bare
    ]
    if comment:
        comment.insert(0, "% Numbers without a source that could be cited:")
    return "\n".join([*entries, *comment]) + "\n" if entries or comment else ""


def _entry(source: str, parts: list[Component]) -> str:
    fields = {"howpublished": _escaped(source)}
    doi, arxiv = DOI.search(source), ARXIV.search(source)
    if doi:
        fields["doi"] = doi[1].rstrip(".:")
    if arxiv:
        fields |= {"eprint": arxiv[1], "archiveprefix": "arXiv"}
    years = {part.year for part in parts}
    is_read = all(part.confidence in ("primary", "secondary") for part in parts)
    if len(years) == 1 and is_read:
        fields["year"] = str(years.pop())
    words = sorted({part.confidence for part in parts})
    ids = ", ".join(part.id for part in parts)
    fields["note"] = _escaped(f"{'/'.join(words)}: {ids}")
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    key = hashlib.sha256(source.encode()).hexdigest()[:8]
    return f"@misc{{oscsim-{key},\n{body}}}\n"


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in _line(text))


def _line(text: str) -> str:
    return " ".join(text.split())
