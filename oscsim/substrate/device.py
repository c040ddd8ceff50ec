"""A device description: what the hardware does to a coupling and a state."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.errors import DeviceError
from oscsim.substrate.conflicts import conflicts
from oscsim.substrate.device_fields import (
    CHARACTERISTICS,
    DIGITAL_RATES,
    IMPERFECTIONS,
    RUNGS,
    SINGLE_PHASE,
    SIZES,
    Bits,
    Fraction,
    Kind,
    Number,
    PositiveRate,
    Rate,
    Rung,
    Seconds,
    Spread,
)
from oscsim.substrate.device_file import (
    first_problem,
    presets,
    read_toml,
    split_provenance,
)
from oscsim.substrate.provenance import EnergyMap, Provenance, required_unit

__all__ = [
    "CHARACTERISTICS",
    "DIGITAL_RATES",
    "IMPERFECTIONS",
    "RUNGS",
    "SINGLE_PHASE",
    "SIZES",
    "Device",
    "EnergyMap",
    "Kind",
    "Provenance",
    "Rung",
    "as_device",
    "default_device",
    "presets",
]


class Device(BaseModel):
    """One kind of hardware; a field at its default does nothing.

    Couplings are scaled per layer and head so that the full scale of w
    becomes ``coupling_max``: h_phys = (coupling_max / full scale) h_model.

    Attributes
    ----------
    oscillator : str
        Kind: ``"ideal"``, ``"sphere"``, or one of ``SINGLE_PHASE``, which have one
        phase: d_osc = 2 only.
    time_unit : {"s", "model"}
        ``"model"``: times, rates and couplings are the model's own and there
        is no full scale; otherwise SI.
    frequency_hz : float or None
        Natural frequency f (Hz).
    weak_coupling : float
        Largest |h| / (2 pi f) for which the phase model holds; drives beyond
        it are counted. 0.1 for rings; for LC 0.1 eps, eps = g1 sqrt(L/C), as
        the amplitude must relax faster than the phase.
    coupling_max : float or None
        Coupling at full scale (rad/s).
    range_limit : bool
        Whether couplings above full scale clip to it; a converter
        (``weight_bits``) always does.
    weight_bits, anchor_bits : int or None
        DAC of a coupling (unsigned, full scale) and of an anchor: its phase if
        `has_phase`, otherwise each component over [-1, 1].
    coupling_mismatch : float
        Relative static error of a coupler: w exp(N(0, s^2)).
    coupling_offset : float
        Absolute static error of a coupler, N(0, s^2), in full scales.
    anchor_mismatch : float
        Absolute static error of an anchor's direction (rad per tangent
        direction).
    anchor_gain_mismatch : float
        Relative static error of an anchor's amplitude, log-normal.
    frequency_mismatch : float
        Relative static error of f; the detuning is 2 pi f N(0, s^2) rad/s.
    frequency_offset : float
        Absolute static detuning (rad/s), N(0, s^2); for d_osc > 2 every
        entry of the antisymmetric Omega.
    stuck_off, stuck_on : float
        Fraction of couplers stuck at 0 and at full scale.
    settle_time : float
        Time the oscillators are given (s); inf means settled.
    start : {"random", "previous"}
        State at the start: uniform, or the previous query's final state.
    diffusion : float
        Thermal diffusion D (rad^2/s), drawn anew in every repeat.
    readout_noise : float
        Standard deviation of one read-out: rad of phase on the circle, per
        component otherwise.
    adc_bits : int or None
        Converter of the read-out: phase over 2 pi, or component over
        [-1, 1], where values outside clip.
    query_slots : {"all", 1}
        One oscillator per query, or one that serves all queries in turn.
    write_time, read_time : float
        Seconds to load the couplings of one query (besides their transfer over
        the bus, if there is one), and to read its state.
    oscillators, couplers_per_oscillator, tiles : int or None
        Oscillators of one tile, anchors that one of them can see, and tiles; a
        tile holds the anchors of one head. None: as many as a model asks for.
    bus_bits, bus_hz : int and float, or None
        Width and rate of the bus that loads the couplings of a tile.
    write_endurance : float or None
        Writes that a coupling survives; None for a volatile memory.
    digital_macs_per_s, digital_ops_per_s : float or None
        Multiply-accumulates and elementwise operations per second of the digital
        part; what is absent is not timed.
    runs_while_loading : bool
        Whether oscillators, anchors and couplers run, and are priced, while the
        couplings of a pass are loaded; otherwise they are gated off.
    winding_counter : bool
        Whether whole turns of a phase are counted, so that a state carried from
        one layer to the next keeps them. Kuramoto attention only.
    energy : EnergyMap or None
        Prices; None for hardware without any.
    provenance : dict of str to Provenance
        Where each number comes from.
    changes : dict of str to str
        What `changed` replaced and by what, ``"5 -> 3"``; a value changed
        back is no change.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, ser_json_inf_nan="strings"
    )

    name: str
    description: str = ""
    oscillator: Kind
    time_unit: Literal["s", "model"] = "s"
    frequency_hz: PositiveRate | None = None
    weak_coupling: Annotated[float, Field(gt=0, le=10)] = 0.1
    coupling_max: PositiveRate | None = None
    range_limit: bool = True
    weight_bits: Bits | None = None
    anchor_bits: Bits | None = None
    coupling_mismatch: Spread = 0.0
    coupling_offset: Spread = 0.0
    anchor_mismatch: Spread = 0.0
    anchor_gain_mismatch: Spread = 0.0
    frequency_mismatch: Spread = 0.0
    frequency_offset: Rate = 0.0
    stuck_off: Fraction = 0.0
    stuck_on: Fraction = 0.0
    settle_time: Annotated[float, Field(gt=0)] = math.inf
    start: Literal["random", "previous"] = "random"
    diffusion: Rate = 0.0
    readout_noise: Spread = 0.0
    adc_bits: Bits | None = None
    query_slots: Literal["all", 1] = "all"
    write_time: Seconds = 0.0
    read_time: Seconds = 0.0
    oscillators: Number | None = None
    couplers_per_oscillator: Number | None = None
    tiles: Number | None = None
    bus_bits: Number | None = None
    bus_hz: PositiveRate | None = None
    write_endurance: PositiveRate | None = None
    digital_macs_per_s: PositiveRate | None = None
    digital_ops_per_s: PositiveRate | None = None
    runs_while_loading: bool = False
    winding_counter: bool = False
    energy: EnergyMap | None = None
    provenance: dict[str, Provenance] = Field(default_factory=dict)
    changes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _can_act(self) -> "Device":
        for is_wrong, problem in conflicts(self):
            if is_wrong:
                raise ValueError(problem)
        for name, origin in self.provenance.items():
            unit = required_unit(name, self.oscillator, self.time_unit)
            if unit is not None and origin.unit != unit:
                raise ValueError(
                    f"{name} must be given in {unit!r} (nothing is converted), "
                    f"got unit {origin.unit!r}"
                )
        return self

    @classmethod
    def load(cls, name: str | Path) -> "Device":
        """Read a preset by name, or a TOML file by path.

        Parameters
        ----------
        name : str or Path
            Name of a preset, or a path that ends in ``.toml``.

        Raises
        ------
        DeviceError
            If there is no such preset or file, or its content is wrong.
        """
        path, content = read_toml(name)
        content.setdefault("name", path.stem)
        return cls.parse(content, where=f"device file {path}")

    @classmethod
    def parse(cls, content: Mapping[str, Any], *, where: str = "device") -> "Device":
        """Build a device from plain data.

        A number may stand alone or as a table with ``value``, ``unit``,
        ``source`` and ``confidence``.

        Raises
        ------
        DeviceError
            Naming the first key or value that is wrong.
        """
        fields, provenance = split_provenance(content, where)
        try:
            return cls(**fields, provenance=provenance)
        except ValidationError as error:
            raise DeviceError(
                f"{where}: {first_problem(error, cls.model_fields)}"
            ) from None

    def changed(self, **fields: Any) -> "Device":
        """Return the device with some fields replaced, checked again.

        Raises
        ------
        DeviceError
            If a field is unknown, or its value wrong or without effect.
        """
        merged = self.model_dump()
        for key in fields:
            merged["provenance"].pop(key, None)
        found = self.parse(merged | fields, where=f"device {self.name}")
        changes = dict(found.changes)
        for key in fields:
            if key not in IMPERFECTIONS + CHARACTERISTICS:
                continue
            before = changes.pop(key, str(getattr(self, key))).partition(" -> ")[0]
            after = str(getattr(found, key))
            if after != before:
                changes[key] = f"{before} -> {after}"
        return found.model_copy(update={"changes": changes})

    def at_rung(self, rung: Rung) -> "Device":
        """Return the device with only the imperfections of a rung left on.

        ``ideal``: none. ``finite``: settling time and start. ``noisy``: plus
        diffusion. ``device``: everything.
        """
        if rung == "device":
            return self
        kept = {"oscillator", "name", "description", "time_unit", "coupling_max"}
        kept |= {"frequency_hz", "weak_coupling", "query_slots", "write_time"}
        kept |= {"read_time", "runs_while_loading", "winding_counter", "energy", *SIZES}
        kept |= set(DIGITAL_RATES)
        if rung in ("finite", "noisy"):
            kept |= {"settle_time", "start"}
        if rung == "noisy":
            kept.add("diffusion")
        values = {key: getattr(self, key) for key in kept}
        return Device(
            **values,
            range_limit=False,
            provenance=self.provenance,
            changes=self.changes,
        )

    def require_acting(self, names: Iterable[str], rung: Rung) -> None:
        """Check that fields that were asked for act at a rung.

        Raises
        ------
        DeviceError
            Naming the field that would be silently left out.
        """
        acting = None if rung == "digital" else self.at_rung(rung)
        for name in names:
            if name == "range_limit" and self.range_limit and self.time_unit == "model":
                raise DeviceError("range_limit needs a full scale: time_unit 's'")
            if name not in self.imperfections:
                continue
            if acting is None or name not in acting.imperfections:
                able = [r for r in RUNGS[1:] if name in self.at_rung(r).imperfections]
                raise DeviceError(
                    f"{name} cannot act at rung {rung}: use rung {' or '.join(able)}"
                )

    @property
    def detuning_sigma(self) -> float:
        """Standard deviation of the static detuning (rad/s)."""
        relative = self.frequency_mismatch * 2 * math.pi * (self.frequency_hz or 0.0)
        return math.hypot(relative, self.frequency_offset)

    @property
    def label(self) -> str:
        """Name of the device with what was changed in it."""
        if not self.changes:
            return self.name
        listed = ", ".join(f"{key} {value}" for key, value in self.changes.items())
        return f"{self.name} ({listed})"

    @property
    def imperfections(self) -> tuple[str, ...]:
        """Names of the fields that make this device differ from ideal."""
        neutral = Device(name="", oscillator="ideal", time_unit="model")
        names = [
            key for key in IMPERFECTIONS if getattr(self, key) != getattr(neutral, key)
        ]
        if self.range_limit and self.time_unit == "s":
            names.append("range_limit")
        return tuple(names)

    def has_phase(self, d_osc: int) -> bool:
        """Whether one phase holds the state; otherwise ``d_osc`` components do."""
        return d_osc == 2 and self.oscillator != "sphere"

    def require_d_osc(self, d_osc: int) -> None:
        """Check that the oscillators have as many components as the model.

        Raises
        ------
        DeviceError
            If a single-phase oscillator is asked for ``d_osc > 2``.
        """
        if d_osc > 2 and self.oscillator in SINGLE_PHASE:
            raise DeviceError(
                f"device {self.name} has single-phase oscillators (d_osc = 2) but "
                f"the checkpoint has d_osc = {d_osc}: use sphere-generic"
            )


def default_device(d_osc: int | None) -> str:
    """Return the preset used when none is named."""
    return "ring-65nm" if d_osc in (2, None) else "sphere-generic"


def as_device(device: Device | str | Path | None, d_osc: int | None) -> Device:
    """Return the device meant: as given, by name or path, or the default."""
    if isinstance(device, Device):
        return device
    if not isinstance(device, str | Path | None):
        raise DeviceError(f"device must be a Device, a name or a path, got {device!r}")
    return Device.load(default_device(d_osc) if device is None else device)
