"""Kuramoto attention models on chips: ideal is digital, turns have their price."""

import itertools

import numpy as np
import pytest

from oscsim.bridge.byte_text import Windows
from oscsim.bridge.phases import (
    bits_of,
    phase_chip,
    phase_model,
    phase_pass_on,
    winding_cost,
)
from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.errors import DeviceError, SpecError
from oscsim.models.kuramoto_attention import forward
from oscsim.models.phase_counting import digital_kuramoto
from oscsim.substrate.device import RUNGS, Device
from oscsim.substrate.tally import SettleTally
from tests.models.kuramoto_models import K, T, model, tokens


def on_chip(config, weights, device, *, ids=None, update="map", counts=None, **chip):
    chip = phase_chip(device, config, **({"seed": 1, "chip": 0} | chip))
    run = phase_pass_on(chip, 0, SettleTally(), update=update)
    run.counts = Counts() if counts is None else counts
    return forward(weights, config, tokens() if ids is None else ids, run=run)


@pytest.mark.parametrize("bound", ["coord", "unit", "norm"])
@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("preset", ["ideal", "ring-65nm", "lc-board"])
def test_the_ideal_map_is_the_digital_model(preset, n_heads, bound):
    config, weights = model(bound=bound, n_heads=n_heads)
    device = Device.load(preset).at_rung("ideal")
    found = on_chip(config, weights, device)
    expected = forward(weights, config, tokens())
    np.testing.assert_allclose(found, expected, atol=1e-10)
    flowed = on_chip(config, weights, device, update="flow")
    assert np.abs(flowed - expected).max() > 0.01


@pytest.mark.parametrize("update", ["map", "flow"])
def test_every_rung_adds_something(update):
    config, weights = model()
    device = Device.load("ring-65nm").changed(settle_time=1e-8)
    found = [
        on_chip(config, weights, device.at_rung(rung), update=update)
        for rung in RUNGS[1:]
    ]
    assert all(np.isfinite(one).all() for one in found)
    for one, other in itertools.pairwise(found):
        assert np.abs(one - other).max() > 1e-6


def test_a_model_with_turns_needs_a_counter_to_be_itself():
    config, weights = model(phase_convention="unwrapped")
    weights["embed.weight"] = 4 * weights["embed.weight"]
    ideal = Device.load("ring-65nm").at_rung("ideal")
    digital = forward(weights, config, tokens())
    counted = on_chip(config, weights, ideal.changed(winding_counter=True))
    np.testing.assert_allclose(counted, digital, atol=1e-10)
    wrapped = config.model_copy(update={"phase_convention": "wrapped"})
    lost = on_chip(config, weights, ideal)
    np.testing.assert_allclose(lost, forward(weights, wrapped, tokens()), atol=1e-10)
    assert np.abs(lost - digital).max() > 0.01


def test_the_cost_of_lost_turns_in_bits():
    config, weights = model(phase_convention="unwrapped")
    weights["embed.weight"] = 4 * weights["embed.weight"]
    text = Windows(tokens(70), tokens(70, seed=2))
    cost = winding_cost(weights, config, text)
    wrapped = config.model_copy(update={"phase_convention": "wrapped"})
    for found, convention in ((cost.kept, config), (cost.wrapped, wrapped)):
        logits = forward(weights, convention, text.ids)
        p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        own = np.take_along_axis(p, text.targets[..., None], -1)
        assert found == pytest.approx(-np.log2(own).mean(), abs=1e-12)
    assert cost.kept != cost.wrapped
    assert 0 < cost.outside < 1
    said = str(cost)
    assert f"{cost.wrapped:.3f} bits per token instead of {cost.kept:.3f}" in said
    assert "without a winding counter" in said


def test_bits_of_a_uniform_guess():
    bits = bits_of(np.zeros((2, 3, 8)), np.ones((2, 3), int))
    np.testing.assert_allclose(bits, 3.0, atol=1e-15)
    shifted = bits_of(np.full((2, 3, 8), 1e4), np.ones((2, 3), int))
    np.testing.assert_allclose(shifted, 3.0, atol=1e-10)


def test_a_chip_leaves_the_digital_part_as_it_is_and_replaces_the_update():
    config, weights = model()
    counts = Counts()
    on_chip(config, weights, Device.load("ring-65nm"), counts=counts)
    digital = digital_kuramoto(config, 5, T)
    same = [key for key in digital.actions if key[0] != "value"]
    assert all(counts.actions[key] == digital.actions[key] for key in same)
    assert not [key for key in counts.actions if key[0] == "value"]
    physical = {key for key in counts.actions if key not in digital.actions}
    assert {action for _, action in physical} == {
        "coupling_write",
        "state_read",
        "oscillator_s",
        "coupler_s",
        "anchor_s",
    }
    assert counts.actions["readout", "state_read"] == 2 * 3 * 5 * T * K
    ledger = account(counts, Prices.of_device(Device.load("ring-65nm")), Library.load())
    assert all(entry.joules > 0 for entry in ledger.entries)


def test_programs_take_the_model_s_own_switches():
    config, _ = model(self_term="co-rotating", phase_convention="unwrapped")
    needed = phase_model(config)
    assert (needed.n_layers, needed.max_len, needed.n_osc) == (3, 8, K)
    assert needed.self_term == "co-rotating"
    assert needed.unwrapped
    weights = model()[1]
    ideal = Device.load("ideal")
    frozen, turning = (
        on_chip(model(self_term=kind)[0], weights, ideal, update="flow")
        for kind in ("frozen", "co-rotating")
    )
    assert np.abs(frozen - turning).max() > 1e-3


def test_a_chip_s_window_does_not_depend_on_its_neighbours():
    config, weights = model()
    device = Device.load("ring-65nm")
    whole = on_chip(config, weights, device, update="flow")
    first = on_chip(config, weights, device, ids=tokens()[:1], update="flow")
    np.testing.assert_allclose(first, whole[:1], atol=1e-9)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (
            lambda c, w: phase_model(c.model_copy(update={"value": "linear"})),
            SpecError,
            "which no coupling of oscillators does: only the rung digital",
        ),
        (
            lambda c, w: phase_chip(Device.load("sphere-generic"), c, seed=0, chip=0),
            DeviceError,
            "Kuramoto attention needs phases",
        ),
        (
            lambda c, w: winding_cost(w, c, Windows(tokens(), tokens())),
            SpecError,
            "only a model with phase_convention 'unwrapped'",
        ),
    ],
)
def test_what_cannot_run_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make(*model())
