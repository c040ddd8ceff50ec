"""One checkpoint of a sweep with its items: what a worker loads once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from oscsim.bridge.calibrate import Calibration, calibrate
from oscsim.bridge.checkpoint import Checkpoint, load_checkpoint
from oscsim.bridge.engine import Engine, digital_pass
from oscsim.bridge.infer import Data, as_data
from oscsim.bridge.language import LANGUAGE_BLOCK, bits_of
from oscsim.bridge.passes import BLOCK, Block, Score
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.design.spec import SweepSpec
from oscsim.errors import SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, settle_digital
from oscsim.substrate.drive import Drive
from oscsim.typing import BoolArray, FloatArray

LEVELS = np.linspace(0.0, 1.0, 201)
"""Probabilities at which the quantiles of |h| are kept."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A checkpoint and the items that all its cells are measured on.

    Attributes
    ----------
    checkpoint : Checkpoint
        The model.
    data : ByteText, TokenSet or DigitSet
        Its items.
    """

    checkpoint: Checkpoint
    data: Data

    def __reduce__(self) -> tuple[Any, ...]:
        """Take checkpoint, items and full scales to another process, not the engine."""
        return Subject, (self.checkpoint, self.data), {"calibration": self.calibration}

    @property
    def metric(self) -> str:
        """What the numbers of its items are."""
        if isinstance(self.data, ByteText):
            return "bits_per_byte"
        return "hard_accuracy" if self.data.hard.any() else "accuracy"

    @cached_property
    def counted(self) -> BoolArray:
        """Items that the metric is taken over, shape (items,)."""
        if isinstance(self.data, ByteText) or not self.data.hard.any():
            return np.ones(len(self.data), bool)
        hard: BoolArray = self.data.hard
        return hard

    @cached_property
    def engine(self) -> Engine:
        """Runs it on one thread."""
        if isinstance(self.data, ByteText):
            return Engine(self.checkpoint, self.data.ids, None, 1, block=LANGUAGE_BLOCK)
        return Engine(self.checkpoint, self.data.inputs, self.data.positions, 1)

    @cached_property
    def calibration(self) -> Calibration:
        """Full scale of every head."""
        data = self.data
        inputs = data.ids if isinstance(data, ByteText) else data.inputs
        return calibrate(self.checkpoint, self.engine.weights, inputs)

    @property
    def block(self) -> int:
        """Items in a block of the engine."""
        return LANGUAGE_BLOCK if isinstance(self.data, ByteText) else BLOCK

    def score(self) -> Score:
        """Return what keeps one number an item: bits per byte, or whether right."""
        data = self.data
        if isinstance(data, ByteText):
            targets = data.targets

            def bits(block: Block, logits: FloatArray) -> FloatArray:
                mean: FloatArray = bits_of(logits, targets[block.rows]).mean(axis=-1)
                return mean

            return bits
        labels = data.labels

        def right(block: Block, logits: FloatArray) -> FloatArray:
            decided = logits[:, 0] > 0
            if logits.shape[-1] > 1:
                decided = np.argmax(logits, axis=-1)
            is_right: FloatArray = (decided == labels[block.rows]).astype(np.float64)
            return is_right

        return right

    def digital(self) -> FloatArray:
        """Return the numbers of the items of the digital model, shape (items,)."""
        with self.engine.running():
            make = partial(digital_pass, self.engine.config)
            return self.engine.run(make, self.score()).logits

    def drives(self) -> list[FloatArray]:
        """Return |h| of every oscillator of each layer, (oscillators, 2).

        The second column is in full scales of the head: times ``coupling_max``
        it is what the oscillator sees on a chip.
        """
        kept: list[list[FloatArray]] = [
            [] for _ in range(self.checkpoint.config.n_layers)
        ]
        scales = [layer.full_scale for layer in self.calibration.layers]

        def watch(drive: Drive, counts: Counts) -> FloatArray:
            field = np.matmul(drive.coupling, drive.anchors)
            length = np.linalg.norm(field, axis=-1)
            live = np.broadcast_to(
                (drive.live & (drive.items >= 0)[:, None])[:, None], length.shape
            )
            scaled = length / scales[drive.layer][:, None]
            kept[drive.layer].append(np.stack([length[live], scaled[live]], axis=-1))
            return settle_digital(drive, counts)

        with self.engine.running():
            self.engine.run(lambda: Pass(watch))
        return [np.concatenate(layer) for layer in kept]


@dataclass(frozen=True, eq=False)
class Known:
    """What the digital pass of a subject says, once for all cells.

    Attributes
    ----------
    digital : FloatArray, shape (items,)
        Numbers of the items of the digital model.
    counted : BoolArray, shape (items,)
        Items that the metric is taken over.
    drive_quantiles : FloatArray, shape (201, 2)
        Quantiles of |h| in model units and in full scales, all layers together;
        empty for a model without driven oscillators.
    """

    digital: FloatArray
    counted: BoolArray
    drive_quantiles: FloatArray

    @cached_property
    def value(self) -> float:
        """The digital metric."""
        return float(self.digital[self.counted].mean())

    def median_drive(self, *, in_full_scales: bool) -> float:
        """Return the median of |h| (model units, or full scales)."""
        if not len(self.drive_quantiles):
            raise SpecError("the model has no driven oscillators, so no median drive")
        return float(self.drive_quantiles[len(LEVELS) // 2, int(in_full_scales)])


def learn(subject: Subject) -> Known:
    """Run a subject digitally and keep what all cells need.

    Threads make no difference: the digital pass is the same bits.
    """
    is_driven = isinstance(subject.checkpoint.config, FixedQueryConfig)
    is_driven = is_driven and subject.checkpoint.d_osc is not None
    quantiles = np.empty((0, 2))
    if is_driven:
        lengths = np.concatenate(subject.drives())
        quantiles = np.quantile(lengths, LEVELS, axis=0)
    return Known(subject.digital(), subject.counted, quantiles)


def subjects_of(spec: SweepSpec) -> tuple[dict[str, Subject], dict[str, Subject]]:
    """Load the checkpoints of a sweep and their twins with their items, by name.

    Raises
    ------
    SpecError
        If two have one name, a twin has oscillators, windows are asked of a model
        without, or metrics differ.
    CheckpointError, DataError
        If a file is missing or wrong.
    """
    found: dict[str, Subject] = {}
    for number, path in enumerate((*spec.checkpoints, *spec.twins)):
        checkpoint = load_checkpoint(path)
        if number >= len(spec.checkpoints):
            _require_twin(checkpoint)
        if checkpoint.name in found:
            raise SpecError(
                f"two checkpoints are called {checkpoint.name}: rename one folder"
            )
        data = as_data(spec.data, checkpoint, spec.windows, spec.context)
        found[checkpoint.name] = Subject(checkpoint, data)
    require_one_metric(list(found.values()))
    names = list(found)
    own = names[: len(spec.checkpoints)]
    return (
        {name: found[name] for name in own},
        {name: found[name] for name in names if name not in own},
    )


def _require_twin(checkpoint: Checkpoint) -> None:
    """Check that a model has no oscillators, to be compared with those that do."""
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig) or config.d_osc is not None:
        raise SpecError(
            f"twins: {checkpoint.name} has oscillators; a twin is a model without, "
            "such as the softmax model of the same size: put it into checkpoints"
        )


def require_one_metric(subjects: Sequence[Subject]) -> None:
    """Check that all subjects are measured alike.

    Raises
    ------
    SpecError
        If some are bits per byte and others accuracies.
    """
    metrics = sorted({subject.metric for subject in subjects})
    if len(metrics) > 1:
        raise SpecError(
            f"checkpoints of one sweep share a metric, got {' and '.join(metrics)}"
        )
