"""Fits recover what made the data, as often as they say, and refuse the rest."""

import math
from pathlib import Path

import numpy as np
import pytest

from oscsim.design.axis_rule import curve_of
from oscsim.design.curve import Curve, position, value_at
from oscsim.design.laws import lost_alignment, power_law
from oscsim.design.replicates import Interval, interval, widening
from oscsim.design.store_file import open_store
from oscsim.design.table import read_table
from oscsim.errors import SpecError
from oscsim.physics.stationary import alignment

SHIPPED = (
    Path(__file__).parents[2] / "data" / "sweeps" / "dosc-noise" / "dosc-noise.sqlite"
)
DENSER = {
    4: (0.00653, 0.01304, 0.02993, 0.05496),
    16: (0.00151, 0.00340, 0.00869, 0.01605),
    32: (0.00151, 0.00314, 0.00695, 0.01138),
}

ALIGNMENT_AT_8 = {2: 0.93524, 3: 0.87500, 8: 0.63768, 32: 0.23674}


def chips(rng, truth, n=8, common=0.05, own=0.03):
    """Chips that share their draws across cells: part of the error is common."""
    shared = 1 + common * rng.standard_normal((n, 1))
    return truth * shared + own * truth.mean() * rng.standard_normal((n, len(truth)))


def covered(trials, make):
    """Share of trials in which each interval holds its truth."""
    hits = np.array([make(np.random.default_rng([7, k])) for k in range(trials)])
    return hits.mean(axis=0)


@pytest.mark.slow
def test_gap_laws_recover_exponent_and_amplitude_as_often_as_they_say():
    d, alpha, amplitude = np.array([2.0, 4, 8, 16, 32]), 0.6, 1.7

    def trial(rng):
        law = power_law(d, chips(rng, amplitude * d**-alpha), exponent=-1)
        return (
            law.exponent.low <= -alpha <= law.exponent.high,
            law.amplitude.low <= amplitude <= law.amplitude.high,
        )

    for share in covered(200, trial):
        assert 0.90 <= share <= 0.99


@pytest.mark.slow
def test_noise_laws_recover_what_made_them_as_often_as_they_say():
    """Loss = c (1 - A_d(|h| / D))^b over a spread of drives."""
    drives = np.exp(np.random.default_rng(0).normal(size=400))
    diffusions = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
    x = np.array([lost_alignment(8, drives, d) for d in diffusions])

    def trial(rng):
        law = power_law(x, chips(rng, 2.5 * x**1.3))
        return (
            law.exponent.low <= 1.3 <= law.exponent.high,
            law.amplitude.low <= 2.5 <= law.amplitude.high,
        )

    for share in covered(200, trial):
        assert 0.90 <= share <= 0.99


def test_a_law_of_another_shape_is_told_by_its_goodness():
    x, rng = np.linspace(0.1, 1.0, 8), np.random.default_rng(1)
    good = power_law(x, chips(rng, 2 * x**2, own=0.02))
    bad = power_law(x, chips(rng, 1 + np.sin(12 * x), own=0.02))
    assert good.r2 > 0.99
    assert good.chi2 < 4
    assert bad.r2 < 0.6
    assert bad.chi2 > 30


def test_a_law_says_how_far_it_misses_where_little_is_lost():
    x = np.array([0.01, 0.1, 1.0, 2.0])
    y = x * np.array([1.3, 1.0, 1.0, 1.0])
    law = power_law(x, np.tile(y, (8, 1)) * (1 + 0.01 * np.arange(8))[:, None])
    off = np.abs(law.amplitude.value * x**law.exponent.value - law.y)
    alone = y + 1e-9 * np.arange(8)[:, None]
    assert law.largest_miss(alone, 0.02) == pytest.approx(off[0] / y[0], rel=1e-4)
    assert law.largest_miss(alone, 0.02) > 0.1
    assert law.largest_miss(alone, 5.0) == pytest.approx((off / y).max(), rel=1e-4)
    assert math.isnan(law.largest_miss(alone, 0.001))
    # beyond a best value that loses 1 itself, the same residual is a smaller share
    beyond = law.largest_miss(1 + alone, 5.0)
    assert beyond == pytest.approx((off / (1 + y)).max(), rel=1e-4)
    # the first point is within its own error: nothing is a share of it
    first = alone * [1, 1, 1, 1] + np.outer((-1.0) ** np.arange(8), [0.1, 0, 0, 0])
    assert law.largest_miss(first, 5.0) == pytest.approx((off / y)[1:].max(), rel=1e-4)


def test_a_law_refuses_to_extrapolate():
    x = np.array([0.1, 0.15, 0.2, 0.4])
    law = power_law(x, chips(np.random.default_rng(0), x**2))
    assert law.at(0.3) == pytest.approx(0.09, rel=0.2)
    for outside in (0.09, 0.41):
        with pytest.raises(SpecError, match="says nothing of"):
            law.at(outside)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]] * 3, "four points at least, got 3"),
        ([1.0, 2.0, 2.0, 3.0], [[1.0, 2, 2, 3]] * 3, "four points at least, got 3"),
        ([0.0, 1.0, 2.0, 3.0], [[1.0, 2.0, 3.0, 4.0]] * 3, "needs x > 0"),
        ([1.0, 2.0, 3.0, 4.0], [[0.0, -1.0, 0.0, 0.0]] * 3, "nothing is lost anywhere"),
        ([1.0, 2.0, 3.0, 4.0], [[1.0, 2.0, 3.0, 4.0]], "two chips at least, got 1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x, y, said):
    with pytest.raises(SpecError, match=said):
        power_law(np.array(x), np.array(y))


def test_intervals_of_a_mean_cover_it():
    def trial(rng):
        found = interval(rng.normal(size=(8, 1)), lambda mean: float(mean[0]))
        return (found.low <= 0 <= found.high,)

    (share,) = covered(1000, trial)
    assert 0.93 <= share <= 0.97
    assert widening(8) > 1.25


@pytest.mark.parametrize("d_osc", ALIGNMENT_AT_8)
def test_alignment_is_the_published_one(d_osc):
    found = alignment(d_osc, np.array([8.0]))[0]
    assert found == pytest.approx(ALIGNMENT_AT_8[d_osc], abs=5e-6)


@pytest.mark.parametrize("d_osc", [2, 3, 32])
def test_alignment_has_its_limits(d_osc):
    weak = alignment(d_osc, np.array([0.0, 1e-8, 1e6]))
    assert weak[0] == 0
    assert weak[1] == pytest.approx(1e-8 / d_osc, rel=1e-6)
    assert 1 - weak[2] == pytest.approx((d_osc - 1) / 2e6, rel=1e-3)
    grid = alignment(d_osc, np.geomspace(1e-300, 1e300, 4001))
    assert (np.diff(grid) > -1e-12).all()
    assert lost_alignment(d_osc, np.array([1.0, 2.0]), 0.0) == 0


def straight(better="smaller", n=6):
    """Loss 10 x, or 10 (1 - x), the same on all chips."""
    x = np.linspace(0.0, 1.0, 11)
    loss = 10 * x if better == "smaller" else 10 * (1 - x)
    return Curve(x, np.tile(loss, (n, 1)), better)


def test_the_largest_value_allowed_is_where_the_loss_is_reached():
    assert straight().allowed(2.5).value == pytest.approx(0.25)
    assert {type(end) for end in straight().allowed(2.5)} == {float}
    assert straight("larger").allowed(2.5).value == pytest.approx(0.75, abs=0.006)


@pytest.mark.parametrize("better", ["smaller", "larger"])
def test_a_limit_that_no_value_or_every_value_meets_is_no_number(better):
    sign = 1 if better == "smaller" else -1
    assert straight(better).allowed(-1.0).value == -sign * np.inf
    assert straight(better).allowed(11.0).value == sign * np.inf


def test_the_value_allowed_has_an_interval_over_chips():
    truth = 10 * np.linspace(0.0, 1.0, 11)

    def trial(rng):
        losses = truth + rng.normal(size=(8, 1)) + 0.1 * rng.normal(size=(8, 11))
        found = Curve(np.linspace(0, 1, 11), losses, "smaller").allowed(5.0)
        return (found.low <= 0.5 <= found.high,)

    (share,) = covered(200, trial)
    assert 0.90 <= share <= 0.99


def test_a_wiggle_is_smoothed_and_told():
    curve = Curve(np.array([1.0, 2.0, 3.0]), np.array([[0.0, 2.0, 1.0]] * 2), "smaller")
    assert list(curve.monotone) == [0.0, 1.5, 1.5]
    assert curve.wiggle == 0.5


def test_values_over_decades_stand_by_their_logarithm():
    values = np.array([0.0, 0.01, 0.1, 1.0])
    assert position(values) == pytest.approx([-np.log(10), 0, np.log(10), np.log(100)])
    assert position(np.array([3.0, 8.0])) == pytest.approx([3.0, 8.0])
    assert [value_at(x, values) for x in position(values)] == pytest.approx(values)


def test_power_laws_and_bits_are_read_off_exactly_and_others_within_the_interval():
    noise = np.array([0.0, 0.001, 0.003, 0.01, 0.03, 0.1])
    power = Curve(noise, np.tile(3 * noise**1.3, (4, 1)), "smaller")
    for x in (0.002, 0.0055, 0.02, 0.07):
        found = power.allowed(3 * x**1.3)
        assert found == pytest.approx((x, x, x), rel=1e-6)
    bits = np.array([2.0, 4, 5, 8])
    halved = Curve(bits, np.tile(4.0**-bits, (4, 1)), "larger")
    assert halved.allowed(4.0**-4.7) == pytest.approx((4.7, 4.7, 4.7))
    # Bends: .1 x + 40 x^2 in steps of 3, whose chord alone would miss.
    bent = Curve(noise, np.tile(0.1 * noise + 40 * noise**2, (4, 1)), "smaller")
    for x in (0.002, 0.006, 0.017, 0.06):
        found = bent.allowed(0.1 * x + 40 * x**2)
        assert found.low <= x <= found.high < 1.3 * found.low
        assert found.value != pytest.approx(x, rel=1e-3)


def test_below_the_first_loss_the_interval_is_as_wide_as_the_bend_allows():
    """Linear from a loss of 0; the line through the next two says how far off."""
    x = np.array([0.0, 0.01, 0.03])
    found = Curve(x, np.tile([0.0, 1.0, 4.0], (4, 1)), "smaller").allowed(0.5)
    assert found.value == pytest.approx(0.005)
    assert found.low < 0.0045 < 0.0055 < found.high
    two = Curve(np.array([0.0, 1.0]), np.array([[0.0, 1.0]] * 3), "smaller")
    assert two.allowed(0.5) == (0.5, 0.0, 1.0)


def test_an_interval_ends_within_the_data_or_beyond():
    """Chips that scatter widely: no end below 0, none past the largest value."""
    rng = np.random.default_rng(3)
    x = np.array([0.0, 0.01, 0.03, 0.1])
    losses = np.array([0.0, 0.1, 0.3, 1.0]) + 0.12 * rng.normal(size=(4, 4))
    seen = set()
    for limit in (0.08, 0.15, 0.3, 0.6, 0.9, 0.95):
        found = Curve(x, losses, "smaller").allowed(limit)
        for end in (found.low, found.high):
            assert math.isinf(end) or x[0] <= end <= x[-1]
        assert found.low <= found.value <= found.high
        seen |= {found.low, found.high}
    assert {-math.inf, math.inf} <= seen


def scattered(values, means, halves, better):
    """Eight chips whose means and 95 % Student intervals are given."""
    chips = np.random.default_rng(6).normal(size=(8, 1))
    chips = (chips - chips.mean()) / chips.std(ddof=1)
    wide = 2.364624 / math.sqrt(8)
    losses = np.array(means) + np.array(halves) / wide * chips
    return Curve(np.array(values, float), losses, better)


def test_no_end_passes_a_value_that_is_surely_too_bad():
    """Three bits lose 7.5 +- .6 %: they are run, and no bracket for 5 % holds them."""
    bits, lost = [3, 4, 5, 6, 8], [0.0745, 0.0456, 0.0387, 0.0372, 0.0371]
    half = [0.006, 0.0049, 0.0047, 0.0045, 0.0046]
    curve = scattered(bits, lost, half, "larger")
    found = curve.allowed(0.05)
    assert found.low == 3.0 < found.value < 4.0 <= found.high
    assert curve.allowed_whole(0.05, found) == (4, 4, math.ceil(found.high))
    # the same where three bits might do: the interval is open
    open_end = scattered(bits, lost, [0.026, *half[1:]], "larger").allowed(0.05)
    assert open_end.low == -math.inf


def test_an_end_at_a_value_that_is_too_bad_is_the_next_whole_number():
    """Four bits lose 7.7 +- .9 %: five are the least that may do."""
    bits = [2, 3, 4, 5, 6, 8]
    lost = [0.50, 0.20, 0.077, 0.05, 0.041, 0.04]
    half = [0.3, 0.05, 0.009, 0.02, 0.011, 0.012]
    curve = scattered(bits, lost, half, "larger")
    found = curve.allowed(0.05)
    assert 4.0 <= found.low < found.value == 5.0
    assert curve.allowed_whole(0.05, found).low == 5
    down = scattered([1, 2, 3], [0.01, 0.02, 0.09], [0.002] * 3, "smaller")
    assert down.allowed_whole(0.05, Interval(2.9, 2.2, 3.0)) == (2, 2, 2)


def test_no_end_passes_a_value_that_is_surely_good_enough():
    """5 us lose .66 +- .13 %: for 1 % no bracket ends beyond."""
    times = [1e-6, 2e-6, 5e-6]
    mean, half = [0.0274, 0.0144, 0.0066], [0.0036, 0.0025, 0.0013]
    found = scattered(times, mean, half, "larger").allowed(0.01)
    assert times[1] < found.low < found.value < found.high == times[2]
    open_end = scattered(times, mean, [*half[:2], 0.0035], "larger").allowed(0.01)
    assert open_end.high == math.inf
    # a better value that may be too bad takes the sureness away
    longer = scattered([*times, 1e-5], [*mean, 0.006], [*half, 0.02], "larger")
    assert longer.allowed(0.01).high == math.inf


def test_ends_at_stored_values_cover_a_truth_at_one_of_them():
    """The limit is the loss at a stored value: the hardest place for such an end."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])

    def trial(rng):
        losses = x + 0.3 * rng.normal(size=(8, 1)) + 0.2 * rng.normal(size=(8, 5))
        found = Curve(x, losses, "smaller").allowed(2.0)
        return (found.low <= 2.0, found.high >= 2.0)

    below, above = covered(400, trial)
    assert below >= 0.96
    assert above >= 0.96
    assert below + above < 2, "an interval that always covers would be too wide"


@pytest.mark.parametrize(("d_osc", "truth"), DENSER.items())
def test_the_shipped_sweep_holds_crossings_of_a_denser_one(d_osc, truth):
    """D at losses of 1, 2, 5 and 10 %, from a sweep run at 22 noises, same chips."""
    with open_store(SHIPPED) as store:
        table = read_table(store)
    held = {"relative_diffusion": 0.0}
    curve = curve_of(table, f"bytes-osc-d{d_osc}-p4", "relative_diffusion", held)
    for loss, value in zip((0.01, 0.02, 0.05, 0.10), truth, strict=True):
        found = curve.allowed(loss)
        assert found.low <= value <= found.high
        assert found.value == pytest.approx(value, rel=0.05)
        assert found.high < 1.9 * found.low


@pytest.mark.parametrize("values", [[1.0], [2.0, 1.0], [1.0, 1.0]])
def test_values_that_do_not_rise_are_no_curve(values):
    with pytest.raises(SpecError, match="two rising values"):
        Curve(np.array(values), np.zeros((2, len(values))), "smaller")
