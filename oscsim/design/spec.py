"""What a sweep is asked to do: checkpoints, axes, chips, repeats, precision."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oscsim.bridge.engine import checked_draws
from oscsim.bridge.setting import SEED_END
from oscsim.design.axes import (
    SETS,
    Axis,
    Value,
    axes_of,
    field_of,
    layer_of,
    require_axis,
    require_together,
)
from oscsim.errors import SpecError
from oscsim.substrate.device import Rung
from oscsim.substrate.device_file import first_problem

Design: TypeAlias = Literal["grid", "latin-hypercube", "list"]

FORBIDDEN = '/\\:*?"<>|'
"""What a name must not hold: some file system reads it otherwise."""

MOST_CELLS = 10_000_000
"""Largest number of cells that a specification may ask for."""


LEAST_CHIPS = 4
"""Chips of a cell before its interval may say that they are enough."""


class Precision(BaseModel):
    """When enough chips were run.

    Attributes
    ----------
    half_width : float
        Chips are added until half the 95 % Student interval of a cell's mean over
        chips is at most this (in the metric's unit). Looking again and again makes
        it cover less: 93 to 95 % when starting with 8 chips, by simulation.
    most_chips : int
        And never more than these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    half_width: Annotated[float, Field(gt=0, strict=True)]
    most_chips: Annotated[int, Field(ge=2, le=100_000, strict=True)]


class SweepSpec(BaseModel):
    """A sweep, as a TOML file says it.

    Attributes
    ----------
    name : str
        What it is called; names its store, so that it holds no ``/`` and the like.
    checkpoints : tuple of str
        Checkpoint folders or files; in a file, relative to it.
    twins : tuple of str
        Models without oscillators that the cells are compared with, such as the
        softmax model of equal size; run digitally only.
    data : str or None
        Items of all checkpoints; the bundled ones if absent.
    windows, context : int or None
        Of language models, as for `oscsim.infer`.
    device : str or None
        Preset or ``.toml`` file that the axes change; if absent the default one
        of each checkpoint's d_osc.
    changed : dict (``[set]`` in a file)
        Fields of the device that differ from it everywhere.
    rung : str
        Which imperfections act.
    chips, repeats : int
        Static draws of a cell, and dynamic draws on each.
    seed : int
        Of all draws. Every cell has the same: differences between cells are
        paired.
    design : {"grid", "latin-hypercube", "list"}
        All combinations of the axes' values; ``samples`` points that fill their
        ranges; or the ``points`` one by one.
    axes : dict of str to values
        Of a grid, lists; of a latin hypercube, lists to draw from or tables
        ``{low, high, scale}`` with ``scale = "linear"`` or ``"log"``.
    samples : int or None
        Points of a latin hypercube.
    points : tuple of dict
        Of a list.
    precision : Precision or None
        When to stop adding chips; as many as ``chips`` if absent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Annotated[str, Field(min_length=1, max_length=80)]
    checkpoints: Annotated[tuple[str, ...], Field(min_length=1)]
    twins: tuple[str, ...] = ()
    data: str | None = None
    windows: Annotated[int, Field(ge=1, strict=True)] | None = None
    context: Annotated[int, Field(ge=1, strict=True)] | None = None
    device: str | None = None
    changed: Annotated[dict[str, Any], Field(alias="set")] = {}
    rung: Rung = "device"
    chips: Annotated[int, Field(strict=True)] = 8
    repeats: Annotated[int, Field(strict=True)] = 1
    seed: Annotated[int, Field(ge=0, lt=SEED_END, strict=True)] = 0
    design: Design = "grid"
    axes: dict[str, Any] = {}
    samples: Annotated[int, Field(ge=1, strict=True)] | None = None
    points: tuple[dict[str, Value], ...] = ()
    precision: Precision | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> "SweepSpec":
        _require_name(self.name)
        _require_design(self)
        checked_draws("device", self.chips, self.repeats)
        models = (*self.checkpoints, *self.twins)
        if len(set(models)) < len(models):
            raise ValueError("checkpoints, twins: each is given once")
        if self.rung == "digital":
            raise ValueError("rung: nothing settles at rung digital")
        if self.precision is not None and self.chips < LEAST_CHIPS:
            raise ValueError(
                f"chips: with a precision at least {LEAST_CHIPS} to begin with, got "
                f"{self.chips}: fewer may agree by chance"
            )
        if self.precision is not None and self.precision.most_chips < self.chips:
            raise ValueError(
                f"precision.most_chips = {self.precision.most_chips} is fewer than "
                f"chips = {self.chips}"
            )
        return self

    @property
    def all_axes(self) -> tuple[Axis, ...]:
        """The axes, in the order of the file; of a list, without values."""
        if self.design != "list":
            return axes_of(self.axes, drawn=self.design == "latin-hypercube")
        names = dict.fromkeys(name for point in self.points for name in point)
        return tuple(Axis(name) for name in names)


def read_spec(path: str | Path) -> SweepSpec:
    """Read the specification of a sweep.

    Paths of checkpoints, data and devices in it are relative to the file.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Raises
    ------
    SpecError
        If it is missing, not TOML, or asks for something unknown; the message
        names the first key that is wrong.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"there is no sweep specification {path}") from None
    except (OSError, ValueError) as error:
        raise SpecError(f"{path} is not a sweep specification: {error}") from None
    content.setdefault("name", path.stem)
    try:
        return parse_spec(content, path.parent)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def parse_spec(content: dict[str, Any], folder: Path = Path()) -> SweepSpec:
    """Return the specification that plain data describe.

    Parameters
    ----------
    content : dict
        As a TOML file holds it.
    folder : Path
        What relative paths start from.

    Raises
    ------
    SpecError
        As `read_spec`.
    """
    try:
        spec = SweepSpec(**_located(content, folder))
    except ValidationError as error:
        fields = {f.alias or n for n, f in SweepSpec.model_fields.items()}
        raise SpecError(first_problem(error, sorted(fields))) from None
    return spec


def _located(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the content with its paths taken from a folder."""
    found = dict(content)
    for name in ("checkpoints", "twins"):
        paths = found.get(name)
        if isinstance(paths, list) and all(isinstance(one, str) for one in paths):
            found[name] = [str(folder / one) for one in paths]
    for name in ("data", "device"):
        value = found.get(name)
        if isinstance(value, str) and (name == "data" or value.endswith(".toml")):
            found[name] = str(folder / value)
    axes = found.get("axes")
    if isinstance(axes, dict) and isinstance(axes.get("device"), list):
        devices = [
            str(folder / one) if isinstance(one, str) and one.endswith(".toml") else one
            for one in axes["device"]
        ]
        found["axes"] = axes | {"device": devices}
    points = found.get("points")
    if isinstance(points, list):
        found["points"] = [_point_located(point, folder) for point in points]
    return found


def _require_set_apart(spec: "SweepSpec", axes: Iterable[str]) -> None:
    """Check that no field is both set and varied.

    One layer's may be varied alone, and a point of a list may change what is set.
    """
    for name in axes:
        field = field_of(name)
        field = SETS.get(field, field)
        if layer_of(name) is None and field in spec.changed:
            raise ValueError(f"set: {field} is varied by axis {name}: leave one out")


def _point_located(point: Any, folder: Path) -> Any:
    device = point.get("device") if isinstance(point, dict) else None
    if isinstance(device, str) and device.endswith(".toml"):
        return point | {"device": str(folder / device)}
    return point


def _require_name(name: str) -> None:
    """Check that a name can be part of a file's."""
    wrong = [c for c in name if c in FORBIDDEN or not c.isprintable()]
    if wrong or name[0] in ". " or name[-1] in ". ":
        raise ValueError(
            f"name: {name!r} cannot name a file: use letters, digits, - and _, "
            "such as 'noise-2'"
        )


def _require_design(spec: SweepSpec) -> None:
    """Check that what a design needs is there, and nothing else."""
    given = {
        "axes": bool(spec.axes),
        "samples": spec.samples is not None,
        "points": bool(spec.points),
    }
    needed = {
        "grid": {"axes"},
        "latin-hypercube": {"axes", "samples"},
        "list": {"points"},
    }[spec.design]
    for name, is_given in given.items():
        if name in needed and not is_given:
            raise ValueError(f"{name}: a design {spec.design!r} needs them")
        if is_given and name not in needed:
            raise ValueError(f"{name}: not for a design {spec.design!r}")
    if spec.design == "list":
        for point in spec.points:
            for name in point:
                require_axis(name)
            require_together(point)
        return
    axes = spec.all_axes
    _require_set_apart(spec, [axis.name for axis in axes])
    n_cells = len(spec.checkpoints) * (spec.samples or 1)
    if spec.design == "grid":
        for axis in axes:
            n_cells *= len(axis.values)
    if n_cells > MOST_CELLS:
        raise ValueError(
            f"axes: {n_cells:,} cells, at most {MOST_CELLS:,} can be asked for"
        )
