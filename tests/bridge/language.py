"""Small random language models of every family, in memory and on disk."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import shapes_of
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig

CONTEXT = 12

CONFIGS = {
    "oscillator": FixedQueryConfig(
        attention="oscillator",
        task="bytes",
        vocab_size=256,
        d_model=16,
        n_heads=2,
        n_layers=2,
        d_ff=24,
        d_osc=3,
        max_len=CONTEXT,
        n_outputs=256,
        causal=True,
        padding_idx=None,
        trained_length=CONTEXT,
    ),
    "kuramoto": KuramotoConfig(
        task="bytes", vocab_size=256, n_osc=8, n_layers=2, d_ff=16, max_len=CONTEXT
    ),
    "transformer": TransformerConfig(
        task="bytes",
        vocab_size=256,
        d_model=16,
        n_layers=2,
        n_heads=2,
        d_ff=24,
        max_len=CONTEXT,
    ),
}
CONFIGS["softmax"] = CONFIGS["oscillator"].model_copy(
    update={"attention": "softmax", "d_osc": None}
)


def drawn(config, scale=0.5):
    """Random tensors of a configuration."""
    rng = np.random.default_rng(0)
    return {
        name: np.asarray(scale * rng.normal(size=shape), np.float32)
        for name, shape in shapes_of(config).items()
    }


@cache
def language_model(kind="oscillator", *, short_anchors=False, **changes):
    """An untrained language model in memory; anchors in the unit ball if asked."""
    config = CONFIGS[kind].model_copy(update=changes)
    weights = drawn(config)
    for name, values in weights.items():
        if short_anchors and name.endswith("anchors"):
            norms = np.linalg.norm(values.astype(float), axis=-1)
            weights[name] = (values / (1.001 * norms.max())).astype(np.float32)
    return Checkpoint(config, weights, kind, Path(kind), "0" * 64)


def written(path, kind="oscillator", **changes):
    """A checkpoint folder of an untrained language model."""
    config = CONFIGS[kind].model_copy(update=changes)
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config.model_dump(mode="json")))
    save_file(drawn(config), path / "model.safetensors")
    return path


def prose(path, n=CONTEXT * 6 + 1):
    """A file of bytes that repeat unevenly."""
    rng = np.random.default_rng(1)
    words = rng.choice([b"the ", b"cat ", b"sat. ", b"\xff\n"], 4 * n)
    path.write_bytes(b"".join(words)[:n])
    return path
