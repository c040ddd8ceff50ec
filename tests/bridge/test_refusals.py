"""What must never pass for a result, and what a reader must be told."""

import dataclasses

import numpy as np
import pytest

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.cost import price
from oscsim.bridge.datasets import parse_sva
from oscsim.bridge.infer import infer
from oscsim.bridge.passes import in_float64
from oscsim.bridge.summary import warnings_of
from oscsim.errors import (
    CheckpointError,
    DataError,
    DeviceError,
    EvaluationError,
    SpecError,
)
from oscsim.models.config import FixedQueryConfig
from oscsim.substrate.device import Device
from tests.bridge.runs import bundled, random_model, some

LINE = b'{"tokens": ["the", "dog", "is", "."], "label": 1, "verb_idx": 2}\n'


def scaled(name, factor):
    model = bundled()
    weights = {k: v.astype(np.float64) for k, v in model.weights.items()}
    weights[name] = weights[name] * factor
    return dataclasses.replace(model, weights=weights)


@pytest.mark.parametrize("rung", ["digital", "ideal", "device"])
@pytest.mark.parametrize(
    "name", ["embedding.weight", "layers.0.attn.W_v.weight", "layers.0.ffn.0.weight"]
)
def test_an_overflow_is_an_error_and_not_a_decision(name, rung):
    with pytest.raises(EvaluationError, match="left the range of float64"):
        infer(scaled(name, 1e200), some(20), rung=rung, chips=1, repeats=1)


def test_the_same_weights_run_before_they_overflow():
    infer(scaled("embedding.weight", 1e10), some(20), chips=1, repeats=1)


@pytest.mark.parametrize("field", ["coupling_max", "diffusion", "frequency_offset"])
def test_rates_beyond_any_hardware_are_refused_by_name(field):
    with pytest.raises(DeviceError, match=f"{field}: .*1000000000000000000"):
        Device.load("ring-65nm").changed(**{field: 1e300})


def test_a_detuning_that_could_only_be_stepped_for_hours_is_refused():
    with pytest.raises(DeviceError, match="nothing would lock"):
        Device.load("ring-65nm").changed(frequency_offset=1e13)
    Device.load("ring-65nm").changed(frequency_offset=1e11)


def test_a_word_stands_once_in_a_vocabulary():
    fields = bundled().config.model_dump()
    words = list(fields["vocabulary"])
    words[5] = words[6]
    with pytest.raises(ValueError, match=r"vocabulary holds .* twice"):
        FixedQueryConfig.model_validate(fields | {"vocabulary": tuple(words)})


def test_the_padding_id_is_no_word_of_the_data():
    config = bundled().config
    the = config.vocabulary.index("the")
    with pytest.raises(DataError, match="sentence 1 of here holds the padding id"):
        parse_sva(LINE, config.model_copy(update={"padding_idx": the}), source="here")


def test_lengths_that_were_never_trained_are_told():
    model = bundled()
    config = model.config.model_copy(update={"trained_length": 6})
    short = dataclasses.replace(model, config=config)
    run = infer(short, some(50), chips=1, repeats=1)
    n_long = int((some(50).lengths > 6).sum())
    assert any(f"{n_long} sentences are longer" in text for text in run.warnings)
    assert not infer(model, some(50), chips=1, repeats=1).warnings


def test_a_padded_read_out_of_unknown_length_is_told():
    model = bundled()
    fields = {"mask_readout": False, "trained_length": None}
    config = model.config.model_copy(update=fields)
    run = infer(dataclasses.replace(model, config=config), some(9), chips=1, repeats=1)
    assert any("depend on the padded length, here 9" in text for text in run.warnings)


def test_rows_of_padding_have_a_scale_and_outputs():
    model = random_model(2)
    ids = np.zeros((3, 5), int)
    (layer, *_) = calibrate(model, in_float64(model.weights), ids).layers
    np.testing.assert_array_equal(layer.full_scale, 1.0)
    assert np.isfinite(model.logits(ids)).all()


def test_oscillators_without_drive_are_told():
    dead = Device.load("ring-65nm").changed(stuck_off=1.0)
    run = infer(bundled(), some(10), device=dead, chips=1, repeats=1)
    told = warnings_of(run, price(run))
    assert any("had no drive and kept their random start" in text for text in told)


@pytest.mark.parametrize("seed", ["0", None, True, 1.5])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(SpecError, match="seed must be"):
        infer(bundled(), some(5), seed=seed)


def test_things_of_another_kind_are_refused_by_name():
    with pytest.raises(DeviceError, match="device must be a Device, a name or a path"):
        infer(bundled(), some(5), device=3)
    with pytest.raises(DataError, match="data must be a TokenSet or a path"):
        infer(bundled(), 5)


def test_a_checkpoint_is_given_by_a_path():
    from oscsim.bridge.checkpoint import load_checkpoint

    with pytest.raises(CheckpointError, match="given by its path"):
        load_checkpoint(None)
