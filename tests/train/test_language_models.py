"""Torch modules of the language models against their numpy forward passes."""

from itertools import product

import numpy as np
import pytest

from oscsim.bridge.byte_text import windows
from oscsim.errors import SpecError
from oscsim.models import kuramoto_attention, transformer
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    TransformerConfig,
    kuramoto_shapes,
    transformer_shapes,
)

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from oscsim.train.kuramoto import KuramotoModel, flowed  # noqa: E402
from oscsim.train.language import (  # noqa: E402
    LanguageRecipe,
    bits_per_byte,
    fit_language,
)
from oscsim.train.transformer import TransformerModel  # noqa: E402

IDS = np.random.default_rng(0).integers(0, 30, (3, 17))
SWITCHES = {
    "bound": ("coord", "norm", "unit"),
    "value": ("raw", "linear"),
    "gates": (True, False),
    "ffn": ("raw", "lift", "off"),
    "omega": ("learned", "zero"),
    "n_heads": (1, 2),
    "phase_convention": ("wrapped", "unwrapped"),
}
TRANSFORMER = TransformerConfig(
    vocab_size=30, d_model=16, n_layers=2, n_heads=2, d_ff=11, max_len=20
)


def kuramoto(**changes):
    fields = {"vocab_size": 30, "n_osc": 8, "n_layers": 2, "max_len": 20}
    fields["d_ff"] = None if changes.get("ffn") == "off" else 10
    return KuramotoConfig(**(fields | changes))


def perturbed(model):
    torch.manual_seed(1)
    model = model.double()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model


def both(model, forward):
    weights = {name: t.numpy() for name, t in model.state_dict().items()}
    with torch.no_grad():
        expected = model(torch.from_numpy(IDS)).numpy()
    return forward(weights, model.config, IDS), expected


@pytest.mark.parametrize("share_metric", [False, True])
def test_kuramoto_modules_agree_with_numpy_under_every_switch(share_metric):
    for values in product(*SWITCHES.values()):
        changes = dict(zip(SWITCHES, values, strict=True))
        if share_metric and not changes["gates"]:
            continue
        model = perturbed(KuramotoModel(kuramoto(share_metric=share_metric, **changes)))
        shapes = {n: tuple(t.shape) for n, t in model.state_dict().items()}
        assert shapes == kuramoto_shapes(model.config)
        found, expected = both(model, kuramoto_attention.forward)
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=str(changes))


def test_a_flow_agrees_with_numpy_and_has_a_gradient_without_a_field():
    for bound, n_heads, ffn in product(("coord", "unit"), (1, 2), ("raw", "off")):
        changes = {"bound": bound, "n_heads": n_heads, "ffn": ffn, "update": "flow"}
        model = perturbed(KuramotoModel(kuramoto(**changes)))
        found, expected = both(model, kuramoto_attention.forward)
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=str(changes))
        mapped = model.config.model_copy(update={"update": "map"})
        weights = {name: t.numpy() for name, t in model.state_dict().items()}
        other = kuramoto_attention.forward(weights, mapped, IDS)
        assert np.abs(other - expected).max() > 1e-3
    still = torch.zeros(3, requires_grad=True)
    flowed(still, still, torch.ones(3)).sum().backward()
    torch.testing.assert_close(still.grad, torch.ones(3))


def test_transformer_agrees_with_numpy():
    model = perturbed(TransformerModel(TRANSFORMER))
    shapes = {n: tuple(t.shape) for n, t in model.state_dict().items()}
    assert shapes == transformer_shapes(TRANSFORMER)
    np.testing.assert_allclose(*both(model, transformer.forward), atol=1e-12)


def text(n=4000):
    """Bytes with structure: a model that learns falls below their entropy."""
    words = np.frombuffer(b"the oscillators settle ", np.uint8)
    return np.tile(words, n // len(words) + 1)[:n].copy()


def recipe(**changes):
    fields = {"steps": 12, "batch": 4, "context": 16, "learning_rate": 1e-2}
    return LanguageRecipe(**(fields | {"points": 3, "warmup": 2} | changes))


def make():
    return KuramotoModel(
        KuramotoConfig(vocab_size=256, n_osc=8, n_layers=1, d_ff=8, max_len=16)
    )


def test_training_learns_and_a_seed_fixes_it():
    runs = [
        fit_language(make, text(), text(1000), recipe(steps=60), seed=s)
        for s in (0, 0, 1)
    ]
    curves = [[p.validation_bpc for p in history] for _, history in runs]
    assert curves[0][-1] < 0.6 * 8
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]


def test_a_stopped_training_goes_on_to_the_same_bits(tmp_path):
    state = tmp_path / "run.partial"
    whole, history = fit_language(make, text(), text(1000), recipe(), seed=3)

    class StopError(Exception):
        pass

    def stop(point):
        if point.step == 8:
            raise StopError

    with pytest.raises(StopError):
        fit_language(
            make, text(), text(1000), recipe(), seed=3, state=state, on_point=stop
        )
    resumed, again = fit_language(
        make, text(), text(1000), recipe(), seed=3, state=state
    )
    assert history == again
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


def test_the_state_of_another_run_is_refused(tmp_path):
    state = tmp_path / "run.partial"
    fit_language(make, text(), text(1000), recipe(), seed=3, state=state)
    with pytest.raises(SpecError, match=r"another seed \(3, asked for was 4\)"):
        fit_language(make, text(), text(1000), recipe(), seed=4, state=state)


def test_bits_per_byte_of_a_model_that_knows_nothing():
    class Uniform(torch.nn.Module):
        def forward(self, ids):
            return torch.zeros(*ids.shape, 256)

    assert bits_per_byte(Uniform(), windows(text(500), 16)) == pytest.approx(8.0)


@pytest.mark.parametrize("name", ["steps", "batch", "context", "points"])
def test_a_recipe_of_nothing_is_refused(name):
    with pytest.raises(SpecError, match=f"{name} must be at least 1"):
        recipe(**{name: 0})


def test_the_rate_rises_and_falls():
    chosen = recipe(steps=100, warmup=10)
    rates = [chosen.rate(step) for step in range(100)]
    assert max(rates) < 1e-2
    assert rates[0] == pytest.approx(1e-3, rel=0.01)
    assert np.argmax(rates) in (9, 10)
    assert rates[-1] == pytest.approx(chosen.final * 1e-2, rel=0.1)
