"""Intervals that hold the truth as often as they say, and not without the spread."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.study.resample import interval95, perplexities


def test_the_first_row_is_the_data():
    one = np.array([[1.0, 3.0], [2.0, 4.0]])
    two = np.array([[0.0, 2.0]])
    found = perplexities([one, two], resamples=3)
    np.testing.assert_allclose(found[0], [(2**2 + 2**3) / 2, 2])
    assert found.shape == (4, 2)


def test_windows_move_all_models_together():
    bits = np.random.default_rng(0).normal(2, 1, (1, 60))
    found = perplexities([bits, bits + 1], resamples=20)
    np.testing.assert_allclose(found[:, 1], 2 * found[:, 0], rtol=1e-12)
    assert np.std(np.log2(found[1:, 0])) == pytest.approx(60**-0.5, rel=0.5)


def held(trainings, trials=200):
    """How often the 95 % interval of a difference of two models holds it.

    The first two have one training each; binomial error .015 at .95.
    """
    draw = np.random.default_rng(5)
    n = 0
    for trial in range(trials):
        level = 0.05 * draw.normal(size=2 + trainings)
        bits = 2.0 + level[:, None] + 0.1 * draw.normal(size=(2 + trainings, 40))
        models = [bits[:1], bits[1:2], *([bits[2:]] if trainings else [])]
        found = perplexities(models, resamples=200, seed=trial)
        low, high = interval95(np.log2(found[1:, 1] / found[1:, 0]))
        n += low < 0 < high
    return n / trials


def test_spread_of_one_model_serves_those_with_one_training():
    assert 0.89 < held(trainings=4) < 0.995


def test_without_it_the_interval_is_too_short():
    assert held(trainings=0) < 0.75


def test_intervals_keep_what_lies_beyond():
    values = np.concatenate([np.full(10, np.inf), np.arange(190.0)])
    assert interval95(values) == (4.0, np.inf)
    assert np.isnan(interval95(np.array([]))).all()


def test_other_windows_are_refused():
    with pytest.raises(SpecError, match="measured on 3 windows, another on 4 windows"):
        perplexities([np.ones((1, 4)), np.ones((1, 3))])
