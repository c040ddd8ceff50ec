"""What a configuration refuses, and which tensors it needs."""

import pytest
from pydantic import ValidationError

from oscsim.models.config import FixedQueryConfig, tensor_shapes

SIZES = {
    "vocab_size": 5,
    "d_model": 6,
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 7,
    "max_len": 4,
    "n_outputs": 3,
}


def config(**fields):
    return FixedQueryConfig.model_validate(
        {"attention": "oscillator", "d_osc": 2} | SIZES | fields
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"n_heads": 4}, "n_heads = 4 does not divide d_model = 6"),
        ({"d_osc": None}, "d_osc belongs to oscillator attention"),
        ({"attention": "softmax"}, "d_osc belongs to oscillator attention"),
        ({"vocabulary": ("a", "b")}, "vocabulary has 2 words, vocab_size is 5"),
        ({"d_osc": 1}, "d_osc"),
        ({"d_osc": 65}, "d_osc"),
        ({"n_layers": 0}, "n_layers"),
        ({"n_layers": 2.0}, "n_layers"),
        ({"causal": 1}, "causal"),
        ({"p": 3}, "p\n"),
        ({"coupling": "tanh"}, "coupling"),
        ({"padding_idx": -1}, "padding_idx"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_wrong_configuration_is_refused(fields, expected):
    with pytest.raises(ValidationError) as error:
        config(**fields)
    assert expected in str(error.value)


def test_width_of_a_head():
    assert config().d_head == 3


def test_an_oscillator_model_has_anchors_and_its_twin_has_none():
    shapes = tensor_shapes(config())
    twin = tensor_shapes(config(attention="softmax", d_osc=None))
    anchors = {f"layers.{n}.attn.anchors": (2, 4, 2) for n in range(2)}
    assert anchors.items() <= shapes.items()
    assert {k: v for k, v in shapes.items() if k not in anchors} == twin
    assert len(twin) == 2 + 2 * 13 + 4
    assert twin["layers.1.ffn.3.weight"] == (6, 7)
    assert twin["head.weight"] == (3, 6)
