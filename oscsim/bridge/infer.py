"""Inference on the substrate: one checkpoint, some chips, the same inputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from oscsim.bridge.array import require_array
from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.datasets import TokenSet, bundled_data, read_sva
from oscsim.bridge.digit_data import DigitSet, read_digits
from oscsim.bridge.engine import Engine, Progress, checked_draws
from oscsim.bridge.language import LanguageRun, as_text, infer_text
from oscsim.bridge.setting import Setting, update_of
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.errors import DataError, SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import is_language_model
from oscsim.models.fixed_query import ReadOut
from oscsim.substrate.device import Device, Rung, as_device
from oscsim.substrate.perturb import Perturbation
from oscsim.substrate.phase_chip import Ranging
from oscsim.substrate.phase_update import How
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

Labelled: TypeAlias = TokenSet | DigitSet
"""Inputs of a model that decides something about each of them."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one checkpoint gave on some chips, beside the digital result.

    Attributes
    ----------
    checkpoint : Checkpoint
        The model.
    data : TokenSet or DigitSet
        Its inputs and labels.
    setting : Setting
        The hardware, the rung and the seed.
    digital : FloatArray, shape (items,) or (items, outputs)
        Logits of the digital model; one an item where it has one output.
    logits : FloatArray, shape (chips, repeats, items) or one axis more
        Logits on the substrate.
    counts : Counts
        Tally over all chips and repeats.
    digital_counts : Counts
        Tally of the digital pass.
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
    data: Labelled
    setting: Setting
    digital: FloatArray
    logits: FloatArray
    counts: Counts
    digital_counts: Counts
    digital_clamped: int
    tallies: tuple[SettleTally, ...]
    chips_asked: int
    warnings: tuple[str, ...]
    full_scale: tuple[FloatArray, ...] = ()

    @property
    def existing_lengths(self) -> IntArray:
        """Positions of each item that exist in hardware, shape (items,)."""
        return existing_lengths(self.checkpoint.fixed_query, self.data)

    def decided(self, logits: FloatArray) -> IntArray:
        """Return what logits decide, to be compared with the labels.

        The largest of several outputs, else whether a single one is above 0.
        """
        if self.checkpoint.fixed_query.n_outputs > 1:
            largest: IntArray = np.argmax(logits, axis=-1)
            return largest
        return (logits > 0).astype(np.int64)

    @property
    def outputs(self) -> FloatArray:
        """What a record of the run digests: the logits."""
        return self.logits

    @property
    def head_rows(self) -> int | None:
        """Rows that the head reads: one of each item."""
        return len(self.data)

    @property
    def interrupted(self) -> bool:
        """Whether fewer chips were run than asked for."""
        return len(self.logits) < self.chips_asked


AnyRun: TypeAlias = Run | LanguageRun
"""A run of sentences with a decision each, or of text."""

Data: TypeAlias = Labelled | ByteText
"""Sentences, clips, or text."""


def infer(
    checkpoint: Checkpoint,
    data: Data | str | Path | None = None,
    *,
    device: Device | str | Path | None = None,
    rung: Rung = "device",
    chips: int = 8,
    repeats: int = 4,
    seed: int = 0,
    perturbation: Perturbation | None = None,
    readout: ReadOut = "direct",
    update: How | None = None,
    ranging: Ranging = "fixed",
    windows: int | None = None,
    context: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyRun:
    """Run a checkpoint on some chips of a device, and digitally.

    Parameters
    ----------
    checkpoint : Checkpoint
        A trained model; those without oscillators run at rung ``"digital"``.
    data : TokenSet, DigitSet, ByteText or path, optional
        Inputs and labels, or bytes of text for a language model; the bundled
        evaluation set by default.
    device : Device, name or path, optional
        The hardware; the default preset for the checkpoint's d_osc.
    rung : {"digital", "ideal", "finite", "noisy", "device"}
        Which of its imperfections act. ``"digital"`` runs once: it has
        neither chips nor repeats.
    chips, repeats : int
        Static draws, and dynamic draws on each.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    perturbation : Perturbation, optional
        A published perturbation on the ideal substrate; every chip number is
        then one more independent redraw.
    readout : {"direct", "prefix"}
        How the value sum is done: pair by pair, or for p = 1 in prefix sums,
        which is refused where the read-out's clamp acts.
    update : {"map", "flow"}
        Kuramoto attention: the trained step in the chip's field, or what an
        oscillator does in it; as trained by default.
    ranging : {"fixed", "row"}
        Kuramoto attention: whether a softmax weight of 1 or the largest of its
        row is loaded as full scale.
    windows : int, optional
        Language models: how many windows; 64 by default, or as many as the data
        hold.
    context : int, optional
        Language models: bytes of a window; as in training by default.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (chips done, chips asked).

    Returns
    -------
    Run, or LanguageRun for a language model
        Ctrl-C keeps the chips that were done.

    Raises
    ------
    SpecError
        If a count or the seed is out of range, the checkpoint has no
        oscillators, a perturbation is asked of an imperfect device, or prefix
        sums of a read-out that does not factor.
    DataError
        If the data are not what the checkpoint reads.
    DeviceError
        If the device cannot hold the checkpoint's d_osc, an item does not fit its
        array, or its couplings would wear out.
    KeyboardInterrupt
        If interrupted before the first chip was done.
    """
    data = as_data(data, checkpoint, windows, context)
    hardware = as_device(device, checkpoint.d_osc)
    setting = Setting(
        hardware,
        rung,
        seed,
        perturbation,
        readout,
        update_of(checkpoint, rung, update),
        ranging,
    )
    setting.require(checkpoint)
    require_array(setting, checkpoint, longest_of(data))
    chips, repeats = checked_draws(rung, chips, repeats)
    if isinstance(data, ByteText):
        return infer_text(
            checkpoint,
            data,
            setting,
            chips=chips,
            repeats=repeats,
            n_threads=n_threads,
            progress=progress,
        )
    _require_decision(checkpoint)
    engine = Engine(checkpoint, data.inputs, data.positions, n_threads)
    calibration = calibrate(checkpoint, engine.weights, data.inputs)
    with engine.running():
        digital = engine.digital()
        setting.require_readout(digital.clamped)
        done = engine.on_chips(setting, calibration.layers, chips, repeats, progress)
    return Run(
        checkpoint=checkpoint,
        data=data,
        setting=setting,
        digital=_squeezed(digital.logits),
        logits=_squeezed(np.stack([outcome.logits for outcome in done])),
        counts=sum((outcome.counts for outcome in done), Counts()),
        digital_counts=digital.counts,
        digital_clamped=digital.clamped,
        tallies=tuple(outcome.tally for outcome in done),
        chips_asked=chips,
        warnings=checkpoint.warnings
        + calibration.warnings
        + _length_warnings(checkpoint.fixed_query, data),
        full_scale=tuple(layer.full_scale for layer in calibration.layers),
    )


def as_data(
    data: Data | str | Path | None,
    checkpoint: Checkpoint,
    windows: int | None = None,
    context: int | None = None,
) -> Data:
    """Return the data meant: as given, from a file, or the bundled set.

    Raises
    ------
    DataError
        If they are not what the checkpoint reads.
    SpecError
        If windows are asked of a model of sentences or clips.
    """
    if reads_text(checkpoint):
        if isinstance(data, Labelled):
            raise DataError(
                f"{checkpoint.name} is a language model: data must be a ByteText or a "
                f"path, got a {type(data).__name__}"
            )
        return as_text(data, checkpoint, windows, context)
    for what, value in (("windows", windows), ("a context", context)):
        if value is not None:
            raise SpecError(
                f"{what} of {value} is for language models, {checkpoint.name} is none"
            )
    config = checkpoint.fixed_query
    wanted = TokenSet if config.n_features is None else DigitSet
    if isinstance(data, wanted):
        return data
    if not isinstance(data, str | Path | None):
        raise DataError(
            f"data must be a {wanted.__name__} or a path for a checkpoint of task "
            f"{config.task!r}, got {data!r:.60}"
        )
    path = bundled_data(config) if data is None else data
    return read_sva(path, config) if wanted is TokenSet else read_digits(path, config)


def existing_lengths(config: FixedQueryConfig, data: Data) -> IntArray:
    """Return the positions of each item that exist in hardware, shape (items,)."""
    if isinstance(data, ByteText):
        return np.full(len(data), data.context)
    if config.mask_readout and config.is_padded:
        return data.lengths
    return np.full(len(data), data.inputs.shape[1])


def longest_of(data: Data) -> int:
    """Return the positions of the longest item, padding included."""
    inputs = data.ids if isinstance(data, ByteText) else data.inputs
    return int(inputs.shape[1])


def _squeezed(logits: FloatArray) -> FloatArray:
    return logits[..., 0] if logits.shape[-1] == 1 else logits


def reads_text(checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint is a language model or calls itself one."""
    config = checkpoint.config
    return config.task == "bytes" or (
        config.task == "ids" and is_language_model(config)
    )


def _length_warnings(config: FixedQueryConfig, data: Labelled) -> tuple[str, ...]:
    """Return what the lengths of the sentences mean for how it was trained."""
    trained, found = config.trained_length, []
    if trained is not None and (data.lengths > trained).any():
        n_long = int((data.lengths > trained).sum())
        found.append(
            f"{n_long} {data.noun}s are longer than the trained length {trained}: "
            "their last anchors were never trained"
        )
    if not config.mask_readout and trained is None:
        found.append(
            "padded positions are read out and the trained length is unknown: results "
            f"depend on the padded length, here {data.inputs.shape[1]}"
        )
    return tuple(found)


def _require_decision(checkpoint: Checkpoint) -> None:
    config = checkpoint.fixed_query
    n_outputs = config.n_outputs
    if n_outputs != 1 and config.task != "digits":
        raise SpecError(
            f"{checkpoint.name} has {n_outputs} outputs: only checkpoints with one "
            "logit are compared by their decisions; use Checkpoint.logits"
        )
