"""Accuracies, agreement and the interval over chips, by hand."""

import numpy as np
import pytest
from scipy import stats

from oscsim.bridge.compare import compare, interval95
from tests.bridge.runs import hand_made

LABELS = [1, 0, 1, 0]
HARD = [True, True, False, False]
DIGITAL = [2.0, -1.0, -0.5, -3.0]
LOGITS = [
    [[1.0, -2.0, 0.5, -1.0], [-1.0, -2.0, 0.5, 1.0]],
    [[1.0, 2.0, -0.5, -1.0], [1.0, -2.0, -4.5, -1.0]],
]


def test_two_chips_two_repeats_four_sentences():
    """Right answers + - + -.

    Digital + - - -: right on both hard ones, on 3 of 4 in all. Chip 0 decides
    + - + - and - - + +: hard 2/2 and 1/2. Chip 1 + + - - and + - - -: hard 1/2
    and 2/2. Equal to the digital decisions: 3, 1, 3 and 4 of 4.
    """
    result = compare(hand_made(LOGITS, DIGITAL, LABELS, HARD))
    assert result.metric == "hard_accuracy"
    assert result.n_items == 2
    assert result.chips == 2
    assert result.digital == 1.0
    assert result.digital_all == 0.75
    np.testing.assert_array_equal(result.per_chip, [0.75, 0.75])
    assert result.substrate == 0.75
    assert result.substrate_all == (4 + 2 + 2 + 3) / 16
    assert result.agreement == (3 + 1 + 3 + 4) / 16
    assert result.max_abs_error == 4.0
    assert result.ci95 == (0.75, 0.75)
    assert result.tally.oscillators == 2


def test_the_mean_over_a_chip_is_not_the_mean_over_a_repeat():
    """Both repeats of chip 0 fail, both of chip 1 are right."""
    logits = [[[-1.0] * 4] * 2, [[1.0] * 4] * 2]
    result = compare(hand_made(logits, [1.0] * 4, [1] * 4, [True] * 4))
    np.testing.assert_array_equal(result.per_chip, [0.0, 1.0])
    assert result.ci95 == (0.0, 1.0)


def test_without_hard_sentences_all_of_them_count():
    result = compare(hand_made(LOGITS, DIGITAL, LABELS, [False] * 4))
    assert result.metric == "accuracy"
    assert result.n_items == 4
    assert result.digital == result.digital_all == 0.75
    assert result.substrate == result.substrate_all == 11 / 16


def test_one_chip_gives_no_interval():
    assert compare(hand_made(LOGITS[:1], DIGITAL, LABELS, HARD)).ci95 is None
    assert interval95(np.array([0.5])) is None


def test_a_logit_of_zero_decides_against():
    result = compare(hand_made([[[0.0] * 4]], [0.0] * 4, LABELS, HARD))
    assert result.substrate == 0.5
    assert result.agreement == 1.0


@pytest.mark.parametrize("n", [2, 3, 8])
def test_the_interval_is_students(n):
    values = 0.5 + 0.1 * np.random.default_rng(n).random(n)
    expected = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
    assert interval95(values) == pytest.approx(expected, rel=1e-12)
    normal = stats.norm.interval(0.95, values.mean(), stats.sem(values))
    assert interval95(values)[0] < normal[0]


def test_the_interval_stays_within_fractions():
    low, high = interval95(np.array([0.9, 1.0, 1.0]))
    assert high == 1.0
    assert 0.8 < low < 0.9
    assert interval95(np.array([0.0, 0.0, 0.1]))[0] == 0.0


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Binomial z-score over 2,000 draws of 5 chips; a normal interval fails."""
    rng = np.random.default_rng(0)
    draws = 0.5 + 0.05 * rng.standard_normal((2000, 5))
    covered = np.mean([low < 0.5 < high for low, high in map(interval95, draws)])
    error = np.sqrt(0.95 * 0.05 / 2000)
    assert abs(covered - 0.95) < 4 * error
    half = 1.96 * draws.std(axis=1, ddof=1) / np.sqrt(5)
    naive = np.mean(np.abs(draws.mean(axis=1) - 0.5) < half)
    assert abs(naive - 0.95) > 4 * error
