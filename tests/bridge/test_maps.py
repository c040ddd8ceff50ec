"""Attention of one sentence, digital and on a chip."""

import dataclasses

import numpy as np
import pytest

from oscsim.bridge.infer import infer
from oscsim.bridge.maps import attention_maps, telling_item
from oscsim.errors import SpecError
from oscsim.models.fixed_query import forward
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.runs import SOFTMAX, bundled, hand_made, some

RING = Device.load("ring-65nm")


@pytest.fixture(scope="module")
def run():
    return infer(bundled(), some(130), device=RING, chips=2, repeats=2)


def test_rows_are_what_each_word_attends_to(run):
    found = attention_maps(run, 3)
    n = run.data.lengths[3]
    assert found.words == ("<BOS>", *run.data.words[3], "<EOS>")
    assert found.digital.shape == found.chip.shape == (1, 1, n, n)
    np.testing.assert_allclose(found.digital.sum(axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.chip.sum(axis=-1), 1.0, atol=1e-12)
    assert found.digital.min() >= 0
    assert np.abs(found.chip - found.digital).max() > 1e-3


@pytest.mark.parametrize("item", [0, 63, 64, 129])
def test_maps_are_those_of_the_first_chip_and_repeat_of_the_run(run, item, monkeypatch):
    """The pass that gives the map gives the run's own logit, bit for bit."""
    seen = []

    def watched(*args, **kwargs):
        out = forward(*args, **kwargs)
        if kwargs["positions"] is not None:  # the calibration reads every column
            seen.append(out[np.flatnonzero(kwargs["items"] == item)[0], 0])
        return out

    monkeypatch.setattr("oscsim.models.fixed_query.forward", watched)
    attention_maps(run, item)
    assert seen == [run.digital[item], run.logits[0, 0, item]]


def test_the_ideal_map_is_the_digital_one():
    ideal = infer(bundled(), some(5), device=RING, rung="ideal", chips=1, repeats=1)
    found = attention_maps(ideal, 2)
    np.testing.assert_allclose(found.chip, found.digital, atol=1e-12)


def test_no_chip_no_map():
    digital = infer(bundled(SOFTMAX), some(5, SOFTMAX), rung="digital")
    assert attention_maps(digital, 0) is None
    perturbed = infer(
        bundled(),
        some(5),
        device=Device.load("ideal"),
        perturbation=Perturbation("state", 0.1),
        chips=1,
        repeats=1,
    )
    assert attention_maps(perturbed, 0) is None


@pytest.mark.parametrize("item", [-1, 130])
def test_a_sentence_that_does_not_exist_is_refused(run, item):
    with pytest.raises(SpecError, match=r"item must be in 0\.\.129"):
        attention_maps(run, item)


def test_words_are_ids_where_there_is_no_vocabulary(run):
    config = bundled().config.model_copy(update={"vocabulary": None, "task": "ids"})
    nameless = dataclasses.replace(
        run, checkpoint=dataclasses.replace(bundled(), config=config)
    )
    found = attention_maps(nameless, 0)
    assert found.words == tuple(str(i) for i in run.data.ids[0, : len(found.words)])


def test_the_telling_sentence_is_hard_and_right():
    digital, labels = [1.0, 1.0, -1.0, 1.0], [1, 0, 0, 1]
    logits = [[digital]]
    chosen = hand_made(logits, digital, labels, [False, True, True, True])
    assert telling_item(chosen) == 2
    assert telling_item(hand_made(logits, digital, labels, [False] * 4)) == 0
    wrong = hand_made(logits, digital, [0, 0, 1, 0], [True] * 4)
    assert telling_item(wrong) == 0
