"""A chip: one static draw of everything that differs between two of a kind."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.solve.noise import Stream, normals, uniforms
from oscsim.substrate.device import Device
from oscsim.substrate.quantize import quantize_direction
from oscsim.typing import FloatArray

MAX_LAYERS = 1 << 16


class Stage(IntEnum):
    """What a random draw is for; with the layer it makes the Philox key."""

    COUPLING_GAIN = 1
    COUPLING_OFFSET = 2
    ANCHOR = 3
    ANCHOR_GAIN = 4
    DETUNING = 5
    STUCK = 6
    START = 7
    THERMAL = 8
    READOUT = 9
    PERTURB = 10
    SCORE = 11

    def stream(self, seed: int, layer: int, chip: int = 0, repeat: int = 0) -> Stream:
        """Return the random stream of this stage in one layer."""
        if not 0 <= layer < MAX_LAYERS:
            raise SpecError(f"layer must be in 0..{MAX_LAYERS - 1}, got {layer}")
        return Stream(seed, int(self) + 64 * layer, chip, repeat)


class StaticDraws(NamedTuple):
    """The static random numbers of one layer of one chip."""

    seed: int
    layer: int
    chip: int

    def normals(self, stage: Stage, n: int, components: int = 1) -> FloatArray:
        """Return standard normals, shape (n, components)."""
        stream = stage.stream(self.seed, self.layer, self.chip)
        return normals(stream, np.arange(n), components)


@dataclass(frozen=True)
class Programming:
    """What is loaded into one layer of a chip, in model units.

    Attributes
    ----------
    anchors : FloatArray, shape (heads, max_len, d_osc)
        Anchors as trained.
    full_scale : FloatArray, shape (heads,)
        Full scale of ``w_ij |r_j|`` of every head.
    """

    anchors: FloatArray
    full_scale: FloatArray


@dataclass(frozen=True)
class ChipLayer:
    """One attention layer as it exists on one chip; None means perfect.

    Slots are indexed (head, query, anchor) and are the same for all inputs.

    Attributes
    ----------
    full_scale : FloatArray, shape (heads,)
        Full scale of ``w |r|`` in model units.
    anchor_norm : FloatArray, shape (heads, anchors)
        Norms |r_j|, folded into the couplings.
    anchors : FloatArray, shape (heads, anchors, d_osc)
        Anchor vectors as realised: unit vectors times their gain.
    gain, offset : FloatArray or None, shape (heads, queries, anchors)
        Coupler errors, relative and in full scales.
    stuck : FloatArray or None, shape (heads, queries, anchors)
        NaN where the coupler works, else the value in full scales.
    detuning : FloatArray or None
        Shape (heads, queries) on the circle, else (heads, queries, d, d)
        antisymmetric; rad/s.
    """

    full_scale: FloatArray
    anchor_norm: FloatArray
    anchors: FloatArray
    gain: FloatArray | None
    offset: FloatArray | None
    stuck: FloatArray | None
    detuning: FloatArray | None


@dataclass(frozen=True)
class Chip:
    """One static draw of a device, programmed with a checkpoint.

    Mismatch is the same run after run; noise is drawn anew in every repeat.
    """

    device: Device
    seed: int
    number: int
    layers: tuple[ChipLayer, ...]


def program(
    device: Device, layers: Sequence[Programming], *, seed: int, chip: int
) -> Chip:
    """Load a checkpoint's anchors and scales into one chip of a device.

    Parameters
    ----------
    device : Device
        The kind of hardware.
    layers : sequence of Programming
        One per attention layer.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    chip : int
        Number of the chip; chips with different numbers are independent.

    Returns
    -------
    Chip

    Raises
    ------
    DeviceError
        If the device cannot hold vectors of this d_osc.
    """
    for layer in layers:
        device.require_d_osc(layer.anchors.shape[-1])
    return Chip(
        device,
        seed,
        chip,
        tuple(
            _program_layer(device, layer, StaticDraws(seed, number, chip))
            for number, layer in enumerate(layers)
        ),
    )


def _program_layer(device: Device, layer: Programming, draws: StaticDraws) -> ChipLayer:
    heads, length, d_osc = layer.anchors.shape
    queries = length if device.query_slots == "all" else 1
    slots = (heads, queries, length)
    norm: FloatArray = np.linalg.norm(layer.anchors, axis=-1)
    gain: FloatArray | None = None
    offset: FloatArray | None = None
    if device.coupling_mismatch > 0:
        z = draws.normals(Stage.COUPLING_GAIN, math.prod(slots)).reshape(slots)
        gain = np.exp(device.coupling_mismatch * z)
    if device.coupling_offset > 0:
        z = draws.normals(Stage.COUPLING_OFFSET, math.prod(slots)).reshape(slots)
        offset = device.coupling_offset * z
    return ChipLayer(
        full_scale=layer.full_scale,
        anchor_norm=norm,
        anchors=_realised_anchors(device, layer.anchors, norm, draws),
        gain=gain,
        offset=offset,
        stuck=_stuck(device, draws, slots),
        detuning=_detuning(device, heads, queries, d_osc, draws),
    )


def _realised_anchors(
    device: Device, anchors: FloatArray, norm: FloatArray, draws: StaticDraws
) -> FloatArray:
    heads, length, d_osc = anchors.shape
    unit: FloatArray = anchors / np.where(norm > 0, norm, 1)[..., None]
    if device.anchor_bits is not None:
        by_phase = device.has_phase(d_osc)
        unit = quantize_direction(unit, device.anchor_bits, by_phase=by_phase).values
    if device.anchor_mismatch > 0:
        z = draws.normals(Stage.ANCHOR, heads * length, d_osc).reshape(unit.shape)
        unit = _turned(unit, device.anchor_mismatch * z)
    if device.anchor_gain_mismatch > 0:
        one = draws.normals(Stage.ANCHOR_GAIN, heads * length).reshape(*norm.shape, 1)
        unit = unit * np.exp(device.anchor_gain_mismatch * one)
    return unit


def _turned(vector: FloatArray, ambient: FloatArray) -> FloatArray:
    """Turn vectors by the angle and towards the tangent part of another."""
    squared = np.sum(vector * vector, axis=-1, keepdims=True)
    along = np.sum(vector * ambient, axis=-1, keepdims=True)
    tangent = ambient - along / np.where(squared > 0, squared, 1) * vector
    angle = np.linalg.norm(tangent, axis=-1, keepdims=True)
    sideways = np.sinc(angle / np.pi) * tangent * np.sqrt(squared)
    turned: FloatArray = np.cos(angle) * vector + sideways
    return turned


def _stuck(
    device: Device, draws: StaticDraws, slots: tuple[int, int, int]
) -> FloatArray | None:
    if device.stuck_off == 0 and device.stuck_on == 0:
        return None
    stream = Stage.STUCK.stream(draws.seed, draws.layer, draws.chip)
    u = uniforms(stream, np.arange(math.prod(slots)), 1).reshape(slots)
    level = np.full(slots, np.nan)
    level[u < device.stuck_off] = 0.0
    level[u > 1 - device.stuck_on] = 1.0
    return level


def _detuning(
    device: Device, heads: int, queries: int, d_osc: int, draws: StaticDraws
) -> FloatArray | None:
    sigma = device.detuning_sigma
    if sigma == 0:
        return None
    pairs = d_osc * (d_osc - 1) // 2
    z = sigma * draws.normals(Stage.DETUNING, heads * queries, pairs)
    if d_osc == 2:
        return z.reshape(heads, queries)
    return antisymmetric(z, d_osc).reshape(heads, queries, d_osc, d_osc)


def antisymmetric(entries: FloatArray, d: int) -> FloatArray:
    """Return antisymmetric matrices from their entries below the diagonal.

    Parameters
    ----------
    entries : FloatArray, shape (n, d (d - 1) / 2)
        Entries Omega[a, b], a > b, row by row.
    d : int
        Size of the matrices.

    Returns
    -------
    FloatArray, shape (n, d, d)
    """
    matrix = np.zeros((len(entries), d, d))
    rows, columns = np.tril_indices(d, -1)
    matrix[:, rows, columns] = entries
    matrix[:, columns, rows] = -entries
    return matrix
