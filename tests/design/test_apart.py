"""Models that are equal are told apart as rarely as the interval says."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from oscsim.design.apart import are_apart, is_apart

N = 4000


def pairs(rng, over_chips, over_items, chips=8, items=32, mean=0.0):
    """Differences of equal models: an effect of each chip, and one of each item."""
    c = over_chips * rng.standard_normal((N, chips, 1))
    i = over_items * rng.standard_normal((N, 1, items))
    both = c + i + mean
    return list(both.mean(axis=2)), list(both.mean(axis=1))


@pytest.mark.parametrize(
    ("over_chips", "over_items"), [(1.0, 0.0), (0.0, 1.0), (1.0, 2.0), (1.0, 1.0)]
)
def test_equal_models_are_told_apart_in_one_of_forty(over_chips, over_items):
    """On one side: 2.5 %, whichever scatters more. Each alone would tell 5 % here."""
    found = are_apart(*pairs(np.random.default_rng(3), over_chips, over_items))
    z = (found.mean() - 0.025) / np.sqrt(0.025 * 0.975 / N)
    assert -4 < z < 4


def test_a_difference_beyond_both_is_seen():
    found = are_apart(*pairs(np.random.default_rng(4), 1.0, 2.0, mean=2.5))
    assert found.mean() > 0.95


def test_one_kind_of_scatter_is_the_t_test():
    rng = np.random.default_rng(5)
    for mean in (0.0, 0.3, 0.6, 0.9):
        chips = mean + rng.standard_normal(8)
        low = ttest_1samp(chips, 0).confidence_interval(0.95).low
        assert is_apart(chips, np.empty(0)) == (low > 0)
        assert is_apart(np.empty(0), chips) == (low > 0)


def test_nothing_is_apart_without_two_chips_or_items():
    far = np.full(1, 9.0)
    assert not is_apart(far, np.full(32, 9.0))
    assert not is_apart(np.full(8, 9.0), far)
    assert not is_apart(np.empty(0), np.empty(0))
    assert is_apart(np.full(8, 9.0), np.full(32, 9.0))
