"""Attention of one sentence, digital and on a chip."""

from dataclasses import dataclass

import numpy as np

from oscsim.bridge.digit_data import DigitSet
from oscsim.bridge.infer import Run
from oscsim.bridge.passes import blocks, evaluate, in_float64, one_blas_thread
from oscsim.errors import SpecError
from oscsim.models.fixed_query import Pass
from oscsim.substrate.mismatch import Programming, program
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """What one sentence attends to.

    Attributes
    ----------
    words : tuple of str
        Tokens of the sentence, marks included.
    digital, chip : FloatArray, shape (layers, heads, n, n)
        Attention a_ij; row = query i, column = anchor j. On the chip: its
        first repeat.
    """

    words: tuple[str, ...]
    digital: FloatArray
    chip: FloatArray


def attention_maps(run: Run, item: int) -> AttentionMaps | None:
    """Return the attention of one item of a run on its chip 0.

    Parameters
    ----------
    run : Run
        A run on a device.
    item : int
        Number of the sentence in the data.

    Returns
    -------
    AttentionMaps, or None
        None for the digital rung and for published perturbations.

    Raises
    ------
    SpecError
        If the data has no such item.
    """
    if not 0 <= item < len(run.data):
        raise SpecError(f"item must be in 0..{len(run.data) - 1}, got {item}")
    setting, config = run.setting, run.checkpoint.fixed_query
    if setting.rung == "digital" or setting.perturbation is not None:
        return None
    weights = in_float64(run.checkpoint.weights)
    layers = [
        Programming(weights[f"layers.{n}.attn.anchors"], full_scale)
        for n, full_scale in enumerate(run.full_scale)
    ]
    chip = program(setting.acting_device, layers, seed=setting.seed, chip=0)
    parts = blocks(run.data.inputs, run.data.positions, config.filler)
    block = next(part for part in parts if item in part.items)
    row = int(np.flatnonzero(block.items == item)[0])
    n = int(run.data.lengths[item])
    pictures = []
    with one_blas_thread():
        for one_pass in (
            Pass(attention=[]),
            Pass(settle_on(chip, 0, SettleTally()), attention=[]),
        ):
            evaluate(weights, config, block, one_pass)
            kept = [a[row, :, :n, :n] for a in one_pass.attention or []]
            pictures.append(np.stack(kept))
    return AttentionMaps(
        words=_words(run, item, n),
        digital=pictures[0],
        chip=pictures[1],
    )


def _words(run: Run, item: int, n: int) -> tuple[str, ...]:
    """Return the words of an item, or its ids, or the numbers of its frames."""
    if isinstance(run.data, DigitSet):
        return tuple(str(frame) for frame in range(n))
    words = run.checkpoint.fixed_query.vocabulary or ()
    ids = run.data.ids[item, :n]
    return tuple(words[i] if words else str(i) for i in ids)


def telling_item(run: Run) -> int:
    """Return a hard sentence whose decision is right digitally, if there is one."""
    right = run.decided(run.digital) == run.data.labels
    wanted = np.flatnonzero(run.data.hard & right)
    return int(wanted[0]) if len(wanted) else 0
