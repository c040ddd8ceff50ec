"""The loss between stored cells: the rule's chords on edges, continuous inside."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from oscsim.design.curve import MOST_BY_LOG, Curve, position
from oscsim.design.reading import Reading
from oscsim.design.rule import fit_rule
from oscsim.design.store_file import open_store
from oscsim.design.surrogate import surrogates
from oscsim.design.table import read_table
from tests.report.sheet_sample import sweep_table

STORE = Path(__file__).parents[2] / "data/sweeps/dosc-noise/dosc-noise.sqlite"
NOISE = np.array([0.0, 0.001, 0.01, 0.1])
BITS = np.array([3.0, 4.0, 6.0])
MISMATCH = np.array([0.02, 0.03, 0.1])


def naive(reading, point):
    """The reading of one point by recursion over functions, in plain Python."""
    shares, logs, below = [], [], []
    for values, better, x in zip(reading.values, reading.better, point, strict=True):
        where = position(values)
        at = position(np.array([x]), values)[0]
        k = next(k for k in reversed(range(len(where) - 1)) if k == 0 or where[k] <= at)
        share = (at - where[k]) / (where[k + 1] - where[k])
        below.append(k)
        shares.append(share)
        if better == "smaller" and values[k] == 0:
            logs.append(math.nan)
        elif better == "smaller":
            logs.append(math.log(x / values[k]) / math.log(values[k + 1] / values[k]))
        else:
            logs.append(share)

    def read(sides):
        """The loss where some axes stand at an end and others at the point."""
        free = [n for n, side in enumerate(sides) if side is None]
        if not free:
            return reading.loss[tuple(np.add(below, sides))]
        corners = {
            c: reading.loss[tuple(np.add(below, c))]
            for c in itertools.product((0, 1), repeat=len(sides))
            if all(side in (None, end) for side, end in zip(sides, c, strict=True))
        }
        may = all(
            min(loss, corners[(*c[:n], 1, *c[n + 1 :])]) > 0
            and min(loss, corners[(*c[:n], 1, *c[n + 1 :])]) <= 0.2
            for c, loss in corners.items()
            for n in free
            if c[n] == 0
        )
        if may and not any(math.isnan(logs[n]) for n in free):
            product = 1.0
            for c, loss in corners.items():
                weight = math.prod(logs[n] if c[n] else 1 - logs[n] for n in free)
                product *= loss**weight
            return product

        # f - (1 - P_1) (1 - P_2) .. f, in which f at the point itself drops out.
        def rest(at, axes):
            if not axes:
                return 0.0 if at == sides else read(at)
            n, others = axes[0], axes[1:]
            ends = [(*at[:n], end, *at[n + 1 :]) for end in (0, 1)]
            below_, above = (rest(end, others) for end in ends)
            return rest(at, others) - (1 - shares[n]) * below_ - shares[n] * above

        return -rest(sides, free)

    return read((None,) * len(point))


def random_reading(rng, low=-0.02, high=0.8):
    """Losses of three axes, some below 0, some beyond what is read by logarithm."""
    loss = 10 ** rng.uniform(-3, 0, size=(len(NOISE), len(BITS), len(MISMATCH)))
    loss[rng.uniform(size=loss.shape) < 0.15] = 0.0
    loss[rng.uniform(size=loss.shape) < 0.15] = low
    loss[rng.uniform(size=loss.shape) < 0.1] = high
    better = ("smaller", "larger", "smaller")
    return Reading((NOISE, BITS, MISMATCH), better, loss)


def some_points(rng, n):
    noise = np.where(rng.uniform(size=n) < 0.3, 5e-4, 10 ** rng.uniform(-3, -1, n))
    return np.stack([noise, rng.uniform(3, 6, n), rng.uniform(0.02, 0.1, n)], axis=1)


def test_it_is_the_naive_twin():
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(20):
        reading, points = random_reading(rng), some_points(rng, 8)
        expected = [naive(reading, point) for point in points]
        np.testing.assert_allclose(reading.at(points), expected, rtol=0, atol=1e-12)
        kinds |= {np.sign(x) for x in expected}
    assert kinds == {-1, 1}, "the sample has losses of both signs"


def test_stored_cells_come_back():
    reading = random_reading(np.random.default_rng(1))
    points = np.array(list(itertools.product(*reading.values)))
    np.testing.assert_allclose(
        reading.at(points), reading.loss.ravel(), rtol=1e-13, atol=1e-16
    )


def test_it_is_continuous_across_stored_values():
    """However mixed the corners are: a jump would not shrink with the step."""
    rng = np.random.default_rng(2)
    worst = {1e-6: 0.0, 1e-9: 0.0}
    for _ in range(30):
        reading, points = random_reading(rng), some_points(rng, 20)
        for axis, values in enumerate(reading.values):
            for value in values[1:-1]:
                for step in worst:
                    sides = []
                    for factor in (1 - step, 1 + step):
                        moved = points.copy()
                        moved[:, axis] = value * factor
                        sides.append(reading.at(moved))
                    jump = np.abs(sides[1] - sides[0]).max()
                    worst[step] = max(worst[step], jump)
    assert worst[1e-6] < 1e-4
    assert worst[1e-9] < 2e-3 * worst[1e-6]


def test_the_order_of_the_axes_does_not_matter():
    rng = np.random.default_rng(3)
    reading, points = random_reading(rng), some_points(rng, 50)
    for order in itertools.permutations(range(3)):
        other = Reading(
            tuple(reading.values[n] for n in order),
            tuple(reading.better[n] for n in order),
            reading.loss.transpose(order),
        )
        np.testing.assert_allclose(
            other.at(points[:, order]), reading.at(points), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    ("values", "better", "losses"),
    [
        ([0.0, 0.001, 0.01, 0.1], "smaller", [0.0, 0.004, 0.03, 0.3]),
        ([0.0, 0.001, 0.01, 0.1], "smaller", [0.002, 0.004, 0.3, 0.9]),
        ([0.0, 0.001, 0.01, 0.1], "smaller", [-0.003, -0.001, 0.03, 0.3]),
        ([0.0, 0.03, 0.1], "smaller", [0.0, 0.02, 0.2]),
        ([3.0, 4.0, 6.0, 8.0], "larger", [0.6, 0.3, 0.01, 0.001]),
        ([3.0, 4.0, 6.0, 8.0], "larger", [0.3, 0.2, 0.0, -0.01]),
        ([1.0, 5.0, 100.0], "larger", [0.4, 0.05, 0.001]),
    ],
)
def test_at_what_the_rule_allows_it_is_that_loss(values, better, losses):
    """From far below to just below the worst, through every pair of values."""
    values, losses = np.array(values), np.array(losses)
    curve = Curve(values, losses[None], better)
    reading = Reading((values,), (better,), losses)
    seen = set()
    for limit in np.geomspace(2e-4, 0.99 * losses.max(), 60):
        at = curve.allowed(float(limit)).value
        if math.isfinite(at):
            seen.add(int(np.searchsorted(values, at)))
            assert reading.at(np.array([[at]]))[0] == pytest.approx(limit, abs=1e-12)
    has_loss = np.maximum(losses[1:], losses[:-1]) > 2e-4
    assert len(seen) >= has_loss.sum() - 1


def test_from_a_fifth_on_it_is_straight():
    """One that levels off from a power law; a logarithm would bend the wrong way."""
    values = np.array([0.01, 0.1, 1.0])
    for lost, is_by_log in ((MOST_BY_LOG, True), (MOST_BY_LOG + 1e-9, False)):
        reading = Reading((values,), ("smaller",), np.array([0.005, lost, 0.9]))
        middle = reading.at(np.array([[math.sqrt(0.1)]]))[0]
        expected = math.sqrt(lost * 0.9) if is_by_log else 0.5 * (lost + 0.9)
        assert middle == pytest.approx(expected, rel=1e-6)
        below = reading.at(np.array([[math.sqrt(0.001)]]))[0]
        assert below == pytest.approx(math.sqrt(0.005 * lost), rel=1e-6)


def test_the_shipped_rule_and_its_sheet_say_the_same():
    with open_store(STORE) as store:
        rule = fit_rule(read_table(store), resamples=20)
    grids = {grid.subject: grid for grid in surrogates(rule.table)[0]}
    for one in rule.rules:
        np.testing.assert_array_equal(one.curve.mean, one.curve.monotone)
        for loss, found in one.allowed.items():
            at = grids[one.subject].at({one.axis: found.value})
            assert at.loss == pytest.approx(loss, abs=1e-9)


def test_rules_of_several_numbers_are_read_at_what_is_held():
    rule = fit_rule(sweep_table(), losses=(0.02, 0.05, 0.1, 0.2), resamples=20)
    grids = {grid.subject: grid for grid in surrogates(rule.table)[0]}
    n = 0
    for one in rule.rules:
        for loss, found in one.allowed.items():
            if math.isfinite(found.value):
                numbers = {**one.held, one.axis: found.value}
                at = grids[one.subject].at(numbers)
                assert at.loss == pytest.approx(loss, abs=1e-9)
                n += 1
    assert n > 10


def test_what_is_left_out_of_a_power_law_is_found():
    """Where a straight line misses by far: losses x^1.5 at values ten apart."""
    values = np.array([0.001, 0.01, 0.1])
    law = Reading((values,), ("smaller",), values**1.5)
    assert law.left_out() == pytest.approx([0.0], abs=1e-15)
    other = Reading((values,), ("smaller",), values**1.5 - 1e-3)
    straight = 0.5 * (0.001**1.5 + 0.1**1.5) - 0.01**1.5
    assert other.left_out() == pytest.approx([straight], rel=1e-12)
    assert Reading((values[:2],), ("smaller",), values[:2]).left_out().size == 0
