"""Small archives of clips, and an untrained model of frames."""

from functools import cache
from pathlib import Path

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.models.config import FixedQueryConfig, tensor_shapes

FRAMES = FixedQueryConfig(
    attention="oscillator",
    task="digits",
    vocab_size=0,
    n_features=3,
    d_model=8,
    n_heads=2,
    n_layers=2,
    d_ff=12,
    d_osc=3,
    max_len=7,
    n_outputs=4,
    padding_idx=None,
    feature_mean=(1.0, -2.0, 0.5),
    feature_std=(2.0, 0.5, 4.0),
)


@cache
def frame_model(**fields):
    """An untrained checkpoint in memory."""
    config = FixedQueryConfig.model_validate(FRAMES.model_dump() | fields)
    rng = np.random.default_rng(0)
    weights = {
        name: rng.normal(scale=0.5, size=shape)
        for name, shape in tensor_shapes(config).items()
    }
    return Checkpoint(config, weights, "frames", Path("frames"), "0" * 64)


def arrays(n=20):
    """Arrays of an archive: clips of 1 to 7 frames, every fourth held out."""
    rng = np.random.default_rng(1)
    lengths = (1 + np.arange(n) % 7).astype(np.uint8)
    return {
        "frames": rng.normal(size=(int(lengths.sum()), 3)).astype(np.float16),
        "lengths": lengths,
        "digits": (np.arange(n) * 3 % 4).astype(np.uint8),
        "held_out": np.arange(n) % 4 == 1,
    }


def archive(path, **changes):
    """Write an archive, arrays replaced or (None) left out; return its path."""
    content = {k: v for k, v in (arrays() | changes).items() if v is not None}
    np.savez(path, **content)
    return path
