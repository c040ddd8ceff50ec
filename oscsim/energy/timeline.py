"""Seconds of one sweep of a mapped model: load, settle, read, value sum."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oscsim.energy.components import Library
from oscsim.energy.mapping import Attention, Mapping, map_attention
from oscsim.energy.prices import PICO, Prices
from oscsim.errors import ComponentError, DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.tally import SettleTally, histogram_quantile

Phase: TypeAlias = Literal["weights", "load", "settle", "read", "value"]
PHASES: tuple[Phase, ...] = ("weights", "load", "settle", "read", "value")
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
        Of a sweep (s), by phase. ``"weights"`` (scores) and ``"value"``
        (similarities and value sum) are digital and absent without a rate.
    settle_s : float
        Time that every pass is given to settle (s).
    """

    mapping: Mapping
    seconds: dict[Phase, float]
    settle_s: float

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
        if "value" not in self.seconds:
            said.append("scores and value sum are not timed: no digital rate was given")
        said.append("projections, feed-forward block and norms are not timed")
        said.append("phases do not overlap: a pipelined design would take less time")
        simulated = self.mapping.device.settle_time
        if self.settle_s != simulated:
            said.append(
                f"settling takes {self.settle_s:.3g} s here, not the {simulated:.3g} s "
                "of the device: accuracy was simulated with the latter"
            )
        if self.mapping.anchor_loads:
            said.append(
                "tiles are given other anchors in every sweep; their energy is not "
                "priced"
            )
        return tuple(said)


def timeline(
    mapping: Mapping,
    *,
    settle_s: float | None = None,
    macs_per_s: float | None = None,
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
        `settle_quantile` for the p99 of a run.
    macs_per_s : float, optional
        Multiply-accumulates per second of the digital part, for the scores
        (d_head a pair), similarities (d_osc) and value sum (d_head). Not timed
        if absent.
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
        If a time or rate is not positive.

    Notes
    -----
    Phases do not overlap and layers wait for one another.
    """
    device = mapping.device
    settled = _settle_time(device, settle_s)
    if macs_per_s is not None and not macs_per_s > 0:
        raise SpecError(f"macs_per_s must be > 0, got {macs_per_s}")
    if device.bus_bits is not None and device.weight_bits is None:
        raise DeviceError(
            f"device {device.name} has a bus of {device.bus_bits} bits but no "
            "weight_bits: a bus carries couplings of a number of bits"
        )
    _require_endurance_known(device)
    seconds: dict[Phase, float] = {
        "load": _load(mapping),
        "settle": mapping.passes * settled,
        "read": mapping.passes * device.read_time,
    }
    if macs_per_s is not None:
        model = mapping.model
        seconds["weights"] = mapping.pairs * model.d_head / macs_per_s
        seconds["value"] = mapping.pairs * (model.d_osc + model.d_head) / macs_per_s
    ordered = {name: seconds[name] for name in PHASES if name in seconds}
    found = Timeline(mapping, ordered, settled)
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
    settle_s, macs_per_s, lifetime_s : float, optional
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
            lifetime_s=lifetime_s,
        )
        for is_decoding in ((False, True) if model.causal else (False,))
        for size in ((1, batch) if batch > 1 else (batch,))
    )


def settle_quantile(
    device: Device, tally: SettleTally, q: float = 0.99, *, of_driven: bool = False
) -> float:
    """Return a quantile of the settling times of a run (s), to within 12 %.

    Parameters
    ----------
    device : Device
        Of the run.
    tally : SettleTally
        Its time to 0.01 rad, in units of 1 / ``coupling_max``.
    q : float
        Share of the oscillators that have settled by then.
    of_driven : bool
        Whether oscillators without any drive, which never settle, are left out.

    Raises
    ------
    DeviceError
        If the device is in model units, or so many oscillators have no drive, or
        start opposite to it, that the quantile is infinite.
    SpecError
        If ``q`` is not in (0, 1), or nothing was tallied.
    """
    if not 0 < q < 1:
        raise SpecError(f"q must be in (0, 1), got {q}")
    if device.coupling_max is None:
        raise DeviceError(f"device {device.name} is in model units: no seconds")
    if not tally.time_histogram.any():
        raise SpecError("the tally has no settling times: run at rung finite or above")
    times = tally.time_histogram.copy()
    if of_driven:
        times[-1] -= tally.undriven
    found = histogram_quantile(times, q)
    if not math.isfinite(found):
        raise DeviceError(
            f"{tally.undriven:,} of {tally.oscillators:,} oscillators have no drive: "
            f"the p{100 * q:g} of the settling time is not finite; use a smaller q, "
            "more weight_bits, or of_driven"
        )
    return found / device.coupling_max


def write_energy_j(mapping: Mapping, library: Library | None = None) -> float:
    """Return the nominal energy of writing couplings (J per token).

    Raises
    ------
    ComponentError
        If the device has no prices, or none of a coupling write.
    """
    library = Library.load() if library is None else library
    prices = Prices.of_device(mapping.device)
    if "coupling_write" not in prices.terms:
        raise ComponentError(
            f"device {mapping.device.name} has no price of coupling_write"
        )
    (product,) = prices.terms["coupling_write"]
    prices.base("coupling_write", product, library)
    value = math.prod(library[name].value for name in product)
    return mapping.writes_per_token * value * PICO


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


def _require_endurance_known(device: Device) -> None:
    if device.energy is None or device.write_endurance is not None:
        return
    written = device.energy.prices.get("coupling_write", [])
    if any(name.startswith("nvm.") for name in written):
        raise DeviceError(
            f"device {device.name} prices coupling_write with {written[0]}, a "
            "non-volatile memory: couplings are rewritten for every query, so state "
            "its write_endurance"
        )


def _load(mapping: Mapping) -> float:
    device, model = mapping.device, mapping.model
    rows = mapping.batch * math.fsum(
        _row(device, n, device.weight_bits) for n in mapping.row_lengths
    )
    layers = model.n_layers * mapping.head_rounds
    words = model.context * (1 if device.has_phase(model.d_osc) else model.d_osc)
    anchors = _row(device, words, device.anchor_bits or device.weight_bits)
    return layers * (rows + (anchors if mapping.anchor_loads else 0.0))


def _row(device: Device, words: int, bits: int | None) -> float:
    if device.bus_bits is None or device.bus_hz is None or bits is None:
        return device.write_time
    return device.write_time + math.ceil(words * bits / device.bus_bits) / device.bus_hz
