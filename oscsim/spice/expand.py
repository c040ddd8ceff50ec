"""The lines of a netlist and of the files that it names, none of which run commands."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from oscsim.errors import NetlistError

DEEPEST = 16
"""Files that may include each other in a row."""

MOST_FILES = 1000
"""Files that a netlist may include in all."""

_HARMLESS = frozenset(
    (
        ".title", ".param", ".params", ".csparam", ".func", ".global", ".temp",
        ".option", ".options", ".opt", ".model", ".subckt", ".ends", ".macro", ".eom",
        ".if", ".elseif", ".else", ".endif", ".ic", ".nodeset", ".tran", ".op", ".ac",
        ".dc", ".noise", ".tf", ".save", ".probe", ".print", ".plot", ".four", ".meas",
        ".measure", ".width", ".prot", ".unprot",
    )
)  # fmt: skip
_PROGRAMS = ("d_process", "d_cosim")
_FILE = r"\s+(?:\"([^\"]+)\"|'([^']+)'|([^\s\"']+))"
_INCLUDE = re.compile(rf"\.inc(?:lude)?{_FILE}\s*", re.IGNORECASE)
_LIBRARY = re.compile(rf"\.lib{_FILE}\s+(\S+)\s*", re.IGNORECASE)


class Line(NamedTuple):
    """A line as ngspice reads it.

    Attributes
    ----------
    text : str
        The line.
    file : str
        Name of the included file that it stands in; empty in the netlist itself.
    """

    text: str
    file: str


def expanded(name: str, text: str, folder: Path) -> list[Line]:
    """Return the lines of a netlist up to ``.end``, included files in their places.

    ngspice is given these lines and no names of files, so that it reads what was
    checked. Only lines that are known to run nothing are let through.

    Parameters
    ----------
    name : str
        What to call it in messages.
    text : str
        The netlist; its first line is the title.
    folder : Path
        Folder that relative names of files start from; in an included file it is
        the folder of that file.

    Returns
    -------
    list of Line

    Raises
    ------
    NetlistError
        If a line could run commands (``.control``, ``*#``, ``*ng_script``, a model
        that starts a program, any dot line that is not known), holds a control
        character, or includes a file or a ``.lib`` section that is missing, names
        itself, or is one of more than 1000 or 16 deep.
    """
    title, *rest = _split(text)
    bare = title.strip().lower()
    if bare.startswith(".") and bare.split()[0] != ".title":
        raise NetlistError(
            f"{name} starts with {title.strip()!r:.60}, where SPICE expects a title: "
            "put a line of text above it"
        )
    _refuse_commands(name, Line(title, ""))
    walk = _Walk(name)
    return [Line(title, ""), *walk.lines(rest, folder, "", ())]


def meaningful(lines: list[str]) -> list[str]:
    """Return lines without comments, continuations joined.

    Parameters
    ----------
    lines : list of str
        Lines, without a title.
    """
    joined: list[str] = []
    for line in lines:
        bare = _bare(line)
        if bare.startswith("+") and joined:
            joined[-1] += " " + bare[1:].strip()
        elif bare and bare[0] not in "*#$" and not bare.startswith("//"):
            joined.append(bare)
    return joined


class _Walk:
    """One pass over a netlist and the files in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files = 0

    def lines(
        self, lines: list[str], folder: Path, file: str, inside: tuple[str, ...]
    ) -> Iterator[Line]:
        for text in lines:
            line = Line(text, file)
            bare = _bare(text)
            word = bare.split()[0].lower() if bare else ""
            if word == ".end":
                return
            if word in (".inc", ".include"):
                yield from self._included(line, bare, folder, inside)
            elif word == ".lib":
                yield from self._library(line, bare, folder, inside)
            else:
                _refuse_commands(self.name, line)
                yield line

    def _included(
        self, line: Line, bare: str, folder: Path, inside: tuple[str, ...]
    ) -> Iterator[Line]:
        found = _INCLUDE.fullmatch(bare)
        if found is None:
            raise NetlistError(
                f"{_where(self.name, line)}: write .include and the name of one file, "
                f"in quotes if it has blanks, got {bare!r:.80}"
            )
        path = folder / (found[1] or found[2] or found[3])
        lines = self._read(line, path, str(path), inside)
        yield from self.lines(lines, path.parent, path.name, (*inside, str(path)))

    def _library(
        self, line: Line, bare: str, folder: Path, inside: tuple[str, ...]
    ) -> Iterator[Line]:
        found = _LIBRARY.fullmatch(bare)
        if found is None:
            raise NetlistError(
                f"{_where(self.name, line)}: write .lib, the name of a file and that "
                f"of a section in it, got {bare!r:.80}"
            )
        path, section = folder / (found[1] or found[2] or found[3]), found[4].lower()
        key = f"{path} {section}"
        lines = self._read(line, path, key, inside)
        words = [_bare(one).lower().split() for one in lines]
        if [".lib", section] not in words:
            raise NetlistError(
                f"{_where(self.name, line)}: {path} has no section {found[4]!r}: it "
                f"needs a line '.lib {found[4]}'"
            )
        start = words.index([".lib", section]) + 1
        ends = [n for n in range(start, len(lines)) if words[n][:1] == [".endl"]]
        if not ends:
            raise NetlistError(
                f"{_where(self.name, line)}: section {found[4]!r} of {path} does not "
                "end: add a line '.endl'"
            )
        part = lines[start : ends[0]]
        yield from self.lines(part, path.parent, path.name, (*inside, key))

    def _read(
        self, line: Line, path: Path, key: str, inside: tuple[str, ...]
    ) -> list[str]:
        where = _where(self.name, line)
        self.files += 1
        if key in inside or len(inside) >= DEEPEST:
            raise NetlistError(
                f"{where}: {path} includes itself or stands more than {DEEPEST} files "
                "deep: remove a line that includes it"
            )
        if self.files > MOST_FILES:
            raise NetlistError(f"{where}: more than {MOST_FILES} files are included")
        try:
            # a device or a pipe may never end
            if path.exists() and not path.is_file():
                raise NetlistError(f"{where}: cannot include {path}: it is no file")
            return _split(path.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise NetlistError(f"{where}: cannot include {path}: {reason}") from None


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _bare(line: str) -> str:
    """Return a line without blanks around it and without the comment after it."""
    return re.split(r"[;$]\s", line.strip() + " ", maxsplit=1)[0].strip()


def _where(name: str, line: Line) -> str:
    return f"{name}, in {line.file}" if line.file else name


def _refuse_commands(name: str, line: Line) -> None:
    where, bare = _where(name, line), line.text.strip().lstrip("\ufeff")
    odd = [one for one in line.text if unicodedata.category(one) == "Cc"]
    if any(one != "\t" for one in odd):
        raise NetlistError(
            f"{where}: {bare!r:.60} holds a control character: use plain text, with "
            "lines that end in a line feed"
        )
    low = bare.lower()
    words = low.split()
    if low.startswith(("*#", "*ng_script")):
        raise NetlistError(
            f"{where} has the comment {bare!r:.60}, which ngspice runs as a command: "
            "begin it with '* '"
        )
    if low.startswith((".control", ".endc")):
        raise NetlistError(
            f"{where} has a .control block, which runs commands: remove it and state "
            "results as .meas lines"
        )
    if low.startswith(".") and words[0] not in _HARMLESS:
        raise NetlistError(
            f"{where} has a line {words[0]!r:.30}, which is not known to run nothing: "
            "remove it"
        )
    if any(program in low for program in _PROGRAMS):
        raise NetlistError(
            f"{where} has {bare!r:.60}, which may start a program: remove it"
        )
