"""Kuramoto attention models on chips, and what they lose without whole turns."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from oscsim.bridge.byte_text import Windows
from oscsim.bridge.passes import blocks, one_blas_thread
from oscsim.errors import SpecError
from oscsim.models.kuramoto_attention import PhasePass, forward
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import Device
from oscsim.substrate.phase_chip import (
    PhaseChip,
    PhaseModel,
    Ranging,
    program_phases,
)
from oscsim.substrate.phase_update import How, read_on, update_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

DIGITAL_PARTS = (
    "gates, scores, softmax, feed-forward blocks and logits are digital; the "
    "oscillators make the value update"
)
"""What a chip leaves to digital logic; the ledger counts it there."""


TURNS_LOST = (
    "the model was trained with whole turns of its phases, which a device without a "
    "winding counter loses between layers"
)


def loses_turns(config: KuramotoConfig, device: Device) -> bool:
    """Return whether a device forgets whole turns that a model was trained with."""
    return config.phase_convention == "unwrapped" and not device.winding_counter


def phase_model(config: KuramotoConfig, *, ranging: Ranging = "fixed") -> PhaseModel:
    """Return what a model needs of a chip.

    Parameters
    ----------
    config : KuramotoConfig
        The model.
    ranging : {"fixed", "row"}
        Whether a softmax weight of 1 or the largest of its row is full scale.

    Raises
    ------
    SpecError
        If its values are a learned map of the phases: no coupling of
        oscillators does that.
    """
    if config.value != "raw":
        raise SpecError(
            f"a model with value {config.value!r} averages learned maps of its phases, "
            "which no coupling of oscillators does: only the rung digital can run it"
        )
    return PhaseModel(
        n_layers=config.n_layers,
        max_len=config.max_len,
        n_osc=config.n_osc,
        self_term=config.self_term,
        unwrapped=config.phase_convention == "unwrapped",
        ranging=ranging,
    )


def phase_chip(
    device: Device,
    config: KuramotoConfig,
    *,
    seed: int,
    chip: int,
    ranging: Ranging = "fixed",
) -> PhaseChip:
    """Draw one chip of a device for a Kuramoto attention model.

    Nothing is calibrated: softmax weights bring their full scale with them.

    Parameters
    ----------
    device : Device
        The kind of hardware, with the imperfections of the rung.
    config : KuramotoConfig
        The model.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    chip : int
        Number of the chip.
    ranging : {"fixed", "row"}
        Whether a softmax weight of 1 or the largest of its row is full scale.

    Raises
    ------
    DeviceError, SpecError
        If device or model cannot do it.
    """
    model = phase_model(config, ranging=ranging)
    return program_phases(device, model, seed=seed, chip=chip)


def phase_pass_on(
    chip: PhaseChip, repeat: int, tally: SettleTally, *, update: How = "map"
) -> PhasePass:
    """Return the forward pass of a model on one chip in one repeat.

    Parameters
    ----------
    chip : PhaseChip
        The static draw.
    repeat : int
        Number of the dynamic draw.
    tally : SettleTally
        Filled with what happened.
    update : {"map", "flow"}
        The trained step, or what an oscillator does in its frozen field; see
        `oscsim.substrate.phase_update.update_on`.
    """
    return PhasePass(
        update=update_on(chip, repeat, tally, how=update),
        read=read_on(chip, repeat, tally),
    )


class WindingCost(NamedTuple):
    """What an unwrapped model loses on hardware that does not count turns.

    Attributes
    ----------
    kept, wrapped : float
        Bits per token with whole turns kept, and with phases wrapped between
        layers.
    outside : float
        Share of the phases after a layer outside [-pi, pi].
    """

    kept: float
    wrapped: float
    outside: float

    def __str__(self) -> str:
        return (
            f"{TURNS_LOST} ({self.outside:.1%} of the phases are outside a turn): "
            f"{self.wrapped:.3f} bits per token instead of {self.kept:.3f}"
        )


def winding_cost(
    weights: Mapping[str, FloatArray], config: KuramotoConfig, text: Windows
) -> WindingCost:
    """Measure the cost of losing whole turns between layers, digitally.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Tensors of the model.
    config : KuramotoConfig
        The model; ``phase_convention`` must be "unwrapped".
    text : Windows
        What it is measured on.

    Raises
    ------
    SpecError
        If the model was trained wrapped: it has nothing to lose.
    """
    if config.phase_convention != "unwrapped":
        raise SpecError(
            "only a model with phase_convention 'unwrapped' has turns to lose, got "
            f"{config.phase_convention!r}"
        )
    lost = config.model_copy(update={"phase_convention": "wrapped"})
    kept_bits, lost_bits, outside, seen = 0.0, 0.0, 0, 0
    with one_blas_thread():
        for block in blocks(text.ids, None, 0):
            targets, n = text.targets[block.rows], block.n_real
            run = PhasePass(phases=[])
            kept = forward(weights, config, block.tokens, items=block.items, run=run)
            wrapped = forward(weights, lost, block.tokens, items=block.items)
            kept_bits += float(bits_of(kept[:n], targets).sum())
            lost_bits += float(bits_of(wrapped[:n], targets).sum())
            for theta in run.phases or []:
                outside += int(np.count_nonzero(np.abs(theta[:n]) > np.pi))
                seen += theta[:n].size
    number = text.targets.size
    return WindingCost(kept_bits / number, lost_bits / number, outside / seen)


def bits_of(logits: FloatArray, targets: IntArray) -> FloatArray:
    """Return ``-log2 p(target)`` of every position, shape of ``targets``."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    own = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]
    bits: FloatArray = (np.log(np.exp(shifted).sum(axis=-1)) - own) / np.log(2)
    return bits
