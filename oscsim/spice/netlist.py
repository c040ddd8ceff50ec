"""A netlist as text: read, checked, and run with other parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from oscsim.errors import NetlistError

_NODES = {"r": 2, "c": 2, "l": 2, "v": 2, "i": 2, "b": 2, "d": 2, "e": 4, "g": 4}
_NODES |= {"m": 4, "j": 3, "q": 3, "s": 4}
_INCLUDE = re.compile(r"(\s*\.inc(?:lude)?\s+)[\"']?([^\"']+?)[\"']?\s*$", re.I)
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
            If it cannot be read, is empty, has no ``.tran`` line, has a
            ``.control`` block (these run commands), or two of its nodes differ
            only in case (SPICE would short them).
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
        lines = self._lines()
        words = [line.split()[0].lower() for line in lines]
        if ".control" in words:
            raise NetlistError(
                f"{self.name} has a .control block, which runs commands: remove it "
                "and state results as .meas lines"
            )
        if ".tran" not in words:
            raise NetlistError(
                f"{self.name} has no .tran line: add one, with its largest step as "
                "fourth number"
            )
        seen: dict[str, str] = {}
        for node in (node for line in lines for node in _nodes(line)):
            other = seen.setdefault(node.lower(), node)
            if other != node:
                raise NetlistError(
                    f"{self.name} has nodes {other!r} and {node!r}, which SPICE takes "
                    "for one: rename one of them"
                )

    def parameters(self) -> dict[str, str]:
        """Return the ``.param`` values as they are written, by lower-case name."""
        return {
            name.lower(): value
            for line in self._lines()
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

    def included(self) -> list[Path]:
        """Return the files that its ``.include`` lines name."""
        found = map(_INCLUDE.match, self.text.splitlines())
        return [self.folder / one.group(2) for one in found if one]

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
        """Return the lines before ``.end``, with absolute names of files."""
        kept = []
        for line in self.text.splitlines():
            if line.strip().lower() == ".end":
                break
            kept.append(self._absolute(line))
        return kept

    def _absolute(self, line: str) -> str:
        found = _INCLUDE.match(line)
        if found is None or Path(found.group(2)).is_absolute():
            return line
        return f'{found.group(1)}"{self.folder / found.group(2)}"'

    def _lines(self) -> list[str]:
        """Return the lines that mean something, continuations joined, no title."""
        joined: list[str] = []
        for line in self.text.splitlines()[1:]:
            bare = re.split(r"[;$]\s", line, maxsplit=1)[0].strip()
            if bare.startswith("+") and joined:
                joined[-1] += " " + bare[1:].strip()
            elif bare and not bare.startswith("*"):
                joined.append(bare)
        if not joined:
            raise NetlistError(f"{self.name} is empty: give a netlist")
        return joined


def _nodes(line: str) -> list[str]:
    """Return the nodes that an element line names."""
    words = line.split()
    if words[0][0].lower() == "x":
        plain = [word for word in words if "=" not in word and "{" not in word]
        return plain[1:-1]
    return words[1 : 1 + _NODES.get(words[0][0].lower(), 0)]
