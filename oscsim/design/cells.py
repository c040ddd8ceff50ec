"""The cells of a sweep: a checkpoint on one setting of the hardware."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oscsim.bridge.array import require_array
from oscsim.bridge.cost import require_prices
from oscsim.bridge.infer import longest_of
from oscsim.bridge.placement import Placement
from oscsim.bridge.setting import Setting, update_of
from oscsim.bridge.text_data import ByteText
from oscsim.design.axes import (
    FIELDS,
    Point,
    Value,
    digital_places,
    field_of,
    grid,
    latin_hypercube,
    layer_of,
    whole_layers,
)
from oscsim.design.spec import SweepSpec
from oscsim.design.subject import Known, Subject
from oscsim.errors import SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.substrate.device import IMPERFECTIONS, Device, as_device

_SAID_ONLY = {"description", "provenance", "changes"}


@dataclass(frozen=True, eq=False)
class Cell:
    """One checkpoint at one point of the axes, as it will be run.

    Attributes
    ----------
    number : int
        Place in the sweep.
    subject : str
        Name of the checkpoint.
    point : dict
        Value of every axis.
    setting : Setting
        The hardware of all layers, the rung and the seed.
    placement : Placement or None
        What runs where, if layers or heads differ.
    digest : str
        SHA-256 of everything that determines its results.
    digital_layers : int or None
        Layers that are digital as a whole, all others on the hardware of
        ``setting``; None where layers or heads have hardware of their own.
    """

    number: int
    subject: str
    point: Point
    setting: Setting
    placement: Placement | None
    digest: str
    digital_layers: int | None = 0


def points_of(spec: SweepSpec) -> list[Point]:
    """Return the points of the axes that every checkpoint is run at."""
    if spec.design == "list":
        return [dict(point) for point in spec.points]
    if spec.design == "grid":
        return grid(spec.all_axes)
    return latin_hypercube(spec.all_axes, spec.samples or 1, spec.seed)


def cells_of(
    spec: SweepSpec,
    subjects: Mapping[str, Subject],
    known: Mapping[str, Known],
    versions: Mapping[str, str],
) -> list[Cell]:
    """Return every cell of a sweep, checked before anything is run.

    Parameters
    ----------
    spec : SweepSpec
        What was asked.
    subjects : mapping of str to Subject
        Checkpoints by name.
    known : mapping of str to Known
        Their digital results, from which relative axes take their scale.
    versions : mapping of str to str
        Of the libraries that determine results.

    Raises
    ------
    DeviceError
        If a value of an axis is wrong, or a field could not act.
    SpecError
        If a checkpoint cannot be run there, or two cells are the same.
    """
    points = points_of(spec)
    found: list[Cell] = []
    for name, subject in subjects.items():
        maker = _Maker(spec, name, subject, known[name], versions)
        for point in points:
            found.append(maker.cell(len(found), point))
    _require_distinct(found)
    return found


class _Maker:
    """Makes the cells of one subject; devices of equal fields are made once."""

    def __init__(
        self,
        spec: SweepSpec,
        name: str,
        subject: Subject,
        known: Known,
        versions: Mapping[str, str],
    ) -> None:
        self.spec, self.name, self.subject, self.known = spec, name, subject, known
        self.versions = dict(versions)
        self.devices: dict[str, Device] = {}
        self.base: dict[Value | None, Device] = {}

    def cell(self, number: int, point: Point) -> Cell:
        """Return the cell of a point, checked."""
        setting = self._setting(self._device(point, layer=None))
        setting, placement, n_digital = self._placed(point, setting)
        return Cell(
            number=number,
            subject=self.name,
            point=point,
            setting=setting,
            placement=placement,
            digest=self._digest(setting, placement),
            digital_layers=n_digital,
        )

    def _device(self, point: Point, layer: int | None) -> Device:
        """Return the device of a layer, or of those that no axis singles out."""
        base = self._base(point.get("device"))
        fields: dict[str, Any] = {}
        for name, value in point.items():
            if layer_of(name) not in (None, layer) or name in ("device", "digital"):
                continue
            fields |= self._fields(base, field_of(name), value)
        key = repr((point.get("device"), sorted(fields.items(), key=str)))
        if key not in self.devices:
            device = base.changed(**fields)
            acting = [f for f in fields if not _is_off(device, f)]
            device.require_acting(acting, self.spec.rung)
            self.devices[key] = device
        return self.devices[key]

    def _base(self, name: Value | None) -> Device:
        if name not in self.base:
            chosen = self.spec.device if name is None else str(name)
            device = as_device(chosen, self.subject.checkpoint.d_osc)
            device = device.changed(**_values(self.spec.changed))
            device.require_acting(self.spec.changed, self.spec.rung)
            self.base[name] = device
        return self.base[name]

    def _fields(self, base: Device, field: str, value: Value) -> dict[str, Any]:
        if field in FIELDS:
            return _values({field: value})
        if isinstance(value, bool | str) or not math.isfinite(value) or value < 0:
            raise SpecError(f"{field} must be a finite number >= 0, got {value!r}")
        in_seconds = base.coupling_max is not None
        drive = self.known.median_drive(in_full_scales=in_seconds)
        drive *= base.coupling_max or 1.0
        if field == "relative_diffusion":
            return {"diffusion": float(value) * drive}
        if value == 0:
            raise SpecError(f"{field} must be > 0, got {value!r}")
        return {"settle_time": float(value) / drive}

    def _setting(self, device: Device) -> Setting:
        checkpoint, spec = self.subject.checkpoint, self.spec
        setting = Setting(
            device, spec.rung, spec.seed, update=update_of(checkpoint, spec.rung, None)
        )
        setting.require(checkpoint)
        require_array(setting, checkpoint, longest_of(self.subject.data))
        require_prices(setting, checkpoint.d_osc)
        return setting

    def _placed(
        self, point: Point, setting: Setting
    ) -> tuple[Setting, Placement | None, int | None]:
        """Return the hardware of all layers, what runs where, and `digital_layers`.

        Layers of the same numbers are one hardware, whether an axis singles them
        out or not.
        """
        singled = {layer for name in point if (layer := layer_of(name)) is not None}
        if not singled and "digital" not in point:
            return setting, None, 0
        config = self.subject.checkpoint.config
        if not isinstance(config, FixedQueryConfig):
            raise SpecError(
                f"{self.name} is a {config.family} model: layers and heads of their "
                "own are for fixed-query models"
            )
        if max(singled, default=0) >= config.n_layers:
            raise SpecError(
                f"there is no layer {max(singled)}: {self.name} has layers "
                f"0..{config.n_layers - 1}"
            )
        layers = [
            self._device(point, layer) if layer in singled else setting.device
            for layer in range(config.n_layers)
        ]
        digital = digital_places(
            point.get("digital", "none"), config.n_layers, config.n_heads
        )
        whole = whole_layers(digital, config.n_heads)
        kept = [device for n, device in enumerate(layers) if n not in whole]
        is_one = len({json.dumps(_physical(device)) for device in kept}) < 2
        if is_one and kept and _physical(kept[0]) != _physical(setting.device):
            setting = self._setting(kept[0])
        if is_one and not digital:
            return setting, None, 0
        acting = {id(d): d.at_rung(setting.rung) for d in layers}
        placement = Placement(tuple(acting[id(d)] for d in layers), digital)
        placement.require(config.n_layers, config.n_heads)
        has_own_heads = len(digital) > len(whole) * config.n_heads
        return setting, placement, None if has_own_heads or not is_one else len(whole)

    def _digest(self, setting: Setting, placement: Placement | None) -> str:
        data = self.subject.data
        content: dict[str, Any] = {
            "checkpoint": self.subject.checkpoint.sha256,
            "data": data.sha256,
            "items": len(data),
            "context": data.context if isinstance(data, ByteText) else None,
            "device": _physical(setting.device),
            "rung": setting.rung,
            "update": setting.update,
            "seed": setting.seed,
            "repeats": self.spec.repeats,
            "versions": self.versions,
        }
        if placement is not None:
            content["layers"] = [_physical(device) for device in placement.devices]
            content["digital"] = sorted(placement.digital)
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with ``"none"`` for what TOML cannot say."""
    return {name: None if value == "none" else value for name, value in fields.items()}


def _is_off(device: Device, field: str) -> bool:
    """Whether a field is at the value at which it does nothing."""
    return field in IMPERFECTIONS and field not in device.imperfections


def _physical(device: Device) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(device.model_dump_json(exclude=_SAID_ONLY))
    return content


def _require_distinct(cells: Sequence[Cell]) -> None:
    """Check that no two cells are the same work under two names."""
    seen: dict[str, Cell] = {}
    for cell in cells:
        other = seen.setdefault(cell.digest, cell)
        if other is not cell:
            if other.point == cell.point:
                raise SpecError(f"a point is given twice: {cell.point}")
            raise SpecError(
                f"two cells are the same: {other.point} and {cell.point} of "
                f"{cell.subject}: what differs does not change the device"
            )
