"""Layers and heads on hardware of their own, or digital, on the same chips."""

import numpy as np
import pytest

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.engine import Engine
from oscsim.bridge.placement import Placement, place
from oscsim.errors import SpecError
from oscsim.models.fixed_query import Pass
from oscsim.substrate.device import Device
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from tests.bridge.runs import random_model

ROUGH = Device.load("sphere-generic").changed(weight_bits=2)
FINE = Device.load("sphere-generic").changed(weight_bits=12)
IDS = np.arange(5 * 6).reshape(5, 6) % 11


@pytest.fixture(scope="module")
def engine():
    return Engine(random_model(), IDS, None, 1)


def outputs(engine, placement=None, device=None):
    """Outputs on chip 1, in repeat 0."""
    layers = calibrate(random_model(), engine.weights, IDS).layers
    if placement is None:
        placement = Placement((device, device))
    chip = place(placement, layers, seed=4, chip=1)
    with engine.running():
        return engine.run(lambda: Pass(chip.settle(0, SettleTally()))).logits


def test_one_device_everywhere_is_the_plain_chip(engine):
    from oscsim.substrate.mismatch import program

    layers = calibrate(random_model(), engine.weights, IDS).layers
    chip = program(ROUGH, layers, seed=4, chip=1)
    with engine.running():
        plain = engine.run(lambda: Pass(settle_on(chip, 0, SettleTally()))).logits
    assert np.array_equal(outputs(engine, device=ROUGH), plain)


def test_every_head_digital_is_the_digital_model(engine):
    everywhere = frozenset((layer, head) for layer in (0, 1) for head in (0, 1))
    with engine.running():
        digital = engine.digital().logits
    found = outputs(engine, Placement((ROUGH, ROUGH), everywhere))
    assert np.array_equal(found, digital)


def test_heads_one_by_one_are_the_layer(engine):
    by_head = frozenset({(1, 0), (1, 1)})
    whole = outputs(engine, Placement((ROUGH, ROUGH), by_head))
    # a layer of which every head is digital runs on no chip at all
    one = outputs(engine, Placement((ROUGH, ROUGH), frozenset({(1, 0)})))
    other = outputs(engine, Placement((ROUGH, ROUGH), frozenset({(1, 1)})))
    rough = outputs(engine, device=ROUGH)
    distinct = [whole, one, other, rough]
    for k, a in enumerate(distinct):
        for b in distinct[k + 1 :]:
            assert np.abs(a - b).max() > 1e-6


def test_a_better_layer_changes_that_layer_only(engine):
    """With the other layer digital, its device cannot matter."""
    keep_first = frozenset({(0, 0), (0, 1)})
    a = outputs(engine, Placement((ROUGH, FINE), keep_first))
    b = outputs(engine, Placement((FINE, FINE), keep_first))
    c = outputs(engine, Placement((FINE, ROUGH), keep_first))
    assert np.array_equal(a, b)
    assert np.abs(a - c).max() > 1e-6


def test_a_placement_of_another_model_is_refused(engine):
    layers = calibrate(random_model(), engine.weights, IDS).layers
    with pytest.raises(SpecError, match="names 1 layers, the model has 2"):
        place(Placement((ROUGH,)), layers, seed=0, chip=0)
    with pytest.raises(SpecError, match="there is no layer 0 head 2"):
        Placement((ROUGH, ROUGH), frozenset({(0, 2)})).require(2, 2)
    with pytest.raises(SpecError, match="names 2 layers, the model has 3"):
        Placement((ROUGH, ROUGH)).require(3, 2)
