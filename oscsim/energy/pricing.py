"""The work of pricing a tally: products, clamps, overheads, attribution."""

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from oscsim.energy.components import Component, Library
from oscsim.energy.prices import (
    ACTIONS,
    CORE_ACTIONS,
    SUBSTRATE_ACTIONS,
    Overhead,
    Prices,
)
from oscsim.energy.products import Product
from oscsim.typing import FloatArray

ADC_FLOOR = "adc.envelope_floor"


class Entry(NamedTuple):
    """One part of the nominal energy; every joule is in exactly one part.

    Attributes
    ----------
    phase, action : str
        As counted; overheads are actions of phase ``"control"``.
    component : str
        The component that carries the unit of energy or power, or the share.
    joules : float
        Per token (J).
    """

    phase: str
    action: str
    component: str
    joules: float


class Pricing:
    """Entries and draws as they add up, one action after the other.

    Attributes
    ----------
    entries : list of Entry
        Nominal parts.
    action_draws : dict of str to FloatArray
        Draws by action (J per token), shape (n_draws,).
    untrusted : dict of str to float
        Joules per token that rest on assumed or remembered numbers.
    notes : dict of str to None
        Sentences, each once, in order.
    """

    def __init__(
        self, prices: Prices, library: Library, n_draws: int, seed: int
    ) -> None:
        self.prices, self.library = prices, library
        self.n_draws, self.seed = n_draws, seed
        self.entries: list[Entry] = []
        self.action_draws: dict[str, FloatArray] = {}
        self.untrusted: defaultdict[str, float] = defaultdict(float)
        self.notes: dict[str, None] = {}
        self.component_draws: dict[str, FloatArray] = {}

    def charge(self, phase: str, action: str, product: Product, number: float) -> None:
        """Add ``number`` events per token, or seconds, at the price of a product."""
        base = self.prices.base(action, product, self.library)
        draws = np.prod([self.drawn(name) for name in product], axis=0)
        if action == "state_read" and base.id.startswith("adc."):
            product, draws = self._clamped(base.id, product, draws)
        self._note_borrowed(action, product)
        self._note_core(action)
        self._note_bits(action)
        carrier = next(name for name in product if self.library[name].unit != "ratio")
        factor = number * self.prices.si_factor(base)
        joules = factor * math.prod(self.library[name].value for name in product)
        if joules == 0 and number > 0:
            self._note_free(action, carrier)
        self.entries.append(Entry(phase, action, carrier, joules))
        self._attribute(product, joules)
        previous = self.action_draws.get(action, np.zeros(self.n_draws))
        self.action_draws[action] = previous + draws * factor

    def charge_overhead(self, name: str, overhead: Overhead) -> None:
        """Add a share of what was charged before; overheads do not compound."""
        kept = SUBSTRATE_ACTIONS if overhead.of == "substrate" else ACTIONS
        base = math.fsum(e.joules for e in self.entries if e.action in kept)
        if base > 0:
            joules = base * self.library[overhead.share].value
            self.entries.append(Entry("control", name, overhead.share, joules))
            self._attribute((overhead.share,), joules)
            self.action_draws[name] = self.summed(kept) * self.drawn(overhead.share)

    def drawn(self, name: str) -> FloatArray:
        """Return the draws of a component, the same array at every call."""
        if name not in self.component_draws:
            draws = self.library.draws(name, self.n_draws, self.seed)
            self.component_draws[name] = draws
        return self.component_draws[name]

    def summed(self, kept: tuple[str, ...] | None) -> FloatArray:
        """Return the draws of the sum of some actions, or of all for None."""
        total = np.zeros(self.n_draws)
        for action, draws in self.action_draws.items():
            if kept is None or action in kept:
                total += draws
        return total

    def _clamped(
        self, base: str, product: Product, draws: FloatArray
    ) -> tuple[Product, FloatArray]:
        floor = self.drawn(ADC_FLOOR)
        raised = float(np.mean(draws < floor))
        if raised > 0:
            self.notes[
                f"state_read through {base} is raised to the survey's floor "
                f"({ADC_FLOOR}) in {raised:.0%} of the draws"
            ] = None
        nominal = math.prod(self.library[name].value for name in product)
        if nominal < self.library[ADC_FLOOR].value:
            product = (ADC_FLOOR,)
        return product, np.maximum(draws, floor)

    def _attribute(self, product: Product, joules: float) -> None:
        """Attribute what rests on untrusted numbers.

        All of it if the energy or an overhead's share is untrusted, or if an
        untrusted factor makes it smaller; otherwise what the untrusted
        factors add.
        """
        doubtful = [m for m in map(self.library.__getitem__, product) if m.is_untrusted]
        if not doubtful:
            return
        carriers = [m for m in doubtful if m.unit != "ratio" or len(product) == 1]
        factor = math.prod(member.value for member in doubtful)
        if carriers or any(member.value < 1 for member in doubtful):
            culprit = carriers[0] if carriers else min(doubtful, key=_value)
            self.untrusted[culprit.id] += joules
        else:
            culprit = max(doubtful, key=_value)
            self.untrusted[culprit.id] += joules * (1 - 1 / factor)

    def _note_borrowed(self, action: str, product: Product) -> None:
        node = self.prices.oscillator_node_nm
        nodes = {self.library[name].node_nm for name in product} - {0}
        if action in SUBSTRATE_ACTIONS and node and nodes and node not in nodes:
            self.notes[
                f"{action} of {node} nm oscillators is priced with "
                f"{' x '.join(product)} of {min(nodes)} nm, as it is"
            ] = None

    def _note_core(self, action: str) -> None:
        if action in CORE_ACTIONS:
            self.notes.update(dict.fromkeys(self.prices.remarks))

    def _note_free(self, action: str, carrier: str) -> None:
        part = self.library[carrier]
        self.notes[
            f"{action} costs 0 J at nominal values: {carrier} is {part.value:g} "
            f"({part.low:g}..{part.high:g}) {part.unit}; "
            f"{part.source}"
        ] = None

    def _note_bits(self, action: str) -> None:
        """Say where the device has another resolution than what prices it."""
        if action in self.prices.followed:
            self.notes[self.prices.followed[action].said] = None
        if action not in self.prices.bits or action in self.prices.followed:
            return
        wanted = self.prices.bits[action]
        names = [name for product in self.prices.terms[action] for name in product]
        priced = max(self.library[name].bits for name in names)
        carriers = [name for name in names if self.library[name].unit != "ratio"]
        said = f"{action} of {wanted} bits is priced "
        if wanted > 1 and priced == 0:
            said += f"as one {' + '.join(carriers)}, whatever its bits"
        elif wanted > priced > 0:
            said += f"with {' x '.join(names)}, of {priced} bits: too little"
        elif priced > wanted > 1 and not action.endswith("_write"):
            said += f"with {' x '.join(names)}, of {priced} bits: too much"
        else:
            return
        self.notes[said] = None


def _value(component: Component) -> float:
    return component.value
