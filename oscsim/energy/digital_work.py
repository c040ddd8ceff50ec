"""What the digital part does in one sweep of a mapped model, and how long it takes."""

from collections import Counter
from dataclasses import replace
from typing import Literal, TypeAlias

from oscsim.counts import Counts
from oscsim.energy.baselines import Shape, count_body, count_direct, count_scored
from oscsim.energy.mapping import Mapping
from oscsim.energy.substrate import count_interface
from oscsim.errors import SpecError
from oscsim.models import counting
from oscsim.substrate.device import Device

DigitalPhase: TypeAlias = Literal["projection", "weights", "value", "ffn"]
DIGITAL_PHASES: dict[DigitalPhase, tuple[str, ...]] = {
    "projection": ("projection",),
    "weights": ("weights", "load"),
    "value": ("similarity", "normalise", "value"),
    "ffn": ("ffn",),
}
"""Phases of a timeline, and the phases of a tally that each one holds."""


def sweep_counts(shape: Shape, mapping: Mapping) -> Counts:
    """Count the digital operations of one sweep, with the read-out pair by pair.

    Anchors are taken not to be unit vectors: a product for every coupling.

    A prefill is the model on ``batch`` items of the context's length. A decoding
    step is, for each sequence, what its last token adds: the counts of a context
    less those of a context without that token, as a cache of keys, values and
    scores makes it.

    Parameters
    ----------
    shape : Shape
        The model; its own lengths play no part.
    mapping : Mapping
        The sweep.

    Returns
    -------
    Counts
        Bytes of memory are counted too, at a reuse of 1.

    Raises
    ------
    SpecError
        If the shape and the mapped model differ in layers, heads or width.
    """
    asked = mapping.model
    mine = (shape.n_layers, shape.n_heads, shape.d_head, shape.causal)
    theirs = (asked.n_layers, asked.n_heads, asked.d_head, asked.causal)
    if mine != theirs:
        raise SpecError(
            "a shape and a mapping must be of one model (layers, heads, width of a "
            f"head, causal), got {mine} and {theirs}"
        )
    total: Counter[tuple[str, str]] = Counter()
    context = asked.context
    if not mapping.is_decoding:
        read = None if shape.head_rows is None else 1
        whole = replace(shape, lengths=[context], head_rows=read)
        one = _digital(whole, mapping.device)
    else:
        whole = replace(shape, lengths=[context], head_rows=None)
        one = _digital(whole, mapping.device)
        if context > 1:
            before = replace(shape, lengths=[context - 1], head_rows=None)
            one.actions.subtract(_digital(before, mapping.device).actions)
    for key, number in one.actions.items():
        total[key] = mapping.batch * number
    return Counts(total, mapping.tokens)


def digital_seconds(
    counts: Counts, macs_per_s: float, ops_per_s: float | None = None
) -> dict[DigitalPhase, float]:
    """Return the seconds of the digital phases: operations over their rate.

    ``t = n_mac / macs_per_s + n_op / ops_per_s``, where an elementwise operation
    is any action that is neither a multiply-accumulate nor a byte moved: an
    addition, product, comparison, exponential, reciprocal, coupling or activation
    function, each as one.

    Parameters
    ----------
    counts : Counts
        From `sweep_counts`.
    macs_per_s : float
        Multiply-accumulates per second, > 0.
    ops_per_s : float, optional
        Elementwise operations per second, > 0; they take no time if absent.

    Raises
    ------
    SpecError
        If a rate is not positive.
    """
    require_rate("macs_per_s", macs_per_s)
    require_rate("ops_per_s", ops_per_s)
    seconds: dict[DigitalPhase, float] = {}
    for phase, members in DIGITAL_PHASES.items():
        done = {k: n for k, n in counts.actions.items() if k[0] in members}
        macs = sum(n for (_, action), n in done.items() if action == "mac")
        others = sum(n for (_, action), n in done.items() if is_elementwise(action))
        seconds[phase] = macs / macs_per_s
        if ops_per_s is not None:
            seconds[phase] += others / ops_per_s
    return seconds


def is_elementwise(action: str) -> bool:
    """Return whether an action is neither a product sum nor a byte moved."""
    return action != "mac" and not action.endswith("_byte")


def require_rate(name: str, rate: float | None) -> None:
    """Check that a rate is absent or positive.

    Raises
    ------
    SpecError
        Otherwise.
    """
    if rate is not None and not 0 < rate < float("inf"):
        raise SpecError(f"{name} must be finite and > 0 per second, got {rate:g}")


def attention_counts(mapping: Mapping) -> Counts:
    """Count the product sums of the attention alone, where no shape is known.

    Scores (d_head a pair), similarities (d_osc) and value sums (d_head).
    """
    model, counts = mapping.model, Counts(tokens=mapping.tokens)
    counts.add("weights", "mac", mapping.pairs * model.d_head)
    counts.add("value", "mac", mapping.pairs * (model.d_osc + model.d_head))
    return counts


def _digital(shape: Shape, device: Device) -> Counts:
    counts = count_body(shape, 1.0)
    for _ in range(shape.n_layers):
        count_scored(counts, shape, 1.0, cached=2)
        counting.count_coupling(counts, shape.pairs, shape.coupling)
        count_interface(counts, shape, device, 1.0, has_norms=True)
        count_direct(counts, shape, 1.0)
    return counts
