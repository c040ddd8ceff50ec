"""Intervals that hold the truth as often as they say, and not without the spread."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.study.resample import interval95, moved_columns, perplexities


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


def test_what_moves_a_training_multiplies_its_perplexity():
    """One bit more in the second training of the first model: 2^0 and 2^1, mean 1.5."""
    models = [np.full((2, 6), 3.0), np.full((1, 6), 2.0)]
    moved = [np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros((2, 1))]
    found = perplexities(models, moved=moved, resamples=2)
    np.testing.assert_allclose(found, [[8, 4], [12, 4], [8, 4]])


def test_nothing_that_moves_changes_no_bit():
    models = list(np.random.default_rng(3).normal(2, 0.1, (3, 2, 40)))
    still = [np.zeros((30, 2))] * 3
    first = perplexities(models, resamples=30)
    np.testing.assert_array_equal(
        first, perplexities(models, moved=still, resamples=30)
    )


def test_what_moves_a_family_stands_in_its_order():
    moved = {8: np.full((3, 1), 8.0), 2: np.full((3, 2), 2.0)}
    two, eight, other = moved_columns(moved, (2, 8), np.zeros((4, 9)))
    assert (two.shape, eight.shape, other.shape) == ((3, 2), (3, 1), (3, 4))
    assert (two[0, 0], eight[0, 0], other[0, 0]) == (2.0, 8.0, 0.0)
    assert moved_columns(None, (2, 8), np.zeros((4, 9))) is None
