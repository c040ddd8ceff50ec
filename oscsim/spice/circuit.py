"""A generated circuit: instances of sub-circuits and sources, and its netlist."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oscsim.bundled import circuit_folder
from oscsim.errors import NetlistError
from oscsim.spice.netlist import Netlist
from oscsim.spice.values import spice_value

TIGHT = "reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-18 trtol=1"
"""For normalised units, whose values are near 1: the defaults would leave 2e-4."""


ALONE = "Generated. Licence: MIT. Runs alone: ngspice -b -r out.raw FILE"


@dataclass(frozen=True)
class Instance:
    """One sub-circuit in its place.

    Attributes
    ----------
    name : str
        Without the leading X.
    subcircuit : str
        What it is an instance of.
    nodes : tuple of str
        What its ports are connected to, in order.
    parameters : tuple of (str, str)
        Names and values, as `spice_value` writes them.
    """

    name: str
    subcircuit: str
    nodes: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Source:
    """A constant voltage between a node and ground.

    Attributes
    ----------
    name : str
        Without the leading V.
    node : str
        Its positive node.
    value : str
        Volts, as `spice_value` writes them.
    """

    name: str
    node: str
    value: str


@dataclass(frozen=True)
class Circuit:
    """What is connected to what, and the one analysis of it.

    A title of several lines is refused with a NetlistError.

    Attributes
    ----------
    name : str
        What to call it in messages.
    title : str
        Its first line, printable.
    parameters : tuple of (str, str)
        The ``.param`` lines.
    subcircuits : tuple of str
        Definitions, from ``.subckt`` to ``.ends``.
    elements : tuple of Instance or Source
        The top level, in order.
    initial : tuple of (str, str)
        Nodes and their voltages at time 0.
    options : str
        Of the simulator.
    step, duration : str
        Largest step and end of the transient analysis (s).
    saved : tuple of str
        Nodes whose voltage is kept.
    """

    name: str
    title: str
    parameters: tuple[tuple[str, str], ...]
    subcircuits: tuple[str, ...]
    elements: tuple[Instance | Source, ...]
    initial: tuple[tuple[str, str], ...]
    options: str
    step: str
    duration: str
    saved: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.title.isprintable():
            raise NetlistError(
                f"the title {self.title!r:.60} cannot stand in a netlist: it must be "
                "one printable line"
            )

    def text(self) -> str:
        """Return the netlist, written here and without any other program.

        It states no output of its own, so plain ngspice runs it with ``-r`` only:
        ``ngspice -b -r out.raw FILE``.
        """
        lines = [f"* {self.title}", f"* {ALONE}"]
        lines += [f".param {name}={value}" for name, value in self.parameters]
        lines += self.subcircuits
        lines += [_line(element) for element in self.elements]
        return "\n".join([*lines, *self.closing(), ""])

    def closing(self) -> list[str]:
        """Return the lines after the elements: start values and the analysis."""
        lines = [f".ic v({node})={value}" for node, value in self.initial]
        lines += [
            f".options {self.options}",
            f".tran {self.step} {self.duration} 0 {self.step} uic",
        ]
        lines += [f".save v({node})" for node in self.saved]
        return [*lines, ".end"]

    def netlist(self) -> Netlist:
        """Return the netlist ready to run.

        Raises
        ------
        NetlistError
            If two nodes or two elements have names that differ only in case.
        """
        self._require_distinct()
        netlist = Netlist(self.name, self.text(), Path())
        netlist.check()
        return netlist

    def _require_distinct(self) -> None:
        seen: set[str] = set()
        for element in self.elements:
            kind = "x" if isinstance(element, Instance) else "v"
            key = kind + element.name.lower()
            if key in seen:
                raise NetlistError(
                    f"{self.name} would have two elements {key!r}: rename one"
                )
            seen.add(key)


def values_of(**parameters: float) -> tuple[tuple[str, str], ...]:
    """Return the parameters of an instance as SPICE writes them."""
    return tuple((name, spice_value(value)) for name, value in parameters.items())


def subcircuit(file: str, name: str) -> str:
    """Return a sub-circuit's definition from one of the netlists that ship.

    Parameters
    ----------
    file : str
        Name of the netlist, without its ending.
    name : str
        Name of the sub-circuit in it.

    Raises
    ------
    NetlistError
        If the file or the sub-circuit is not there.
    """
    lines = _shipped(file).splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(f".subckt {name} ")]
    if not starts:
        raise NetlistError(f"{file}.cir has no sub-circuit {name!r}")
    end = lines.index(".ends", starts[0])
    return "\n".join(lines[starts[0] : end + 1])


def parameters_of(
    file: str, changes: Mapping[str, float | str]
) -> tuple[tuple[str, str], ...]:
    """Return the ``.param`` values of a netlist that ships, some of them changed.

    Parameters
    ----------
    file : str
        Name of the netlist, without its ending.
    changes : mapping of str to float or str
        New values by name; numbers in SI units or quantities.

    Raises
    ------
    NetlistError
        If there is no such parameter, or a value is no quantity.
    """
    known = Netlist(file, _shipped(file), circuit_folder()).parameters()
    for name in changes:
        if name not in known:
            raise NetlistError(
                f"{file} has no parameter {name!r:.60}: one of {', '.join(known)}"
            )
    new = {name: spice_value(value) for name, value in changes.items()}
    return tuple((known | new).items())


def _shipped(file: str) -> str:
    path = circuit_folder() / f"{file}.cir"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise NetlistError(
            f"cannot read {path}: {error.strerror}; reinstall the package"
        ) from None


def _line(element: Instance | Source) -> str:
    if isinstance(element, Source):
        return f"V{element.name} {element.node} 0 {element.value}"
    words = [f"X{element.name}", *element.nodes, element.subcircuit]
    return " ".join(words + [f"{name}={value}" for name, value in element.parameters])
