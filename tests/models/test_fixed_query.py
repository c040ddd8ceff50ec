"""The forward pass: masks, the call to the oscillators, what is kept."""

import numpy as np
import pytest

from oscsim.counts import Counts
from oscsim.models.fixed_query import Masks, Pass, forward, settle_digital
from tests.bridge.runs import bundled, random_model, some
from tests.substrate.drives import drive

IDS = np.array([[1, 4, 7, 0], [2, 0, 0, 0], [3, 5, 6, 8]])


def masks(ids=IDS, items=None, **fields):
    model = random_model(2, **fields)
    return Masks.of(model.config, ids, np.arange(len(ids)) if items is None else items)


def test_padding_neither_pulls_nor_is_read_nor_exists():
    found = masks()
    np.testing.assert_array_equal(found.live, IDS > 0)
    for item, i, j in np.ndindex(3, 4, 4):
        assert found.coupled[item, i, j] == (IDS[item, j] > 0)
        assert found.readable[item, i, j] == (IDS[item, j] > 0)
        assert found.connected[item, i, j] == (IDS[item, i] > 0 and IDS[item, j] > 0)


def test_published_models_read_padding_which_pulls_nothing():
    found = masks(mask_readout=False)
    assert found.live.all()
    assert found.readable.all()
    assert found.connected.all()
    np.testing.assert_array_equal(
        found.coupled, np.broadcast_to(IDS[:, None] > 0, found.coupled.shape)
    )


def test_a_causal_query_sees_itself_and_what_came_before():
    found = masks(causal=True)
    for item, i, j in np.ndindex(3, 4, 4):
        assert found.coupled[item, i, j] == (j <= i and IDS[item, j] > 0)
        assert found.readable[item, i, j] == found.coupled[item, i, j]


def test_without_a_padding_token_every_position_is_one():
    found = masks(padding_idx=None)
    assert found.live.all()
    assert found.coupled.all()


def test_fillers_do_not_exist():
    for mask_readout in (True, False):
        found = masks(items=np.array([0, -1, 2]), mask_readout=mask_readout)
        assert not found.live[1].any()
        assert not found.connected[1].any()
        assert found.live[2].all()


def test_the_digital_state_is_the_unit_drive():
    rng = np.random.default_rng(1)
    asked = drive(rng.random((2, 3, 4, 5)), rng.normal(size=(3, 5, 3)))
    found = settle_digital(asked, Counts())
    for item, head, query in np.ndindex(2, 3, 4):
        h = sum(
            asked.coupling[item, head, query, j] * asked.anchors[head, j]
            for j in range(5)
        )
        np.testing.assert_allclose(found[item, head, query], h / np.linalg.norm(h))


def test_the_oscillators_are_asked_once_a_layer_with_what_they_need():
    model = random_model(3)
    asked = []

    def watch(one, counts):
        asked.append(one)
        return settle_digital(one, counts)

    items = np.array([7, 3, 9])
    forward(model.weights, model.config, IDS, items=items, run=Pass(watch))
    assert [one.layer for one in asked] == [0, 1]
    for one in asked:
        np.testing.assert_array_equal(one.items, items)
        assert one.coupling.shape == (3, 2, 4, 4)
        assert one.coupling.min() >= 0
        assert (one.coupling[:, :, :, IDS[0] == 0][0] == 0).all()
        np.testing.assert_array_equal(
            one.anchors, model.weights[f"layers.{one.layer}.attn.anchors"][:, :4]
        )


def test_another_state_gives_another_output_and_its_attention():
    model = random_model(3)
    first = np.zeros((3, 2, 4, 3))
    first[..., 0] = 1.0
    run = Pass(lambda _drive, _counts: first, attention=[])
    found = forward(model.weights, model.config, IDS, run=run)
    assert np.abs(found - forward(model.weights, model.config, IDS)).max() > 1e-3
    anchors = model.weights["layers.0.attn.anchors"][:, :4]
    for item, head, query in np.ndindex(3, 2, 4):
        weight = np.maximum(1 + anchors[head, :, 0], 0) * (IDS[item] > 0)
        np.testing.assert_allclose(
            run.attention[0][item, head, query], weight / weight.sum()
        )


@pytest.mark.parametrize("p", [1, 2, 4])
def test_the_read_out_is_rectified_and_raised_to_p(p):
    model = random_model(2, p=p)
    state = np.tile([0.6, -0.8], (3, 2, 4, 1)) * 3
    run = Pass(lambda _drive, _counts: state, attention=[])
    forward(model.weights, model.config, IDS, run=run)
    anchors = model.weights["layers.0.attn.anchors"][:, :4]
    weight = np.maximum(1 + anchors @ [1.8, -2.4], 0) ** p
    np.testing.assert_allclose(
        run.attention[0][2, :, 1], weight / weight.sum(axis=-1, keepdims=True)
    )
    assert (weight == 0).any()


def test_a_sentence_does_not_depend_on_its_padding_where_padding_is_masked():
    longer = np.pad(IDS, ((0, 0), (0, 3)))
    for fields in ({}, {"causal": True}):
        model = random_model(2, **fields)
        short = forward(model.weights, model.config, IDS)
        full = forward(model.weights, model.config, longer)
        live = IDS > 0
        np.testing.assert_allclose(full[:, :4][live], short[live], atol=1e-12)
    published = random_model(2, mask_readout=False)
    short, full = (
        forward(published.weights, published.config, ids) for ids in (IDS, longer)
    )
    assert np.abs(full[:, :4] - short).max() > 1e-3


def test_counts_do_not_depend_on_padding_or_fillers():
    model = random_model(2)

    def counts(ids, **how):
        run = Pass()
        forward(model.weights, model.config, ids, run=run, **how)
        return run.counts

    plain = counts(IDS)
    assert plain.tokens == 8
    assert counts(np.pad(IDS, ((0, 0), (0, 3)))) == plain
    filled = np.concatenate([IDS, IDS])
    assert counts(filled, items=np.array([0, 1, 2, -1, -1, -1])) == plain


def test_a_trained_model_attends_beyond_chance():
    """Its decisions come from its weights: shuffled anchors change them."""
    model, data = bundled(), some(100)
    weights = {name: w.astype(np.float64) for name, w in model.weights.items()}
    name = "layers.0.attn.anchors"
    shuffled = weights | {name: weights[name][:, ::-1].copy()}
    right = [
        (forward(w, model.config, data.ids, positions=data.positions)[:, 0] > 0)
        == (data.labels == 1)
        for w in (weights, shuffled)
    ]
    assert right[0].mean() > 0.95
    assert right[1].mean() < 0.9
