"""Reading Kuramoto attention and its baseline: folders, bare files, refusals."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import save_file

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.errors import CheckpointError, SpecError
from oscsim.models.families import is_language_model, shapes_of
from tests.bridge.language import CONFIGS, drawn, language_model, written


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_folder_says_its_family(tmp_path, kind):
    found = load_checkpoint(written(tmp_path / "m", kind))
    assert found.config == CONFIGS[kind]
    assert list(found.weights) == list(shapes_of(CONFIGS[kind]))
    assert found.warnings == ()
    assert is_language_model(found.config)
    assert json.loads(json.dumps(found.describe()))["config"]["family"] == (
        CONFIGS[kind].family
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gates": False},
        {"share_metric": True},
        {"value": "linear", "omega": "zero"},
        {"ffn": "lift"},
        {"ffn": "off", "d_ff": None},
        {"n_heads": 2},
    ],
)
def test_a_bare_kuramoto_file_shows_its_switches(tmp_path, changes):
    config = CONFIGS["kuramoto"].model_copy(update=changes)
    save_file(drawn(config), tmp_path / "m.safetensors")
    found = load_checkpoint(tmp_path / "m.safetensors")
    stored = {"max_len": 128, "phase_convention": "unwrapped"}
    assert found.config == config.model_copy(update=stored)
    assert found.warnings == (
        "task is not in the file: 'bytes' assumed",
        "max_len is not in the file: 128 assumed",
        "bound is not in the file: 'coord' assumed",
        "phase_convention is not in the file: 'unwrapped' assumed",
        "self_term is not in the file: 'frozen' assumed",
    )


def test_a_bare_transformer_file_assumes_its_heads(tmp_path):
    save_file(drawn(CONFIGS["transformer"]), tmp_path / "m.safetensors")
    found = load_checkpoint(tmp_path / "m.safetensors", {"max_len": 12})
    assert found.config == CONFIGS["transformer"].model_copy(update={"n_heads": 4})
    assert found.warnings[-1] == "n_heads is not in the file: 4 assumed"


def test_a_torch_file_of_phases_is_recognised(tmp_path):
    torch = pytest.importorskip("torch")
    state = {f"module.{k}": torch.from_numpy(v) for k, v in _kuramoto().items()}
    torch.save({"model": state}, tmp_path / "m.pt")
    given = {"bound": "unit", "max_len": 12, "phase_convention": "wrapped"}
    found = load_checkpoint(tmp_path / "m.pt", given)
    assert found.config == CONFIGS["kuramoto"].model_copy(update={"bound": "unit"})


def _kuramoto():
    return drawn(CONFIGS["kuramoto"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bound": "hard"}, "bound: Input should be .*'norm' or 'unit', got 'hard'"),
        ({"family": "akorn"}, "unknown family 'akorn': one of fixed-query, kuramoto"),
        ({"family": ["x"]}, r"unknown family \['x'\]"),
        ({"n_osc": 9}, "wrong shape: embed.weight is"),
        ({"gates": False}, "does not hold a kuramoto model of 2 layers: missing none"),
        ({"family": "transformer"}, "d_model: Field required"),
        ({"p": 1}, "p: Extra inputs are not permitted"),
    ],
)
def test_mismatched_metadata_is_one_sentence(tmp_path, changes, message):
    path = written(tmp_path / "m", "kuramoto")
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fields_of_another_family_are_refused(tmp_path):
    path = written(tmp_path / "m", "kuramoto")
    with pytest.raises(CheckpointError, match="no field p: the fields of a kuramoto"):
        load_checkpoint(path, {"p": 4})


def test_missing_tensors_of_a_bare_file_are_listed(tmp_path):
    weights = _kuramoto()
    del weights["embed.weight"], weights["layers.1.attn.bv"]
    save_file(weights, tmp_path / "m.safetensors")
    missing = re.escape("missing embed.weight, layers.1.attn.bv; unexpected none")
    with pytest.raises(CheckpointError, match=missing):
        load_checkpoint(tmp_path / "m.safetensors")


def test_weights_that_are_not_finite_are_refused(tmp_path):
    weights = _kuramoto()
    weights["readout.bias"][3] = np.nan
    save_file(weights, tmp_path / "m.safetensors")
    with pytest.raises(CheckpointError, match=r"not finite: readout.bias \(1 values"):
        load_checkpoint(tmp_path / "m.safetensors")


def test_only_a_fixed_query_model_has_its_configuration():
    assert language_model().fixed_query.d_osc == 3
    assert language_model("kuramoto").d_osc is None
    with pytest.raises(SpecError, match="kuramoto is a kuramoto model: a fixed-query"):
        _ = language_model("kuramoto").fixed_query
