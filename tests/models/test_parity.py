"""The numpy forward pass against torch outputs stored in data/golden."""

from pathlib import Path

import numpy as np
import pytest

from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.models.fixed_query import forward

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "fixed_query.npz"
with np.load(GOLDEN) as stored:
    ARRAYS = {name: stored[name] for name in stored.files}
CASES = sorted(name.removesuffix("/config") for name in ARRAYS if "/config" in name)
TOLERANCE = {"float32": 1e-5, "float64": 1e-10}


def config_of(case: str) -> FixedQueryConfig:
    return FixedQueryConfig.model_validate_json(str(ARRAYS[f"{case}/config"]))


def deviation(case: str, inputs: str, dtype: str, **changes: object) -> float:
    config = config_of(case)
    weights = {
        name: ARRAYS[f"{case}/weights/{name}"].astype(dtype)
        for name in tensor_shapes(config)
    }
    changed = config.model_copy(update=changes)
    out = forward(weights, changed, ARRAYS[f"{case}/ids/{inputs}"])
    assert out.dtype == dtype
    return float(np.abs(out - ARRAYS[f"{case}/{inputs}/{dtype}"]).max())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("inputs", ["full", "padded", "short"])
@pytest.mark.parametrize("case", CASES)
def test_numpy_equals_torch(case: str, inputs: str, dtype: str) -> None:
    assert deviation(case, inputs, dtype) < TOLERANCE[dtype]


@pytest.mark.parametrize(
    ("case", "inputs", "changes"),
    [
        ("osc-d2", "padded", {"mask_readout": False}),
        ("osc-published-mask", "padded", {"mask_readout": True}),
        ("osc-d2", "padded", {"padding_idx": None}),
        ("osc-d2", "full", {"p": 2}),
        ("osc-p4-d8", "full", {"p": 2}),
        ("osc-relu", "full", {"coupling": "elu"}),
        ("osc-elu", "full", {"coupling": "softplus"}),
        ("osc-causal", "full", {"causal": False}),
        ("osc-d2", "full", {"n_heads": 1, "attention": "softmax"}),
        ("softmax-causal", "full", {"causal": False}),
        ("softmax", "padded", {"padding_idx": None}),
    ],
)
def test_another_switch_would_be_seen(case: str, inputs: str, changes: dict) -> None:
    assert deviation(case, inputs, "float64", **changes) > 1e-3


def test_one_position_read_is_the_same_position_of_all() -> None:
    case = "osc-one-head"
    config = config_of(case)
    weights = {name: ARRAYS[f"{case}/weights/{name}"] for name in tensor_shapes(config)}
    ids = ARRAYS[f"{case}/ids/padded"]
    positions = np.array([3, 2, 0, 1])
    one = forward(weights, config, ids, positions=positions)
    all_ = ARRAYS[f"{case}/padded/float32"]
    np.testing.assert_allclose(one, all_[np.arange(4), positions], atol=1e-5)
