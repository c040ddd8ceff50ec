"""A chip for Kuramoto attention: what differs between two of a kind.

A token's k oscillators are pulled by latched copies of the phases of its own
and all earlier tokens, each through a coupler of its own. Slots are numbered
(row, oscillator): row t (t + 1) / 2 + u couples token t to the copy of u <= t,
or row u if one set of oscillators serves all tokens in turn, so that a shorter
window uses the same slots.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from oscsim.errors import DeviceError, SpecError
from oscsim.solve.noise import uniforms
from oscsim.substrate.device import Device
from oscsim.substrate.mismatch import Stage, StaticDraws
from oscsim.typing import ComplexArray, FloatArray

Ranging: TypeAlias = Literal["fixed", "row"]
"""Which softmax weight is loaded as full scale: 1, or the largest of its row."""

CANNOT_ACT = {
    "start": "an oscillator starts at its own token's phase",
    "range_limit": "no weight of a softmax exceeds the full scale",
    "runs_while_loading": "each token's oscillator is loaded with all others",
}


@dataclass(frozen=True)
class PhaseModel:
    """What a Kuramoto attention model needs of a chip.

    Attributes
    ----------
    n_layers, max_len, n_osc : int
        Layers, longest window, oscillators per token.
    self_term : {"frozen", "co-rotating"}
        Whether a token's own copy is latched or turns with it.
    unwrapped : bool
        Whether it was trained with phases that keep their whole turns.
    ranging : {"fixed", "row"}
        Which softmax weight is loaded as full scale: 1, or the largest of its
        row. Then the unnormalised ``e^{s - max}`` is loaded and the dwell is
        divided by its sum: shorter, with the same product of field and time.
    """

    n_layers: int
    max_len: int
    n_osc: int
    self_term: str = "frozen"
    unwrapped: bool = False
    ranging: Ranging = "fixed"


@dataclass(frozen=True)
class PhaseLayer:
    """One layer as it exists on one chip; None means perfect.

    Attributes
    ----------
    gain, offset : FloatArray or None, shape (rows, k)
        A coupler that is loaded with A realises ``gain A + offset``; both or
        none are there.
    copies : complex array or None, shape (max_len, k)
        What the copy of a token's phasor is multiplied by.
    detuning : FloatArray or None, shape (max_len or 1, k)
        Of the oscillators (rad/s).
    """

    gain: FloatArray | None
    offset: FloatArray | None
    copies: ComplexArray | None
    detuning: FloatArray | None


@dataclass(frozen=True)
class PhaseChip:
    """One static draw of a device, for one Kuramoto attention model.

    A weight at full scale is ``coupling_max``, which also sets the scale of
    time: a dwell of tau in the model's units takes tau / coupling_max seconds.
    """

    device: Device
    model: PhaseModel
    seed: int
    number: int
    layers: tuple[PhaseLayer, ...]

    @property
    def rate(self) -> float:
        """Rad/s of a weight at full scale; 1 if the device is in the model's units."""
        return 1.0 if self.device.coupling_max is None else self.device.coupling_max

    @property
    def loses_turns(self) -> bool:
        """Whether whole turns are lost between layers that the model reads."""
        return self.model.unwrapped and not self.device.winding_counter


def require_phases(
    device: Device, model: PhaseModel, asked: Iterable[str] = ()
) -> None:
    """Check that a device has phases, and that what was asked for can act.

    Parameters
    ----------
    device : Device
        The hardware.
    model : PhaseModel
        Sizes and conventions.
    asked : iterable of str
        Fields that were set on purpose.

    Raises
    ------
    DeviceError
        If its oscillators are read by components, or a field has no effect on
        Kuramoto attention.
    SpecError
        If the model's ``self_term`` or ``ranging`` is unknown.
    """
    if not device.has_phase(2):
        raise DeviceError(
            f"device {device.name} is read component by component: Kuramoto "
            "attention needs phases, use ring-65nm"
        )
    if device.start == "previous":
        raise DeviceError(
            f"start = 'previous' cannot act on Kuramoto attention: "
            f"{CANNOT_ACT['start']}"
        )
    if device.runs_while_loading:
        raise DeviceError(
            "runs_while_loading cannot act on Kuramoto attention: "
            f"{CANNOT_ACT['runs_while_loading']}"
        )
    if model.self_term not in ("frozen", "co-rotating"):
        raise SpecError(
            f"self_term must be 'frozen' or 'co-rotating', got {model.self_term!r}"
        )
    if model.ranging not in ("fixed", "row"):
        raise SpecError(f"ranging must be 'fixed' or 'row', got {model.ranging!r}")
    for name in asked:
        if name in CANNOT_ACT:
            raise DeviceError(
                f"{name} cannot act on Kuramoto attention: {CANNOT_ACT[name]}"
            )
        if name == "winding_counter" and not model.unwrapped:
            raise DeviceError(
                "winding_counter cannot act: the model was trained with phases "
                "taken modulo 2 pi after each layer"
            )


def program_phases(
    device: Device, model: PhaseModel, *, seed: int, chip: int
) -> PhaseChip:
    """Draw one chip of a device for a Kuramoto attention model.

    Parameters
    ----------
    device : Device
        The kind of hardware.
    model : PhaseModel
        Sizes and conventions.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    chip : int
        Number of the chip; chips with different numbers are independent.

    Returns
    -------
    PhaseChip

    Raises
    ------
    DeviceError
        If the device cannot hold phases; see `require_phases`.
    SpecError
        If ``self_term`` or ``ranging`` is unknown.
    """
    require_phases(device, model)
    layers = tuple(
        _draw_layer(device, model, StaticDraws(seed, layer, chip))
        for layer in range(model.n_layers)
    )
    return PhaseChip(device, model, seed, chip, layers)


def _draw_layer(device: Device, model: PhaseModel, draws: StaticDraws) -> PhaseLayer:
    length, k = model.max_len, model.n_osc
    in_turn = device.query_slots == 1
    gain, offset = _couplers(
        device, (length if in_turn else length * (length + 1) // 2, k), draws
    )
    detuning = None
    if device.detuning_sigma > 0:
        slots = (1 if in_turn else length, k)
        detuning = device.detuning_sigma * _normals(draws, Stage.DETUNING, slots)
    return PhaseLayer(gain, offset, _copies(device, (length, k), draws), detuning)


def _couplers(
    device: Device, slots: tuple[int, int], draws: StaticDraws
) -> tuple[FloatArray | None, FloatArray | None]:
    gain: FloatArray = np.ones(slots)
    offset: FloatArray = np.zeros(slots)
    if device.coupling_mismatch > 0:
        z = _normals(draws, Stage.COUPLING_GAIN, slots)
        gain = np.exp(device.coupling_mismatch * z)
    if device.coupling_offset > 0:
        offset = device.coupling_offset * _normals(draws, Stage.COUPLING_OFFSET, slots)
    if device.stuck_off > 0 or device.stuck_on > 0:
        stream = Stage.STUCK.stream(draws.seed, draws.layer, draws.chip)
        u = uniforms(stream, np.arange(math.prod(slots)), 1).reshape(slots)
        off, on = u < device.stuck_off, u > 1 - device.stuck_on
        gain[off | on], offset[off], offset[on] = 0.0, 0.0, 1.0
    elif device.coupling_mismatch == 0 and device.coupling_offset == 0:
        return None, None
    return gain, offset


def _copies(
    device: Device, slots: tuple[int, int], draws: StaticDraws
) -> ComplexArray | None:
    if device.anchor_mismatch == 0 and device.anchor_gain_mismatch == 0:
        return None
    factor = np.ones(slots, complex)
    if device.anchor_mismatch > 0:
        angle = device.anchor_mismatch * _normals(draws, Stage.ANCHOR, slots)
        factor *= np.exp(1j * angle)
    if device.anchor_gain_mismatch > 0:
        z = _normals(draws, Stage.ANCHOR_GAIN, slots)
        factor *= np.exp(device.anchor_gain_mismatch * z)
    return factor


def _normals(draws: StaticDraws, stage: Stage, slots: tuple[int, int]) -> FloatArray:
    return draws.normals(stage, math.prod(slots)).reshape(slots)
