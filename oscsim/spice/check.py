"""Run a circuit in all its cases and compare it with what it claims."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oscsim.bundled import circuit_folder
from oscsim.errors import NetlistError, SpecError
from oscsim.spice.claims import Claim, Expectations
from oscsim.spice.measuring import difference, measure
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Engine, Simulation, simulate_circuit
from oscsim.spice.noise import with_noise
from oscsim.spice.process import side_by_side
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class Outcome:
    """What became of one claim.

    Attributes
    ----------
    claim : Claim
        What was expected.
    measured : float, str or FloatArray
        What the circuit did.
    error : float
        Largest absolute difference, infinite for another verdict.
    remark : str
        Why nothing was measured, if so; then ``error`` is infinite.
    """

    claim: Claim
    measured: float | str | FloatArray
    error: float
    remark: str = ""

    @property
    def passed(self) -> bool:
        """Whether the difference is within the tolerance."""
        return self.error <= self.claim.tolerance


@dataclass(frozen=True)
class CircuitCheck:
    """A circuit, its runs and what became of its claims.

    Attributes
    ----------
    name : str
        Name of the circuit: its file without the ending.
    expectations : Expectations
        The side-car file.
    runs : dict of str to Simulation
        One run per case.
    outcomes : tuple of Outcome
        One per claim, in the order of the file.
    """

    name: str
    expectations: Expectations
    runs: dict[str, Simulation]
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether every claim holds."""
        return all(outcome.passed for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        """Wall time of ngspice (s), summed over the cases, which run side by side."""
        return sum(run.seconds for run in self.runs.values())


def circuits() -> list[Path]:
    """Return the netlists that ship, in alphabetical order.

    Raises
    ------
    NetlistError
        If the folder is not there.
    """
    found = sorted(circuit_folder().glob("*.cir"))
    if not found:
        raise NetlistError(f"no netlist in {circuit_folder()}: reinstall the package")
    return found


def netlist_path(path: str | Path) -> Path:
    """Return a file as it is named, or the circuit of that name that ships.

    Parameters
    ----------
    path : str or Path
        The file, or a name.

    Raises
    ------
    NetlistError
        If there is neither; the names that ship are listed.
    """
    file, shipped = Path(path), circuit_folder() / f"{path}.cir"
    if file.exists() or shipped.exists():
        return file if file.exists() else shipped
    raise NetlistError(
        f"there is no netlist {path}: name a file, or one that ships: "
        f"{', '.join(one.stem for one in circuits())}"
    )


def check_circuit(
    path: str | Path,
    timeout: float = 300.0,
    seed: int = 0,
    engine: Engine = "program",
) -> CircuitCheck:
    """Run a circuit and check its claims.

    Parameters
    ----------
    path : str or Path
        The netlist, beside which a file of the same name with ``.toml`` holds
        what is expected; or the name of a circuit that ships.
    timeout : float
        Longest wall time of one run (s); cases run side by side.
    seed : int
        Seed of the noise, the same in all cases.
    engine : {"program", "shared"}
        How ngspice runs, as in `simulate_circuit`; the library takes turns.

    Returns
    -------
    CircuitCheck

    Raises
    ------
    NetlistError
        If either file is missing or wrong, the figure shows what is not saved, noise
        cannot be drawn, or ngspice refuses the netlist.
    SimulatorError
        If ngspice is missing, crashes, stops early or takes too long.
    """
    file = netlist_path(path)
    netlist = Netlist.read(file)
    expectations = Expectations.read(file.with_suffix(".toml"))
    variants = {
        case.name: with_noise(netlist.changed(case.parameters), seed)
        for case in expectations.cases
    }
    done = side_by_side(
        lambda one: simulate_circuit(one, timeout, engine=engine),
        list(variants.values()),
        None,
    )
    runs = dict(zip(variants, done, strict=True))
    _require_drawn(file.with_suffix(".toml").name, expectations, runs)
    outcomes = tuple(_judge(one, runs[one.case]) for one in expectations.claims)
    return CircuitCheck(netlist.name, expectations, runs, outcomes)


def _require_drawn(
    name: str, expectations: Expectations, runs: dict[str, Simulation]
) -> None:
    saved = next(iter(runs.values())).waveforms.signals
    for one in expectations.figure:
        if one.lower() not in saved:
            raise NetlistError(
                f"{name}: figure shows {one!r:.60}, which the netlist does not save: "
                f"name one of {', '.join(saved)}; results of .meas lines are no signals"
            )


def _judge(claim: Claim, run: Simulation) -> Outcome:
    try:
        measured = measure(claim, run)
    except SpecError as error:
        return Outcome(claim, "not measured", np.inf, str(error))
    return Outcome(claim, measured, difference(claim, measured))
