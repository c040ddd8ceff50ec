"""PySpice, an optional extra: its circuit builder, and its shared ngspice.

PySpice is licensed under the GPL, version 3; this package is MIT and neither ships
nor needs it. No other module imports it, and this one only when it is asked to.
"""

import ctypes.util
import importlib
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.errors import NetlistError, SimulatorError
from oscsim.spice.circuit import Circuit, Instance
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import OLDEST, Simulation, measures_of, reason_in
from oscsim.spice.rawfile import Waveforms

_LOCK = threading.Lock()
_HARMLESS = ("note:", "warning:", "using ", "trying ", "initial ", "reference value")
_LOST = "cannot recover"
_FAILED = ("timestep too small", "aborted", "error")


def pyspice_circuit(circuit: Circuit) -> Any:
    """Return the same circuit as PySpice's ``Circuit``.

    Parameters
    ----------
    circuit : Circuit
        From `to_circuit`.

    Returns
    -------
    PySpice.Spice.Netlist.Circuit
        With sub-circuits, elements and ``.param`` lines; PySpice gives the
        analysis to its simulator, so these lines are not in it.

    Raises
    ------
    SimulatorError
        If PySpice is not installed.
    """
    made = _module("PySpice.Spice.Netlist").Circuit(circuit.title)
    for name, value in circuit.parameters:
        made.parameter(name, value)
    made.raw_spice += "".join(f"{part}\n" for part in circuit.subcircuits)
    for element in circuit.elements:
        if isinstance(element, Instance):
            values = dict(element.parameters)
            made.X(element.name, element.subcircuit, *element.nodes, **values)
        else:
            made.V(element.name, element.node, made.gnd, element.value)
    return made


def pyspice_netlist(circuit: Circuit) -> Netlist:
    """Return the netlist that PySpice writes, with the circuit's own analysis.

    Parameters
    ----------
    circuit : Circuit
        From `to_circuit`.

    Raises
    ------
    SimulatorError
        If PySpice is not installed.
    NetlistError
        As `Circuit.netlist`.
    """
    circuit.netlist()
    written = [line for line in str(pyspice_circuit(circuit)).splitlines() if line]
    netlist = Netlist(
        circuit.name, "\n".join([*written, *circuit.closing(), ""]), Path()
    )
    netlist.check()
    return netlist


def simulate_shared(netlist: Netlist) -> Simulation:
    """Run a netlist in the ngspice library inside this process, through PySpice.

    Parameters
    ----------
    netlist : Netlist
        What to run.

    Returns
    -------
    Simulation

    Raises
    ------
    NetlistError
        If ngspice refuses the netlist.
    SimulatorError
        If PySpice or the library is missing or too old, or the run stops before
        its end.

    Notes
    -----
    The library has one state a process: runs take turns, a crash ends the process,
    there is no time limit, and after a netlist that it refuses the library is lost
    until the process ends. The program (`simulate_circuit`) has none of these
    limits. What PySpice 1.5 takes for failures (any line
    that ngspice writes to stderr, notes included) is judged here instead. It
    sets the locale of numbers to C.
    """
    with _LOCK:
        engine = _engine()
        started = time.perf_counter()
        text = netlist.deck_lines()
        engine.load(netlist.name, "\n".join([*text, ".end"]))
        try:
            log = engine.command(netlist.name, "run")
            waveforms = engine.waveforms(netlist.name)
        finally:
            engine.forget()
    seconds = time.perf_counter() - started
    return Simulation(waveforms, measures_of(log), log, seconds)


def library_path() -> str:
    """Return the ngspice library: Debian ships it without an unversioned name.

    ``NGSPICE_LIBRARY_PATH`` names another one.

    Raises
    ------
    SimulatorError
        If there is none.
    """
    given = os.environ.get("NGSPICE_LIBRARY_PATH")
    if given:
        if not Path(given).is_file():
            raise SimulatorError(
                f"NGSPICE_LIBRARY_PATH is {given!r:.200}, where there is no file: "
                "name libngspice.so.0, or leave it unset"
            )
        return given
    brew = [Path(folder, "lib") for folder in ("/opt/homebrew", "/usr/local")]
    roots = brew if sys.platform == "darwin" else [Path("/usr/lib"), *brew]
    found = [one for root in roots for one in _libraries(root)]
    named = found[0] if found else ctypes.util.find_library("ngspice")
    if named is None:
        raise SimulatorError(
            "the ngspice library was not found: install it (Debian, Ubuntu: apt-get "
            "install libngspice0; macOS: brew install libngspice), or name it in "
            "NGSPICE_LIBRARY_PATH"
        )
    return str(named)


def _libraries(root: Path) -> list[Path]:
    if sys.platform == "darwin":
        return sorted(root.glob("libngspice*.dylib"))
    return sorted([*root.glob("libngspice.so*"), *root.glob("*/libngspice.so*")])


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SimulatorError(
            f"PySpice is not installed ({error}): install oscsim[spice], or use the "
            "netlist's own text and the ngspice program"
        ) from None


class _Engine:
    """The one ngspice library of this process."""

    def __init__(self) -> None:
        self.lost = ""
        os.environ.setdefault("NGSPICE_LIBRARY_PATH", library_path())
        shared = _module("PySpice.Spice.NgSpice.Shared")
        # It logs every note as an error, and that it does not know ngspice 39.
        logging.getLogger(shared.__name__).setLevel(logging.CRITICAL)
        shared.NgSpiceShared.setup_platform()
        try:
            self._shared = shared.NgSpiceShared.new_instance()
        except (OSError, NameError) as error:
            raise SimulatorError(
                f"the ngspice library does not load: {error}"
            ) from None
        self._failures = (shared.NgSpiceCommandError, shared.NgSpiceCircuitError)
        version = self._shared.ngspice_version
        if version is None or version < OLDEST:
            raise SimulatorError(
                f"the ngspice library is version {version}: the circuits need "
                f"{OLDEST} or newer"
            )

    def load(self, name: str, text: str) -> None:
        """Read a netlist."""
        try:
            self._shared.load_circuit(text)
        except (*self._failures, NameError):
            pass
        self._require(name)

    def command(self, name: str, words: str) -> str:
        """Run a command and return what ngspice printed."""
        try:
            self._shared.exec_command(words)
        except (*self._failures, NameError):
            pass
        return self._require(name)

    def waveforms(self, name: str) -> Waveforms:
        """Return what the last run left."""
        latest = self._shared.last_plot
        if not latest.startswith("tran"):
            raise SimulatorError(f"{name} left no points: the analysis did not start")
        plot = self._shared.plot(None, latest)
        signals = {_signal(key): np.array(vector._data) for key, vector in plot.items()}
        return Waveforms(signals.pop("time"), signals)

    def forget(self) -> None:
        """Free the circuit and its waveforms."""
        for words in ("destroy all", "remcirc"):
            try:
                self._shared.exec_command(words)
            except (*self._failures, NameError):
                continue

    def _require(self, name: str) -> str:
        said = f"{self._shared.stderr}\n{self._shared.stdout}"
        bad = [
            line
            for line in said.lower().splitlines()
            if any(word in line for word in _FAILED)
            and not line.strip().startswith(_HARMLESS)
        ]
        if not bad:
            return said
        if any(_LOST in line for line in bad):
            self.lost = name
        told = "\n".join(line for line in said.splitlines() if _LOST not in line)
        if any("timestep too small" in line for line in bad):
            raise SimulatorError(f"{name} stopped before its end: {reason_in(told)}")
        raise NetlistError(f"ngspice refused {name}: {reason_in(told)}")


_STARTED: list[_Engine] = []


def _engine() -> _Engine:
    if not _STARTED:
        _STARTED.append(_Engine())
    if _STARTED[0].lost:
        raise SimulatorError(
            f"the ngspice library of this process did not recover from "
            f"{_STARTED[0].lost}, which it refused: start another process, or use the "
            "ngspice program"
        )
    return _STARTED[0]


def _signal(name: str) -> str:
    """Return a name as the raw file has it: ``th0`` is ``v(th0)`` there."""
    low = name.lower()
    if low == "time":
        return low
    if low.endswith("#branch"):
        return f"i({low.removesuffix('#branch')})"
    return low if "(" in low else f"v({low})"
