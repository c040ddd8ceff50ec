"""Seconds of one sweep of a mapped model: load, settle, read, digital phases."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from oscsim.energy.baselines import Shape
from oscsim.energy.digital_work import (
    attention_counts,
    digital_seconds,
    require_rate,
    sweep_counts,
)
from oscsim.energy.mapping import Attention, Mapping, map_attention
from oscsim.energy.writes import require_endurance_known
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.work import row_seconds

Phase: TypeAlias = Literal[
    "projection", "weights", "load", "settle", "read", "value", "ffn"
]
PHASES: tuple[Phase, ...] = (
    "projection",
    "weights",
    "load",
    "settle",
    "read",
    "value",
    "ffn",
)
SUBSTRATE_PHASES: tuple[Phase, ...] = ("load", "settle", "read")
YEAR = 3.15576e7
"""A Julian year (s)."""


@dataclass(frozen=True)
class Timeline:
    """When what happens in one sweep, one phase after the other.

    Attributes
    ----------
    mapping : Mapping
        What runs where.
    seconds : dict of Phase to float
        Of a sweep (s), by phase. ``"projection"`` (with norms and embedding),
        ``"weights"`` (scores and couplings), ``"value"`` (similarities,
        normalisation and value sum) and ``"ffn"`` are digital: absent without a
        rate, and the first and last also without a shape.
    settle_s : float
        Time that every pass is given to settle (s).
    macs_per_s, ops_per_s : float or None
        Rates that the digital phases were timed with.
    """

    mapping: Mapping
    seconds: dict[Phase, float]
    settle_s: float
    macs_per_s: float | None = None
    ops_per_s: float | None = None

    @property
    def substrate_s(self) -> float:
        """Time of a sweep (s) in which couplings load, settle or are read."""
        return math.fsum(self.seconds[name] for name in SUBSTRATE_PHASES)

    @property
    def latency_s(self) -> float:
        """Time of a sweep (s): to the first token of a prefill, or per step."""
        return math.fsum(self.seconds.values())

    @property
    def per_token_s(self) -> dict[Phase, float]:
        """Seconds per token by phase, sequences of a batch sharing the time."""
        return {name: s / self.mapping.tokens for name, s in self.seconds.items()}

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second over the whole batch."""
        return self.mapping.tokens / self.latency_s

    @property
    def settle_share(self) -> float:
        """Share of the time in which oscillators settle or are read."""
        return (self.seconds["settle"] + self.seconds["read"]) / self.latency_s

    @property
    def lifetime_s(self) -> float:
        """Time until a coupling's memory is worn out (s); infinite if volatile."""
        endurance = self.mapping.device.write_endurance
        if endurance is None:
            return math.inf
        return endurance / self.mapping.rewrites * self.latency_s

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken as unlimited, and what takes no time here."""
        said = [f"{name}: not stated, unlimited" for name in self.mapping.unlimited]
        said += self._digital_notes
        simulated = self.mapping.device.settle_time
        if self.settle_s != simulated:
            said.append(
                f"settling takes {self.settle_s:.3g} s here, not the {simulated:.3g} s "
                "of the device: accuracy was simulated with the latter"
            )
        if self.mapping.anchor_loads:
            said.append(
                "fewer tiles than heads: anchors are written again in every sweep, a "
                "word each at the price of a coupling"
            )
        else:
            said.append(
                "every head has a tile: anchors are written once and for all, not in "
                "a sweep"
            )
        return tuple(said)

    @property
    def _digital_notes(self) -> list[str]:
        if self.macs_per_s is None:
            untimed = "scores and value sum, projections, feed-forward block and norms"
            return [f"{untimed} are not timed: no digital rate was given"]
        said = [f"digital part at {self.macs_per_s:.3g} multiply-accumulates/s"]
        if "ffn" not in self.seconds:
            said.append("projections, feed-forward block and norms are not timed")
        if self.ops_per_s is None:
            said.append("elementwise operations take no time: no rate was given")
        else:
            said.append(f"elementwise operations at {self.ops_per_s:.3g}/s")
        return [*said, "on-chip memory keeps up with the digital part"]


def timeline(
    mapping: Mapping,
    *,
    settle_s: float | None = None,
    macs_per_s: float | None = None,
    ops_per_s: float | None = None,
    shape: Shape | None = None,
    lifetime_s: float = YEAR,
) -> Timeline:
    """Time a mapped sweep, and check that the coupling memory survives it.

    Per layer and pass of heads: all rows of a tile are loaded one after the
    other, tiles beside one another; then, per pass of queries, all oscillators
    settle together and are read together. A row takes ``write_time`` plus, with
    a bus, ``ceil(n weight_bits / bus_bits) / bus_hz`` for n couplings. A tile
    that is given other anchors loads them as one more row of all anchors (one
    word a component, of ``anchor_bits`` or ``weight_bits``).

    Parameters
    ----------
    mapping : Mapping
        From `map_attention`.
    settle_s : float, optional
        Time to settle (s); the device's ``settle_time`` by default. Use
        `oscsim.energy.settling.settle_quantile` for the p99 of a run.
    macs_per_s, ops_per_s : float, optional
        Multiply-accumulates and elementwise operations per second of the digital
        part; the device's by default. Without the first nothing digital is timed,
        without the second elementwise operations take no time.
    shape : Shape, optional
        Sizes of the whole model, for projections, feed-forward block, norms and
        elementwise operations; without it only scores, similarities and value
        sum are timed.
    lifetime_s : float
        Time of uninterrupted work that a coupling memory must survive (s); a
        year by default.

    Returns
    -------
    Timeline

    Raises
    ------
    DeviceError
        If the device is in model units, settling takes no finite time, a bus
        carries couplings of no number of bits, the coupling memory would be worn
        out within ``lifetime_s``, or is priced as non-volatile without a
        ``write_endurance``.
    SpecError
        If a time or rate is not positive, elementwise operations have a rate and
        multiply-accumulates or the shape are missing, or the shape is of another
        model.

    Notes
    -----
    Phases do not overlap and layers wait for one another: the latency of a sweep
    alone. `oscsim.energy.overlap.overlap` says what a stream of sweeps can do.
    """
    device = mapping.device
    settled = _settle_time(device, settle_s)
    macs_per_s = device.digital_macs_per_s if macs_per_s is None else macs_per_s
    if ops_per_s is None and shape is not None:
        ops_per_s = device.digital_ops_per_s
    if device.bus_bits is not None and device.weight_bits is None:
        raise DeviceError(
            f"device {device.name} has a bus of {device.bus_bits} bits but no "
            "weight_bits: a bus carries couplings of a number of bits"
        )
    require_endurance_known(device)
    seconds: dict[Phase, float] = {
        "load": _load(mapping),
        "settle": mapping.passes * settled,
        "read": mapping.passes * device.read_time,
    }
    seconds |= _digital(mapping, shape, macs_per_s, ops_per_s)
    ordered = {name: seconds[name] for name in PHASES if name in seconds}
    found = Timeline(mapping, ordered, settled, macs_per_s, ops_per_s)
    if found.lifetime_s < lifetime_s:
        raise DeviceError(
            f"device {device.name}: couplings are rewritten for every query, "
            f"{mapping.writes_per_token:.3g} writes per token; a memory of "
            f"write_endurance = {device.write_endurance:.3g} is worn out after "
            f"{found.lifetime_s:.3g} s, {lifetime_s:.3g} s are wanted: use a volatile "
            "memory (no write_endurance), more tiles or oscillators"
        )
    return found


def sweeps(
    device: Device,
    model: Attention,
    *,
    batch: int,
    settle_s: float | None = None,
    macs_per_s: float | None = None,
    ops_per_s: float | None = None,
    shape: Shape | None = None,
    lifetime_s: float = YEAR,
) -> tuple[Timeline, ...]:
    """Time a prefill, and a decoding step if causal, at batch 1 and at ``batch``.

    Parameters
    ----------
    device : Device
        The array.
    model : Attention
        What is mapped.
    batch : int
        The larger batch; 1 gives batch 1 only.
    settle_s, macs_per_s, ops_per_s, shape, lifetime_s
        As in `timeline`.

    Returns
    -------
    tuple of Timeline
        Prefill before decoding, batch 1 before ``batch``.

    Raises
    ------
    DeviceError, SpecError
        As `map_attention` and `timeline`.
    """
    return tuple(
        timeline(
            map_attention(device, model, batch=size, is_decoding=is_decoding),
            settle_s=settle_s,
            macs_per_s=macs_per_s,
            ops_per_s=ops_per_s,
            shape=shape,
            lifetime_s=lifetime_s,
        )
        for is_decoding in ((False, True) if model.causal else (False,))
        for size in ((1, batch) if batch > 1 else (batch,))
    )


def _digital(
    mapping: Mapping,
    shape: Shape | None,
    macs_per_s: float | None,
    ops_per_s: float | None,
) -> dict[Phase, float]:
    require_rate("macs_per_s", macs_per_s)
    require_rate("ops_per_s", ops_per_s)
    if ops_per_s is not None and (macs_per_s is None or shape is None):
        missing = "macs_per_s" if macs_per_s is None else "a shape"
        raise SpecError(f"ops_per_s = {ops_per_s:g} needs {missing} beside it")
    if macs_per_s is None:
        return {}
    if shape is None:
        found = digital_seconds(attention_counts(mapping), macs_per_s)
        return {"weights": found["weights"], "value": found["value"]}
    found = digital_seconds(sweep_counts(shape, mapping), macs_per_s, ops_per_s)
    return dict(found.items())


def _settle_time(device: Device, settle_s: float | None) -> float:
    if device.time_unit == "model":
        raise DeviceError(
            f"device {device.name} is in model units: a timeline needs time_unit 's'"
        )
    found = device.settle_time if settle_s is None else settle_s
    if not 0 < found < math.inf:
        raise DeviceError(
            f"settling must take a finite time > 0 s, got {found}: set settle_time, or "
            "give settle_s"
        )
    return found


def _load(mapping: Mapping) -> float:
    device, model = mapping.device, mapping.model
    lengths = np.array(mapping.row_lengths)
    rows = mapping.batch * math.fsum(row_seconds(device, lengths, device.weight_bits))
    layers = model.n_layers * mapping.head_rounds
    words = model.context * (1 if device.has_phase(model.d_osc) else model.d_osc)
    anchors = _row(device, words, device.anchor_bits or device.weight_bits)
    return layers * (rows + (anchors if mapping.anchor_loads else 0.0))


def _row(device: Device, words: int, bits: int | None) -> float:
    return float(row_seconds(device, np.array([words]), bits)[0])
