"""One checkpoint over one data set, digitally and on chips, as often as asked."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.passes import (
    BLOCK,
    AnyPass,
    Outcome,
    Score,
    blocks,
    in_float64,
    one_blas_thread,
    outputs_of,
    run_blocks,
    thread_count,
)
from oscsim.bridge.phases import phase_chip, phase_pass_on
from oscsim.bridge.setting import SEED_END, Setting
from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.freed_memory import keep_freed_memory
from oscsim.models.families import ModelConfig
from oscsim.models.fixed_query import Pass
from oscsim.models.kuramoto_attention import PhasePass
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import Rung
from oscsim.substrate.mismatch import Programming, program
from oscsim.substrate.perturb import settle_perturbed
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

Progress: TypeAlias = Callable[[int, int], None]


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
    """What one chip gave.

    Attributes
    ----------
    logits : FloatArray, shape (repeats, items, ...)
        Outputs, or what the score kept of them.
    counts : Counts
        Tally of all repeats.
    tally : SettleTally
        What happened to the oscillators.
    clamped : int
        Pairs at which the read-out's clamp acted, over all repeats.
    """

    logits: FloatArray
    counts: Counts
    tally: SettleTally
    clamped: int


def digital_pass(config: ModelConfig) -> AnyPass:
    """Return a digital pass of a model."""
    return PhasePass() if isinstance(config, KuramotoConfig) else Pass()


def chip_passes(
    config: ModelConfig, setting: Setting, layers: Sequence[Programming], number: int
) -> Callable[[int, SettleTally], AnyPass]:
    """Draw one chip and return what makes a pass of a repeat on it.

    Parameters
    ----------
    config : FixedQueryConfig, KuramotoConfig or TransformerConfig
        What the model is; without oscillators nothing is drawn.
    setting : Setting
        The hardware, the rung, the seed and the kind of update or read-out.
    layers : sequence of Programming
        Anchors and scales of a fixed-query model.
    number : int
        Number of the chip.
    """
    device = setting.acting_device
    if isinstance(config, KuramotoConfig) and setting.rung != "digital":
        phases = phase_chip(
            device, config, seed=setting.seed, chip=number, ranging=setting.ranging
        )
        return partial(phase_pass_on, phases, update=setting.update)
    chip = program(device, layers, seed=setting.seed, chip=number)
    return lambda repeat, tally: Pass(
        settle_on(chip, repeat, tally), readout=setting.readout
    )


class Engine:
    """Runs one checkpoint over one data set as often as asked.

    Parameters
    ----------
    checkpoint : Checkpoint
        The model, of any family.
    ids : IntArray, shape (items, time), or FloatArray, (items, time, n_features)
        Token ids, or frames.
    positions : IntArray or None, shape (items,)
        Column that the head reads.
    n_threads : int, optional
        Threads; results do not depend on it.
    block : int
        Items in a block; the last bits of a result do depend on it.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        ids: IntArray | FloatArray,
        positions: IntArray | None,
        n_threads: int | None = None,
        *,
        block: int = BLOCK,
    ) -> None:
        self.config = checkpoint.config
        self.weights = in_float64(checkpoint.weights)
        padding = getattr(self.config, "filler", 0)
        self.parts = list(blocks(ids, positions, padding, block))
        self.n_threads = thread_count(n_threads)
        self.pool: ThreadPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the threads; Ctrl-C drops the blocks that have not started."""
        keep_freed_memory()
        with one_blas_thread():
            self.pool = ThreadPoolExecutor(self.n_threads)
            try:
                yield
            finally:
                self.pool.shutdown(cancel_futures=True)

    def cancel(self) -> None:
        """Drop the blocks that have not started, from any thread.

        A run in progress then raises ``concurrent.futures.CancelledError``.
        """
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def run(
        self, make_pass: Callable[[], AnyPass], score: Score = outputs_of
    ) -> Outcome:
        """Return what a score keeps of one pass, digital or on whatever settles."""
        if self.pool is None:
            raise RuntimeError("the engine is not running: use it inside running()")
        return run_blocks(
            self.weights, self.config, self.parts, make_pass, self.pool, score
        )

    def digital(self) -> Outcome:
        """Return the outputs of the digital model."""
        return self.run(partial(digital_pass, self.config))

    def on_chips(
        self,
        setting: Setting,
        layers: Sequence[Programming],
        chips: int,
        repeats: int,
        progress: Progress | None,
        score: Score = outputs_of,
    ) -> list[ChipOutcome]:
        """Return the outputs of all chips, or of those done before Ctrl-C."""
        done: list[ChipOutcome] = []
        tick = progress or (lambda _done, _asked: None)
        try:
            for chip in range(chips):
                tick(chip, chips)
                done.append(self.on_chip(setting, layers, chip, repeats, score))
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
        score: Score = outputs_of,
    ) -> ChipOutcome:
        """Return the outputs of all repeats on one chip.

        Raises
        ------
        SpecError
            If the read-out was asked to be in prefix sums and the clamp acts.
        """
        on_this = chip_passes(self.config, setting, layers, number)
        tallies: list[SettleTally] = []

        def make_pass(repeat: int) -> AnyPass:
            if setting.rung == "digital":
                digital = digital_pass(self.config)
                if isinstance(digital, Pass):
                    digital.readout = setting.readout
                return digital
            if setting.perturbation is not None:
                settle = settle_perturbed(
                    setting.perturbation,
                    seed=setting.seed,
                    chip=number,
                    repeat=repeat,
                    max_len=self.config.max_len,
                )
                return Pass(settle, readout=setting.readout)
            tally = SettleTally()
            tallies.append(tally)
            return on_this(repeat, tally)

        outcomes = []
        for repeat in range(repeats):
            outcomes.append(self.run(partial(make_pass, repeat), score))
            setting.require_readout(outcomes[-1].clamped)
        return ChipOutcome(
            np.stack([outcome.logits for outcome in outcomes]),
            sum((outcome.counts for outcome in outcomes), Counts()),
            sum(tallies, SettleTally()),
            sum(outcome.clamped for outcome in outcomes),
        )
