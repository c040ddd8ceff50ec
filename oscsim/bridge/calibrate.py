"""The full scale of every head, from a few training items."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.datasets import read_sva
from oscsim.bridge.digit_data import bundled_digits, read_digits
from oscsim.bridge.passes import Block, evaluate, one_blas_thread
from oscsim.bridge.text_data import calibration_bytes
from oscsim.bundled import data_folder
from oscsim.counts import Counts
from oscsim.errors import DataError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, settle_digital
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.substrate.drive import Drive
from oscsim.substrate.mismatch import Programming
from oscsim.typing import FloatArray, IntArray

CALIBRATION_ITEMS = 256
CALIBRATION_BYTES = 4096
FULL_SCALE_PERCENTILE = 99.9


@dataclass(frozen=True)
class Calibration:
    """What is loaded into every layer, and where its scale comes from.

    Attributes
    ----------
    layers : tuple of Programming
        Anchors and full scales; empty for a softmax model.
    source : str
        The items that fixed the full scale.
    warnings : tuple of str
        Set if those were not the bundled training items.
    """

    layers: tuple[Programming, ...]
    source: str
    warnings: tuple[str, ...] = ()


def calibrate(
    checkpoint: Checkpoint,
    weights: Mapping[str, FloatArray],
    ids: IntArray | FloatArray,
) -> Calibration:
    """Fix the full scale of ``w_ij |r_j|`` per layer and head.

    It is the 99.9th percentile over the existing pairs of 256 sentences or
    4,096 bytes: the bundled training items of the checkpoint's task, otherwise
    the first items of the data that is run.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query model.
    weights : mapping of str to FloatArray
        Its float64 tensors.
    ids : IntArray, shape (n, time)
        The data that is run.
    """
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig) or config.attention == "softmax":
        return Calibration((), "none: no oscillators")
    warnings: tuple[str, ...] = ()
    bundled = training_items(config)
    if bundled is not None:
        items, source = bundled, f"{len(bundled)} bundled training items"
    else:
        items = ids[:CALIBRATION_ITEMS]
        source = f"the first {len(items)} items of the data"
        warnings = (f"full scale of the couplings taken from {source}",)
    seen: list[Drive] = []

    def watch(drive: Drive, counts: Counts) -> FloatArray:
        seen.append(drive)
        return settle_digital(drive, counts)

    with one_blas_thread():
        everything = Block(slice(0, len(items)), items, None, np.arange(len(items)))
        evaluate(weights, config, everything, Pass(watch))
    layers = tuple(
        Programming(weights[f"layers.{n}.attn.anchors"], _full_scale(drive))
        for n, drive in enumerate(seen)
    )
    return Calibration(layers, source, warnings)


def training_items(
    config: FixedQueryConfig | TransformerConfig,
) -> IntArray | FloatArray | None:
    """Return a few bundled training items of the task, None if there are none."""
    if isinstance(config, FixedQueryConfig) and config.task == "digits":
        return _bundled_clips(config)
    if isinstance(config, TransformerConfig) or config.task == "bytes":
        context = getattr(config, "trained_length", None) or config.max_len
        text = calibration_bytes(max(1, CALIBRATION_BYTES // context) * context)
        return None if text is None else text.reshape(-1, context)
    path = data_folder("datasets") / "sva" / "calibration.jsonl"
    if config.task != "sva" or not path.is_file():
        return None
    try:
        return read_sva(path, config).ids
    except DataError:  # another vocabulary than the published one
        return None


def _bundled_clips(config: FixedQueryConfig) -> FloatArray | None:
    """Return the first training clips, no longer than the longest of them."""
    try:
        clips = read_digits(bundled_digits(), config, "training")
    except DataError:  # other features, or clips longer than it holds
        return None
    longest = int(clips.lengths[:CALIBRATION_ITEMS].max())
    return clips.inputs[:CALIBRATION_ITEMS, :longest]


def _full_scale(drive: Drive) -> FloatArray:
    strength = drive.coupling * np.linalg.norm(drive.anchors, axis=-1)[:, None, :]
    if not drive.connected.any():
        return np.ones(strength.shape[1])
    scale = np.array(
        [
            np.percentile(strength[:, head][drive.connected], FULL_SCALE_PERCENTILE)
            for head in range(strength.shape[1])
        ]
    )
    return np.where(scale > 0, scale, 1.0)
