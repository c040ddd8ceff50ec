"""What a run costs per token, beside the same task done digitally."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from oscsim.bridge.array import latency_per_token, takes_time
from oscsim.bridge.infer import AnyRun, Data, existing_lengths
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.phase_cost import phase_latency, phase_rivals
from oscsim.bridge.setting import Setting
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.energy.baselines import (
    Shape,
    digital_oscillator,
    digital_oscillator_factored,
    digital_softmax,
)
from oscsim.energy.capacity import Stored, stored
from oscsim.energy.components import Component, Library
from oscsim.energy.ledger import Ledger, Range, account
from oscsim.energy.prices import Prices
from oscsim.energy.substrate import anchor_words
from oscsim.energy.uncertainty import in_attention, in_order, used
from oscsim.energy.window_shape import WindowShape
from oscsim.models.config import FixedQueryConfig
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import EnergyMap
from oscsim.typing import IntArray

__all__ = [
    "Cost",
    "attention_by_phase",
    "attention_j",
    "price",
    "require_prices",
    "shape_for",
    "shape_of",
    "why_unpriced",
]

SOFTMAX = "digital softmax attention"
DIRECT = "same oscillator model, digital"
FACTORED = "same oscillator model, digital, read-out factored"
TENTHS = (0.1, 0.5, 0.9)


def attention_j(ledger: Ledger) -> float:
    """Return the nominal joules per token of the attention stage alone.

    From the scores to the mixed values, and storing keys and values, without
    projections, feed-forward blocks, embedding, overheads and I/O: the part that
    oscillators change, with its cache, as the ratios of the stage have it.
    """
    return math.fsum(attention_by_phase(ledger).values())


def attention_by_phase(ledger: Ledger) -> dict[str, float]:
    """Return the nominal joules per token of the attention stage, by phase."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for entry in ledger.entries:
        if in_attention(entry.phase, entry.action):
            parts[entry.phase].append(entry.joules)
    return {phase: math.fsum(values) for phase, values in parts.items()}


@dataclass(frozen=True)
class Cost:
    """Joules and seconds per token of a run and of its rivals.

    Attributes
    ----------
    substrate : Ledger
        From the counts of the run.
    rivals : mapping of str to Ledger
        Closed-form counts on the same inputs, priced with the same draws.
    latency_s : float
        Time on the substrate per token (s).
    pairing : str
        Which nodes are priced together, and from what memory.
    left_out : str
        Why the factored rival is missing; empty if it is there.
    components : tuple of Component
        Every number that the substrate or a rival was priced with.
    """

    substrate: Ledger
    rivals: Mapping[str, Ledger]
    latency_s: float
    pairing: str
    left_out: str
    components: tuple[Component, ...] = ()

    def ratios(self) -> dict[str, Range]:
        """Return the system total of the substrate over each rival's."""
        return {
            name: self.substrate.ratio(rival) for name, rival in self.rivals.items()
        }

    def differences(self) -> dict[str, Range]:
        """Return the system total of the substrate less each rival's (J per token).

        The draws are paired, as those of `ratios`.
        """
        mine = self.substrate.draws["system"]
        found = {}
        for name, rival in self.rivals.items():
            low, middle, high = np.quantile(mine - rival.draws["system"], TENTHS)
            found[name] = Range(float(low), float(middle), float(high))
        return found


def price(run: AnyRun, library: Library | None = None) -> Cost | None:
    """Price a run and its digital rivals with the same draws.

    Parameters
    ----------
    run : Run or LanguageRun
        From `oscsim.bridge.infer.infer`.
    library : Library, optional
        Components; the bundled ones by default.

    Returns
    -------
    Cost, or None
        None where nothing has a price: no settling time, no energy section,
        the digital rung, or a published perturbation.

    Raises
    ------
    ComponentError
        If a price is missing or used outside its range.
    """
    device = run.setting.acting_device
    energy = device.energy
    pulled = _pulled_for_a_time(run)
    if energy is None or not (pulled or takes_time(run.setting)):
        return None
    library = Library.load() if library is None else library
    prices = Prices.of_device(device, library)
    lengths = run.existing_lengths
    if pulled is not None:
        return _phase_cost(pulled, energy, prices, library)
    shape = shape_of(run, lengths)
    rivals = {SOFTMAX: digital_softmax(shape), DIRECT: digital_oscillator(shape)}
    left_out = _why_not_factored(run, shape)
    if not left_out:
        rivals[FACTORED] = digital_oscillator_factored(shape)
    counts = _with_anchors(run, shape)
    return Cost(
        substrate=account(counts, prices, library),
        rivals={name: account(c, prices, library) for name, c in rivals.items()},
        latency_s=latency_per_token(
            run.setting.device, run.checkpoint.fixed_query, lengths
        ),
        pairing=_pairing(energy, stored(shape)),
        left_out=left_out,
        components=_used([counts, *rivals.values()], prices, library),
    )


def _with_anchors(run: AnyRun, shape: Shape) -> Counts:
    """Return the counts of a run and of the anchors that its tiles are given."""
    counts = run.counts + Counts()
    words = anchor_words(shape, run.setting.device, shape.lengths)
    if words:
        counts.add("load", "anchor_write", words * counts.tokens / shape.rows)
    return counts


def _pulled_for_a_time(run: AnyRun) -> LanguageRun | None:
    """Return a run of Kuramoto attention whose dwells take seconds."""
    is_phases = isinstance(run.checkpoint.config, KuramotoConfig)
    if not isinstance(run, LanguageRun) or not is_phases:
        return None
    on_chip = run.setting.rung != "digital"
    return run if on_chip and run.setting.acting_device.time_unit == "s" else None


def _phase_cost(
    run: LanguageRun, energy: EnergyMap, prices: Prices, library: Library
) -> Cost | None:
    config = run.checkpoint.config
    if not isinstance(config, KuramotoConfig):
        return None
    size = (len(run.data), run.data.context)
    rivals = phase_rivals(config, *size)
    return Cost(
        substrate=account(run.counts, prices, library),
        rivals={name: account(c, prices, library) for name, c in rivals.items()},
        latency_s=phase_latency(run),
        pairing=_pairing(energy, stored(WindowShape(config, *size))),
        left_out="",
        components=_used([run.counts, *rivals.values()], prices, library),
    )


def _used(
    tallies: Iterable[Counts], prices: Prices, library: Library
) -> tuple[Component, ...]:
    """Return the components of all that was counted, in the library's order."""
    together = {part for tally in tallies for part in used(tally, prices, library)}
    return in_order(together, library)


def why_unpriced(setting: Setting) -> str:
    """Return why a run has no energy and no latency."""
    if setting.perturbation is not None:
        return "a published perturbation is not hardware: no energy or latency"
    if setting.rung == "digital":
        return "nothing settles at rung digital: no energy or latency of a substrate"
    if setting.acting_device.energy is None:
        return f"device {setting.device.name} has no prices: no energy or latency"
    return (
        f"at rung {setting.rung} of this device settling takes no finite time "
        "(settle_time): no energy or latency"
    )


def _pairing(energy: EnergyMap, needs: Stored) -> str:
    node = energy.oscillator_node_nm
    oscillators = (
        "oscillators of no node" if node is None else f"oscillators at {node} nm"
    )
    said = (
        f"{oscillators}, digital logic at {energy.digital_node_nm} nm; weights in a "
        "1 MB memory, read once per use (reuse 1)"
    )
    return "; ".join((said, *needs.notes))


def _why_not_factored(run: AnyRun, shape: Shape) -> str:
    """Return why the read-out may not be factored into prefix sums, or nothing."""
    if shape.power != 1:
        return f"{FACTORED}: not for p = {shape.power}"
    if run.digital_clamped == 0:
        return ""
    pairs = shape.n_layers * shape.pairs
    return (
        f"{FACTORED}: not the same model here, as 1 + z.r is negative for "
        f"{run.digital_clamped / pairs:.1%} of the pairs and the clamp acts"
    )


def require_prices(setting: Setting, d_osc: int | None) -> None:
    """Check before a run that everything it will count has a price.

    Parameters
    ----------
    setting : Setting
        On what the checkpoint will be run.
    d_osc : int or None
        Of the checkpoint.

    Raises
    ------
    ComponentError
        If a price is missing, malformed or of an unknown component or node.
    """
    device = setting.acting_device
    if device.energy is None or not takes_time(setting):
        return
    oscillators = "oscillator_s" if device.has_phase(d_osc or 2) else "component_s"
    one_of_each = Counts(tokens=1)
    for action in (oscillators, "coupler_s", "anchor_s"):
        one_of_each.add("settle", action, 1)
    one_of_each.add("load", "coupling_write", 1)
    one_of_each.add("readout", "state_read", 1)
    account(one_of_each, Prices.of_device(device), Library.load(), n_draws=1)


def shape_of(run: AnyRun, lengths: IntArray) -> Shape:
    """Return the sizes of a run's model for closed-form counts."""
    return shape_for(run.checkpoint.fixed_query, lengths, run.head_rows)


def shape_on(config: FixedQueryConfig, data: Data) -> Shape:
    """Return the sizes of a model on the items of a data set.

    Parameters
    ----------
    config : FixedQueryConfig
        The model.
    data : ByteText, TokenSet or DigitSet
        Its items; the head reads every position of text, and one row of others.
    """
    head_rows = None if isinstance(data, ByteText) else len(data)
    return shape_for(config, existing_lengths(config, data), head_rows)


def shape_for(
    config: FixedQueryConfig, lengths: IntArray, head_rows: int | None
) -> Shape:
    """Return the sizes of a model on items of some lengths.

    Parameters
    ----------
    config : FixedQueryConfig
        The model.
    lengths : IntArray, shape (items,)
        Existing positions of each item.
    head_rows : int or None
        Rows that the head reads; None for every position.
    """
    return Shape(
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        d_model=config.d_model,
        d_ff=config.d_ff,
        d_osc=config.d_osc or 2,
        lengths=[int(n) for n in lengths],
        causal=config.causal,
        coupling=config.coupling,
        power=config.p,
        n_outputs=config.n_outputs,
        head_rows=head_rows,
        n_features=config.n_features,
    )
