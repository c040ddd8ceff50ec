"""Trained models on the same windows, and those that do not compare."""

import json

import numpy as np
import pytest

import oscsim.study.family
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.infer import infer
from oscsim.errors import DataError, SpecError
from oscsim.study.family import measure
from tests.bridge.language import CONTEXT, prose, written


def trained(path, kind="oscillator", seed=0, tokens=1000, **changes):
    """An untrained checkpoint with a record of its training."""
    written(path, kind, **changes)
    record = {"seed": seed, "tokens": tokens, "parameters": 77}
    (path / "training.json").write_text(json.dumps(record))
    return path


@pytest.fixture
def text(tmp_path):
    return prose(tmp_path / "prose", CONTEXT * 70 + 1)


def test_bits_are_those_of_the_digital_run(tmp_path, text):
    paths = [trained(tmp_path / "a", seed=3), trained(tmp_path / "b", "softmax")]
    found = measure(paths, text, windows=70)
    for path, member in zip(paths, found, strict=True):
        run = infer(load_checkpoint(path), text, rung="digital", windows=70, chips=1)
        np.testing.assert_array_equal(member.bits, run.digital.mean(axis=-1))
    ours, twin = found
    assert (ours.name, ours.d_osc, ours.p, ours.width) == ("a", 3, 1, 16)
    assert (ours.seed, ours.tokens, ours.parameters) == (3, 1000, 77)
    assert twin.d_osc is None
    assert np.abs(ours.bits - twin.bits).max() > 1e-3


def test_the_bundled_text_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(oscsim.study.family, "SLICE", CONTEXT * 80)
    (member,) = measure([trained(tmp_path / "a")])
    assert len(member.bits) == 80


def test_what_does_not_compare_is_refused(tmp_path, text):
    first = trained(tmp_path / "first")
    for name, how, reason in (
        ("again", {}, "again and first are one training"),
        ("long", {"seed": 1, "tokens": 2000}, "long saw 2,000 bytes and first 1,000"),
        (
            "short",
            {"seed": 1, "trained_length": 9},
            "short reads 9 bytes and first 12",
        ),
        ("phases", {"kind": "kuramoto"}, "phases is a kuramoto model"),
    ):
        path = trained(tmp_path / name, **how)
        with pytest.raises(SpecError, match=reason):
            measure([first, path], text)
    with pytest.raises(SpecError, match="got 0 checkpoints"):
        measure([])
    with pytest.raises(SpecError, match=r"training\.json does not say seed, tokens"):
        measure([written(tmp_path / "bare")], text)
    with pytest.raises(DataError, match="71 were asked for"):
        measure([first], text, windows=71)
