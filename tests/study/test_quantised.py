"""Trained models on data paths of few bits, on the items they are judged by."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.datasets import bundled_data, read_sva
from oscsim.bridge.infer import infer
from oscsim.energy.measured import read_measurements
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.study import quantised as module
from oscsim.study.quantised import MODES, Mode, qualities
from tests.bridge.runs import bundled, random_model

WIDE = {"int4": Mode(4), "int8": Mode(8), "int12": Mode(12)}


def test_more_bits_are_better_and_many_are_exact():
    four, eight, many = qualities(bundled("bytes-osc-d8-p4"), WIDE, windows=32)
    assert (four.metric, four.items) == ("bits_per_byte", 32)
    assert four.floating == eight.floating == many.floating
    assert four.difference > 0.2 > 0.02 > eight.difference
    assert abs(many.difference) < 1e-3
    for one in (four, eight, many):
        assert one.value - one.floating == pytest.approx(one.difference)
        assert one.low95 < one.difference < one.high95


def test_sentences_are_the_hard_ones_of_an_ordinary_run():
    model = bundled("sva-softmax-s1")
    (one,) = qualities(model, {"int8": Mode(8)})
    run = infer(
        model, rung="digital", data=read_sva(bundled_data(model.config), model.config)
    )
    right = run.decided(run.digital)[run.data.hard] == run.data.labels[run.data.hard]
    assert (one.metric, one.items) == ("hard_accuracy", int(run.data.hard.sum()))
    assert one.floating == np.mean(right)
    assert abs(one.difference) < 0.01


def test_a_transformer_and_clips_are_read_too():
    (one,) = qualities(
        bundled("transformer-260k"), {"x": MODES["int8-table"]}, windows=4
    )
    assert one.mode == "x"
    assert -0.01 < one.difference < 0.1
    clips = qualities(bundled("digits-osc-d2"), {"int8": Mode(8)})
    assert (clips[0].metric, clips[0].items) == ("accuracy", 600)
    assert abs(clips[0].difference) < 0.02


def test_the_table_is_for_a_softmax_only():
    model = bundled("sva-osc-d2-s0")
    assert [one.mode for one in qualities(model)] == ["int8", "int6", "int4"]
    with pytest.raises(
        SpecError, match=r"no softmax whose exponential.*got int8-table"
    ):
        qualities(model, {"int8-table": MODES["int8-table"]})


def test_nothing_is_calibrated_on_what_is_evaluated(monkeypatch):
    """Ranges follow the training items alone: one wild item there changes all."""
    model, mode = bundled("bytes-softmax"), {"int4": Mode(4)}
    (before,) = qualities(model, mode, windows=4)
    monkeypatch.setattr(
        module, "training_items", lambda _config: np.zeros((1, 64), np.int64)
    )
    (after,) = qualities(model, mode, windows=4)
    assert after.floating == before.floating
    assert after.value > before.value + 0.1


def test_the_bundled_table_is_of_the_bundled_weights():
    """A checkpoint that is trained again must be measured again."""
    digests = {row.checkpoint: row.sha256 for row in read_measurements()}
    assert len(digests) >= 45
    for name, digest in digests.items():
        assert bundled(name).sha256 == digest, name


def test_what_is_refused():
    config = KuramotoConfig(vocab_size=256, n_osc=4, n_layers=1, d_ff=8, max_len=8)
    model = replace(bundled("sva-osc-d2-s0"), config=config, name="pulled")
    with pytest.raises(
        SpecError, match=r"pulled is a kuramoto model: only fixed-query"
    ):
        qualities(model)
    other = random_model(None, attention="softmax")
    assert isinstance(other, Checkpoint)
    items = read_sva(
        bundled_data(bundled("sva-osc-d2-s0").config), bundled("sva-osc-d2-s0").config
    )
    with pytest.raises(SpecError, match=r"no training items of task 'ids' are bundled"):
        qualities(other, data=items)
