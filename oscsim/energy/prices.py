"""Which components price which action, and at which node."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.bundled import data_folder
from oscsim.energy.bit_laws import Followed, followed_terms
from oscsim.energy.components import Component, Library, read_toml
from oscsim.energy.device_remarks import (
    below_bound,
    bits_of,
    not_followed,
    while_loading,
)
from oscsim.energy.products import Product, as_products
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device

CORE_ACTIONS = ("oscillator_s", "anchor_s", "coupler_s", "component_s")
CONVERTER_ACTIONS = ("coupling_write", "anchor_write", "state_read")
SUBSTRATE_ACTIONS = CORE_ACTIONS + CONVERTER_ACTIONS
DIGITAL_ACTIONS = (
    "mac",
    "add",
    "mul",
    "compare",
    "exp",
    "recip",
    "rsqrt",
    "coupling_softplus",
    "coupling_relu",
    "coupling_elu",
    "gelu",
    "silu",
    "tanh",
    "sincos",
    "sram_read_byte",
    "sram_write_byte",
    "weight_read_byte",
    "token_io_byte",
)
RIVAL_ACTIONS = ("cim_mac", "analog_softmax_s", "gpu_mac")
ACTIONS = DIGITAL_ACTIONS + SUBSTRATE_ACTIONS + RIVAL_ACTIONS

PICO = 1e-12
MICRO = 1e-6

Ids: TypeAlias = Annotated[list[str], Field(min_length=1)]


class Overhead(BaseModel):
    """A share of energy that is counted anyway.

    Attributes
    ----------
    share : str
        Component of unit ``ratio``.
    of : {"all", "substrate"}
        Its base: every action, or the oscillators' and converters' actions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: str
    of: Literal["all", "substrate"]


class _DigitalTables(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int
    node: dict[int, dict[str, Ids | Annotated[list[Ids], Field(min_length=1)]]]
    overhead: dict[str, Overhead]
    area: dict[int, dict[str, Ids]]


@dataclass(frozen=True)
class Prices:
    """The price of each action as a sum of products of components.

    Attributes
    ----------
    terms : Mapping[str, tuple[Product, ...]]
        Products that are added, by action. In each product exactly one
        component has a unit of energy or power and all others are ratios.
    frequency_hz : float or None
        Frequency of the oscillators (Hz), for energies per cycle.
    overheads : Mapping[str, Overhead]
        Shares added to the system total, by name.
    oscillator_node_nm, digital_node_nm : int or None
        Nodes that the prices claim to describe.
    bits : Mapping[str, int]
        Resolution that an action has, by action, where it has one.
    remarks : tuple of str
        What a reader must know of whatever the substrate's core costs.
    followed : Mapping[str, Followed]
        Actions whose price was moved to the bits of the device, and how.
    """

    terms: Mapping[str, tuple[Product, ...]]
    frequency_hz: float | None = None
    overheads: Mapping[str, Overhead] = field(default_factory=dict)
    oscillator_node_nm: int | None = None
    digital_node_nm: int | None = None
    bits: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    followed: Mapping[str, Followed] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        prices: Mapping[str, Sequence[str] | Sequence[Sequence[str]]],
        *,
        frequency_hz: float | None = None,
    ) -> "Prices":
        """Build prices from a mapping, without overheads.

        Parameters
        ----------
        prices : mapping of str to sequence
            Component ids by action: a flat list is a product, a list of
            lists a sum of products.
        frequency_hz : float, optional
            Frequency of the oscillators (Hz).

        Raises
        ------
        ComponentError
            If an action is unknown or has no component.
        """
        if not isinstance(prices, Mapping):
            raise ComponentError(
                f"prices must be a mapping of actions to component ids, got {prices!r}"
            )
        terms = {action: _products(action, ids) for action, ids in prices.items()}
        return cls(terms, frequency_hz=frequency_hz)

    @classmethod
    def digital(cls, node_nm: int) -> "Prices":
        """Return the prices of digital logic at one node, with overheads.

        Raises
        ------
        ComponentError
            If no table exists for the node: nothing is extrapolated.
        """
        tables = _tables()
        if node_nm not in tables.node:
            known = ", ".join(str(node) for node in sorted(tables.node))
            raise ComponentError(
                f"no digital components for {node_nm} nm, and none are "
                f"extrapolated: digital_node_nm must be one of {known}"
            )
        table = cls.of(tables.node[node_nm])
        return cls(table.terms, overheads=tables.overhead, digital_node_nm=node_nm)

    @classmethod
    def of_device(cls, device: Device, library: Library | None = None) -> "Prices":
        """Return the prices of a device and of the digital logic beside it.

        A price follows the bits of the device where ``data/energy/scaling.toml``
        has a law for a component of it.

        Parameters
        ----------
        device : Device
            With an energy section.
        library : Library, optional
            Components, of whose bits the laws start; the bundled ones by default.

        Raises
        ------
        ComponentError
            If the device has no energy section, prices an action that
            belongs to the digital logic, names a node without a table, or states
            the bits of an action that has none or no price.

        Notes
        -----
        An anchor costs what a coupling costs to write, one word, unless the
        device prices ``anchor_write``.
        """
        if device.energy is None:
            raise ComponentError(
                f"device {device.name} has no energy section: it cannot be priced"
            )
        substrate = cls.of(device.energy.prices)
        digital = cls.digital(device.energy.digital_node_nm)
        twice = sorted(set(substrate.terms) & set(digital.terms))
        if twice:
            raise ComponentError(
                f"device {device.name} prices {twice[0]!r}, which the digital logic "
                f"prices: a device prices only {', '.join(SUBSTRATE_ACTIONS)}"
            )
        written = substrate.terms.get("coupling_write")
        anchors = {} if written is None else {"anchor_write": written}
        terms = {**digital.terms, **anchors, **substrate.terms}
        bits = bits_of(device)
        library = Library.load() if library is None else library
        followed = followed_terms(device, terms, bits, library)
        prices = cls(
            {**terms, **{action: one.terms for action, one in followed.items()}},
            frequency_hz=device.frequency_hz,
            overheads=digital.overheads,
            oscillator_node_nm=device.energy.oscillator_node_nm,
            digital_node_nm=device.energy.digital_node_nm,
            bits=bits,
            followed=followed,
        )
        power_w = prices.core_power_w(library)
        said = not_followed(device), below_bound(device, power_w)
        remarks = (while_loading(device), *(one for one in said if one))
        return replace(prices, remarks=remarks)

    def core_power_w(self, library: Library) -> float:
        """Return the power of one oscillator without its periphery (W), 0 if unpriced.

        Raises
        ------
        ComponentError
            As `base`.
        """
        bases = [
            self.base("oscillator_s", product, library)
            for product in self.terms.get("oscillator_s", ())
        ]
        return math.fsum(base.value * self.si_factor(base) for base in bases)

    def nominal(self, action: str, library: Library) -> float:
        """Return the nominal price of an action (J an event, or W).

        Raises
        ------
        ComponentError
            As `base`, or if the action has no price.
        """
        if action not in self.terms:
            raise ComponentError(f"action {action!r} has no price")
        return math.fsum(
            self.si_factor(self.base(action, product, library))
            * math.prod(library[name].value for name in product)
            for product in self.terms[action]
        )

    def base(self, action: str, product: Product, library: Library) -> Component:
        """Return the one component of a product that has an energy or power.

        Raises
        ------
        ComponentError
            If the product has none or several, or another unit beside it; if
            a power or an energy per cycle prices single events, an energy
            per event prices seconds, or a frequency is missing.
        """
        members = [library[name] for name in product]
        bases = [member for member in members if member.unit in ("pJ", "uW")]
        others = [m for m in members if m.unit not in ("pJ", "uW", "ratio")]
        if len(bases) != 1 or others:
            units = ", ".join(f"{member.id} ({member.unit})" for member in members)
            raise ComponentError(
                f"price of {action!r}: exactly one component in pJ or uW, the "
                f"others of unit ratio; got {units}"
            )
        self._check_rate(action, bases[0])
        return bases[0]

    def si_factor(self, base: Component) -> float:
        """Return what turns ``base`` into J per event, or into W."""
        if base.unit == "uW":
            return MICRO
        if base.per == "cycle" and self.frequency_hz is not None:
            return PICO * self.frequency_hz
        return PICO

    def _check_rate(self, action: str, base: Component) -> None:
        is_rate = base.unit == "uW" or base.per == "cycle"
        if is_rate != action.endswith("_s"):
            got = "a power or an energy per cycle" if is_rate else "an energy per event"
            needs = "events" if is_rate else "seconds"
            raise ComponentError(
                f"price of {action!r}: counts {needs}, but {base.id} is {got}"
            )
        if base.per == "cycle" and self.frequency_hz is None:
            raise ComponentError(
                f"price of {action!r}: {base.id} is per cycle, so frequency_hz (Hz) "
                "of the oscillators is needed"
            )


def digital_nodes() -> tuple[int, ...]:
    """Return the nodes (nm) that have a table of digital components."""
    return tuple(sorted(_tables().node))


def memory_bit(node_nm: int) -> Product | None:
    """Return what gives the area of a bit of on-chip memory; None if not known."""
    found = _tables().area.get(node_nm, {}).get("sram_bit")
    return None if found is None else tuple(found)


def _tables() -> _DigitalTables:
    content = read_toml(data_folder("energy") / "digital.toml")
    try:
        return _DigitalTables.model_validate(content)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ComponentError(f"digital.toml: {where}: {detail['msg']}") from None


def _products(
    action: str, ids: Sequence[str] | Sequence[Sequence[str]]
) -> tuple[Product, ...]:
    if action not in ACTIONS:
        raise ComponentError(
            f"unknown action {action!r}: one of {', '.join(sorted(ACTIONS))}"
        )
    return as_products(action, ids)
