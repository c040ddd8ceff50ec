"""A model's sentences or windows on the array of a device: do they fit, how long."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.phase_times import PhaseTimes
from oscsim.bridge.setting import Setting
from oscsim.energy.area import Area, area
from oscsim.energy.baselines import Shape
from oscsim.energy.capacity import stored
from oscsim.energy.components import Library
from oscsim.energy.limits import Limit, physics_limits, why_unbound
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.precision import Precision, precision
from oscsim.energy.timeline import Timeline, sweeps, timeline
from oscsim.energy.writes import write_energy_j
from oscsim.models.config import FixedQueryConfig
from oscsim.substrate.device import Device

Sizes: TypeAlias = FixedQueryConfig | Shape
"""What says how large a fixed-query model is."""


def attention_of(model: Sizes, context: int) -> Attention:
    """Return what a fixed-query model asks of an array at one length.

    Parameters
    ----------
    model : FixedQueryConfig or Shape
        The model; without oscillators it counts as d_osc = 2.
    context : int
        Tokens of an item.
    """
    return Attention(
        n_layers=model.n_layers,
        n_heads=model.n_heads,
        d_osc=model.d_osc or 2,
        context=context,
        causal=model.causal,
        d_head=model.d_model // model.n_heads,
    )


def latency_per_token(device: Device, model: Sizes, lengths: Iterable[int]) -> float:
    """Return the time on the substrate per token (s), items one after the other.

    The mean over all tokens of `oscsim.energy.timeline.timeline`: rows of
    couplings written one after the other, all queries that have an oscillator
    settled and read together. With one oscillator per query and a tile per head,
    ``n write + settle + read`` a layer for n tokens; one oscillator serves them
    in turn, ``n (write + settle + read)``. Digital layers are not part of it.

    Parameters
    ----------
    device : Device
        Gives times and sizes.
    model : FixedQueryConfig or Shape
        The model.
    lengths : iterable of int
        Tokens of each item.

    Raises
    ------
    DeviceError
        If an item does not fit the array, or the couplings would wear out.
    """
    found = Counter(int(n) for n in lengths)
    sweeps = {
        n: timeline(map_attention(device, attention_of(model, n))).substrate_s
        for n in found
    }
    seconds = math.fsum(number * sweeps[n] for n, number in found.items())
    return seconds / sum(n * number for n, number in found.items())


@dataclass(frozen=True)
class OnArray:
    """What a device does with a model besides spending joules.

    Attributes
    ----------
    limits : tuple of Limit
        Bounds of physics, and how far above them the device sits.
    held : Precision or None
        What heat, mismatch and read-out leave of a phase that locks at full-scale
        coupling; None for Kuramoto attention, whose phases do not lock.
    timed : tuple of Timeline
        Prefill, and decoding if causal, at batch 1 and a larger one; empty for
        Kuramoto attention.
    windows : PhaseTimes or None
        Prefill and decoding of Kuramoto attention.
    area : Area or None
        Silicon, as far as it is known; of a prefill at batch 1 where the device
        states no sizes. None for Kuramoto attention, which is not mapped.
    write_j : tuple of float
        Nominal joules per token of writing couplings and anchors, a number a sweep.
    unbound : str
        Why there is no bound on a phase; empty if there is one.
    """

    limits: tuple[Limit, ...]
    held: Precision | None
    timed: tuple[Timeline, ...]
    windows: PhaseTimes | None = None
    area: Area | None = None
    write_j: tuple[float, ...] = ()
    unbound: str = ""


def on_array(
    device: Device,
    model: Sizes,
    context: int,
    *,
    batch: int,
    library: Library,
    macs_per_s: float | None = None,
    ops_per_s: float | None = None,
    seed: int = 0,
) -> OnArray:
    """Return bounds, precision and sweeps of a model on a priced device.

    Parameters
    ----------
    device : Device
        In seconds, with prices.
    model : FixedQueryConfig or Shape
        The model.
    context : int
        Tokens of the longest item.
    batch : int
        The larger batch.
    library : Library
        Components of the bounds and of areas.
    macs_per_s, ops_per_s : float, optional
        Rates of the digital part, as in `oscsim.energy.timeline.timeline`; the
        device's by default.
    seed : int
        Seed of the priors of areas.

    Raises
    ------
    ComponentError, DeviceError, SpecError
        As `physics_limits` and `sweeps`.
    """
    asked = attention_of(model, context)
    timed = sweeps(
        device,
        asked,
        batch=batch,
        macs_per_s=macs_per_s,
        ops_per_s=ops_per_s,
        shape=model if isinstance(model, Shape) else None,
    )
    return OnArray(
        limits=physics_limits(device, library),
        held=precision(device),
        timed=timed,
        area=area(
            map_attention(device, asked),
            library,
            needs=stored(model) if isinstance(model, Shape) else None,
            seed=seed,
        ),
        write_j=tuple(write_energy_j(one.mapping, library) for one in timed),
        unbound=why_unbound(device),
    )


def dwelling(device: Device, windows: PhaseTimes, library: Library) -> OnArray:
    """Return bounds and sweeps of Kuramoto attention on a priced device.

    Nothing settles: the bound on settling an oscillator is left out.

    Raises
    ------
    ComponentError, DeviceError
        As `physics_limits`.
    """
    never = device.model_copy(update={"settle_time": math.inf})
    return OnArray(physics_limits(never, library), None, (), windows)


def takes_time(setting: Setting) -> bool:
    """Return whether oscillators settle for a time that can be told in seconds."""
    if setting.rung == "digital" or setting.perturbation is not None:
        return False
    device = setting.acting_device
    return device.time_unit == "s" and math.isfinite(device.settle_time)


def require_array(setting: Setting, checkpoint: Checkpoint, longest: int) -> None:
    """Check before a run that its longest item fits the array and may run on it.

    Kuramoto attention and the digital rung have no such array: no check.

    Parameters
    ----------
    setting : Setting
        On what it will be run.
    checkpoint : Checkpoint
        The model.
    longest : int
        Tokens of the longest item.

    Raises
    ------
    DeviceError
        If an item does not fit, or the couplings would wear out.
    """
    config = checkpoint.config
    if setting.rung == "digital" or not isinstance(config, FixedQueryConfig):
        return
    if takes_time(setting):
        latency_per_token(setting.device, config, [longest])
    else:
        map_attention(setting.device, attention_of(config, longest))
