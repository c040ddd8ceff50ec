"""What oscillators and the logic beside them execute, from sizes alone."""

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from oscsim.counts import Counts
from oscsim.energy.baselines import (
    Shape,
    count_body,
    count_direct,
    count_factored,
    count_scored,
)
from oscsim.energy.mapping import Attention, map_attention
from oscsim.errors import SpecError
from oscsim.models import counting
from oscsim.substrate.device import Device
from oscsim.substrate.work import TimeOn, time_on


def substrate(
    shape: Shape,
    device: Device,
    *,
    reuse: float = 1.0,
    factored: bool = False,
    unit_anchors: bool = False,
) -> Counts:
    """Count a model whose oscillators settle on a device.

    Equal to what a run with the direct or the prefix read-out tallies: every
    count is a closed form of the sizes, as all oscillators settle for the
    device's time. Items run one after the other, in the passes that
    `oscsim.energy.mapping.map_attention` gives for a batch of 1: in each of them
    the anchors that its queries see are on.

    The chip loads ``w_ij |r_j|``, so every pair costs a product and a byte of
    the norm, unless all anchors are unit vectors. A phase that is read costs one
    sine and cosine, which the digital read-out needs.

    Anchors that are written again for every item, as tiles are fewer than heads,
    come from the mapping of each item alone.

    Parameters
    ----------
    shape : Shape
        The model.
    device : Device
        Gives the times, and one oscillator per query or one in all.
    reuse : float
        Uses of one byte read from on-chip memory.
    factored : bool
        Whether the digital read-out is done in prefix sums; needs p = 1 and a
        clamp that never acts.
    unit_anchors : bool
        Whether the norms of all anchors are 1.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being the positions.

    Raises
    ------
    SpecError
        If settling takes no finite time in seconds, or a factored read-out is
        asked for with p > 1.
    DeviceError
        If the device cannot hold oscillators of ``d_osc`` components, or tiles are
        fewer than heads and an item does not fit.
    """
    device.require_d_osc(shape.d_osc)
    require_time(device)
    if factored and shape.power != 1:
        raise SpecError(
            f"the read-out factors into prefix sums for p = 1 only, got {shape.power}"
        )
    counts, on = count_body(shape, reuse), _time_on(shape, device)
    for _ in range(shape.n_layers):
        count_scored(counts, shape, reuse, cached=1 if factored else 2)
        counting.count_coupling(counts, shape.pairs, shape.coupling)
        count_interface(counts, shape, device, reuse, has_norms=not unit_anchors)
        _settle(counts, shape, device, on)
        if factored:
            count_factored(counts, shape, reuse)
        else:
            count_direct(counts, shape, reuse)
    words = anchor_words(shape, device, shape.lengths)
    if words:
        counts.add("load", "anchor_write", words)
    return counts


def anchor_words(shape: Shape, device: Device, lengths: Iterable[int]) -> int:
    """Return the anchor words that items write, each item in a sweep of its own.

    `oscsim.energy.mapping.Mapping.anchor_words` of each; none where every head has
    a tile, which keeps its anchors.

    Raises
    ------
    DeviceError
        If tiles are fewer than heads and an item does not fit the array.
    """
    if device.tiles is None:
        return 0
    return sum(
        number * map_attention(device, _attention(shape, length)).anchor_words
        for length, number in Counter(lengths).items()
    )


def _attention(shape: Shape, context: int) -> Attention:
    return Attention(
        n_layers=shape.n_layers,
        n_heads=shape.n_heads,
        d_osc=shape.d_osc,
        context=context,
        causal=shape.causal,
        d_head=shape.d_head,
    )


def require_time(device: Device) -> None:
    """Check that settling takes seconds.

    Raises
    ------
    SpecError
        If the device is in model units, or its settling time infinite.
    """
    if device.time_unit != "s" or not math.isfinite(device.settle_time):
        raise SpecError(
            f"settling on {device.name} takes no finite time in seconds, got "
            f"settle_time = {device.settle_time:g}: it has no price"
        )


def count_interface(
    counts: Counts, shape: Shape, device: Device, reuse: float, *, has_norms: bool
) -> None:
    """Record what the digital part of one layer does only because of oscillators.

    Unless anchors are unit vectors, a product ``w_ij |r_j|`` and a byte of the norm
    for every pair; for an oscillator that is read by its phase, its sine and cosine.
    """
    if has_norms:
        counts.add("load", "mul", shape.pairs)
        counts.add("load", "sram_read_byte", shape.pairs / reuse)
    if device.has_phase(shape.d_osc):
        counts.add("similarity", "sincos", shape.n_heads * shape.rows)


def _settle(counts: Counts, shape: Shape, device: Device, on: TimeOn) -> None:
    by_phase = device.has_phase(shape.d_osc)
    lines = 1 if by_phase else shape.d_osc
    oscillators = shape.n_heads * shape.rows
    counts.add("load", "coupling_write", shape.pairs)
    counts.add("readout", "state_read", oscillators * lines)
    kind = "oscillator_s" if by_phase else "component_s"
    held = shape.n_heads * lines
    counts.add("settle", kind, held * on.oscillators)
    counts.add("settle", "coupler_s", held * on.couplers)
    counts.add("settle", "anchor_s", held * on.anchors)


def _time_on(shape: Shape, device: Device) -> TimeOn:
    """Return how long the parts of one head are on, over all items of a layer."""
    if shape.is_decoding:
        return time_on(device, np.array(shape.lengths), is_decoding=True)
    found = []
    for length, items in Counter(shape.lengths).items():
        seen = np.arange(1, length + 1) if shape.causal else np.full(length, length)
        found.append([items * time for time in time_on(device, seen)])
    return TimeOn(*(math.fsum(times) for times in zip(*found, strict=True)))
