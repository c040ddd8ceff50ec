"""Silicon area of an array, as far as the components know it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from oscsim.energy.capacity import CACHE_BYTES, WEIGHTS_BYTES, Stored
from oscsim.energy.components import Component, Library
from oscsim.energy.ledger import Range
from oscsim.energy.mapping import Mapping
from oscsim.energy.prices import memory_bit
from oscsim.energy.products import Product
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device
from oscsim.typing import FloatArray

ARRAY_PARTS = ("oscillator", "anchor", "coupler", "converter")
MEMORY_BYTES = WEIGHTS_BYTES + CACHE_BYTES
"""The memories that are priced: an array has no less, whatever its model needs."""
NO_WIRING = "no wiring between parts and no pads: a sum of parts"
MM2 = 1e-6
"""mm2 in a um2."""


@dataclass(frozen=True)
class Part:
    """One kind of thing that an array consists of.

    Attributes
    ----------
    name : str
        What it is.
    number : int or None
        How many there are; None if nobody has said.
    components : tuple of str
        Whose product is the area of one; empty if that is not known.
    nominal_mm2 : float or None
        Of all of them (mm2); None if not known.
    spread_mm2 : Range or None
        p10, p50 and p90 over the draws of the priors.
    """

    name: str
    number: int | None
    components: Product = ()
    nominal_mm2: float | None = None
    spread_mm2: Range | None = None


@dataclass(frozen=True)
class Area:
    """What of an array has a known area, how large that is, and what has none.

    Attributes
    ----------
    parts : tuple of Part
        Every part that a token passes through.
    spread_mm2 : Range
        p10, p50 and p90 of the sum over the parts that are known (mm2): an
        assumption range, with one draw of each component for all parts.
    notes : tuple of str
        What was taken as given.
    components : tuple of Component
        Every number behind it.
    too_large : tuple of str
        Why the sum is no lower bound: parts sized as larger things.
    """

    parts: tuple[Part, ...]
    spread_mm2: Range
    notes: tuple[str, ...]
    components: tuple[Component, ...]
    too_large: tuple[str, ...] = ()

    @property
    def nominal_mm2(self) -> float:
        """Sum over the parts that are known, at nominal values (mm2)."""
        return math.fsum(part.nominal_mm2 or 0.0 for part in self.parts)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of the parts whose area is known."""
        return tuple(p.name for p in self.parts if p.nominal_mm2 is not None)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the parts whose area is not known."""
        return tuple(p.name for p in self.parts if p.nominal_mm2 is None)

    @property
    def coverage(self) -> str:
        """Which parts have an area and which have none, in a sentence."""
        known, unknown = ", ".join(self.known), ", ".join(self.unknown)
        if not known:
            return f"no area known for any part: {unknown}"
        said = f"area of {known}; no area known for {unknown}: "
        if self.too_large:
            return f"{said}no lower bound, as {'; '.join(self.too_large)}"
        return f"{said}at least this much"


def area(
    mapping: Mapping,
    library: Library,
    *,
    needs: Stored | None = None,
    n_draws: int = 4096,
    seed: int = 0,
) -> Area:
    """Add up the area of a mapped array from the parts whose area is known.

    With n tiles of m oscillators that see k anchors each, and c lines an
    oscillator (1 for a phase, d_osc otherwise):
    ``A = n c (m a_oscillator + k a_anchor + m k a_coupler + m a_converter)
    + bits a_bit``, each ``a`` a product of one component in um2 and ratios. A
    coupler holds the memory of its coupling. The bits are those of the memories
    that digital actions are priced with, or those that the model needs where these
    are more. What has no component is left out and
    named, never guessed.

    Parameters
    ----------
    mapping : Mapping
        The array; what its device leaves unlimited is as large as the mapped
        sweep asks for.
    library : Library
        The components.
    needs : Stored, optional
        Bytes of the model; by default it fits the memories that are priced.
    n_draws, seed : int
        Draws of the priors, paired with those of energies of the same seed.

    Returns
    -------
    Area

    Raises
    ------
    ComponentError
        If the device has no energy section, gives the area of an unknown part, or
        an area is not a product of one component in um2 and ratios.
    """
    device, model = mapping.device, mapping.model
    if device.energy is None:
        raise ComponentError(
            f"device {device.name} has no energy section: no area is known"
        )
    given = {name: tuple(ids) for name, ids in device.energy.areas.items()}
    odd = sorted(set(given) - set(ARRAY_PARTS))
    if odd:
        raise ComponentError(
            f"device {device.name} gives the area of {odd[0]!r}: parts are "
            f"{', '.join(ARRAY_PARTS)}"
        )
    lines = 1 if device.has_phase(model.d_osc) else model.d_osc
    couplers = device.couplers_per_oscillator or model.context
    columns, rows = mapping.tiles * lines, mapping.tiles * lines * mapping.oscillators
    numbers = (rows, columns * couplers, rows * couplers, rows)
    wanted: list[tuple[str, int | None, Product]] = [
        (f"{number:,} {name}s", number, given.get(name, ()))
        for name, number in zip(ARRAY_PARTS, numbers, strict=True)
    ]
    bit = memory_bit(device.energy.digital_node_nm) or ()
    held = MEMORY_BYTES if needs is None else needs.memory_bytes
    wanted.append((f"{-(-held // 1024):,} KB of memory", 8 * held, bit))
    wanted.append(("digital logic, bus and clock", None, ()))
    total = np.zeros(n_draws)
    parts = []
    for name, number, product in wanted:
        if number is None or not product:
            parts.append(Part(name, number))
            continue
        _require_area(name, product, library)
        draws = number * MM2 * _drawn(product, library, n_draws, seed)
        total += draws
        nominal = number * MM2 * math.prod(library[one].value for one in product)
        parts.append(Part(name, number, product, nominal, _range(draws)))
    used = {one for part in parts for one in part.components}
    small, large = _sized_otherwise(device, parts, library)
    return Area(
        parts=tuple(parts),
        spread_mm2=_range(total),
        notes=(*_notes(mapping), *small, NO_WIRING),
        components=tuple(c for c in library.components.values() if c.id in used),
        too_large=large,
    )


def _require_area(part: str, product: Product, library: Library) -> None:
    units = [library[name].unit for name in product]
    if units.count("um2") != 1 or set(units) - {"um2", "ratio"}:
        listed = ", ".join(f"{n} ({u})" for n, u in zip(product, units, strict=True))
        raise ComponentError(
            f"area of {part}: exactly one component in um2, the others of unit "
            f"ratio; got {listed}"
        )


def _drawn(product: Product, library: Library, n_draws: int, seed: int) -> FloatArray:
    draws: FloatArray = np.prod(
        [library.draws(name, n_draws, seed) for name in product], axis=0
    )
    return draws


def _range(draws: FloatArray) -> Range:
    p10, p50, p90 = np.quantile(draws, [0.1, 0.5, 0.9])
    return Range(float(p10), float(p50), float(p90))


def _notes(mapping: Mapping) -> tuple[str, ...]:
    if not mapping.unlimited:
        return ()
    said = (
        f"{', '.join(mapping.unlimited)}: not stated, as many as one sequence of "
        f"{mapping.model.context} tokens asks for"
    )
    return (said,)


def _sized_otherwise(
    device: Device, parts: Iterable[Part], library: Library
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which parts are sized as smaller things, and which as larger ones.

    Smaller: of a smaller node, or of fewer bits than the converter or coupler has.
    """
    node = None if device.energy is None else device.energy.oscillator_node_nm
    asked = {
        "converters": (device.adc_bits, "read to"),
        "couplers": (device.weight_bits, "set to"),
    }
    small: list[str] = []
    large: list[str] = []
    for part in parts:
        ids = [library[name] for name in part.components]
        nodes = {one.node_nm for one in ids} - {0}
        if not part.name.endswith("memory") and node and nodes and node not in nodes:
            said = f"{part.name}: of {min(nodes)} nm at {node} nm, as it is"
            (large if max(nodes) > node else small).append(said)
        bits = max((one.bits for one in ids), default=0)
        kind = part.name.split()[-1]
        wanted, how = asked.get(kind, (None, ""))
        if bits and wanted not in (None, bits):
            said = f"{part.name}: of {bits} bits, but {how} {wanted} bits"
            (large if bits > (wanted or 0) else small).append(said)
    return tuple(small), tuple(large)
