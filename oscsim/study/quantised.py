"""How well a trained model does on a digital data path of few bits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t

from oscsim.bridge.calibrate import training_items
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Engine, digital_pass
from oscsim.bridge.infer import Data, as_data
from oscsim.bridge.language import LANGUAGE_BLOCK, bits_of
from oscsim.bridge.passes import BLOCK, Block, evaluate, in_float64, one_blas_thread
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.models.arithmetic import Arithmetic
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, settle_digital
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.models.quantised import Quantised, Scale, Watched, rounded_tables
from oscsim.typing import FloatArray


class Mode(NamedTuple):
    """A data path: bits of an operand, and whether exponentials come from a table."""

    bits: int
    table: bool = False


MODES: Mapping[str, Mode] = {
    "int8": Mode(8),
    "int8-table": Mode(8, table=True),
    "int6": Mode(6),
    "int4": Mode(4),
    "int4-table": Mode(4, table=True),
}


@dataclass(frozen=True)
class Quality:
    """One model on one data path, beside itself in floating point.

    Attributes
    ----------
    mode : str
        One of `MODES`.
    metric : str
        ``"bits_per_byte"``; ``"hard_accuracy"``, of sentences in which another
        noun disagrees with the subject; ``"accuracy"``, of clips.
    items : int
        Windows, sentences or clips.
    value, floating : float
        Means over the items on this data path, and in float64.
    difference, low95, high95 : float
        The first less the second and its Student interval over the items.
    """

    mode: str
    metric: str
    items: int
    value: float
    floating: float
    difference: float
    low95: float
    high95: float


def qualities(
    checkpoint: Checkpoint,
    modes: Mapping[str, Mode] | None = None,
    *,
    data: Data | None = None,
    windows: int | None = None,
    n_threads: int | None = None,
) -> tuple[Quality, ...]:
    """Run a trained model on digital data paths, on the same items.

    Nothing is trained again. Ranges are those of least square error on the
    bundled training items of the task, 4,096 bytes, 256 sentences or 64 clips,
    none of which is evaluated. Rounded to b bits are the weights (one range for
    each output), embedding and position rows, and both operands of every
    product: projections, scores, drive and similarity of oscillators, values,
    feed-forward block, head. Norms, GELU, coupling functions, h/|h|, biases and
    residual sums stay in float64.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query model, its softmax twin, or a rotary transformer.
    modes : mapping of str to Mode, optional
        Data paths; all of `MODES` by default, for oscillators those without a
        table, since only a softmax has the exponential of one.
    data : ByteText, TokenSet or DigitSet, optional
        Items; the bundled evaluation set by default.
    windows : int, optional
        How many windows of a language model; 64 by default.
    n_threads : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    tuple of Quality
        In the order of the modes.

    Raises
    ------
    SpecError
        If the model is of another family, no training items of its task are
        bundled, or a table is asked of oscillators.
    """
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig | TransformerConfig):
        raise SpecError(
            f"{checkpoint.name} is a {config.family} model: only fixed-query models "
            "and transformers have a quantised forward pass"
        )
    oscillates = checkpoint.d_osc is not None
    if modes is None:
        modes = {n: m for n, m in MODES.items() if not (oscillates and m.table)}
    tables = [name for name, mode in modes.items() if mode.table]
    if oscillates and tables:
        raise SpecError(
            f"{checkpoint.name} has no softmax whose exponential a table could give, "
            f"got {', '.join(tables)}"
        )
    items = as_data(data, checkpoint, windows)
    weights = in_float64(checkpoint.weights)
    scales = _scales(checkpoint, weights, {mode.bits for mode in modes.values()})
    metric, exact = _scored(checkpoint, items, n_threads)
    found = []
    for name, (bits, table) in modes.items():
        path = Quantised(weights, scales[bits], bits, table=table)
        rounded = replace(checkpoint, weights=rounded_tables(weights, bits))
        _, scores = _scored(rounded, items, n_threads, path)
        found.append(_beside(name, metric, scores, exact))
    return tuple(found)


def _scales(
    checkpoint: Checkpoint, weights: Mapping[str, FloatArray], bits: set[int]
) -> dict[int, dict[str, Scale]]:
    """Return the range of every operand on items that are not evaluated."""
    config = checkpoint.config
    items = None
    if isinstance(config, FixedQueryConfig | TransformerConfig):
        items = training_items(config)
    if items is None:
        raise SpecError(
            f"no training items of task {config.task!r} are bundled: the ranges of "
            f"{checkpoint.name} cannot be calibrated"
        )
    if items.ndim == 3:
        items = items[:BLOCK]
    watched = Watched(sorted(bits))
    block = Block(slice(0, len(items)), items, None, np.arange(len(items)))
    with one_blas_thread():
        evaluate(weights, config, block, _pass(watched))
    return watched.scales


def _pass(path: Arithmetic) -> Pass:
    return Pass(partial(settle_digital, arithmetic=path), arithmetic=path)


def _scored(
    checkpoint: Checkpoint,
    items: Data,
    n_threads: int | None,
    path: Arithmetic | None = None,
) -> tuple[str, FloatArray]:
    """Return the metric and its value for every item, in float64 without a path."""
    config = checkpoint.config
    make = partial(digital_pass, config) if path is None else partial(_pass, path)
    if isinstance(items, ByteText):
        engine = Engine(checkpoint, items.ids, None, n_threads, block=LANGUAGE_BLOCK)

        def bits(block: Block, logits: FloatArray) -> FloatArray:
            found: FloatArray = bits_of(logits, items.targets[block.rows]).mean(axis=-1)
            return found

        with engine.running():
            return "bits_per_byte", engine.run(make, bits).logits
    engine = Engine(checkpoint, items.inputs, items.positions, n_threads)
    with engine.running():
        logits = engine.run(make).logits
    if logits.shape[-1] > 1:
        return "accuracy", (np.argmax(logits, axis=-1) == items.labels) * 1.0
    right = (logits[:, 0] > 0) == items.labels
    return "hard_accuracy", right[items.hard] * 1.0


def _beside(mode: str, metric: str, scores: FloatArray, exact: FloatArray) -> Quality:
    n, changes = len(scores), scores - exact
    error = float(changes.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf
    half = float(student_t.ppf(0.975, max(n - 1, 1))) * error
    mean = float(changes.mean())
    return Quality(
        mode,
        metric,
        n,
        float(scores.mean()),
        float(exact.mean()),
        mean,
        mean - half,
        mean + half,
    )
