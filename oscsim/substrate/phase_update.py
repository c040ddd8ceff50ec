"""One Kuramoto attention layer on one chip: dwell, diffuse, read."""

from functools import partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.physics.driven import settle, settle_detuned
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.noise import normals
from oscsim.substrate.mismatch import Stage
from oscsim.substrate.phase_chip import PhaseChip
from oscsim.substrate.phase_field import full_scales, realised_field
from oscsim.substrate.phase_pull import (
    Pull,
    Read,
    Update,
    small_signal_gain,
    torque,
    trained_turn,
    wrap,
)
from oscsim.substrate.quantize import quantize_phase
from oscsim.substrate.tally import SettleTally
from oscsim.typing import BoolArray, ComplexArray, FloatArray, IntArray

How: TypeAlias = Literal["map", "flow"]


class Dwell(NamedTuple):
    """What the oscillators of a block are asked to do, (windows, time, k) each.

    Attributes
    ----------
    theta : FloatArray
        Phases at the start (rad).
    field : complex array
        Frozen field, in units of a weight at full scale.
    strength : FloatArray
        v times the full scale, signed.
    time : FloatArray
        Dwell in units of 1 / (rate of a weight at full scale).
    share : FloatArray
        Part of the dwell wanted that the device gives.
    detuning : FloatArray or None
        Broadcasts; in units of the rate of a weight at full scale.
    number : IntArray
        Global numbers, from which every random draw follows.
    """

    theta: FloatArray
    field: ComplexArray
    strength: FloatArray
    time: FloatArray
    share: FloatArray
    detuning: FloatArray | None
    number: IntArray


def update_on(
    chip: PhaseChip, repeat: int, tally: SettleTally, *, how: How = "map"
) -> Update:
    """Return the value update of one chip in one repeat.

    ``"map"``: the trained step (``theta + bound(v a)``, or a flow) in the field
    that the chip makes, plus what detuning and diffusion add during the dwell.
    ``"flow"``: what an oscillator does, exactly: it is driven by sign(v) G for
    |v| times the small-signal gain of the bound, so both agree to first order
    in v and the flow, which cannot pass its field's direction, needs no bound.
    The dwell is the same for both and ends at ``settle_time``.

    Parameters
    ----------
    chip : PhaseChip
        The static draw.
    repeat : int
        Number of the dynamic draw: thermal and read-out noise.
    tally : SettleTally
        Filled with what happened.
    how : {"map", "flow"}
        Which.

    Returns
    -------
    Update
        Phases as read after the dwell, within half a turn of where they
        started; a filler's stay as they were.

    Raises
    ------
    SpecError
        If ``how`` is unknown.

    Notes
    -----
    Valid while no dwell turns a phase by more than half a turn, as the reader
    knows only where it started. A model trained with whole turns loses them
    from the second layer on if the device has no winding counter.
    """
    if how not in get_args(How):
        raise SpecError(f"update must be 'map' or 'flow', got {how!r}")
    return partial(_update, chip=chip, repeat=repeat, tally=tally, how=how)


def read_on(chip: PhaseChip, repeat: int, tally: SettleTally) -> Read:
    """Return how the score stage reads the phases on one chip in one repeat.

    With read-out noise and through the converter, drawn apart from the reading
    after the dwell; gates and scores are computed from what was read.
    """
    return partial(_read, chip=chip, repeat=repeat, tally=tally)


def _update(
    pull: Pull,
    counts: Counts,
    *,
    chip: PhaseChip,
    repeat: int,
    tally: SettleTally,
    how: How,
) -> FloatArray:
    live = pull.items >= 0
    attention, theta = pull.attention[live], pull.theta[live]
    field = realised_field(attention, theta, chip, pull.layer, tally)
    dwell = _dwell_of(pull, live, field, chip, tally)
    asked = trained_turn(pull, theta, field, dwell.share * dwell.strength)
    stepped = _stepped if how == "map" else _flowed
    moved = stepped(dwell, asked, chip, pull.layer, repeat)
    tally.record_update(pull.layer, asked, moved)
    _count_dwell(dwell, chip, tally, counts)
    start = wrap(theta) if chip.loses_turns and pull.layer > 0 else theta
    out = np.array(pull.theta, dtype=np.float64)
    out[live] = _measured(
        start + moved, dwell.number, Stage.READOUT, pull.layer, chip, repeat
    )
    tally.reads += dwell.number.size
    counts.add("readout", "state_read", dwell.number.size)
    return out


def _read(
    layer: int,
    items: IntArray,
    theta: FloatArray,
    counts: Counts,
    *,
    chip: PhaseChip,
    repeat: int,
    tally: SettleTally,
) -> FloatArray:
    live = items >= 0
    number = oscillator_numbers(items[live], theta.shape[1], chip)
    seen = np.array(theta, dtype=np.float64)
    seen[live] = _measured(theta[live], number, Stage.SCORE, layer, chip, repeat)
    tally.reads += number.size
    counts.add("readout", "state_read", number.size)
    return seen


def oscillator_numbers(items: IntArray, time: int, chip: PhaseChip) -> IntArray:
    """Return global oscillator numbers, shape (windows, time, k)."""
    length, k = chip.model.max_len, chip.model.n_osc
    rows = items[:, None] * length + np.arange(time)
    numbers: IntArray = rows[:, :, None] * k + np.arange(k)
    return numbers


def _measured(
    theta: FloatArray,
    number: IntArray,
    stage: Stage,
    layer: int,
    chip: PhaseChip,
    repeat: int,
) -> FloatArray:
    device = chip.device
    if device.readout_noise > 0:
        stream = stage.stream(chip.seed, layer, chip.number, repeat)
        error = normals(stream, number.ravel(), 1).reshape(theta.shape)
        theta = theta + device.readout_noise * error
    if device.adc_bits is not None:
        theta = quantize_phase(theta, device.adc_bits)
    return theta


def _dwell_of(
    pull: Pull,
    live: BoolArray,
    field: ComplexArray,
    chip: PhaseChip,
    tally: SettleTally,
) -> Dwell:
    theta = pull.theta[live]
    scale = full_scales(pull.attention[live], chip, theta.shape[-1])
    strength = pull.strength[live] * scale
    wanted = strength * torque(theta, field)
    time = np.abs(strength) * small_signal_gain(pull.bound, pull.radius, wanted)
    longest = chip.device.settle_time * chip.rate
    cut = time > longest
    share = np.where(cut, longest / np.where(cut, time, 1.0), 1.0)
    detuning = chip.layers[pull.layer].detuning
    if detuning is not None:
        detuning = np.broadcast_to(detuning[: theta.shape[1]] / chip.rate, theta.shape)
        tally.unlocked += int(np.count_nonzero(np.abs(detuning) >= np.abs(field)))
    size = np.abs(field)
    tally.record_dwells(size, int(np.count_nonzero(cut)))
    frequency = chip.device.frequency_hz
    if frequency is not None:
        limit = chip.device.weak_coupling * 2 * np.pi * frequency / chip.rate
        tally.strongly_driven += int(np.count_nonzero(size > limit))
    return Dwell(
        theta=theta,
        field=field,
        strength=strength,
        time=np.minimum(time, longest),
        share=share,
        detuning=detuning,
        number=oscillator_numbers(pull.items[live], theta.shape[1], chip),
    )


def _stepped(
    dwell: Dwell, asked: FloatArray, chip: PhaseChip, layer: int, repeat: int
) -> FloatArray:
    """Return the map's update and what detuning and diffusion add to it."""
    moved = asked
    if dwell.detuning is not None:
        moved = moved + dwell.detuning * dwell.time
    diffusion = chip.device.diffusion / chip.rate
    if diffusion > 0:
        stream = Stage.THERMAL.stream(chip.seed, layer, chip.number, repeat)
        kick = normals(stream, dwell.number.ravel(), 1).reshape(moved.shape)
        moved = moved + np.sqrt(2 * diffusion * dwell.time) * kick
    return moved


def _flowed(
    dwell: Dwell, asked: FloatArray, chip: PhaseChip, layer: int, repeat: int
) -> FloatArray:
    """Return the angle that each oscillator turns by in its frozen field."""
    h = _components(np.sign(dwell.strength) * dwell.field)
    start = _components(np.exp(1j * dwell.theta))
    time = dwell.time.ravel()
    detuning = None
    if dwell.detuning is not None:
        detuning = np.ascontiguousarray(dwell.detuning.ravel())
    diffusion = chip.device.diffusion / chip.rate
    if diffusion > 0:
        stream = Stage.THERMAL.stream(chip.seed, layer, chip.number, repeat)
        number = dwell.number.ravel()
        end = sample_driven(h, start, time, diffusion, stream, number, omega=detuning)
    elif detuning is not None:
        end = settle_detuned(h, detuning, start, time)
    else:
        end = settle(h, start, time)
    across = start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]
    along = start[:, 0] * end[:, 0] + start[:, 1] * end[:, 1]
    turned: FloatArray = np.arctan2(across, along).reshape(asked.shape)
    return turned


def _components(z: ComplexArray) -> FloatArray:
    return np.stack([z.real.ravel(), z.imag.ravel()], axis=-1)


def _count_dwell(
    dwell: Dwell, chip: PhaseChip, tally: SettleTally, counts: Counts
) -> None:
    """Tally what was loaded and for how long oscillators, couplers and copies ran.

    A weight is written to each of its couplers and a phase to its register.
    """
    device = chip.device
    windows, time, k = dwell.theta.shape
    in_turn = device.query_slots == 1
    couplers = np.arange(1, time + 1)
    counts.add("load", "coupling_write", windows * k * int(couplers.sum()))
    counts.add("load", "coupling_write", windows * time * k)
    seconds = dwell.time / chip.rate
    tally.dwell += float(seconds.sum())
    slowest = seconds.max(axis=-1, initial=0.0)
    tally.longest += float(slowest.sum())
    one_by_one = slowest @ couplers
    tally.held += float(one_by_one.sum())
    tally.last_dwell += float(seconds[:, -1].sum())
    tally.last_longest += float(slowest[:, -1].sum())
    if in_turn:
        held = one_by_one
        rounds, busy = time, slowest.sum(axis=-1)
    else:
        held = time * slowest.max(axis=-1, initial=0.0)
        rounds, busy = 1, slowest.max(axis=-1, initial=0.0)
    if device.time_unit == "model":
        tally.busy += float(busy.sum())
        return
    overhead = rounds * device.read_time + time * device.write_time
    tally.busy += float(busy.sum()) + windows * overhead
    running = seconds + device.read_time
    counts.add("settle", "oscillator_s", float(running.sum()))
    counts.add("settle", "coupler_s", float((running.sum(axis=-1) @ couplers).sum()))
    counts.add("settle", "anchor_s", k * float(held.sum()))
