"""The component library: numbers with a unit, a range, a source and a confidence."""

import difflib
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.bundled import data_folder
from oscsim.energy.derived import derived, factor_of, moved_units, origin
from oscsim.energy.priors import quantile
from oscsim.errors import ComponentError
from oscsim.solve.noise import Stream, normals
from oscsim.typing import FloatArray

Confidence: TypeAlias = Literal["primary", "secondary", "derived", "memory", "assumed"]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]

UNTRUSTED: tuple[Confidence, ...] = ("assumed", "memory")
SCHEMA_VERSION = 1
PRIOR_STAGE = 1 << 30
"""Stage of the random stream, above every (layer, kind of noise) of a chip."""


class Component(BaseModel):
    """One number that an energy figure can rest on.

    Attributes
    ----------
    id : str
        Unique name.
    action : str
        What happens when it is spent.
    value, low, high : float
        Nominal value and the 10th and 90th percentile of the prior, in
        ``unit``. Equal numbers mean exact. Only a temperature coefficient
        may be negative.
    unit : str
        ``"pJ"`` or ``"uW"`` can carry a price, ``"um2"`` an area, ``"ratio"``
        multiplies one; the other units describe variation.
    per : {"event", "cycle"}
        Whether a pJ is spent per event or per oscillation period.
    node_nm : int
        Technology node (nm); 0 if independent of it.
    vdd : float
        Supply (V); 0 if not stated.
    year : int
        Year of the source.
    source : str
        Where the number comes from.
    confidence : str
        ``primary``, ``secondary``, ``derived``, ``memory`` or ``assumed``.
    scale : {"digital", "sram", "analog", "none"}
        Law by which a reader would move it to another node; never applied.
    corr_group : str
        Components of one group are drawn together; empty for none.
    bits : int
        Resolution that the number is of; 0 where it has none.
    most : float or None
        Bound of the prior, where there is one: no draw is above it.
    notes : str
        What a reader should know besides.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Text
    action: Text
    value: Finite
    low: Finite
    high: Finite
    unit: Literal["pJ", "uW", "um2", "ratio", "%", "%*um", "mV*um", "fF/um", "ppm/K"]
    per: Literal["event", "cycle"] = "event"
    node_nm: Annotated[int, Field(ge=0)]
    vdd: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    year: Annotated[int, Field(ge=1900, le=2100)]
    source: Text
    confidence: Confidence
    scale: Literal["digital", "sram", "analog", "none"]
    corr_group: str = ""
    bits: Annotated[int, Field(ge=0, le=24)] = 0
    most: Finite | None = None
    notes: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> "Component":
        if self.unit != "ppm/K":
            for name in ("value", "low", "high"):
                if getattr(self, name) < 0:
                    raise ValueError(
                        f"field {name!r}: must be >= 0, got {getattr(self, name)}"
                    )
        if not self.low <= self.value <= self.high:
            raise ValueError(
                "fields 'low', 'value', 'high': must not decrease, "
                f"got {self.low}, {self.value}, {self.high}"
            )
        if self.most is not None and self.most < self.high:
            raise ValueError(
                f"field 'most': must be at or above high = {self.high}, got {self.most}"
            )
        if self.per == "cycle" and self.unit != "pJ":
            raise ValueError(
                f"field 'per': only an energy in pJ is per cycle, unit is {self.unit}"
            )
        return self

    @property
    def is_untrusted(self) -> bool:
        """Whether the number is a choice or from memory."""
        return self.confidence in UNTRUSTED

    def quantile(self, z: FloatArray) -> FloatArray:
        """Map standard normal scores to draws of this component (`priors.quantile`).

        Parameters
        ----------
        z : FloatArray
            Standard normal scores, any shape.

        Returns
        -------
        FloatArray
            In the unit of the component, shape of ``z``.
        """
        return quantile(z, self.value, self.low, self.high, self.most)


@dataclass(frozen=True)
class Library:
    """All components by id.

    Attributes
    ----------
    components : Mapping[str, Component]
        Entries in the order of the file.
    """

    components: Mapping[str, Component]

    @classmethod
    def load(cls, path: str | Path | None = None) -> "Library":
        """Read a component file, by default the bundled one.

        Raises
        ------
        ComponentError
            If the file cannot be read, or an entry is malformed, repeated or
            has an unknown key; the message names the entry and the field.
        """
        if path is None:
            return _bundled()
        file = Path(path)
        content = read_toml(file)
        unknown = sorted(set(content) - {"schema_version", "component"})
        if unknown:
            raise ComponentError(
                f"{file.name}: unknown key {unknown[0]!r}; "
                "known keys: schema_version, component"
            )
        entries = content.get("component", [])
        return cls.parse(entries, where=file.name)

    @classmethod
    def parse(
        cls, entries: list[dict[str, Any]], *, where: str = "components"
    ) -> "Library":
        """Build a library from plain data, one mapping per component.

        Raises
        ------
        ComponentError
            As `load`, or if ``entries`` is no list of mappings.
        """
        if not _are_tables(entries):
            raise ComponentError(
                f"{where}: components are [[component]] tables, a list of mappings; "
                f"got {entries!r:.80}"
            )
        components: dict[str, Component] = {}
        for number, entry in enumerate(entries, start=1):
            name = f"{where}: component {entry.get('id', f'number {number}')!r}"
            try:
                component = Component.model_validate(entry)
            except ValidationError as error:
                raise ComponentError(f"{name}: {_first_problem(error)}") from None
            if component.id in components:
                raise ComponentError(f"{name}: field 'id': is already taken")
            components[component.id] = component
        return cls(components)

    def __getitem__(self, name: str) -> Component:
        """Return one component, or one derived from it (`oscsim.energy.derived`).

        Raises
        ------
        ComponentError
            If there is none of that name.
        """
        if name not in self.components:
            base = self.components.get(origin(name))
            found = None if base is None else derived(name, base)
            if found is not None:
                return found
            close = difflib.get_close_matches(name, self.components, n=3)
            hint = f"; close: {', '.join(close)}" if close else ""
            raise ComponentError(f"unknown component {name!r}{hint}")
        return self.components[name]

    def draws(self, name: str, n_draws: int, seed: int = 0) -> FloatArray:
        """Draw a component's prior.

        The numbers depend on the seed and on the component, or on its group
        of correlation, and on nothing else: not on what else is drawn, and a
        longer call starts with the numbers of a shorter one. So scenarios
        with the same seed are paired.

        Parameters
        ----------
        name : str
            Component id.
        n_draws : int
            Number of draws.
        seed : int
            Seed of all components, 0 <= seed < 2^32.

        Returns
        -------
        FloatArray, shape (n_draws,)
            In the unit of the component.

        Raises
        ------
        ComponentError
            If there is no such component.
        SpecError
            If the seed or ``n_draws`` is out of range.
        """
        factor = None if name in self.components else factor_of(name)
        if factor is not None and factor.of in self.components:
            drawn: FloatArray = factor.at(self.draws(factor.of, n_draws, seed))
            return drawn
        component = self[name]
        cause = component.corr_group or component.id
        scores = _scores(cause, n_draws, seed)
        own = None if name in self.components else self.components.get(origin(name))
        if own is None:
            return component.quantile(scores)
        return moved_units(scores, component, own)


@cache
def _bundled() -> Library:
    """Return the bundled components, read once: nothing changes them."""
    return Library.load(data_folder("energy") / "components.toml")


def _are_tables(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(e, Mapping) for e in found)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of this package's energy data.

    Raises
    ------
    ComponentError
        If the file is missing, not TOML or of another schema version.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ComponentError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ComponentError(f"{path} is not TOML: {error}") from None
    if content.get("schema_version") != SCHEMA_VERSION:
        raise ComponentError(
            f"{path.name}: schema_version must be {SCHEMA_VERSION}, "
            f"got {content.get('schema_version')}"
        )
    return content


def _scores(cause: str, n_draws: int, seed: int) -> FloatArray:
    word = int.from_bytes(hashlib.sha256(cause.encode()).digest()[:4], "little")
    stream = Stream(seed, PRIOR_STAGE, chip=word)
    scores: FloatArray = normals(stream, np.array([0]), n_draws)[0]
    return scores


def _first_problem(error: ValidationError) -> str:
    detail = error.errors()[0]
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return f"unknown key {field!r}; known keys: {', '.join(Component.model_fields)}"
    if detail["type"] == "missing":
        return f"field {field!r}: is missing"
    message = detail["msg"].removeprefix("Value error, ")
    if not field:
        return message
    return (
        f"field {field!r}: {message[0].lower()}{message[1:]}, got {detail['input']!r}"
    )
