"""Published machines beside what the component library predicts for them."""

import math
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.bundled import data_folder
from oscsim.energy.chip_check import ChipCheck, Kind
from oscsim.energy.components import (
    UNTRUSTED,
    Component,
    Confidence,
    Finite,
    Library,
    Text,
    read_toml,
)
from oscsim.energy.ledger import Range
from oscsim.errors import ComponentError
from oscsim.typing import FloatArray

Unit: TypeAlias = Literal["J", "W", "s", "Hz", "count"]


class _Si(BaseModel):
    """What a unit is in SI: factor, powers of joule and of second."""

    factor: float
    joule: int
    second: int


UNITS = {
    "pJ": _Si(factor=1e-12, joule=1, second=0),
    "uW": _Si(factor=1e-6, joule=1, second=-1),
    "ratio": _Si(factor=1.0, joule=0, second=0),
    "J": _Si(factor=1.0, joule=1, second=0),
    "W": _Si(factor=1.0, joule=1, second=-1),
    "s": _Si(factor=1.0, joule=0, second=1),
    "Hz": _Si(factor=1.0, joule=0, second=-1),
    "count": _Si(factor=1.0, joule=0, second=0),
}


class Figure(BaseModel):
    """A number of one machine, in an SI unit, with its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Annotated[Finite, Field(gt=0)]
    unit: Unit
    source: Text
    confidence: Confidence


class _Recipe(BaseModel):
    """One entry of the file of chips."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chip: Text
    quantity: Text
    unit: Unit
    what: Text
    kind: Kind
    shows: Text
    published: Text | Figure | None = None
    is_bound: bool = False
    terms: tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...]
    inputs: dict[str, Figure] = Field(default_factory=dict)
    cause: str = ""
    note: str = ""


def validate(
    library: Library | None = None,
    path: str | Path | None = None,
    *,
    n_draws: int = 4096,
    seed: int = 0,
) -> tuple[ChipCheck, ...]:
    """Predict a figure of every published machine with enough read figures.

    ``prediction = sum_terms prod_k x_k``, each x a component in SI units or an
    input of the machine; the units of each term must be those of the figure.

    Parameters
    ----------
    library : Library, optional
        Components; the bundled ones by default.
    path : str or Path, optional
        File of machines; the bundled ``data/energy/chips.toml`` by default.
    n_draws, seed : int
        Draws of the priors.

    Returns
    -------
    tuple of ChipCheck
        In the order of the file. Nothing is raised for a bad ratio: see
        `ChipCheck.is_unexplained`.

    Raises
    ------
    ComponentError
        If the file is malformed, names an unknown component, or a term has
        other units than the figure.

    Notes
    -----
    Power, time and energy are validated, not precision: nobody has published an
    attention machine of oscillators. These solve Ising problems, but for HERMES,
    an in-memory computer.
    """
    library = Library.load() if library is None else library
    file = data_folder("energy") / "chips.toml" if path is None else Path(path)
    content = read_toml(file)
    unknown = sorted(set(content) - {"schema_version", "check"})
    if unknown:
        raise ComponentError(
            f"{file.name}: unknown key {unknown[0]!r}; "
            "known keys: schema_version, check"
        )
    checks = []
    for number, entry in enumerate(content.get("check", []), start=1):
        try:
            recipe = _Recipe.model_validate(entry)
        except ValidationError as error:
            detail = error.errors()[0]
            where = ".".join(str(part) for part in detail["loc"])
            raise ComponentError(
                f"{file.name}: check {number}: {where}: {detail['msg']}"
            ) from None
        checks.append(_Prediction(recipe, library, n_draws, seed).check())
    return tuple(checks)


class _Prediction:
    """One recipe evaluated at nominal values and over the draws."""

    def __init__(
        self, recipe: _Recipe, library: Library, n_draws: int, seed: int
    ) -> None:
        self.recipe, self.library = recipe, library
        self.n_draws, self.seed = n_draws, seed

    def check(self) -> ChipCheck:
        """Return the comparison."""
        recipe = self.recipe
        published, sources, is_doubtful = self._published()
        terms = [self._term(term) for term in recipe.terms]
        predicted = math.fsum(nominal for nominal, _ in terms)
        spread = None
        if terms:
            draws = np.sum([drawn for _, drawn in terms], axis=0)
            spread = Range(*(float(q) for q in np.quantile(draws, [0.1, 0.5, 0.9])))
        return ChipCheck(
            chip=recipe.chip,
            quantity=recipe.quantity,
            what=recipe.what,
            unit=recipe.unit,
            published=published,
            is_bound=recipe.is_bound,
            predicted=predicted if terms else None,
            spread=spread,
            cause=recipe.cause,
            note=recipe.note,
            components=self._components(),
            sources=(*sources, *(one.source for one in recipe.inputs.values())),
            is_from_memory=is_doubtful
            or any(one.confidence in UNTRUSTED for one in recipe.inputs.values()),
            kind=recipe.kind,
            shows=recipe.shows,
        )

    def _components(self) -> tuple[str, ...]:
        words = (w.removeprefix("/") for term in self.recipe.terms for w in term)
        return tuple(dict.fromkeys(w for w in words if w not in self.recipe.inputs))

    def _published(self) -> tuple[float | None, tuple[str, ...], bool]:
        found = self.recipe.published
        if found is None:
            return None, (), False
        number = self.library[found] if isinstance(found, str) else found
        self._require_unit([(number, 1)], str(found))
        value = number.value * UNITS[number.unit].factor
        return value, (number.source,), number.confidence in UNTRUSTED

    def _term(self, term: tuple[str, ...]) -> tuple[float, FloatArray]:
        factors: list[tuple[Component | Figure, int]] = []
        nominal, drawn = 1.0, np.ones(self.n_draws)
        for word in term:
            name, power = (word[1:], -1) if word.startswith("/") else (word, 1)
            known = self.recipe.inputs.get(name)
            factor = self.library[name] if known is None else known
            factors.append((factor, power))
            scale = UNITS[factor.unit].factor if factor.unit in UNITS else math.nan
            nominal *= (scale * factor.value) ** power
            draws = (
                self.library.draws(name, self.n_draws, self.seed)
                if known is None
                else known.value
            )
            drawn = drawn * (scale * draws) ** power
        self._require_unit(factors, " x ".join(term))
        return nominal, drawn

    def _require_unit(
        self, factors: list[tuple[Component | Figure, int]], said: str
    ) -> None:
        joule = second = 0
        for factor, power in factors:
            if factor.unit not in UNITS:
                raise ComponentError(
                    f"{self.recipe.chip}: {said}: a factor in {factor.unit} cannot "
                    f"predict a figure in {self.recipe.unit}"
                )
            joule += power * UNITS[factor.unit].joule
            second += power * UNITS[factor.unit].second
        wanted = UNITS[self.recipe.unit]
        if (joule, second) != (wanted.joule, wanted.second):
            raise ComponentError(
                f"{self.recipe.chip}: {said}: J^{joule} s^{second} is not a figure "
                f"in {self.recipe.unit}"
            )
