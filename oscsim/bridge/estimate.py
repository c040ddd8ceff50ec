"""Joules per token of a model and of everything it is compared with, from sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oscsim.bridge.array import latency_per_token
from oscsim.bridge.phase_times import PhaseTimes
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Component, Library
from oscsim.energy.factoring import Factoring
from oscsim.energy.ledger import Ledger, Range, account
from oscsim.energy.measured import NO_WEIGHTS, Accuracies
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import DEFAULT_NODE, SAME, Rival, rivals
from oscsim.energy.substrate import substrate
from oscsim.energy.uncertainty import Case, share_won, used
from oscsim.energy.window_shape import WindowShape
from oscsim.errors import SpecError
from oscsim.substrate.device import Device

TILE = 16.0
"""Uses of a byte in a prefill tile, beside 1 when tokens are decoded one by one."""
N_DRAWS = 4096
ON_CHIPS = "accuracy on chips: see oscsim infer"


@dataclass(frozen=True)
class Scenario:
    """One way to do the model.

    Attributes
    ----------
    name, remark : str
        What it is, and whether it is the same model at the same precision.
    case : Case
        What is done and what it costs.
    ledger : Ledger
        Joules per token.
    reuse : float
        Uses of one byte read from on-chip memory.
    accuracy : str
        What was measured of it at this precision, or that nothing was.
    """

    name: str
    remark: str
    case: Case
    ledger: Ledger
    reuse: float
    accuracy: str = ""


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

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All, in the order in which they are shown."""
        return (*self.subjects, *self.rivals, *self.others)

    @property
    def pairs(self) -> tuple[tuple[Scenario, Scenario], ...]:
        """The comparisons that are looked into: softmax, and the same model."""
        if self.device is None:
            in_memory = (r for r in self.rivals if "in-memory" in r.name)
            return ((self.subjects[0], next(in_memory, self.rivals[0])),)
        same = [rival for rival in self.rivals if rival.remark == SAME]
        return ((self.subjects[0], self.rivals[0]), (self.subjects[-1], same[-1]))

    @property
    def components(self) -> tuple[Component, ...]:
        """Every number that any scenario rests on, in the library's order."""
        found = {c for s in self.scenarios for c in used(*s.case, self.library)}
        return tuple(c for c in self.library.components.values() if c in found)

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
        If the device cannot hold the model's d_osc.
    """
    require_reuse(reuse)
    if (device is None) != (factors is None):
        raise SpecError("a device and what factors go together: both, or neither")
    library = Library.load() if library is None else library
    prices, node_nm = prices_at(device, node_nm)

    def priced(found: Rival, at: float) -> Scenario:
        return scenario(found, library, at, n_draws, seed)

    def both(at: float) -> tuple[list[Scenario], list[Rival]]:
        mine = _subjects(shape, device, factors, prices, at)
        said = accuracies.unknown if accuracies is NO_WEIGHTS else ON_CHIPS
        mine = [replace(one, accuracy=said) for one in mine]
        theirs = list(
            rivals(shape, node_nm, factors, library, reuse=at, accuracies=accuracies)
        )
        return [priced(one, at) for one in mine], theirs

    other = TILE if reuse == 1 else 1.0
    subjects, theirs = both(reuse)
    again, softmax = both(other)
    if device is None:
        subjects, theirs = [priced(theirs[0], reuse)], theirs[1:]
    why = "" if factors is None else factors.why_readout
    left_out = f"read-out not factored, on the substrate or digitally: {why}"
    return Estimate(
        title=title,
        shape=shape,
        node_nm=node_nm,
        device=device,
        subjects=tuple(subjects),
        rivals=tuple(priced(one, reuse) for one in theirs),
        others=(*again, priced(softmax[0], other)),
        notes=(*notes, *([left_out] if why else []), *node_notes(device, node_nm)),
        latency_s=_latency(shape, device),
        library=library,
        n_draws=n_draws,
        seed=seed,
    )


def scenario(
    found: Rival, library: Library, reuse: float, n_draws: int, seed: int
) -> Scenario:
    """Price one way to do a model, counted at a reuse."""
    case = Case(found.counts, found.prices)
    ledger = account(*case, library, n_draws, seed)
    return Scenario(found.name, found.remark, case, ledger, reuse, found.accuracy)


def require_reuse(reuse: float) -> None:
    """Check that a byte read from memory is used at least once.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1 or infinite.
    """
    if not 1 <= reuse < math.inf:
        raise SpecError(f"reuse must be >= 1 (uses per read), got {reuse:g}")


def prices_at(device: Device | None, node_nm: int | None) -> tuple[Prices, int]:
    """Return the prices of a device with digital logic of a node, and the node.

    Parameters
    ----------
    device : Device or None
        None for digital logic alone.
    node_nm : int or None
        None for the node of the device's logic, else 45.

    Raises
    ------
    ComponentError
        If the device has no prices, or the node no table.
    """
    if device is None:
        node_nm = DEFAULT_NODE if node_nm is None else node_nm
        return Prices.digital(node_nm), node_nm
    prices = Prices.of_device(device)
    if node_nm is None:
        return prices, prices.digital_node_nm or DEFAULT_NODE
    terms = {**prices.terms, **Prices.digital(node_nm).terms}
    return replace(prices, terms=terms, digital_node_nm=node_nm), node_nm


def node_notes(device: Device | None, node_nm: int) -> tuple[str, ...]:
    """Return that oscillators and logic are of different nodes, if they are."""
    energy = None if device is None else device.energy
    if energy is None or energy.oscillator_node_nm in (None, node_nm):
        return ()
    said = f"oscillators at {energy.oscillator_node_nm} nm beside digital logic at "
    return (f"{said}{node_nm} nm, each as it is",)


def _subjects(
    shape: Shape,
    device: Device | None,
    factors: Factoring | None,
    prices: Prices,
    reuse: float,
) -> list[Rival]:
    if device is None or factors is None:
        return []
    direct = substrate(shape, device, reuse=reuse)
    found = [Rival("substrate", direct, prices, SAME)]
    if factors.readout:
        folded = substrate(shape, device, reuse=reuse, factored=True)
        found.append(Rival("substrate, read-out factored", folded, prices, SAME))
    return found


def _latency(shape: Shape, device: Device | None) -> float | None:
    if device is None:
        return None
    return latency_per_token(device, shape, shape.lengths)
