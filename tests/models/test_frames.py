"""Models of frames: configuration, mean over what exists, counts."""

import numpy as np
import pytest
from pydantic import ValidationError

from oscsim.energy.baselines import Shape, digital_oscillator, digital_softmax
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.models.fixed_query import Pass, forward
from oscsim.models.layers import mean_over
from tests.bridge.digits import FRAMES, frame_model


def changed(**fields):
    return FixedQueryConfig.model_validate(FRAMES.model_dump() | fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"task": "ids"}, "n_features belongs to task 'digits'"),
        ({"n_features": None}, "n_features belongs to task 'digits'"),
        ({"vocab_size": 5}, "vocab_size must be 0 with n_features, got 5"),
        (
            {"n_features": None, "task": "ids"},
            "vocab_size must be 1 or more, got 0",
        ),
        ({"causal": True}, "causal = false and padding_idx = null, got True and None"),
        ({"padding_idx": 0}, "padding_idx = null, got False and 0"),
        ({"n_outputs": 1}, "one output per digit, at least 2; n_outputs is 1"),
        ({"feature_mean": None}, "have None and 3 values, n_features is 3"),
        ({"feature_mean": (0.0,)}, "have 1 and 3 values, n_features is 3"),
        ({"feature_std": (1.0, 0.0, 1.0)}, "feature_std.1"),
        ({"feature_mean": (1.0, float("inf"), 1.0)}, "feature_mean.1"),
    ],
)
def test_a_wrong_configuration_is_refused(fields, expected):
    with pytest.raises(ValidationError) as error:
        changed(**fields)
    assert expected in str(error.value)


def test_feature_scales_survive_json():
    assert FixedQueryConfig.model_validate_json(FRAMES.model_dump_json()) == FRAMES
    listed = changed(feature_mean=[1.0, 2.0, 3.0])
    assert listed.feature_mean == (1.0, 2.0, 3.0)


def test_a_projection_for_the_embedding_and_no_final_norm():
    frames = tensor_shapes(FRAMES)
    ids = FRAMES.model_copy(update={"n_features": None, "vocab_size": 5})
    assert frames.keys() - tensor_shapes(ids).keys() == {"proj.weight", "proj.bias"}
    assert tensor_shapes(ids).keys() - frames.keys() == {
        "embedding.weight",
        "norm.weight",
        "norm.bias",
    }
    assert frames["proj.weight"] == (8, 3)


def test_the_mean_reads_existing_positions_only():
    x = np.arange(24.0).reshape(2, 4, 3)
    x[0, 2:] = np.nan
    present = np.array([[True, True, False, False], [False] * 4])
    np.testing.assert_array_equal(mean_over(x, present), [[1.5, 2.5, 3.5], [0, 0, 0]])
    assert mean_over(x.astype(np.float32), present).dtype == np.float32


def test_padding_and_fillers_change_no_clip():
    """Also where padded frames are read out: the mean is over frames that exist."""
    model = frame_model()
    rng = np.random.default_rng(0)
    frames = rng.normal(size=(3, 5, 3))
    frames[1, 2:] = np.nan
    alone = forward(model.weights, model.config, frames[1:2, :2])
    padded = forward(model.weights, model.config, frames)
    np.testing.assert_allclose(padded[1:2], alone, rtol=0, atol=1e-13)
    blind = forward(model.weights, model.config, np.nan_to_num(frames))
    assert np.abs(blind[1:2] - alone).max() > 1e-3
    items = np.array([0, 1, -1])
    filled = forward(model.weights, model.config, frames, items=items)
    np.testing.assert_allclose(filled[:2], padded[:2], rtol=0, atol=1e-13)


@pytest.mark.parametrize("attention", ["oscillator", "softmax"])
def test_counts_are_those_of_the_closed_form(attention):
    """Lengths 5 and 2, and a filler that does nothing."""
    d_osc = 3 if attention == "oscillator" else None
    model = frame_model(attention=attention, d_osc=d_osc)
    frames = np.ones((3, 5, 3))
    frames[1, 2:] = np.nan
    run = Pass()
    forward(model.weights, model.config, frames, items=np.array([0, 1, -1]), run=run)
    shape = Shape(
        n_layers=2,
        n_heads=2,
        d_model=8,
        d_ff=12,
        d_osc=3,
        lengths=[5, 2],
        causal=False,
        coupling="softplus",
        n_outputs=4,
        head_rows=2,
        n_features=3,
    )
    rival = digital_softmax if d_osc is None else digital_oscillator
    expected = rival(shape)
    assert dict(run.counts.actions) == dict(expected.actions)
    assert run.counts.tokens == expected.tokens == 7
    assert run.counts.total("token_io_byte") == 7 * 3 + 2 * 4 * 2
    assert run.counts.total("recip") - 2 * 2 * 7 == 2
