"""The worked example: every variant of one attention stage, priced part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.bundled import data_folder
from oscsim.energy.components import Library, read_toml
from oscsim.energy.ledger import Ledger, ledger_of
from oscsim.energy.prices import Prices
from oscsim.energy.pricing import Pricing
from oscsim.energy.products import Product, as_products
from oscsim.energy.variants import VARIANTS, Stage, Times
from oscsim.errors import ComponentError


@dataclass(frozen=True)
class Variant:
    """One way to do the stage, priced.

    Attributes
    ----------
    name, description : str
        Letter, and what is done where.
    parts : Mapping[str, float]
        Nominal joules per token by part; they sum to the ledger's total.
    ledger : Ledger
        Per token, without overheads.
    """

    name: str
    description: str
    parts: Mapping[str, float]
    ledger: Ledger


def worked_example(
    stage: Stage,
    node_nm: int,
    library: Library,
    *,
    n_draws: int = 4096,
    seed: int = 0,
) -> dict[str, Variant]:
    """Price every variant of a stage with the same draws.

    Parameters
    ----------
    stage : Stage
        Sizes and accounting.
    node_nm : int
        45 or 7; oscillators are taken to be built in the same node.
    library : Library
        The components.
    n_draws, seed : int
        Draws of the priors, shared by all variants.

    Returns
    -------
    dict of str to Variant
        By letter: A, B, B2, C, D2, D, E, F, G, H.

    Raises
    ------
    ComponentError
        If the node has no table or a component is missing.

    Notes
    -----
    C and F are another model: they need couplings that are bilinear in query
    and key, which no coupling function here is. H charges a coupling function
    at the price of the digital one: no figure exists for an analog one. Not
    counted: leakage, clock, control, calibration, chip I/O, writing keys and
    values, and reading anchors (see the ledger for all of these).
    """
    table = _table(node_nm)
    times = Times(1 / table.frequency_hz, table.sphere_settle_s)
    uses = {**Prices.digital(node_nm).terms, **table.products}
    prices = Prices({}, frequency_hz=table.frequency_hz)
    found = {}
    for name, (description, build) in VARIANTS.items():
        pricing = Pricing(prices, library, n_draws, seed)
        parts: dict[str, float] = {}
        for part in build(stage, times):
            before = len(pricing.entries)
            for product in uses[part.use]:
                pricing.charge(part.phase, part.action, product, part.number)
            joules = sum(entry.joules for entry in pricing.entries[before:])
            parts[part.label] = parts.get(part.label, 0.0) + joules
        found[name] = Variant(name, description, parts, ledger_of(pricing, 1))
    return found


class _Node(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    frequency_hz: Annotated[float, Field(gt=0)]
    sphere_settle_s: Annotated[float, Field(gt=0)]
    prices: dict[str, list[str] | list[list[str]]]

    @property
    def products(self) -> dict[str, tuple[Product, ...]]:
        return {use: as_products(use, ids) for use, ids in self.prices.items()}


class _Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int
    node: dict[int, _Node]


def _table(node_nm: int) -> _Node:
    content = read_toml(data_folder("energy") / "example.toml")
    try:
        tables = _Example.model_validate(content)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ComponentError(f"example.toml: {where}: {detail['msg']}") from None
    if node_nm not in tables.node:
        known = ", ".join(str(node) for node in sorted(tables.node))
        raise ComponentError(
            f"the worked example has no prices for {node_nm} nm, and none are "
            f"extrapolated: it must be one of {known}"
        )
    return tables.node[node_nm]
