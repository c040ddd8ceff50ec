"""What a sweep can vary, and which values it takes."""

import difflib
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from oscsim.errors import SpecError
from oscsim.substrate.device import CHARACTERISTICS, IMPERFECTIONS, Device

Value: TypeAlias = bool | int | float | str
Point: TypeAlias = dict[str, Value]
"""Values of all axes of one cell."""

FIELDS = (*IMPERFECTIONS, *CHARACTERISTICS)
RELATIVE = ("relative_diffusion", "relative_settle_time")
"""Diffusion over the median drive, and settling time times it (dimensionless)."""

SETS = {"relative_diffusion": "diffusion", "relative_settle_time": "settle_time"}
"""Field that a relative axis sets."""

PLAIN = ("device", "digital", *RELATIVE, *FIELDS)
NEAR = 0.7
"""Likeness from which on a name is taken for a misspelt one (difflib)."""

ELSEWHERE = {
    "noise": "thermal noise of the phases is diffusion or relative_diffusion, that of "
    "the read-out readout_noise",
    "d_osc": "each checkpoint has its own: list several under checkpoints",
}
"""Names that are asked for and that axes have under another."""

_OF_LAYER = re.compile(r"layer(\d+)\.(\w+)")
_PLACE = re.compile(r"layer(\d+)(?:\.head(\d+))?")


@dataclass(frozen=True)
class Axis:
    """One thing that varies.

    Attributes
    ----------
    name : str
        A field of a device, of one layer's (``"layer0.weight_bits"``), one of
        `RELATIVE`, ``"device"``, or ``"digital"``: which layers and heads stay
        digital (``"none"``, ``"layer0"``, ``"layer0.head2+layer1"``).
    values : tuple
        What it takes in a grid, or is drawn from.
    low, high : float or None
        Range that a latin hypercube fills.
    scale : {"linear", "log"}
        Of that range.
    """

    name: str
    values: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None
    scale: Literal["linear", "log"] = "linear"

    def at(self, share: float) -> Value:
        """Return the value at a share 0..1 of the axis."""
        if self.low is None or self.high is None:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.scale == "log":
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return round(value) if is_whole(self.name) else float(value)


def is_whole(name: str) -> bool:
    """Return whether an axis takes whole numbers only."""
    field = Device.model_fields.get(field_of(name))
    kind = "" if field is None else str(field.annotation)
    return "int" in kind and "float" not in kind


def field_of(name: str) -> str:
    """Return the device field that an axis sets, without its layer."""
    match = _OF_LAYER.fullmatch(name)
    return match.group(2) if match else name


def layer_of(name: str) -> int | None:
    """Return the layer that an axis speaks of, None for all of them."""
    match = _OF_LAYER.fullmatch(name)
    return int(match.group(1)) if match else None


def require_axis(name: str) -> None:
    """Check that there is such an axis.

    Raises
    ------
    ValueError
        Naming the nearest one that exists.
    """
    known = FIELDS if layer_of(name) is not None else PLAIN
    field = field_of(name)
    if field in known:
        return
    if field in ELSEWHERE:
        raise ValueError(f"axes: {name!r} is no axis: {ELSEWHERE[field]}")
    near = difflib.get_close_matches(field, known, n=1, cutoff=NEAR)
    hint = f"did you mean {near[0]!r}?" if near else f"fields are {', '.join(FIELDS)}"
    raise ValueError(
        f"axes: {name!r} is no axis: a field of a device, layerN.FIELD, device, "
        f"digital, {' or '.join(RELATIVE)}; {hint}"
    )


def require_together(names: Iterable[str]) -> None:
    """Check that no two axes set the same field of the same layer.

    Raises
    ------
    ValueError
        Naming the two.
    """
    seen: dict[tuple[str, int | None], str] = {}
    for name in names:
        field = field_of(name)
        key = (SETS.get(field, field), layer_of(name))
        if key in seen:
            raise ValueError(f"axes: {seen[key]} and {name} set the same field")
        seen[key] = name


def axes_of(given: Mapping[str, Any], *, drawn: bool) -> tuple[Axis, ...]:
    """Return the axes of a specification.

    Parameters
    ----------
    given : mapping of str to list or table
        As in the file.
    drawn : bool
        Whether a latin hypercube is drawn, so that ranges are allowed.

    Raises
    ------
    ValueError
        If an axis does not exist, is empty, repeats a value or is no list or
        range.
    """
    found = tuple(_axis(name, content, drawn) for name, content in given.items())
    require_together(given)
    return found


def _axis(name: str, content: Any, drawn: bool) -> Axis:
    require_axis(name)
    if isinstance(content, Mapping) and drawn:
        return _range(name, content)
    if not isinstance(content, list | tuple):
        wanted = "a list or a table {low, high, scale}" if drawn else "a list"
        raise ValueError(f"axes.{name} must be {wanted}, got {content!r:.60}")
    if not content:
        raise ValueError(f"axes.{name} is empty: give at least one value")
    for value in content:
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"axes.{name}: {value!r:.60} is no number and no name")
    # 0.0 and -0.0, or 3 and 3.0, are one value, but True is not 1.
    if len({(isinstance(v, bool), v) for v in content}) < len(content):
        raise ValueError(f"axes.{name} repeats a value: {list(content)}")
    return Axis(name, tuple(content))


def _range(name: str, content: Mapping[str, Any]) -> Axis:
    unknown = set(content) - {"low", "high", "scale"}
    if unknown or not {"low", "high"} <= set(content):
        raise ValueError(
            f"axes.{name} must have low, high and perhaps scale, got {dict(content)}"
        )
    low, high, scale = content["low"], content["high"], content.get("scale", "linear")
    for bound in (low, high):
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not is_number or not math.isfinite(bound):
            raise ValueError(f"axes.{name}: {bound!r} is no finite number")
    if scale not in ("linear", "log"):
        raise ValueError(f"axes.{name}.scale must be linear or log, got {scale!r}")
    if not low < high or (scale == "log" and not low > 0):
        more = " and low > 0 on a log scale" if scale == "log" else ""
        raise ValueError(
            f"axes.{name} needs low < high{more}, got {low:g} and {high:g}"
        )
    return Axis(name, (), float(low), float(high), scale)


def grid(axes: Sequence[Axis]) -> list[Point]:
    """Return all combinations, the last axis running fastest."""
    names = [axis.name for axis in axes]
    return [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(axis.values for axis in axes))
    ]


def latin_hypercube(axes: Sequence[Axis], samples: int, seed: int) -> list[Point]:
    """Return points of which every axis is cut into ``samples`` equal parts.

    Parameters
    ----------
    axes : sequence of Axis
        What varies.
    samples : int
        Number of points.
    seed : int
        Of the draw.

    Returns
    -------
    list of dict
        Points that are drawn more than once, as those of whole numbers may be,
        stand once: there are ``samples`` at most.
    """
    from scipy.stats import qmc  # noqa: PLC0415  (slow, and not for every worker)

    shares = qmc.LatinHypercube(len(axes), rng=np.random.default_rng(seed)).random(
        samples
    )
    drawn = (
        tuple(axis.at(float(x)) for axis, x in zip(axes, row, strict=True))
        for row in shares
    )
    names = [axis.name for axis in axes]
    return [dict(zip(names, point, strict=True)) for point in dict.fromkeys(drawn)]


def digital_places(
    text: Value, n_layers: int, n_heads: int
) -> frozenset[tuple[int, int]]:
    """Return the (layer, head) pairs that a value of the axis ``digital`` names.

    Parameters
    ----------
    text : str
        ``"none"``, or ``layerN`` and ``layerN.headM`` joined by ``+``.
    n_layers, n_heads : int
        Of the model.

    Raises
    ------
    SpecError
        If it names no place of the model.
    """
    if text == "none":
        return frozenset()
    found: set[tuple[int, int]] = set()
    for part in str(text).split("+"):
        match = _PLACE.fullmatch(part)
        layer = int(match.group(1)) if match else -1
        head = int(match.group(2)) if match and match.group(2) else 0
        if not match or layer >= n_layers or head >= n_heads:
            raise SpecError(
                f"digital = {text!r}: {part!r} is no place of a model with layers "
                f"0..{n_layers - 1} and heads 0..{n_heads - 1}; use none, layer0, "
                "layer0.head1, joined by +"
            )
        heads = range(n_heads) if match.group(2) is None else (head,)
        found |= {(layer, h) for h in heads}
    return frozenset(found)


def whole_layers(digital: Collection[tuple[int, int]], n_heads: int) -> frozenset[int]:
    """Return the layers of which every head is among (layer, head) pairs."""
    heads = Counter(layer for layer, _ in digital)
    return frozenset(layer for layer, n in heads.items() if n == n_heads)
