"""Small random checkpoints on disk for the tests of this folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from oscsim.models.config import FixedQueryConfig, tensor_shapes

OSC = FixedQueryConfig(
    attention="oscillator",
    vocab_size=11,
    d_model=8,
    n_heads=2,
    n_layers=2,
    d_ff=12,
    d_osc=3,
    max_len=7,
    n_outputs=1,
    mask_readout=False,
)
SOFTMAX = OSC.model_copy(update={"attention": "softmax", "d_osc": None})


def tensors(config: FixedQueryConfig = OSC, dtype: Any = np.float32) -> dict[str, Any]:
    """Return random tensors for a configuration."""
    rng = np.random.default_rng(0)
    return {
        name: rng.normal(size=shape).astype(dtype)
        for name, shape in tensor_shapes(config).items()
    }


def bare(path: Path, weights: dict[str, Any] | None = None, **metadata: str) -> Path:
    """Write a bare .safetensors file and return its path."""
    save_file(
        tensors() if weights is None else weights, path, metadata=metadata or None
    )
    return path


def folder(
    path: Path, config: FixedQueryConfig = OSC, weights: dict[str, Any] | None = None
) -> Path:
    """Write a checkpoint folder and return its path."""
    path.mkdir()
    (path / "config.json").write_text(config.model_dump_json())
    bare(path / "model.safetensors", tensors(config) if weights is None else weights)
    return path


def raw(path: Path, header: Any, body: bytes = b"") -> Path:
    """Write a .safetensors file with any header, right or wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path
