"""A transformer's other ways are counted as those of any softmax model."""

import pytest

from oscsim.energy.baselines import Shape
from oscsim.energy.rivals import analog_softmax, in_memory_softmax, linear_attention
from oscsim.energy.window_shape import WindowShape
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.models.phase_counting import transformer_body

CONFIG = TransformerConfig(
    vocab_size=11, d_model=8, n_layers=3, n_heads=2, d_ff=12, max_len=9
)
WINDOWS = WindowShape(CONFIG, windows=4, time=6)
SHAPE = Shape(3, 2, 8, 12, 2, [6] * 4, True, "softplus", 11)
BODY = ("projection", "ffn")


def test_sizes_are_those_of_a_fixed_query_model():
    names = ("n_layers", "n_heads", "d_model", "d_ff", "d_head", "n_outputs")
    for name in (*names, "causal", "rows", "pairs"):
        assert getattr(WINDOWS, name) == getattr(SHAPE, name), name
    assert list(WINDOWS.lengths) == list(SHAPE.lengths)
    phases = KuramotoConfig(vocab_size=11, n_osc=6, n_layers=1, ffn="off", max_len=9)
    assert (WindowShape(phases, 1, 2).d_model, WindowShape(phases, 1, 2).d_ff) == (
        6,
        None,
    )


@pytest.mark.parametrize("reuse", [1.0, 16.0])
@pytest.mark.parametrize("count", [linear_attention, in_memory_softmax, analog_softmax])
def test_the_attention_stage_does_not_depend_on_the_body(count, reuse):
    """The same sizes around LayerNorm and GELU, and around RMS norm and SwiGLU."""
    mine, other = (count(shape, reuse=reuse) for shape in (WINDOWS, SHAPE))
    body = transformer_body(CONFIG, 4, 6, reuse=reuse)
    stage = {key: n for key, n in mine.actions.items() if key[0] not in BODY}
    for key, number in stage.items():
        if key[0] != "memory":
            assert number == other.actions[key], key
    written = ("memory", "sram_write_byte")
    assert mine.actions.get(written) == other.actions.get(written)
    assert {k: n for k, n in mine.actions.items() if k[0] in BODY} == {
        k: n for k, n in body.actions.items() if k[0] in BODY
    }
    assert mine.tokens == body.tokens == 24


def test_what_is_refused():
    with pytest.raises(SpecError, match=r"windows must be at least 1, got 0"):
        WindowShape(CONFIG, 0, 6)
    with pytest.raises(SpecError, match=r"time must be at least 1, got -1"):
        WindowShape(CONFIG, 1, -1)
    phases = KuramotoConfig(vocab_size=11, n_osc=6, n_layers=1, d_ff=4, max_len=9)
    with pytest.raises(SpecError, match=r"a kuramoto model has no other softmax"):
        linear_attention(WindowShape(phases, 1, 6))
