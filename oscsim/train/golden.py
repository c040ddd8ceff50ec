"""Outputs of small random models, for parity tests that run without torch."""

import io
from pathlib import Path

import numpy as np
import torch
from torch import nn

from oscsim.files import write_whole
from oscsim.models.config import FixedQueryConfig
from oscsim.train.fixed_query import FixedQueryModel, FrameModel

_SMALL = {
    "vocab_size": 11,
    "d_model": 8,
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 12,
    "max_len": 7,
    "n_outputs": 3,
}
_OSC = {"attention": "oscillator", "d_osc": 2}
_FRAMES = {"task": "digits", "vocab_size": 0, "n_features": 5, "padding_idx": None}

CASES: dict[str, FixedQueryConfig] = {
    name: FixedQueryConfig(**(_SMALL | changes))
    for name, changes in {
        "osc-d2": _OSC,
        "osc-d3": _OSC | {"d_osc": 3},
        "osc-d8": _OSC | {"d_osc": 8},
        "osc-p2": _OSC | {"p": 2},
        "osc-p4-d8": _OSC | {"p": 4, "d_osc": 8},
        "osc-relu": _OSC | {"coupling": "relu"},
        "osc-elu": _OSC | {"coupling": "elu"},
        "osc-published-mask": _OSC | {"mask_readout": False},
        "osc-p4-published-mask": _OSC | {"mask_readout": False, "p": 4},
        "osc-causal": _OSC | {"causal": True},
        "osc-causal-published-mask": _OSC | {"causal": True, "mask_readout": False},
        "osc-no-padding": _OSC | {"padding_idx": None},
        "osc-one-head": _OSC | {"n_heads": 1, "n_layers": 1, "n_outputs": 1},
        "osc-odd-width": _OSC | {"n_heads": 3, "d_model": 9, "n_layers": 1},
        "softmax": {"attention": "softmax"},
        "softmax-causal": {"attention": "softmax", "causal": True},
        "softmax-no-padding": {"attention": "softmax", "padding_idx": None},
        "osc-frames": _OSC | _FRAMES,
        "osc-frames-published-mask": _OSC | _FRAMES | {"mask_readout": False},
        "softmax-frames": {"attention": "softmax"} | _FRAMES,
    }.items()
}


def random_model(config: FixedQueryConfig, seed: int) -> FixedQueryModel | FrameModel:
    """Return a model whose every parameter is random, anchors off the sphere.

    Normalisation weights and biases start at 1 and 0, where errors in them
    would not show; trained anchors leave the sphere, so these do too.
    """
    torch.manual_seed(seed)
    make = FixedQueryModel if config.n_features is None else FrameModel
    model = make(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "embedding.weight":
                continue
            nn.init.normal_(parameter, std=0.5)
            if ".norm" in name or name.startswith("norm."):
                parameter.add_(1.0 if name.endswith("weight") else 0.0)
            if name.endswith("anchors"):
                parameter.mul_(2.0)
    return model.eval()


def inputs(config: FixedQueryConfig, seed: int) -> dict[str, np.ndarray]:
    """Return inputs without padding, and some of which every row but one has it.

    The last row of ``"padded"`` is padding throughout; ``"short"`` uses fewer
    columns than there are anchors.
    """
    rng = np.random.default_rng(seed)
    size: tuple[int, ...] = (4, config.max_len)
    if config.n_features is None:
        full = rng.integers(1, config.vocab_size, size, dtype=np.int32)
    else:
        full = rng.normal(size=(*size, config.n_features)).astype(np.float32)
    padded = full.copy()
    for row, length in zip(padded, (config.max_len, 5, 1, 0), strict=True):
        row[length:] = config.filler
    return {"full": full, "padded": padded, "short": padded[:, :5].copy()}


def outputs(model: nn.Module, ids: np.ndarray) -> dict[str, np.ndarray]:
    """Return the raw outputs in float32 and in float64.

    Both use the same float32 weights; the model is left in float32.
    """
    tensor = torch.from_numpy(ids)
    frames = tensor.is_floating_point()
    with torch.no_grad():
        single = model.float()(tensor if frames else tensor.long()).numpy()
        double = model.double()(tensor.double() if frames else tensor.long()).numpy()
    model.float()
    return {"float32": single, "float64": double}


def golden_arrays() -> dict[str, np.ndarray]:
    """Return every array of the golden file.

    Keys are ``CASE/config`` (JSON), ``CASE/weights/TENSOR``, ``CASE/ids/INPUT``
    and ``CASE/INPUT/float32``, ``CASE/INPUT/float64``.
    """
    arrays = {}
    for seed, (case, config) in enumerate(CASES.items()):
        model = random_model(config, seed)
        arrays[f"{case}/config"] = np.array(config.model_dump_json())
        for name, tensor in model.state_dict().items():
            arrays[f"{case}/weights/{name}"] = tensor.numpy().copy()
        for kind, ids in inputs(config, seed).items():
            arrays[f"{case}/ids/{kind}"] = ids
            for dtype, out in outputs(model, ids).items():
                arrays[f"{case}/{kind}/{dtype}"] = out
    return arrays


def write_golden(folder: Path) -> Path:
    """Write ``fixed_query.npz`` into ``folder`` and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **golden_arrays())
    path = folder / "fixed_query.npz"
    write_whole(path, buffer.getvalue())
    return path
