"""Accuracies, agreement and the interval over chips, by hand."""

import math

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
    and 2/2. Equal to the digital decisions: 3, 1, 3 and 4 of 4. Both chips are
    right as often on hard ones: half a width of one item of two remains.
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
    assert result.ci95 == (0.25, 1.0)
    assert result.ci95_all == (0.0, 1.0)
    assert result.tally.oscillators == 2


def test_the_difference_is_paired_by_sentence():
    """Sentences are right in 3, 3, 2 and 3 of 4 runs, digitally 1, 1, 0, 1.

    Gains -1/4, -1/4, 1/2, -1/4: none apart on the hard two; in all a mean of
    -1/16 and deviations -3/16 (three times) and 9/16, so a variance of 36/256.
    """
    result = compare(hand_made(LOGITS, DIGITAL, LABELS, HARD))
    assert (result.difference, result.difference_error) == (-0.25, 0.0)
    assert result.difference == result.substrate - result.digital
    assert result.difference_all == -1 / 16
    assert result.difference_all_error == pytest.approx(3 / 16, rel=1e-12)
    assert result.difference_all == result.substrate_all - result.digital_all


def test_what_both_get_wrong_is_no_uncertainty():
    """A hard set that chip and digital model fail alike: exactly no difference."""
    result = compare(hand_made([[DIGITAL]], DIGITAL, [1, 1, 1, 0], [True] * 4))
    assert result.digital == 0.5
    assert (result.difference, result.difference_error) == (0.0, 0.0)


def test_one_sentence_has_no_standard_error():
    result = compare(hand_made(LOGITS, DIGITAL, LABELS, [True, False, False, False]))
    assert result.difference == -0.25
    assert math.isnan(result.difference_error)
    assert result.difference_all_error == pytest.approx(3 / 16)


def test_the_standard_error_is_that_of_other_sentences():
    """Over draws of 200 sentences; unpaired errors are far too large."""
    rng = np.random.default_rng(0)
    found, errors = [], []
    for _ in range(300):
        digital = np.where(rng.random(200) < 0.8, 1.0, -1.0)
        chip = np.where(rng.random(200) < 0.1, -digital, digital)
        result = compare(hand_made([[chip]], digital, [1] * 200, [True] * 200))
        found.append(result.difference)
        errors.append(result.difference_error)
    spread, said = np.std(found), np.mean(errors)
    assert abs(spread / said - 1) < 4 / math.sqrt(2 * 300)
    unpaired = math.sqrt((0.8 * 0.2 + 0.74 * 0.26) / 200)
    assert abs(spread / unpaired - 1) > 8 / math.sqrt(2 * 300)


def test_chips_that_do_not_differ_have_no_width_and_tying_ones_one_item():
    """Same logits but for rounding; then another margin without another decision."""
    for apart, half in ((0.0, 0.0), (1e-12, 0.0), (1e-6, 0.25)):
        one = [2.0, -1.0, -0.5, -3.0]
        other = [value + apart for value in one]
        result = compare(hand_made([[one], [other]], one, [1] * 4, [True] * 4))
        assert result.ci95 == result.ci95_all == (0.25 - half, 0.25 + half)


def test_the_floor_of_one_item_acts_below_it_only():
    tied, apart = np.array([0.5, 0.5, 0.5]), np.array([0.3, 0.5, 0.7])
    assert interval95(tied) == (0.5, 0.5)
    assert interval95(tied, 10) == pytest.approx((0.4, 0.6))
    assert interval95(tied, 1) == (0.0, 1.0)
    assert interval95(apart, 10) == interval95(apart)
    low, high = interval95(apart)
    assert low < 0.4 < 0.6 < high


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
