"""Bundled checkpoints, small parts of the bundled data, and hand-made runs."""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint, load_checkpoint
from oscsim.bridge.datasets import bundled_data, read_sva
from oscsim.bridge.infer import Run
from oscsim.bridge.setting import Setting
from oscsim.counts import Counts
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.substrate.device import Device
from oscsim.substrate.tally import SettleTally

DATA = Path(__file__).parents[2] / "data"
OSCILLATORS = tuple(f"sva-osc-d2-s{n}" for n in range(5))
SOFTMAX = "sva-softmax-s0"
PER_ITEM = ("ids", "lengths", "positions", "labels", "hard", "words")


@cache
def bundled(name=OSCILLATORS[0]):
    """A bundled checkpoint."""
    return load_checkpoint(DATA / "checkpoints" / name)


@cache
def sentences(name=OSCILLATORS[0]):
    """All bundled sentences, encoded for a checkpoint."""
    config = bundled(name).config
    return read_sva(bundled_data(config), config)


def part(data, rows):
    """Some sentences of a data set, padded as before."""
    return dataclasses.replace(
        data, **{f: _of(getattr(data, f), rows) for f in PER_ITEM}
    )


def _of(values, rows):
    if isinstance(values, tuple):
        return tuple(values[row] for row in np.arange(len(values))[rows])
    return values[rows]


def some(n=200, name=OSCILLATORS[0]):
    """The first sentences of the bundled data."""
    return part(sentences(name), slice(0, n))


@cache
def random_model(d_osc=3, **fields):
    """An untrained checkpoint of two layers and two heads in memory."""
    config = FixedQueryConfig.model_validate(
        {
            "attention": "oscillator",
            "vocab_size": 11,
            "d_model": 8,
            "n_heads": 2,
            "n_layers": 2,
            "d_ff": 12,
            "d_osc": d_osc,
            "max_len": 7,
            "n_outputs": 1,
        }
        | fields
    )
    rng = np.random.default_rng(0)
    weights = {
        name: rng.normal(scale=0.5, size=shape)
        for name, shape in tensor_shapes(config).items()
    }
    return Checkpoint(config, weights, "random", Path("random"), "0" * 64)


def short_anchors(model=None):
    """A checkpoint whose anchors are scaled to norms of at most 1."""
    model = bundled() if model is None else model
    weights = dict(model.weights)
    for name, values in weights.items():
        if name.endswith("anchors"):
            norms = np.linalg.norm(values.astype(float), axis=-1)
            weights[name] = values / (1.001 * norms.max())
    return dataclasses.replace(model, weights=weights)


def hand_made(logits, digital, labels, hard, **setting):
    """A run with given logits (chips, repeats, items), nothing executed."""
    logits = np.asarray(logits, dtype=float)
    data = part(sentences(), slice(0, logits.shape[-1]))
    return Run(
        checkpoint=bundled(),
        data=dataclasses.replace(
            data, labels=np.asarray(labels), hard=np.asarray(hard, bool)
        ),
        setting=Setting(Device.load("ring-65nm"), **setting),
        digital=np.asarray(digital, dtype=float),
        logits=logits,
        counts=Counts(),
        digital_counts=Counts(),
        digital_clamped=0,
        tallies=tuple(SettleTally(oscillators=1) for _ in logits),
        chips_asked=len(logits),
        warnings=(),
    )
