"""Joules per token of a model and of everything it is compared with, from sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oscsim.bridge.array import attention_of, latency_per_token
from oscsim.bridge.decoding import Step, cheapest, decoding_steps
from oscsim.bridge.estimate_notes import anchor_notes, node_notes, substrate_notes
from oscsim.bridge.phase_times import PhaseTimes
from oscsim.bridge.scenario import Pricer, Scenario, on_substrate
from oscsim.energy.baselines import Shape
from oscsim.energy.capacity import stored
from oscsim.energy.components import Component, Library
from oscsim.energy.factoring import Factoring
from oscsim.energy.ledger import Range
from oscsim.energy.measured import NO_WEIGHTS, Accuracies
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import DEFAULT_NODE, SAME, Rival, rivals
from oscsim.energy.substrate import require_time
from oscsim.energy.timeline import sweeps
from oscsim.energy.uncertainty import in_order, share_won, used
from oscsim.energy.window_shape import WindowShape
from oscsim.errors import SpecError
from oscsim.substrate.device import Device

__all__ = [
    "N_DRAWS",
    "TILE",
    "Estimate",
    "Scenario",
    "estimate",
    "latency_of",
    "node_notes",
    "prices_at",
    "require_reuse",
    "scenario",
]

TILE = 16.0
"""Uses of a byte in a prefill tile, beside 1 when tokens are decoded one by one."""
N_DRAWS = 4096
ON_CHIPS = "accuracy on chips: see oscsim infer"


@dataclass(frozen=True)
class Estimate:
    """A model on a substrate and its rivals, with the same draws.

    Attributes
    ----------
    title : str
        What is priced.
    shape : Shape or WindowShape
        Its sizes; the second of Kuramoto attention and a rotary transformer.
    node_nm : int
        Node of the digital logic.
    device : Device or None
        Where the oscillators settle; None for a softmax model.
    subjects : tuple of Scenario
        What is judged: the substrate, then with its read-out factored where
        that is legal; a softmax model itself.
    rivals : tuple of Scenario
        What it is judged by, at the same reuse.
    others : tuple of Scenario
        Subjects and digital softmax at another reuse.
    steps : tuple of Step
        Decoding token by token, for a causal model on a device.
    notes : tuple of str
        What was assumed, and what was left out and why.
    latency_s : float or None
        Time on the substrate per token (s).
    library : Library
        The components.
    n_draws, seed : int
        Draws of the priors.
    windows : PhaseTimes or None
        Kuramoto attention only: how long its windows take on the device.
    """

    title: str
    shape: Shape | WindowShape
    node_nm: int
    device: Device | None
    subjects: tuple[Scenario, ...]
    rivals: tuple[Scenario, ...]
    others: tuple[Scenario, ...]
    notes: tuple[str, ...]
    latency_s: float | None
    library: Library
    n_draws: int
    seed: int
    windows: PhaseTimes | None = None
    steps: tuple[Step, ...] = ()

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All, in the order in which they are shown."""
        return (*self.subjects, *self.rivals, *self.others)

    @property
    def pairs(self) -> tuple[tuple[Scenario, Scenario], ...]:
        """The comparisons that are looked into: softmax, and the same model.

        The same model is compared at its cheaper read-out, factored or not, on
        either side.
        """
        if self.device is None:
            in_memory = (r for r in self.rivals if "in-memory" in r.name)
            return ((self.subjects[0], next(in_memory, self.rivals[0])),)
        same = [rival for rival in self.rivals if rival.remark == SAME]
        return (
            (self.subjects[0], self.rivals[0]),
            (cheapest(self.subjects), cheapest(same)),
        )

    @property
    def components(self) -> tuple[Component, ...]:
        """Every number that any scenario rests on, in the library's order."""
        found = {c for s in self.scenarios for c in used(*s.case, self.library)}
        return in_order(found, self.library)

    def judged(self, scenario: Scenario, subject: int = 0) -> tuple[Range, float]:
        """Return a subject's system total over a scenario's, and the share won.

        The subject is taken at the scenario's reuse, with paired draws.
        """
        name = self.subjects[subject].name
        mine = next(
            s
            for s in (*self.subjects, *self.others)
            if s.name == name and s.reuse == scenario.reuse
        )
        ratio = mine.ledger.ratio(scenario.ledger)
        return ratio, share_won(mine.ledger, scenario.ledger)


def estimate(
    shape: Shape,
    device: Device | None,
    factors: Factoring | None,
    *,
    title: str,
    node_nm: int | None = None,
    reuse: float = 1.0,
    notes: Sequence[str] = (),
    unit_anchors: bool = False,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    library: Library | None = None,
    accuracies: Accuracies = NO_WEIGHTS,
) -> Estimate:
    """Price a model of some sizes on a device, beside everything else.

    Parameters
    ----------
    shape : Shape
        The model and the lengths of its items.
    device : Device or None
        Where oscillators settle; None for a softmax model.
    factors : Factoring or None
        Which sums factor; None for a softmax model.
    title : str
        What is priced.
    node_nm : int, optional
        Node of the digital logic; the device's by default, else 45.
    reuse : float
        Uses of one byte read from on-chip memory, for substrate and rivals.
    notes : sequence of str
        What was assumed.
    unit_anchors : bool
        Whether the norms of all anchors are 1, so that couplings are loaded as
        they are.
    n_draws, seed : int
        Draws of the priors.
    library : Library, optional
        Components; the bundled ones by default.
    accuracies : Accuracies
        What was measured of the rivals; by default there are no weights.

    Returns
    -------
    Estimate

    Raises
    ------
    ComponentError
        If a price is missing, or the node has no table.
    SpecError
        If the reuse is below 1 or settling takes no finite time.
    DeviceError
        If the device cannot hold the model's d_osc, or an item does not fit it.
    """
    require_reuse(reuse)
    if (device is None) != (factors is None):
        raise SpecError("a device and what factors go together: both, or neither")
    library = Library.load() if library is None else library
    prices, node_nm = prices_at(device, node_nm, library)
    latency_s = latency_of(shape, device)
    pricer = Pricer(library, n_draws, seed)

    def both(at: float) -> tuple[list[Scenario], list[Rival]]:
        mine: list[Rival] = []
        if device is not None and factors is not None:
            mine = on_substrate(
                shape, device, factors, prices, at, unit_anchors=unit_anchors
            )
        said = accuracies.unknown if accuracies is NO_WEIGHTS else ON_CHIPS
        mine = [replace(one, accuracy=said) for one in mine]
        theirs = list(
            rivals(shape, node_nm, factors, library, reuse=at, accuracies=accuracies)
        )
        return [pricer.price(one, at) for one in mine], theirs

    other = TILE if reuse == 1 else 1.0
    subjects, theirs = both(reuse)
    again, softmax = both(other)
    if device is None:
        subjects, theirs = [pricer.price(theirs[0], reuse)], theirs[1:]
    compared = tuple(pricer.price(one, reuse) for one in theirs)
    steps: tuple[Step, ...] = ()
    if device is not None and factors is not None:
        steps = decoding_steps(
            shape,
            device,
            factors,
            prices,
            Prices.digital(node_nm),
            pricer,
            unit_anchors=unit_anchors,
        )
    why = "" if factors is None else factors.why_readout
    left_out = f"read-out not factored, on the substrate or digitally: {why}"
    return Estimate(
        title=title,
        shape=shape,
        node_nm=node_nm,
        device=device,
        subjects=tuple(subjects),
        rivals=compared,
        others=(*again, pricer.price(softmax[0], other)),
        notes=(
            *notes,
            *([left_out] if why else []),
            *stored(shape, has_anchors=device is not None).notes,
            *node_notes(device, node_nm),
            *substrate_notes(device, unit_anchors=unit_anchors),
            *(anchor_notes(subjects[0], compared) if factors else ()),
        ),
        latency_s=latency_s,
        library=library,
        n_draws=n_draws,
        seed=seed,
        steps=steps,
    )


def scenario(
    found: Rival, library: Library, reuse: float, n_draws: int, seed: int
) -> Scenario:
    """Price one way to do a model, counted at a reuse."""
    return Pricer(library, n_draws, seed).price(found, reuse)


def require_reuse(reuse: float) -> None:
    """Check that a byte read from memory is used at least once.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1 or infinite.
    """
    if not 1 <= reuse < math.inf:
        raise SpecError(f"reuse must be >= 1 (uses per read), got {reuse:g}")


def prices_at(
    device: Device | None, node_nm: int | None, library: Library | None = None
) -> tuple[Prices, int]:
    """Return the prices of a device with digital logic of a node, and the node.

    Parameters
    ----------
    device : Device or None
        None for digital logic alone.
    node_nm : int or None
        None for the node of the device's logic, else 45.
    library : Library, optional
        Components; the bundled ones by default.

    Raises
    ------
    ComponentError
        If the device has no prices, or the node no table.
    """
    if device is None:
        node_nm = DEFAULT_NODE if node_nm is None else node_nm
        return Prices.digital(node_nm), node_nm
    prices = Prices.of_device(device, library)
    if node_nm is None:
        return prices, prices.digital_node_nm or DEFAULT_NODE
    terms = {**prices.terms, **Prices.digital(node_nm).terms}
    return replace(prices, terms=terms, digital_node_nm=node_nm), node_nm


def latency_of(shape: Shape, device: Device | None) -> float | None:
    """Return the time on the substrate per token (s), None without a device.

    Raises
    ------
    SpecError
        If settling takes no finite time.
    DeviceError
        If an item does not fit the array, or its couplings would wear out.
    """
    if device is None:
        return None
    require_time(device)
    # a decoding step may wear couplings out where a prefill does not
    sweeps(device, attention_of(shape, max(shape.lengths)), batch=1)
    return latency_per_token(device, shape, shape.lengths)
