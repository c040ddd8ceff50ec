"""The power law of the gap to softmax, on data whose law is known."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.study.scaling import scaling_law

SOFTMAX_PPL = 5.6
DIMENSIONS = (2, 4, 8, 16, 32)


def made(alpha=0.6, amplitude=3.5, seeds=3, windows=400, spread=0.0, noise=0.02):
    """Bits of models whose perplexities follow the law, windows in common."""
    draw = np.random.default_rng(1)
    common = draw.normal(0, 0.3, windows)
    common -= common.mean()

    def bits(perplexity):
        level = np.log2(perplexity) + spread * draw.normal(size=(seeds, 1))
        own = noise * draw.normal(size=(seeds, windows))
        return level + common + own - own.mean(axis=1, keepdims=True)

    models = {d: bits(SOFTMAX_PPL + amplitude * d**-alpha) for d in DIMENSIONS}
    return models, bits(SOFTMAX_PPL)


def test_a_law_without_spread_is_found_exactly():
    law = scaling_law(*made(noise=0.0), resamples=50)
    assert law.alpha == pytest.approx(0.6, abs=1e-9)
    assert law.amplitude == pytest.approx(3.5, rel=1e-9)
    assert law.residual < 1e-9
    assert law.falls
    assert law.dropped == 0
    assert law.gap(8) == pytest.approx(3.5 * 8**-0.6)


def test_the_interval_holds_the_law_and_not_another():
    law = scaling_law(*made(spread=0.01, seeds=12), resamples=400)
    low, high = law.alpha95
    assert low < 0.6 < high
    assert high < 0.9
    assert low > 0.3


def test_one_seed_hides_the_spread_between_trainings():
    wide = scaling_law(*made(spread=0.02), resamples=300)
    models, softmax = made(spread=0.02)
    one = scaling_law({d: m[:1] for d, m in models.items()}, softmax[:1], resamples=300)
    width = [law.alpha95[1] - law.alpha95[0] for law in (wide, one)]
    assert width[0] > 2 * width[1]
    assert one.n_seeds == (1,) * 5


def test_resampling_is_reproducible():
    first, second = (scaling_law(*made(), resamples=20, seed=4) for _ in range(2))
    assert first == second


def test_refusals():
    models, softmax = made(windows=50)
    with pytest.raises(SpecError, match="three dimensions at least, got 2"):
        scaling_law({2: models[2], 4: models[4]}, softmax)
    with pytest.raises(SpecError, match="measured on 50 windows"):
        scaling_law(models, softmax[:, :40])
    with pytest.raises(SpecError, match="d_osc 4 is not worse"):
        scaling_law(models | {4: softmax - 0.1}, softmax)
    with pytest.raises(SpecError, match="says nothing of 64"):
        scaling_law(models, softmax, resamples=5).gap(64)
