"""Expected values beside a netlist: what each claim says."""

import tomllib
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.errors import NetlistError

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
