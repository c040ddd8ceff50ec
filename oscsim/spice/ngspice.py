"""One run of ngspice, in a process and a folder of its own."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from oscsim.errors import NetlistError, SimulatorError
from oscsim.files import write_whole
from oscsim.spice.netlist import Netlist
from oscsim.spice.process import run_program
from oscsim.spice.rawfile import Waveforms, read_raw

Engine: TypeAlias = Literal["program", "shared"]
"""ngspice as a program, or as PySpice's shared library."""

OLDEST = 39
"""The oldest ngspice that the circuits were measured with."""

INSTALL = (
    "install it (Debian, Ubuntu: apt-get install ngspice; macOS: brew install ngspice)"
)
_TELLING = re.compile(
    r"error|can't|could not|cannot|undefined|unknown|too small|no such|line no", re.I
)


@dataclass(frozen=True)
class Simulation:
    """What one run of ngspice left.

    Attributes
    ----------
    waveforms : Waveforms
        The saved signals.
    measures : dict of str to float
        Results of the ``.meas`` lines that succeeded, by lower-case name.
    log : str
        What ngspice printed.
    seconds : float
        Wall time (s).
    """

    waveforms: Waveforms
    measures: dict[str, float]
    log: str
    seconds: float


def find_ngspice(timeout: float = 30.0) -> str:
    """Return the path of the ngspice program.

    The environment variable ``OSCSIM_NGSPICE`` names another one.

    Parameters
    ----------
    timeout : float
        Longest wall time (s) for it to say its version, 30 s at most.

    Raises
    ------
    SimulatorError
        If there is none, it does not say its version in time, or it is too old.
    """
    name = os.environ.get("OSCSIM_NGSPICE", "ngspice")
    if not name.strip():
        raise SimulatorError(
            "OSCSIM_NGSPICE is empty: name the program, or leave it unset"
        )
    program = shutil.which(name)
    if program is None:
        raise SimulatorError(f"the program {name!r} was not found: {INSTALL}")
    allowed = min(timeout, 30.0)
    try:
        _, said = run_program([program, "--version"], None, allowed)
    except OSError as error:
        reason = error.strerror or error
        raise SimulatorError(f"{program} does not run ({reason}): {INSTALL}") from None
    except subprocess.TimeoutExpired:
        raise SimulatorError(
            f"{program} did not say its version within {allowed:g} s: {INSTALL}"
        ) from None
    found = re.search(r"ngspice-(\d+)", said)
    if found is None:
        raise SimulatorError(f"{program} does not say its version: {INSTALL}")
    if int(found.group(1)) < OLDEST:
        raise SimulatorError(
            f"ngspice {found.group(1)} is too old: the circuits need {OLDEST} or newer"
        )
    return program


def simulate_circuit(
    netlist: Netlist,
    timeout: float = 300.0,
    keep: Path | None = None,
    engine: Engine = "program",
) -> Simulation:
    """Run a netlist in ngspice and return its waveforms.

    Parameters
    ----------
    netlist : Netlist
        What to run.
    timeout : float
        Longest wall time (s).
    keep : Path, optional
        Where to keep the raw file of the program; its folder is made if needed.
    engine : {"program", "shared"}
        The program in a process of its own, or the library in this process
        through PySpice (`oscsim.spice.pyspice.simulate_shared`; no time limit).

    Returns
    -------
    Simulation

    Raises
    ------
    NetlistError
        If ngspice refuses the netlist (carries its own message), or the engine is
        unknown or cannot keep a raw file.
    SimulatorError
        If ngspice is missing or too old, crashes, takes longer than ``timeout``,
        stops before the end, or leaves no points.

    Notes
    -----
    A crash ends only the child process. The start-up files of the user are not
    read, so that results do not depend on them.
    """
    if not timeout > 0:
        raise SimulatorError(f"timeout must be above 0 s, got {timeout:g}")
    if engine not in ("program", "shared"):
        raise NetlistError(f"engine must be 'program' or 'shared', got {engine!r:.60}")
    if engine == "shared":
        if keep is not None:
            raise NetlistError(
                f"the shared library writes no raw file, {keep} was asked for: use "
                "engine 'program'"
            )
        # PySpice is optional, and the module needs this one
        from oscsim.spice.pyspice import simulate_shared  # noqa: PLC0415

        return simulate_shared(netlist)
    program = find_ngspice(timeout)
    with tempfile.TemporaryDirectory(prefix="oscsim-spice-") as name:
        folder = Path(name)
        (folder / "deck.cir").write_text(netlist.deck("out.raw"), encoding="utf-8")
        started = time.perf_counter()
        try:
            code, log = run_program([program, "-n", "-b", "deck.cir"], folder, timeout)
        except subprocess.TimeoutExpired:
            raise SimulatorError(
                f"{netlist.name} was not done after {timeout:g} s: shorten the "
                "analysis, or allow more time"
            ) from None
        seconds = time.perf_counter() - started
        _require_success(netlist.name, code, log, folder / "out.raw")
        if keep is not None:
            write_whole(keep, (folder / "out.raw").read_bytes())
        return Simulation(read_raw(folder / "out.raw"), measures_of(log), log, seconds)


def _require_success(name: str, code: int, log: str, raw: Path) -> None:
    if code < 0:
        raise SimulatorError(f"ngspice crashed with signal {-code} on {name}")
    if "Timestep too small" in log or "aborted" in log:
        raise SimulatorError(f"{name} stopped before its end: {reason_in(log)}")
    if code == 0 and not raw.exists() and not _TELLING.search(log):
        raise SimulatorError(
            f"ngspice wrote no waveforms of {name} and gave no reason: {reason_in(log)}"
        )
    if code != 0 or not raw.exists():
        raise NetlistError(f"ngspice refused {name}: {reason_in(log)}")


def reason_in(log: str) -> str:
    """Return what ngspice said about a failure, on one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    return "; ".join((telling or lines[-2:] or ["it said nothing"])[:3])


def measures_of(log: str) -> dict[str, float]:
    """Return the results of ``.meas`` lines that ngspice printed."""
    found = re.findall(r"^(\w+)\s+=\s+([-+]?\d[-+0-9.eE]*)", log, re.MULTILINE)
    return {name.lower(): float(value) for name, value in found}
