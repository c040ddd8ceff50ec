"""Language models on the substrate: bits per token on chips, beside digital."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

from oscsim.arrays import whole_number
from oscsim.bridge.byte_text import Windows
from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Engine, Progress
from oscsim.bridge.passes import Block, Score
from oscsim.bridge.phases import DIGITAL_PARTS, loses_turns, winding_cost
from oscsim.bridge.setting import Setting
from oscsim.bridge.text_data import BYTES, ByteText, bundled_text, read_bytes
from oscsim.counts import Counts
from oscsim.errors import DataError
from oscsim.memory import require_memory
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import ModelConfig, is_language_model
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

LANGUAGE_BLOCK = 8
"""Windows of a block: their couplings stay near the processor."""


@dataclass(frozen=True, eq=False)
class LanguageRun:
    """What one language model gave on some chips, beside the digital result.

    Attributes
    ----------
    checkpoint : Checkpoint
        The model.
    data : ByteText
        Windows and the bytes that follow.
    setting : Setting
        The hardware, the rung, the read-out and the seed.
    digital : FloatArray, shape (windows, time)
        Bits ``-log2 p(next byte)`` of the digital model.
    bits : FloatArray, shape (chips, repeats, windows, time)
        Bits on the substrate.
    digital_top : IntArray, shape (windows, time), uint8
        Most probable byte of the digital model.
    top : IntArray, shape (chips, repeats, windows, time), uint8
        Most probable byte on the substrate.
    max_error : FloatArray, shape (chips, repeats, windows)
        Largest |substrate - digital| logit of a window.
    counts, digital_counts : Counts
        Tally over all chips and repeats, and of the digital pass.
    digital_clamped : int
        Pairs of the digital pass at which the read-out's clamp acted.
    tallies : tuple of SettleTally
        What happened to the oscillators, one per chip.
    chips_asked : int
        Chips that were asked for; fewer were run if interrupted.
    warnings : tuple of str
        What a reader must know.
    full_scale : tuple of FloatArray, one per layer, shape (heads,)
        Coupling ``w |r|`` that is loaded as ``coupling_max``.
    """

    checkpoint: Checkpoint
    data: ByteText
    setting: Setting
    digital: FloatArray
    bits: FloatArray
    digital_top: IntArray
    top: IntArray
    max_error: FloatArray
    counts: Counts
    digital_counts: Counts
    digital_clamped: int
    tallies: tuple[SettleTally, ...]
    chips_asked: int
    warnings: tuple[str, ...]
    full_scale: tuple[FloatArray, ...] = ()

    @property
    def outputs(self) -> FloatArray:
        """What a record of the run digests: the bits."""
        return self.bits

    @property
    def existing_lengths(self) -> IntArray:
        """Positions of each window, shape (windows,)."""
        return np.full(len(self.data), self.data.context)

    @property
    def head_rows(self) -> int | None:
        """Rows that the head reads: None, which is every position."""
        return None

    @property
    def interrupted(self) -> bool:
        """Whether fewer chips were run than asked for."""
        return len(self.bits) < self.chips_asked


def infer_text(
    checkpoint: Checkpoint,
    data: ByteText,
    setting: Setting,
    *,
    chips: int,
    repeats: int,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> LanguageRun:
    """Run a language model on some chips and digitally, on the same windows.

    Parameters
    ----------
    checkpoint : Checkpoint
        A causal model of bytes.
    data : ByteText
        The windows.
    setting : Setting
        The hardware, the rung, the read-out and the seed.
    chips, repeats : int
        Static draws, and dynamic draws on each.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (chips done, chips asked).

    Returns
    -------
    LanguageRun
        Holds the logits of no chip: bits, agreement and largest errors only.

    Raises
    ------
    DataError
        If the windows are longer than the model can read, or the model does
        not predict bytes.
    SpecError
        If the windows would not fit into memory, or the read-out cannot be
        done in prefix sums and was asked to be.
    """
    require_bytes(checkpoint, data)
    shape = (chips, repeats, *data.ids.shape)
    require_memory(
        f"{len(data)} windows of {data.context} bytes",
        8.0 * data.ids.size * (2 * BYTES + 4) + 24.0 * float(np.prod(shape)),
        "use fewer windows, chips or repeats",
    )
    setting.require(checkpoint)
    _require_slots(checkpoint, data, setting)
    engine = Engine(checkpoint, data.ids, None, n_threads, block=LANGUAGE_BLOCK)
    calibration = calibrate(checkpoint, engine.weights, data.ids)
    with engine.running():
        digital = engine.digital()
        setting.require_readout(digital.clamped)
        reference = digital.logits
        done = engine.on_chips(
            setting,
            calibration.layers,
            chips,
            repeats,
            progress,
            _beside(reference, data.targets),
        )
    kept = np.stack([outcome.logits for outcome in done])
    return LanguageRun(
        checkpoint=checkpoint,
        data=data,
        setting=setting,
        digital=bits_of(reference, data.targets),
        bits=np.ascontiguousarray(kept[..., 0]),
        digital_top=np.argmax(reference, axis=-1).astype(np.uint8),
        top=kept[..., 1].astype(np.uint8),
        max_error=kept[..., 2].max(axis=-1),
        counts=sum((outcome.counts for outcome in done), Counts()),
        digital_counts=digital.counts,
        digital_clamped=digital.clamped,
        tallies=tuple(outcome.tally for outcome in done),
        chips_asked=chips,
        warnings=checkpoint.warnings
        + calibration.warnings
        + _context_warnings(checkpoint, data)
        + _phase_warnings(checkpoint.config, engine.weights, setting, data),
        full_scale=tuple(layer.full_scale for layer in calibration.layers),
    )


def bits_of(logits: FloatArray, targets: IntArray) -> FloatArray:
    """Return ``-log2 softmax(logits)[target]``, shape of ``targets``."""
    at_target = np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    bits: FloatArray = (logsumexp(logits, axis=-1) - at_target) / np.log(2.0)
    return bits


def _beside(reference: FloatArray, targets: IntArray) -> Score:
    """Return what keeps bits, most probable byte and largest error of each token."""

    def score(block: Block, logits: FloatArray) -> FloatArray:
        rows = block.rows
        return np.stack(
            [
                bits_of(logits, targets[rows]),
                np.argmax(logits, axis=-1),
                np.abs(logits - reference[rows]).max(axis=-1),
            ],
            axis=-1,
        )

    return score


def context_of(checkpoint: Checkpoint) -> int:
    """Return the bytes of a window that a model was trained with."""
    trained: int | None = getattr(checkpoint.config, "trained_length", None)
    return checkpoint.config.max_len if trained is None else trained


def as_text(
    data: ByteText | str | Path | None,
    checkpoint: Checkpoint,
    n_windows: int | None = None,
    context: int | None = None,
) -> ByteText:
    """Return the windows meant: as given, from a file, or the bundled ones.

    Raises
    ------
    DataError
        As `oscsim.bridge.text_data.read_bytes`, or if the windows given are not
        those asked for, or longer than the model can read.
    SpecError
        If ``context`` is not a whole number from 1.
    """
    if context is not None:
        context = whole_number("context", context, 1)
    if isinstance(data, ByteText):
        if n_windows not in (None, len(data)):
            raise DataError(
                f"the data hold {len(data)} windows, {n_windows} were asked for"
            )
        if context not in (None, data.context):
            raise DataError(
                f"the windows given have {data.context} bytes, {context} were asked for"
            )
        return data
    if not isinstance(data, str | Path | None):
        raise DataError(
            f"{checkpoint.name} is a language model: data must be a ByteText or a "
            f"path, got {data!r:.60}"
        )
    require_byte_model(checkpoint)
    path = bundled_text() if data is None else data
    length = context_of(checkpoint) if context is None else context
    require_context(checkpoint, length)
    return read_bytes(path, length, n_windows)


def require_byte_model(checkpoint: Checkpoint) -> None:
    """Check that a model predicts the byte that follows at every position.

    Raises
    ------
    DataError
        Saying what it does instead.
    """
    config = checkpoint.config
    if config.vocab_size != BYTES:
        raise DataError(
            f"{checkpoint.name} has a vocabulary of {config.vocab_size:,} tokens and "
            f"the data are bytes, of which there are {BYTES}"
        )
    if not is_language_model(config):
        raise DataError(
            f"{checkpoint.name} does not predict the byte that follows each position: "
            f"that takes a causal model with {BYTES} outputs"
        )
    if config.task != "bytes":
        raise DataError(
            f"{checkpoint.name} is a checkpoint of task {config.task!r}: say that its "
            "tokens are bytes (--config task=bytes, config=dict(task='bytes'))"
        )


def require_bytes(checkpoint: Checkpoint, data: ByteText) -> None:
    """Check that a model can read these windows.

    Raises
    ------
    DataError
        If it is no model of bytes, or its anchors or positions end before the
        windows do.
    """
    require_byte_model(checkpoint)
    require_context(checkpoint, data.context)


def require_context(checkpoint: Checkpoint, context: int) -> None:
    """Check that windows are no longer than a model's anchors or positions.

    Raises
    ------
    DataError
        Saying how many there are.
    """
    config = checkpoint.config
    if isinstance(config, FixedQueryConfig) and context > config.max_len:
        what = "positions" if config.d_osc is None else "anchors"
        raise DataError(
            f"a context of {context} bytes is longer than the {config.max_len} "
            f"{what} of {checkpoint.name}"
        )


def _require_slots(checkpoint: Checkpoint, data: ByteText, setting: Setting) -> None:
    """Check that a chip for Kuramoto attention has rows for every position."""
    config = checkpoint.config
    on_chip = isinstance(config, KuramotoConfig) and setting.rung != "digital"
    if on_chip and data.context > config.max_len:
        raise DataError(
            f"a context of {data.context} bytes is longer than the {config.max_len} "
            f"rows of oscillators that a chip for {checkpoint.name} has"
        )


def _phase_warnings(
    config: ModelConfig,
    weights: Mapping[str, FloatArray],
    setting: Setting,
    data: ByteText,
) -> tuple[str, ...]:
    """Return what a chip leaves to digital logic, and what lost turns cost."""
    if not isinstance(config, KuramotoConfig) or setting.rung == "digital":
        return ()
    if not loses_turns(config, setting.device):
        return (DIGITAL_PARTS,)
    cost = winding_cost(weights, config, Windows(data.ids, data.targets))
    return DIGITAL_PARTS, str(cost)


def _context_warnings(checkpoint: Checkpoint, data: ByteText) -> tuple[str, ...]:
    trained = context_of(checkpoint)
    if data.context <= trained:
        return ()
    return (f"a context of {data.context} bytes, trained were {trained}",)
