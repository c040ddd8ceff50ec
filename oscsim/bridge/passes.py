"""Forward passes over a whole data set in fixed blocks, the same bits always.

A matrix product's last bits depend on its number of rows, so every pass runs
in blocks of 64 items, filled up at the end; the linear algebra library is held
to one thread and blocks are spread over threads instead.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from threadpoolctl import threadpool_limits

from oscsim.counts import Counts
from oscsim.errors import EvaluationError, SpecError
from oscsim.models import fixed_query, kuramoto_attention, transformer
from oscsim.models.arithmetic import EXACT
from oscsim.models.families import ModelConfig
from oscsim.models.fixed_query import Pass
from oscsim.models.kuramoto_attention import PhasePass
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.typing import FloatArray, IntArray

BLOCK = 64
MOST_THREADS = 1024

AnyPass: TypeAlias = Pass | PhasePass
"""One forward pass of a model; the transformer needs only its arithmetic."""

_NOT_FINITE = (
    "the model or the chip left the range of float64 ({}): its weights, or the "
    "device's numbers, are too large"
)


class Block(NamedTuple):
    """A fixed number of items, the last ones fillers with item number -1.

    Attributes
    ----------
    rows : slice
        Where the real items stand in the data set.
    ids : IntArray, shape (size, time), or FloatArray, shape (size, time, n_features)
        Token ids, or frames.
    positions : IntArray or None, shape (size,)
        Column that the head reads.
    items : IntArray, shape (size,)
        Global item numbers.
    """

    rows: slice
    ids: IntArray | FloatArray
    positions: IntArray | None
    items: IntArray

    @property
    def tokens(self) -> IntArray:
        """The ids, for the families that take no frames."""
        return cast("IntArray", self.ids)

    @property
    def n_real(self) -> int:
        """Number of items that are not fillers."""
        return int(self.rows.stop - self.rows.start)


def blocks(
    ids: IntArray | FloatArray,
    positions: IntArray | None,
    padding: float,
    size: int = BLOCK,
) -> Iterator[Block]:
    """Cut a data set into blocks.

    Parameters
    ----------
    ids : IntArray, shape (n, time), or FloatArray, shape (n, time, n_features)
        Token ids, or frames.
    positions : IntArray or None, shape (n,)
        Column that the head reads.
    padding : float
        What fills up the last block.
    size : int
        Items in a block.
    """
    for first in range(0, len(ids), size):
        rows = slice(first, min(first + size, len(ids)))
        n_real = rows.stop - rows.start
        block_ids = np.full((size, *ids.shape[1:]), padding, ids.dtype)
        block_ids[:n_real] = ids[rows]
        block_positions = None
        if positions is not None:
            block_positions = np.zeros(size, np.int64)
            block_positions[:n_real] = positions[rows]
        items = np.full(size, -1, np.int64)
        items[:n_real] = np.arange(rows.start, rows.stop)
        yield Block(rows, block_ids, block_positions, items)


Score: TypeAlias = Callable[[Block, FloatArray], FloatArray]
"""What is kept of a block's outputs, its fillers left out: (n_real, ...)."""


def outputs_of(block: Block, outputs: FloatArray) -> FloatArray:
    """Keep the outputs themselves."""
    return outputs


class Outcome(NamedTuple):
    """Raw outputs of a data set and what it took.

    Attributes
    ----------
    logits : FloatArray, shape (n, n_outputs) or (n, time, n_outputs)
        Float64; or what the score kept of them.
    counts : Counts
        Tally over all real items.
    clamped : int
        Pairs at which the read-out's clamp acted.
    """

    logits: FloatArray
    counts: Counts
    clamped: int


def evaluate(
    weights: Mapping[str, FloatArray],
    config: ModelConfig,
    block: Block,
    run: AnyPass,
) -> FloatArray:
    """Return the outputs of one block, fillers included.

    Raises
    ------
    EvaluationError
        If a value overflows or stops being a number on the way: rather than
        going on with what looks like a result.
    """
    try:
        with np.errstate(over="raise", invalid="raise"):
            return _forward(weights, config, block, run)
    except FloatingPointError as error:
        raise EvaluationError(_NOT_FINITE.format(error)) from None


def _forward(
    weights: Mapping[str, FloatArray],
    config: ModelConfig,
    block: Block,
    run: AnyPass,
) -> FloatArray:
    if isinstance(config, TransformerConfig):
        path = run.arithmetic if isinstance(run, Pass) else EXACT
        return transformer.forward(weights, config, block.tokens, arithmetic=path)
    if isinstance(config, KuramotoConfig):
        phases = run if isinstance(run, PhasePass) else None
        return kuramoto_attention.forward(
            weights,
            config,
            block.tokens,
            items=block.items,
            run=phases,
        )
    return fixed_query.forward(
        weights,
        config,
        block.ids,
        positions=block.positions,
        items=block.items,
        run=run if isinstance(run, Pass) else None,
    )


def run_blocks(
    weights: Mapping[str, FloatArray],
    config: ModelConfig,
    parts: list[Block],
    make_pass: Callable[[], AnyPass],
    pool: ThreadPoolExecutor,
    score: Score = outputs_of,
) -> Outcome:
    """Run one pass over all blocks, spread over a pool's threads.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Float64 tensors.
    config : FixedQueryConfig, KuramotoConfig or TransformerConfig
        What the model is.
    parts : list of Block
        The data set.
    make_pass : callable
        Gives each block its own `Pass`, so that nothing is shared.
    pool : ThreadPoolExecutor
        Threads; results do not depend on how many.
    score : callable
        What to keep of a block's outputs: those of many chips and all tokens
        would not fit into memory.
    """

    def one(block: Block) -> Outcome:
        run = make_pass()
        out = evaluate(weights, config, block, run)
        if not np.isfinite(out[: block.n_real]).all():
            raise EvaluationError(_NOT_FINITE.format("an output is not finite"))
        kept = score(block, out[: block.n_real])
        return Outcome(
            kept, getattr(run, "counts", Counts()), getattr(run, "clamped", 0)
        )

    done = list(pool.map(one, parts))
    return Outcome(
        np.concatenate([outcome.logits for outcome in done]),
        sum((outcome.counts for outcome in done), Counts()),
        sum(outcome.clamped for outcome in done),
    )


def thread_count(n_threads: int | None) -> int:
    """Return the number of threads to use, by default one per usable core.

    Raises
    ------
    SpecError
        If fewer than one or more than 1024 are asked for.
    """
    if n_threads is not None:
        if n_threads < 1:
            raise SpecError(f"threads must be at least 1, got {n_threads}")
        if n_threads > MOST_THREADS:
            raise SpecError(f"threads must be at most {MOST_THREADS}, got {n_threads}")
        return n_threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> threadpool_limits:
    """Return a context in which linear algebra runs on one thread."""
    return threadpool_limits(limits=1, user_api="blas")


def in_float64(weights: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the tensors in float64, the precision of every run."""
    return {name: tensor.astype(np.float64) for name, tensor in weights.items()}
