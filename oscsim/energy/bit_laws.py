"""How a price follows the bits of a device: laws of the data files, and their range."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.bundled import data_folder
from oscsim.energy.components import Component, Library, read_toml
from oscsim.energy.derived import doublings, units, words
from oscsim.energy.device_remarks import RESOLVED
from oscsim.energy.products import Product
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device

Text = Annotated[str, Field(min_length=1)]
Bits = Annotated[int, Field(ge=1, le=24, strict=True)]


class BitLaw(BaseModel):
    """How the price of some components follows bits b from the bits r they are of.

    Attributes
    ----------
    id : str
        Unique name.
    components : list of str
        What it moves.
    form : {"per_bit", "word", "units"}
        Price times ``2^(p (b - r))``; times ``(p + b) / (p + r)``; or the component
        is a number of binary-weighted units, nominally 2^(b-1), b to 2^b - 1.
    parameter : str
        The component p, of unit ratio; empty for ``"units"``.
    bits : tuple of int
        Fewest and most bits that the law covers.
    says : str
        The law in a few words.
    source : str
        Where it and its range come from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Text
    components: Annotated[list[Text], Field(min_length=1)]
    form: Literal["per_bit", "word", "units"]
    parameter: str = ""
    bits: tuple[Bits, Bits]
    says: Text
    source: Text

    @model_validator(mode="after")
    def _consistent(self) -> "BitLaw":
        if (self.form == "units") != (not self.parameter):
            raise ValueError(
                f"law {self.id!r}: a parameter for 'per_bit' and 'word', none for "
                f"'units'; form is {self.form!r}, parameter {self.parameter!r}"
            )
        if self.bits[0] > self.bits[1]:
            raise ValueError(
                f"law {self.id!r}: bits must not decrease, got {list(self.bits)}"
            )
        return self

    def moved(self, product: Product, own: Component, to: int, start: int) -> Product:
        """Return a product with a component of ``start`` bits moved to ``to``."""
        if to == start:
            return product
        if self.form == "units":
            unit = units(own.id, to, start)
            return tuple(unit if name == own.id else name for name in product)
        if self.form == "per_bit":
            return (*product, doublings(self.parameter, to - start))
        return (*product, words(self.parameter, to, start))


class BitLaws(BaseModel):
    """The laws of a file; at most one moves a component."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int
    law: list[BitLaw]

    @model_validator(mode="after")
    def _unique(self) -> "BitLaws":
        for what, names in (
            ("id", [law.id for law in self.law]),
            ("component", [name for law in self.law for name in law.components]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} {twice[0]!r} is in two laws")
        return self

    @cached_property
    def by_component(self) -> dict[str, BitLaw]:
        """The law of each component that has one."""
        return {name: law for law in self.law for name in law.components}


class Followed(NamedTuple):
    """A price moved to the bits of a device.

    Attributes
    ----------
    terms : tuple of Product
        The price.
    said : str
        From what, by which law, and what of it stays as it is.
    is_beyond : bool
        Whether the bits are more than the law covers: the price is too little.
    """

    terms: tuple[Product, ...]
    said: str
    is_beyond: bool


@cache
def bit_laws() -> BitLaws:
    """Return the bundled laws, read once."""
    return read_bit_laws(data_folder("energy") / "scaling.toml")


def read_bit_laws(file: Path) -> BitLaws:
    """Read laws from a file.

    Raises
    ------
    ComponentError
        If the file cannot be read or is malformed.
    """
    content = read_toml(file)
    try:
        return BitLaws.model_validate(content)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ComponentError(f"{file.name}: {where}: {detail['msg']}") from None


def follow(
    action: str,
    terms: Sequence[Product],
    wanted: int,
    taken: int | None,
    laws: BitLaws,
    library: Library,
) -> Followed | None:
    """Move a price to the bits that a device has.

    Nothing moves between the bits that the component is of and those that the
    device takes its price for. From the nearer of these on the law holds, to the
    end of its range and no further.

    Parameters
    ----------
    action : str
        What is priced.
    terms : sequence of Product
        Its price.
    wanted : int
        Bits of the device.
    taken : int or None
        Bits for which the device takes the price as it is; None for those that the
        component is of.
    laws : BitLaws
        The laws.
    library : Library
        The components.

    Returns
    -------
    Followed, or None
        None if no law applies, or nothing is to be moved.
    """
    found, said, kept, is_beyond = [], [], [], False
    for product in terms:
        movable = [name for name in product if name in laws.by_component]
        if not movable:
            kept += [name for name in product if library[name].unit != "ratio"]
            found.append(product)
            continue
        own, law = library[movable[0]], laws.by_component[movable[0]]
        ends = sorted((own.bits, own.bits if taken is None else taken))
        start, to = _within(wanted, *ends), _within(wanted, *law.bits)
        found.append(law.moved(product, own, to, start) if wanted != start else product)
        if wanted != start:
            said.append(_sentence(action, own, law, wanted, start))
            is_beyond = is_beyond or wanted > law.bits[1]
    if not said:
        return None
    stays = f"; {', '.join(kept)} is as it is" if kept else ""
    return Followed(tuple(found), "; ".join(said) + stays, is_beyond)


def followed_terms(
    device: Device,
    terms: Mapping[str, tuple[Product, ...]],
    bits: Mapping[str, int],
    library: Library,
) -> dict[str, Followed]:
    """Return the prices of a device that its bits move.

    Parameters
    ----------
    device : Device
        Which may state for which bits it takes a price as it is (``energy.bits``).
    terms : mapping of str to tuple of Product
        Its prices.
    bits : mapping of str to int
        Its resolutions, by action.
    library : Library
        The components.

    Raises
    ------
    ComponentError
        If the device states bits of an action that has none or no price.
    """
    taken = {} if device.energy is None else device.energy.bits
    odd = sorted(name for name in taken if name not in RESOLVED or name not in terms)
    if odd:
        raise ComponentError(
            f"device {device.name} states bits of {odd[0]!r}: energy.bits is for "
            f"priced actions of {', '.join(RESOLVED)}"
        )
    laws = bit_laws()
    found = {
        action: follow(action, terms[action], wanted, taken.get(action), laws, library)
        for action, wanted in bits.items()
        if action in terms
    }
    return {action: one for action, one in found.items() if one is not None}


def _within(bits: int, low: int, high: int) -> int:
    return max(low, min(bits, high))


def _sentence(action: str, own: Component, law: BitLaw, wanted: int, start: int) -> str:
    of = f"of {own.bits}" if start == own.bits else f"of {own.bits} taken for {start}"
    said = f"{action} of {wanted} bits is priced from {own.id}, {of} bits: {law.says}"
    low, high = law.bits
    if wanted > high:
        return f"{said}, known to {high} bits and priced as that: too little"
    if wanted < low:
        return f"{said}, known from {low} bits and priced as that: too much"
    return said
