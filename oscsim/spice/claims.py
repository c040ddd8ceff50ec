"""Expected values beside a netlist: what each claim says and how it is measured."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.errors import NetlistError, SpecError
from oscsim.spice import waveforms as tools
from oscsim.spice.ngspice import Simulation
from oscsim.typing import FloatArray

Kind: TypeAlias = Literal[
    "measure", "trajectory", "phase", "phase_trajectory", "order_parameter",
    "frequency", "energy", "start_up", "lock", "diffusion",
]  # fmt: skip
_VERDICTS = ("start_up", "lock")
_FEWEST_TIMES = {"phase": 1, "order_parameter": 2, "diffusion": 3}
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Case(BaseModel):
    """One run of the netlist: values of its parameters, as they stand if empty."""

    model_config = _STRICT

    name: str = "as written"
    parameters: dict[str, float] = Field(default_factory=dict)


class Claim(BaseModel):
    """What a circuit is expected to do, and how to see it.

    Attributes
    ----------
    name : str
        The claim in a few words.
    kind : str
        ``measure``: a ``.meas`` result, named by ``signals[0]``.
        ``trajectory``: signals at ``times``. ``phase``: phase (rad, mod 2 pi) of
        ``signals[0]``, minus that of ``signals[1]`` if there are two, at ``times[0]``.
        ``phase_trajectory``: phases (rad) of the signals at ``times`` by lock-in,
        minus those of ``reference`` or, if ``centred``, minus their mean.
        ``order_parameter``: mean of ``|mean exp(i v)|`` between two ``times``.
        ``frequency`` (Hz) of rising crossings of ``level``. ``energy``: J delivered
        by the source of current ``signals[0]`` at ``volts`` between two ``times``.
        ``start_up``: never, collapsed or sustained, at ``level`` peak to peak.
        ``lock``: locked, slips or undecided, of the phases of two signals.
        ``diffusion`` of signals that walk, between two ``times`` in intervals of the
        third.
    expected : float, str or list of list of float
        A number, a verdict, or for a trajectory one row of values per signal.
    tolerance : float
        Largest absolute difference that passes; 0 for a verdict.
    unit : str
        Unit of expected, tolerance and measured value.
    source : str
        Where the expected value comes from.
    case : str
        Name of the case in which it is measured.
    """

    model_config = _STRICT

    name: str
    kind: Kind
    signals: tuple[str, ...]
    expected: float | str | tuple[tuple[float, ...], ...]
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    unit: str = "1"
    source: str
    case: str = "as written"
    times: tuple[float, ...] = ()
    carrier_hz: float = 0.0
    reference: str = ""
    centred: bool = False
    level: float = 0.0
    volts: float = 0.0
    modulo: float = 0.0

    @model_validator(mode="after")
    def _fits(self) -> "Claim":
        if isinstance(self.expected, str) != (self.kind in _VERDICTS):
            raise ValueError(f"expected of a {self.kind} claim: got {self.expected!r}")
        table = "trajectory" in self.kind
        if table != isinstance(self.expected, tuple):
            raise ValueError(f"expected of a {self.kind} claim: got {self.expected!r}")
        if isinstance(self.expected, tuple):
            shape = {len(row) for row in self.expected}
            if len(self.expected) != len(self.signals) or shape != {len(self.times)}:
                raise ValueError(
                    "expected needs one row per signal, one value per time"
                )
        if not self.signals:
            raise ValueError("signals is empty: name at least one")
        numbers = (*np.ravel(self.expected), *self.times)
        if not isinstance(self.expected, str) and not np.isfinite(numbers).all():
            raise ValueError("expected and times must be finite")
        fewest = _FEWEST_TIMES.get(self.kind, 0)
        if self.times and self.kind in ("frequency", "energy", "start_up"):
            fewest = 2
        if len(self.times) < fewest:
            raise ValueError(
                f"times of a {self.kind} claim: {fewest} needed, got {len(self.times)}"
            )
        return self


class Expectations(BaseModel):
    """The side-car file of a netlist.

    Attributes
    ----------
    purpose, equation : str
        What the circuit shows and which equation it realises.
    counter_example : bool
        Whether it shows what does not work.
    cases : tuple of Case
        The runs; one as the netlist stands if absent.
    claims : tuple of Claim
        At least one.
    figure : tuple of str
        Signals that its figure shows.
    carrier_hz : float
        Carrier of the phases in the figure; 0 if signals are phases themselves.
    relative : bool
        Whether the figure shows signals minus their mean over the signals.
    until : float
        End of the time axis of the figure (s); 0 for the whole run.
    """

    model_config = _STRICT

    purpose: str
    equation: str
    counter_example: bool = False
    figure: tuple[str, ...]
    carrier_hz: float = 0.0
    relative: bool = False
    until: float = Field(default=0.0, ge=0)
    cases: tuple[Case, ...] = (Case(),)
    claims: tuple[Claim, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _cases_exist(self) -> "Expectations":
        names = [case.name for case in self.cases]
        for claim in self.claims:
            if claim.case not in names:
                raise ValueError(f"case {claim.case!r} of {claim.name!r} is not a case")
        return self

    @classmethod
    def read(cls, path: Path) -> "Expectations":
        """Read the side-car file of a netlist.

        Parameters
        ----------
        path : Path
            The TOML file.

        Raises
        ------
        NetlistError
            If it cannot be read or does not describe claims.
        """
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise NetlistError(
                f"cannot read {path}, the expected values of the circuit: {reason}"
            ) from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise NetlistError(f"{path.name}: {where}: {first['msg']}") from None


def measure(claim: Claim, run: Simulation) -> float | str | FloatArray:
    """Measure in a run what a claim is about.

    Parameters
    ----------
    claim : Claim
        What to measure.
    run : Simulation
        The run of its case.

    Returns
    -------
    float, str or FloatArray
        In the form of ``claim.expected``.

    Raises
    ------
    SpecError
        If a signal or a ``.meas`` result is not there, a waveform is too short, or a
        time is outside the run.
    """
    _require_times(claim, run)
    return _MEASURES[claim.kind](claim, run)


def difference(claim: Claim, measured: float | str | FloatArray) -> float:
    """Return the largest absolute difference between measured and expected.

    Phases are compared modulo 2 pi, or ``claim.modulo``; equal verdicts differ by
    0, others by infinity.

    Parameters
    ----------
    claim : Claim
        What was expected.
    measured : float, str or FloatArray
        What `measure` returned.
    """
    if isinstance(measured, str) or isinstance(claim.expected, str):
        return 0.0 if measured == claim.expected else np.inf
    apart = np.asarray(measured) - np.asarray(claim.expected)
    turn = claim.modulo or (2 * np.pi if claim.kind.startswith("phase") else 0.0)
    if turn:
        apart = (apart + turn / 2) % turn - turn / 2
    return float(np.max(np.abs(apart)))


def _require_times(claim: Claim, run: Simulation) -> None:
    """Refuse a time at which nothing was simulated: the last value would stand in."""
    # the third time of a diffusion is an interval
    asked = claim.times[:2] if claim.kind == "diffusion" else claim.times
    time = run.waveforms.time
    # rounding of the last step only
    slack = 1e-9 * float(time[-1] - time[0])
    if asked and not (time[0] - slack <= min(asked) and max(asked) <= time[-1] + slack):
        raise SpecError(
            f"times of {claim.name!r} must lie in the run, {time[0]:g} to "
            f"{time[-1]:g} s, got {min(asked):g} to {max(asked):g} s"
        )


def _measure(claim: Claim, run: Simulation) -> float:
    name = claim.signals[0].lower()
    if name not in run.measures:
        raise SpecError(f"the .meas {name!r} gave no result")
    return run.measures[name]


def _trajectory(claim: Claim, run: Simulation) -> FloatArray:
    waves = run.waveforms
    return np.array(
        [np.interp(claim.times, waves.time, waves.signal(n)) for n in claim.signals]
    )


def _phases(claim: Claim, run: Simulation, names: tuple[str, ...]) -> FloatArray:
    """Return phases of shape (signal, time); a time outside the run is an error."""
    time = run.waveforms.time
    found = [
        tools.lock_in(time, run.waveforms.signal(name), claim.carrier_hz)
        for name in names
    ]
    if claim.times and not (
        found[0].time[0] <= min(claim.times) and max(claim.times) <= found[0].time[-1]
    ):
        raise SpecError(
            f"times of {claim.name!r} must lie between {found[0].time[0]:g} and "
            f"{found[0].time[-1]:g} s, got {claim.times}"
        )
    if not claim.times:
        return np.array([one.phase for one in found])
    return np.array([np.interp(claim.times, one.time, one.phase) for one in found])


def _phase(claim: Claim, run: Simulation) -> float:
    phases = _phases(claim, run, claim.signals)[:, 0]
    turned = phases[0] - (phases[1] if len(phases) > 1 else 0.0)
    return float((turned + np.pi) % (2 * np.pi) - np.pi)


def _phase_trajectory(claim: Claim, run: Simulation) -> FloatArray:
    phases = _phases(claim, run, claim.signals)
    if claim.reference:
        phases = phases - _phases(claim, run, (claim.reference,))
    return phases - phases.mean(axis=0) if claim.centred else phases


def _order_parameter(claim: Claim, run: Simulation) -> float:
    time = run.waveforms.time
    inside = (time >= claim.times[0]) & (time <= claim.times[1])
    phases = np.array([run.waveforms.signal(name) for name in claim.signals])
    radius = np.abs(np.exp(1j * phases[:, inside]).mean(axis=0))
    return tools.time_mean(time[inside], radius)


def _window(claim: Claim, run: Simulation) -> tuple[FloatArray, FloatArray]:
    time, values = run.waveforms.time, run.waveforms.signal(claim.signals[0])
    if not claim.times:
        return time, values
    inside = (time >= claim.times[0]) & (time <= claim.times[1])
    return time[inside], values[inside]


def _frequency(claim: Claim, run: Simulation) -> float:
    return tools.frequency(*_window(claim, run), claim.level)


def _energy(claim: Claim, run: Simulation) -> float:
    time, current = _window(claim, run)
    return tools.supply_energy(time, claim.volts, current)


def _diffusion(claim: Claim, run: Simulation) -> float:
    return tools.diffusion(
        run.waveforms.time,
        np.array([run.waveforms.signal(name) for name in claim.signals]),
        *claim.times,
    )


def _start_up(claim: Claim, run: Simulation) -> str:
    return tools.start_up(*_window(claim, run), claim.level)


def _lock(claim: Claim, run: Simulation) -> str:
    first, second = _phases(claim, run, claim.signals[:2])
    return tools.lock_verdict(first - second)


_MEASURES: dict[Kind, Callable[[Claim, Simulation], float | str | FloatArray]] = {
    "measure": _measure,
    "trajectory": _trajectory,
    "phase": _phase,
    "phase_trajectory": _phase_trajectory,
    "order_parameter": _order_parameter,
    "frequency": _frequency,
    "energy": _energy,
    "start_up": _start_up,
    "lock": _lock,
    "diffusion": _diffusion,
}
