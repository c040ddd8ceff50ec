"""PyTorch files: state dicts in their usual wrappers, and pickles with code."""

import os
import pickle
import pickletools
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.errors import CheckpointError
from oscsim.models.config import tensor_shapes
from tests.bridge.checkpoints import OSC, tensors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LM = OSC.model_copy(update={"n_outputs": 11})


def state(config=OSC) -> dict:
    return {name: torch.from_numpy(value) for name, value in tensors(config).items()}


def saved(path: Path, content: object, **options) -> Path:
    torch.save(content, path, **options)
    return path


def refused(path: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def assert_is_the_model(path: Path, config: dict | None = None) -> tuple[str, ...]:
    loaded = load_checkpoint(path, config)
    assert list(loaded.weights) == list(tensor_shapes(OSC))
    for name, value in tensors().items():
        np.testing.assert_array_equal(loaded.weights[name], value)
    return loaded.warnings


@pytest.mark.parametrize("suffix", ["pt", "pth"])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_bare_state_dict(tmp_path: Path, suffix: str, zipped: bool) -> None:
    path = tmp_path / f"osc_s0_ep20.{suffix}"
    saved(path, state(), _use_new_zipfile_serialization=zipped)
    config = {"n_heads": 2, "padding_idx": 0, "mask_readout": False}
    warnings = assert_is_the_model(path, config)
    assert "p is not in the file: 1 assumed" in warnings
    assert not any("n_heads" in warning for warning in warnings)


@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model", "ema"])
def test_a_state_dict_in_a_training_file(tmp_path: Path, key: str) -> None:
    content = {"epoch": 20, "step": torch.tensor(3), key: state(), "optimizer": {}}
    assert_is_the_model(saved(tmp_path / "m.pt", content))


def test_the_first_of_two_state_dicts_is_read_and_said(tmp_path: Path) -> None:
    averaged = {name: value + 1 for name, value in state().items()}
    path = saved(tmp_path / "m.pt", {"ema": averaged, "model": state()})
    assert "read 'model', not 'ema'" in assert_is_the_model(path)


@pytest.mark.parametrize("prefix", ["module._orig_mod.", "_orig_mod.", "ema_model."])
def test_wrapped_names(tmp_path: Path, prefix: str) -> None:
    wrapped = {prefix + name: value for name, value in state().items()}
    assert_is_the_model(saved(tmp_path / "m.pt", wrapped))


def test_an_averaged_model_beside_its_own_is_ambiguous(tmp_path: Path) -> None:
    both = {
        prefix + name: value
        for prefix in ("online_model.", "ema_model.")
        for name, value in state().items()
    }
    message = (
        "'ema_model.embedding.weight' and 'online_model.embedding.weight' are both"
    )
    refused(saved(tmp_path / "m.pt", both), message)


def test_parameters_and_views_are_tensors_too(tmp_path: Path) -> None:
    content = {
        name: torch.nn.Parameter(value.T.contiguous().T if value.ndim == 2 else value)
        for name, value in state().items()
    }
    assert_is_the_model(saved(tmp_path / "m.pt", content))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_upcast_exactly(tmp_path: Path, dtype) -> None:
    half = {name: value.to(dtype) for name, value in state().items()}
    loaded = load_checkpoint(saved(tmp_path / "m.pt", half)).weights
    for name, value in half.items():
        assert loaded[name].dtype == np.float32
        np.testing.assert_array_equal(loaded[name], value.float().numpy())


def test_bfloat16_written_by_torch_is_read_without_it(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    half = {name: value.to(torch.bfloat16) for name, value in state().items()}
    save_file(half, tmp_path / "m.safetensors")
    loaded = load_checkpoint(tmp_path / "m.safetensors").weights
    for name, value in half.items():
        np.testing.assert_array_equal(loaded[name], value.float().numpy())


def test_a_tied_head(tmp_path: Path) -> None:
    weights = state(LM)
    weights["head.weight"] = weights["embedding.weight"]
    loaded = load_checkpoint(saved(tmp_path / "m.pt", weights)).weights
    np.testing.assert_array_equal(loaded["head.weight"], loaded["embedding.weight"])


def test_a_tied_head_dropped_by_save_model(tmp_path: Path) -> None:
    from safetensors.torch import save_model

    from oscsim.train.fixed_query import FixedQueryModel

    model = FixedQueryModel(LM)
    model.head.weight = model.embedding.weight
    save_model(model, str(tmp_path / "m.safetensors"))
    loaded = load_checkpoint(tmp_path / "m.safetensors").weights
    np.testing.assert_array_equal(loaded["head.weight"], loaded["embedding.weight"])


def test_missing_and_unexpected_are_listed_together(tmp_path: Path) -> None:
    weights = state() | {"extra": torch.ones(2)}
    del weights["norm.bias"]
    refused(saved(tmp_path / "m.pt", weights), r"missing norm\.bias; unexpected extra")


class Bomb:
    """Runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_with_code_is_refused_and_not_run(tmp_path, zipped) -> None:
    content = state() | {"bomb": Bomb(tmp_path / "exploded")}
    path = tmp_path / "m.pt"
    saved(path, content, _use_new_zipfile_serialization=zipped)
    refused(path, r"is refused: its pickle holds code or objects \(posix\.system\)")
    assert not (tmp_path / "exploded").exists()


def test_a_plain_pickle_with_code_is_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    data = pickle.dumps(Bomb(tmp_path / "exploded"), protocol=2)
    assert any(op.name == "REDUCE" for op, _, _ in pickletools.genops(data))
    path.write_bytes(data)
    refused(path, r"is refused: its pickle holds code or objects \(posix\.system\)")
    assert not (tmp_path / "exploded").exists()


def test_objects_beside_the_weights_are_refused_by_name(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt", {"model": state(), "args": Namespace(p=1)})
    refused(path, r"holds code or objects \(argparse\.Namespace\)")


def test_a_whole_model_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt", torch.nn.Linear(2, 2))
    refused(path, r"code or objects \(torch\.nn\.modules\.linear\.Linear\)")


@pytest.mark.parametrize("content", [b"", b"These are weights.", b"PK\x03\x04" * 9])
def test_another_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.pt").write_bytes(content)
    refused(tmp_path / "m.pt", "is not a PyTorch file")


def test_a_file_cut_short(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt", state())
    path.write_bytes(path.read_bytes()[:-2000])
    refused(path, "is not a PyTorch file, or is damaged")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "holds a list: a state dict is needed"),
        ({}, "holds no state dict"),
        ({3: 4}, r"holds no state dict: names are \[3\]"),
        ({"model": {}}, "holds no state dict"),
    ],
)
def test_no_state_dict(tmp_path: Path, content: object, message: str) -> None:
    refused(saved(tmp_path / "m.pt", content), message)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.ones(8, dtype=torch.int64), "int64"),
        (torch.ones(8, dtype=torch.complex64), "complex64"),
        (torch.ones(8).to_sparse(), "torch.sparse_coo torch.float32"),
        ([1.0], "list"),
    ],
)
def test_entries_that_are_no_weights(tmp_path: Path, value: object, kind: str) -> None:
    path = saved(tmp_path / "m.pt", state() | {"norm.bias": value})
    refused(path, f"norm.bias is stored as {kind}: float16, bfloat16, float32 or")
