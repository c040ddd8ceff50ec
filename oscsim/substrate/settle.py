"""One attention layer on one chip: from couplings to the states that are read."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from oscsim.counts import Counts
from oscsim.physics.driven import settle, settle_detuned
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.noise import Stream, normals, points_on_sphere
from oscsim.substrate.device import Device
from oscsim.substrate.drive import Drive, Settle
from oscsim.substrate.mismatch import Chip, ChipLayer, Stage
from oscsim.substrate.quantize import quantize_direction, quantize_unsigned
from oscsim.substrate.tally import SettleTally
from oscsim.substrate.work import have_unit_norm, time_on
from oscsim.typing import FloatArray, IntArray

Index: TypeAlias = tuple[Any, ...]

# A detuned oscillator without noise has no settled state in closed form for
# any d; after this many drive times exp(-tau) is 0 in float64 and a locked one
# has converged.
SETTLED_DRIVE_TIMES = 1e5


def settle_on(chip: Chip, repeat: int, tally: SettleTally) -> Settle:
    """Return the ``settle`` of one chip in one repeat.

    Parameters
    ----------
    chip : Chip
        The static draw.
    repeat : int
        Number of the dynamic draw: start, thermal and read-out noise.
    tally : SettleTally
        Filled with what happened to couplings and oscillators.
    """
    return partial(_settle_layer, chip=chip, repeat=repeat, tally=tally)


class Oscillators(NamedTuple):
    """The live oscillators of a block, one row each, at one time slot.

    Attributes
    ----------
    field : FloatArray, shape (n, d_osc)
        Frozen drive h (rad/s, or model units).
    detuning : FloatArray or None
        Shape (n,) on the circle, (n, d, d) otherwise; same unit as the field.
    number : IntArray, shape (n,)
        Global numbers, from which every random draw follows.
    """

    field: FloatArray
    detuning: FloatArray | None
    number: IntArray


def _settle_layer(
    drive: Drive, counts: Counts, *, chip: Chip, repeat: int, tally: SettleTally
) -> FloatArray:
    device, layer = chip.device, chip.layers[drive.layer]
    batch, heads, queries, n_anchors = drive.coupling.shape
    strength = _couplings_on_chip(drive, device, layer, tally)
    rate = 1.0 if device.coupling_max is None else device.coupling_max
    fields: FloatArray = rate * np.matmul(strength, layer.anchors[:, :n_anchors])
    states = np.zeros_like(fields)
    carried = _Carried(batch, heads, fields.shape[-1])
    for slot in _time_slots(device, queries):
        here = _live_oscillators(drive, heads, slot)
        these = Oscillators(
            fields[here],
            _detuning_of(layer, device, here),
            oscillator_numbers(drive, layer, here),
        )
        streams = _Streams.of(chip, drive.layer, repeat)
        start = points_on_sphere(streams.start, these.number, fields.shape[-1])
        if device.start == "previous":
            start = carried.after(here, start)
        final = evolve(these, start, device, streams.thermal)
        carried.keep(here, final)
        tally.record_settling(device, these.field, these.detuning, start, final)
        states[here] = read_state(device, final, streams.readout, these.number, tally)
    _count_work(drive, chip, fields.shape[-1], counts)
    return states


class _Streams(NamedTuple):
    """The dynamic random numbers of one layer in one repeat."""

    start: Stream
    thermal: Stream
    readout: Stream

    @classmethod
    def of(cls, chip: Chip, layer: int, repeat: int) -> "_Streams":
        stages = (Stage.START, Stage.THERMAL, Stage.READOUT)
        return cls(*(s.stream(chip.seed, layer, chip.number, repeat) for s in stages))


class _Carried:
    """The state each oscillator was left in by the previous query."""

    def __init__(self, batch: int, heads: int, d_osc: int) -> None:
        self.state = np.zeros((batch, heads, d_osc))
        self.known = np.zeros((batch, heads), bool)

    def after(self, here: Index, start: FloatArray) -> FloatArray:
        item, head, _ = here
        known = self.known[item, head]
        return np.where(known[:, None], self.state[item, head], start)

    def keep(self, here: Index, final: FloatArray) -> None:
        item, head, _ = here
        self.state[item, head] = final
        self.known[item, head] = True


def _time_slots(device: Device, queries: int) -> Iterable[slice]:
    """Group the queries that settle together: all, or one after the other."""
    if device.start == "previous":
        return (slice(q, q + 1) for q in range(queries))
    return (slice(0, queries),)


def _live_oscillators(drive: Drive, heads: int, slot: slice) -> Index:
    live = np.zeros_like(drive.live)
    live[:, slot] = drive.live[:, slot]
    batch, queries = live.shape
    spread = np.broadcast_to(live[:, None, :], (batch, heads, queries))
    return np.nonzero(spread)


def oscillator_numbers(drive: Drive, layer: ChipLayer, here: Index) -> IntArray:
    """Return global oscillator numbers, free of batch position and padded length."""
    item, head, query = here
    heads, max_len = layer.anchor_norm.shape
    numbers: IntArray = (drive.items[item] * heads + head) * max_len + query
    return numbers


def _couplings_on_chip(
    drive: Drive, device: Device, layer: ChipLayer, tally: SettleTally
) -> FloatArray:
    """Return the couplings as realised, in full scales (model units if none)."""
    _, _, queries, n_anchors = drive.coupling.shape
    exists = drive.connected[:, None]
    wanted: FloatArray = (
        drive.coupling * layer.anchor_norm[:, None, :n_anchors] * exists
    )
    if device.time_unit == "s":
        wanted = wanted / layer.full_scale[:, None, None]
        loaded = quantize_unsigned(
            wanted, 1.0, device.weight_bits, limit=device.range_limit
        )
        tally.record_couplings(drive.layer, wanted, loaded)
        wanted = loaded.values

    def slots(values: FloatArray) -> FloatArray:
        return values[:, :queries, :n_anchors]

    if layer.gain is not None:
        wanted = wanted * slots(layer.gain)
    if layer.offset is not None:
        wanted = wanted + slots(layer.offset)
    if layer.stuck is not None:
        level = slots(layer.stuck)
        wanted = np.where(np.isnan(level), wanted, level)
    return wanted * exists


def _detuning_of(layer: ChipLayer, device: Device, here: Index) -> FloatArray | None:
    if layer.detuning is None:
        return None
    _, head, query = here
    slot = query if device.query_slots == "all" else np.zeros_like(query)
    chosen: FloatArray = layer.detuning[head, slot]
    return chosen


def evolve(
    oscillators: Oscillators, start: FloatArray, device: Device, thermal: Stream
) -> FloatArray:
    """Return the states after the settling time.

    Without noise the flow is exact (closed form, or the projective matrix
    exponential with detuning). With noise a settled, undetuned oscillator is
    drawn from its exact von Mises-Fisher law; otherwise the stochastic
    equation is stepped.

    Parameters
    ----------
    oscillators : Oscillators
        Drives, detunings and global numbers.
    start : FloatArray, shape (n, d_osc)
        Unit vectors at time 0.
    device : Device
        Gives the settling time and the diffusion.
    thermal : Stream
        Random stream of the thermal noise.

    Returns
    -------
    FloatArray, shape (n, d_osc)
    """
    field, detuning, number = oscillators
    time = device.settle_time
    if device.diffusion > 0:
        return sample_driven(
            field, start, time, device.diffusion, thermal, number, omega=detuning
        )
    if detuning is None:
        return settle(field, start, time)
    if math.isinf(time):
        rate = np.linalg.norm(field, axis=-1)
        rate += np.abs(detuning.reshape(len(field), -1)).max(axis=-1, initial=0.0)
        return settle_detuned(field, detuning, start, SETTLED_DRIVE_TIMES / rate)
    return settle_detuned(field, detuning, start, time)


def read_state(
    device: Device,
    state: FloatArray,
    stream: Stream,
    index: IntArray,
    tally: SettleTally,
) -> FloatArray:
    """Return the states as the read-out reports them.

    A phase is read with noise and converted over the full turn. Components
    are read with noise and converted over [-1, 1], so that a reading need not
    have norm 1.
    """
    n, d_osc = state.shape
    by_phase = device.has_phase(d_osc)
    lines = 1 if by_phase else d_osc
    tally.reads += n * lines
    if device.readout_noise > 0:
        error = device.readout_noise * normals(stream, index, lines)
        state = _rotated(state, error[:, 0]) if by_phase else state + error
    if device.adc_bits is not None:
        converted = quantize_direction(state, device.adc_bits, by_phase=by_phase)
        tally.adc_clipped += converted.clipped
        state = converted.values
    return state


def _rotated(state: FloatArray, angle: FloatArray) -> FloatArray:
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = state[:, 0], state[:, 1]
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=-1)


def _count_work(drive: Drive, chip: Chip, d_osc: int, counts: Counts) -> None:
    """Tally what the oscillators did; times only where settling takes any."""
    device, heads = chip.device, drive.coupling.shape[1]
    n_live = heads * int(drive.live.sum())
    n_pairs = heads * int(drive.connected.sum())
    by_phase = device.has_phase(d_osc)
    lines = 1 if by_phase else d_osc
    if not all(have_unit_norm(layer.anchor_norm) for layer in chip.layers):
        counts.add("load", "mul", n_pairs)
        counts.add("load", "sram_read_byte", n_pairs)
    counts.add("load", "coupling_write", n_pairs)
    counts.add("readout", "state_read", n_live * lines)
    if by_phase:
        counts.add("similarity", "sincos", n_live)
    if math.isinf(device.settle_time) or device.time_unit == "model":
        return
    kind = "oscillator_s" if by_phase else "component_s"
    for connected, live in zip(drive.connected, drive.live, strict=True):
        couplings = connected[live].sum(axis=1)
        on = time_on(device, couplings)
        counts.add("settle", kind, heads * lines * on.oscillators)
        counts.add("settle", "coupler_s", heads * lines * on.couplers)
        counts.add("settle", "anchor_s", heads * lines * on.anchors)
