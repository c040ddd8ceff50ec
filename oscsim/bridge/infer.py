"""Inference on the substrate: one checkpoint, some chips, the same inputs."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.datasets import TokenSet, bundled_data, read_sva
from oscsim.bridge.digit_data import DigitSet, read_digits
from oscsim.bridge.passes import (
    Outcome,
    blocks,
    in_float64,
    one_blas_thread,
    run_blocks,
    thread_count,
)
from oscsim.bridge.setting import SEED_END, Setting
from oscsim.counts import Counts
from oscsim.errors import DataError, SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass
from oscsim.substrate.device import Device, Rung, as_device
from oscsim.substrate.mismatch import Programming, program
from oscsim.substrate.perturb import Perturbation, settle_perturbed
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

Progress: TypeAlias = Callable[[int, int], None]

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
        config = self.checkpoint.config
        if config.mask_readout and config.is_padded:
            return self.data.lengths
        return np.full(len(self.data), self.data.inputs.shape[1])

    def decided(self, logits: FloatArray) -> IntArray:
        """Return what logits decide, to be compared with the labels.

        The largest of several outputs, else whether a single one is above 0.
        """
        if self.checkpoint.config.n_outputs > 1:
            largest: IntArray = np.argmax(logits, axis=-1)
            return largest
        return (logits > 0).astype(np.int64)

    @property
    def interrupted(self) -> bool:
        """Whether fewer chips were run than asked for."""
        return len(self.logits) < self.chips_asked


def infer(
    checkpoint: Checkpoint,
    data: Labelled | str | Path | None = None,
    *,
    device: Device | str | Path | None = None,
    rung: Rung = "device",
    chips: int = 8,
    repeats: int = 4,
    seed: int = 0,
    perturbation: Perturbation | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run a checkpoint on some chips of a device, and digitally.

    Parameters
    ----------
    checkpoint : Checkpoint
        A trained fixed-query model.
    data : TokenSet, DigitSet or path, optional
        Inputs and labels; the bundled evaluation set by default.
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
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (chips done, chips asked).

    Returns
    -------
    Run
        Ctrl-C keeps the chips that were done.

    Raises
    ------
    SpecError
        If a count or the seed is out of range, the checkpoint has no
        oscillators, or a perturbation is asked of an imperfect device.
    DeviceError
        If the device cannot hold the checkpoint's d_osc.
    KeyboardInterrupt
        If interrupted before the first chip was done.
    """
    data = as_data(data, checkpoint.config)
    hardware = as_device(device, checkpoint.config.d_osc)
    setting = Setting(hardware, rung, seed, perturbation)
    setting.require(checkpoint)
    _require_decision(checkpoint)
    chips, repeats = checked_draws(rung, chips, repeats)
    engine = Engine(checkpoint, data.inputs, data.positions, n_threads)
    calibration = calibrate(checkpoint, engine.weights, data.inputs)
    with engine.running():
        digital = engine.run(Pass)
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
        + _length_warnings(checkpoint.config, data),
        full_scale=tuple(layer.full_scale for layer in calibration.layers),
    )


def as_data(data: Labelled | str | Path | None, config: FixedQueryConfig) -> Labelled:
    """Return the data meant: as given, from a file, or the bundled set."""
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


def _squeezed(logits: FloatArray) -> FloatArray:
    return logits[..., 0] if logits.shape[-1] == 1 else logits


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
    n_outputs = checkpoint.config.n_outputs
    if n_outputs != 1 and checkpoint.config.task != "digits":
        raise SpecError(
            f"{checkpoint.name} has {n_outputs} outputs: only checkpoints with one "
            "logit are compared by their decisions; use Checkpoint.logits"
        )


def checked_draws(rung: Rung, chips: int, repeats: int) -> tuple[int, int]:
    """Return the numbers of chips and repeats that a rung runs.

    Raises
    ------
    SpecError
        If one is not a whole number from 1.
    """
    for name, value in (("chips", chips), ("repeats", repeats)):
        is_whole = isinstance(value, Integral)
        if not is_whole or isinstance(value, bool) or not 1 <= value < SEED_END:
            raise SpecError(
                f"{name} must be a whole number in 1..2^32 - 1, got {value!r}"
            )
    return (1, 1) if rung == "digital" else (int(chips), int(repeats))


class ChipOutcome(NamedTuple):
    """Logits (repeats, items, outputs), counts and tally of one chip."""

    logits: FloatArray
    counts: Counts
    tally: SettleTally


class Engine:
    """Runs one checkpoint over one data set as often as asked."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        inputs: IntArray | FloatArray,
        positions: IntArray | None,
        n_threads: int | None = None,
    ) -> None:
        self.config = checkpoint.config
        self.weights = in_float64(checkpoint.weights)
        self.parts = list(blocks(inputs, positions, self.config.filler))
        self.n_threads = thread_count(n_threads)
        self.pool: ThreadPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the threads; Ctrl-C drops the blocks that have not started."""
        with one_blas_thread():
            self.pool = ThreadPoolExecutor(self.n_threads)
            try:
                yield
            finally:
                self.pool.shutdown(cancel_futures=True)

    def run(self, make_pass: Callable[[], Pass]) -> Outcome:
        """Return the outputs of one pass, digital or on whatever settles."""
        if self.pool is None:
            raise RuntimeError("the engine is not running: use it inside running()")
        return run_blocks(self.weights, self.config, self.parts, make_pass, self.pool)

    def on_chips(
        self,
        setting: Setting,
        layers: Sequence[Programming],
        chips: int,
        repeats: int,
        progress: Progress | None,
    ) -> list[ChipOutcome]:
        """Return the outputs of all chips, or of those done before Ctrl-C."""
        done: list[ChipOutcome] = []
        tick = progress or (lambda _done, _asked: None)
        try:
            for chip in range(chips):
                tick(chip, chips)
                done.append(self.on_chip(setting, layers, chip, repeats))
            tick(chips, chips)
        except KeyboardInterrupt:
            if not done:
                raise
        return done

    def on_chip(
        self,
        setting: Setting,
        layers: Sequence[Programming],
        number: int,
        repeats: int,
    ) -> ChipOutcome:
        """Return the outputs of all repeats on one chip."""
        device = setting.acting_device
        chip = program(device, layers, seed=setting.seed, chip=number)
        tallies: list[SettleTally] = []

        def make_pass(repeat: int) -> Pass:
            if setting.rung == "digital":
                return Pass()
            if setting.perturbation is not None:
                return Pass(
                    settle_perturbed(
                        setting.perturbation,
                        seed=setting.seed,
                        chip=number,
                        repeat=repeat,
                        max_len=self.config.max_len,
                    )
                )
            tally = SettleTally()
            tallies.append(tally)
            return Pass(settle_on(chip, repeat, tally))

        outcomes = [self.run(partial(make_pass, repeat)) for repeat in range(repeats)]
        return ChipOutcome(
            np.stack([outcome.logits for outcome in outcomes]),
            sum((outcome.counts for outcome in outcomes), Counts()),
            sum(tallies, SettleTally()),
        )
