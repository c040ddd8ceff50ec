"""A netlist as text: read, checked, and run with other parameters."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from oscsim.errors import NetlistError
from oscsim.spice.expand import Line, expanded, meaningful

_NODES = {"r": 2, "c": 2, "l": 2, "v": 2, "i": 2, "b": 2, "d": 2, "e": 4, "g": 4}
_NODES |= {"m": 4, "j": 3, "q": 3, "s": 4, "f": 2, "h": 2, "w": 2, "z": 3, "u": 3}
_NODES |= {"o": 4, "t": 4, "y": 4}
_BEFORE_MODEL = "xanp"
_NO_NODE = re.compile(r"[={(]|^(poly|value|vol|cur|table|laplace|params:)$", re.I)
_VALUE = r"(\{[^}]*\}|[^\s{}]+)"


@dataclass(frozen=True)
class Netlist:
    """The text of a circuit with one transient analysis.

    Attributes
    ----------
    name : str
        What to call it in messages.
    text : str
        The netlist; its first line is a title, as always in SPICE.
    folder : Path
        Folder that relative names in ``.include`` lines start from.
    """

    name: str
    text: str
    folder: Path

    @classmethod
    def read(cls, path: Path) -> "Netlist":
        """Read a netlist and check what ngspice would take silently.

        Parameters
        ----------
        path : Path
            The file.

        Raises
        ------
        NetlistError
            If it cannot be read, is empty, has no ``.tran`` line, could run
            commands itself or by a file that it includes
            (`oscsim.spice.expand.expanded`), or two of its nodes differ only in
            case (SPICE would short them).
        """
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise NetlistError(f"cannot read the netlist {path}: {reason}") from None
        netlist = cls(path.stem, text, path.resolve().parent)
        netlist.check()
        return netlist

    def check(self) -> None:
        """Refuse a netlist that would not run, or not as it reads.

        Raises
        ------
        NetlistError
            As `Netlist.read` says.
        """
        lines = meaningful([line.text for line in self.expanded()[1:]])
        if not lines:
            raise NetlistError(f"{self.name} is empty: give a netlist")
        if ".tran" not in [line.split()[0].lower() for line in lines]:
            raise NetlistError(
                f"{self.name} has no .tran line: add one, with its largest step as "
                "fourth number"
            )
        for first, second in _clashes(lines):
            raise NetlistError(
                f"{self.name} has nodes {first!r} and {second!r}, which SPICE takes "
                "for one: rename one of them"
            )

    def parameters(self) -> dict[str, str]:
        """Return the ``.param`` values as they are written, by lower-case name."""
        return {
            name.lower(): value
            for line in meaningful(self.text.splitlines()[1:])
            if line.lower().startswith(".param")
            for name, value in re.findall(rf"(\w+)\s*=\s*{_VALUE}", line)
        }

    def changed(self, values: Mapping[str, float]) -> "Netlist":
        """Return the netlist with other values of some parameters.

        Parameters
        ----------
        values : mapping of str to float
            New values by name of the parameter, in SI units.

        Raises
        ------
        NetlistError
            If there is no such parameter.
        """
        text = self.text
        known = self.parameters()
        for name, value in values.items():
            if name.lower() not in known:
                raise NetlistError(
                    f"{self.name} has no parameter {name!r}: one of {', '.join(known)}"
                )
            pattern = rf"^(\.param\b.*?\b{re.escape(name)}\s*=\s*){_VALUE}"
            text = re.sub(pattern, rf"\g<1>{float(value)!r}", text, flags=re.I | re.M)
        return replace(self, text=text)

    def expanded(self) -> list[Line]:
        """Return its lines with the files that it includes in their places.

        Raises
        ------
        NetlistError
            As `oscsim.spice.expand.expanded` says.
        """
        return expanded(self.name, self.text, self.folder)

    def deck(self, raw: str) -> str:
        """Return the text that makes ngspice run it and write its waveforms.

        ``.meas`` lines are skipped when ngspice itself writes a raw file (``-r``),
        so the waveforms are written by commands after the run.

        Parameters
        ----------
        raw : str
            Name of the raw file.
        """
        commands = [".control", "run", f"write {raw}", "quit 0", ".endc", ".end", ""]
        return "\n".join(self.deck_lines() + commands)

    def deck_lines(self) -> list[str]:
        """Return the lines before ``.end``, included files in their places.

        Raises
        ------
        NetlistError
            If one of them could run commands.
        """
        return [line.text for line in self.expanded()]


def _clashes(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names of nodes of one scope that differ only in case.

    Nodes of a sub-circuit are its own, but for those of ``.global``.
    """
    shared = {
        node.lower(): node
        for line in lines
        if line.lower().startswith(".global")
        for node in line.split()[1:]
    }
    scopes: list[dict[str, str]] = [{}]
    for line in lines:
        first = line.split()[0].lower()
        if first in (".subckt", ".macro"):
            scopes.append({})
        for node in _nodes(line):
            low = node.lower()
            other = shared.get(low) or scopes[-1].setdefault(low, node)
            if other != node:
                yield other, node
        if first in (".ends", ".eom") and len(scopes) > 1:
            scopes.pop()


def _nodes(line: str) -> list[str]:
    """Return the nodes that an element line names, or the ports of a sub-circuit."""
    words = line.split()
    kind = words[0][0].lower()
    if words[0].lower() in (".subckt", ".macro"):
        found = words[2:]
    elif kind in _BEFORE_MODEL:
        plain = [word for word in words[1:] if not _NO_NODE.search(word)]
        found = plain[:-1]
    else:
        found = words[1 : 1 + _NODES.get(kind, 0)]
    nodes = []
    for word in found:
        if _NO_NODE.search(word):
            break
        nodes += [word.strip("[]~")] if not word.startswith("%") else []
    return [node for node in nodes if node]
