"""The p = 1 read-out in prefix sums against the direct one."""

import numpy as np
import pytest

from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, forward
from oscsim.models.masks import Masks
from oscsim.models.prefix_sums import illegal_pairs, read_in_prefix_sums
from tests.bridge.language import drawn

BASE = {
    "attention": "oscillator",
    "vocab_size": 11,
    "d_model": 16,
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 20,
    "d_osc": 5,
    "max_len": 9,
    "n_outputs": 3,
}


def model(length=0.999, **changes):
    """Weights whose longest anchor has this length."""
    config = FixedQueryConfig(**(BASE | changes))
    weights = {k: v.astype(np.float64) for k, v in drawn(config).items()}
    for name in [n for n in weights if n.endswith("anchors")]:
        weights[name] *= length / np.linalg.norm(weights[name], axis=-1).max()
    return config, weights


IDS = np.array([[3, 1, 4, 1, 5, 9, 2, 6, 5], [2, 7, 1, 8, 2, 8, 0, 0, 0]])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("mask_readout", [True, False])
def test_both_read_outs_are_equal_where_the_clamp_does_not_act(causal, mask_readout):
    config, weights = model(causal=causal, mask_readout=mask_readout)
    direct, prefix = Pass(), Pass(readout="prefix")
    expected = forward(weights, config, IDS, run=direct)
    found = forward(weights, config, IDS, run=prefix)
    assert direct.clamped == prefix.clamped == 0
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_they_differ_where_it_acts_and_the_pairs_are_counted():
    config, weights = model(length=3.0, causal=True)
    direct, prefix = Pass(), Pass(readout="prefix")
    expected = forward(weights, config, IDS, run=direct)
    found = forward(weights, config, IDS, run=prefix)
    assert prefix.clamped > 0
    assert np.abs(found - expected).max() > 1e-3


def test_sums_are_those_of_a_loop():
    config, _ = model(causal=True, padding_idx=None)
    rng = np.random.default_rng(2)
    state = rng.normal(size=(2, 2, 9, 5))
    state /= np.linalg.norm(state, axis=-1, keepdims=True)
    anchors, value = 0.4 * rng.uniform(-1, 1, (2, 9, 5)), rng.normal(size=(2, 2, 9, 4))
    masks = Masks.of(config, IDS, np.arange(2))
    found = read_in_prefix_sums(state, anchors, value, masks, True)
    for b, h, i in np.ndindex(2, 2, 9):
        a = np.array([1 + state[b, h, i] @ anchors[h, j] for j in range(i + 1)])
        np.testing.assert_allclose(found[b, h, i], a @ value[b, h, : i + 1] / a.sum())
    assert illegal_pairs(state, anchors, masks) == 0


def test_illegal_pairs_are_counted_over_those_that_exist():
    config, _ = model(causal=True, padding_idx=None)
    masks = Masks.of(config, IDS[:1], np.arange(1))
    state = np.tile([1.0, 0, 0, 0, 0], (1, 2, 9, 1))
    anchors = np.zeros((2, 9, 5))
    anchors[1, 3, 0] = -1.5  # seen by queries 3..8
    assert illegal_pairs(state, anchors, masks) == 6


def test_work_is_counted_as_prefix_sums():
    config, weights = model(causal=True)
    direct, prefix = Pass(), Pass(readout="prefix")
    for run in (direct, prefix):
        forward(weights, config, IDS[:1], run=run)
    rows = 2 * config.n_layers * 9
    assert prefix.counts.total("recip") == rows
    per_row = config.d_osc * config.d_head
    assert prefix.counts.actions["value", "mac"] == 2 * rows * per_row
    assert prefix.counts.actions["normalise", "add"] == 0
    kept = prefix.counts.actions["memory", "sram_write_byte"]
    assert kept == direct.counts.actions["memory", "sram_write_byte"] / 2


def test_attention_that_is_asked_for_is_read_out_directly():
    config, weights = model(causal=True)
    run = Pass(readout="prefix", attention=[])
    forward(weights, config, IDS[:1], run=run)
    np.testing.assert_allclose(np.sum(run.attention, axis=-1), 1.0)
