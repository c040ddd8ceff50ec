"""Sensitivities, extremes and price curves against ratios known by hand."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from oscsim.counts import Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.energy.pricing import ADC_FLOOR
from oscsim.energy.uncertainty import (
    Case,
    causes,
    extremes,
    price_curve,
    sensitivities,
    set_values,
    share_won,
    used,
)
from oscsim.errors import ComponentError
from tests.energy.toy import entry

# ratio = (a + b) / (c + b): rises with a, falls with c, b pulls it towards 1
LIBRARY = Library.parse(
    [
        entry("a", 2.0, low=1.0, high=4.0),
        entry("b", 1.0, low=0.5, high=3.0),
        entry("c", 4.0, low=2.0, high=5.0),
        entry("exact", 7.0),
        entry("twin", 3.0, low=1.5, high=6.0, corr_group="pair"),
        entry("other", 3.0, low=1.5, high=6.0, corr_group="pair"),
    ]
)


def case(**prices):
    counts = Counts(tokens=1)
    for action in prices:
        counts.add("value", action, 1)
    return Case(counts, Prices.of({action: [name] for action, name in prices.items()}))


MINE, RIVAL = case(mac="a", add="b"), case(mac="c", add="b")


def test_ends_are_the_ratio_at_p10_and_p90():
    found = {s.cause: s for s in sensitivities(MINE, RIVAL, LIBRARY, n_draws=500)}
    assert set(found) == {"a", "b", "c"}
    assert (found["a"].at_low, found["a"].at_high) == pytest.approx((2 / 5, 5 / 5))
    assert (found["b"].at_low, found["b"].at_high) == pytest.approx((2.5 / 4.5, 5 / 7))
    assert (found["c"].at_low, found["c"].at_high) == pytest.approx((3 / 3, 3 / 6))


def test_the_largest_swing_comes_first():
    swings = [
        abs(math.log(s.at_high / s.at_low))
        for s in sensitivities(MINE, RIVAL, LIBRARY, n_draws=64)
    ]
    assert swings == sorted(swings, reverse=True)
    assert swings[0] == pytest.approx(math.log(2.5))


def test_rank_correlations_are_those_of_the_draws():
    n = 800
    found = {s.cause: s for s in sensitivities(MINE, RIVAL, LIBRARY, n_draws=n)}
    a, b, c = (LIBRARY.draws(name, n) for name in "abc")
    for name, drawn in (("a", a), ("b", b), ("c", c)):
        expected = spearmanr(drawn, (a + b) / (c + b)).statistic
        assert found[name].rank_correlation == pytest.approx(expected, abs=1e-12)
    assert found["a"].rank_correlation > 0.5 > 0 > found["c"].rank_correlation


def test_exact_numbers_are_no_cause_and_a_group_is_one():
    both = case(mac="twin", add="other", mul="exact")
    assert causes([both], LIBRARY) == {"pair": ("twin", "other")}
    (found,) = sensitivities(both, case(mac="exact"), LIBRARY, n_draws=64)
    ends = (10 / 7, 19 / 7)
    assert (found.at_low, found.at_high) == pytest.approx(ends), "both move together"


def test_extremes_by_hand():
    """Worst: a high, c low; then b low, as (4 + b) / (2 + b) falls with b."""
    found = extremes(MINE, RIVAL, LIBRARY)
    assert found.worst == pytest.approx(4.5 / 2.5)
    assert found.worst_ends == {"a": "high", "b": "low", "c": "low"}
    assert found.best == pytest.approx((1 + 0.5) / (5 + 0.5))


def test_extremes_are_the_worst_of_all_combinations_here():
    from itertools import product

    ratios = [
        (a + b) / (c + b) for a, b, c in product((1.0, 4.0), (0.5, 3.0), (2.0, 5.0))
    ]
    found = extremes(MINE, RIVAL, LIBRARY)
    assert (found.best, found.worst) == pytest.approx((min(ratios), max(ratios)))


def test_a_curve_and_where_it_crosses():
    """(a + 1) / (4 + 1) is 1 at a = 4; with points at 2 and 8 nearly so."""
    values = np.geomspace(0.5, 32, 25)
    curve = price_curve(MINE, RIVAL, LIBRARY, "a", values, n_draws=64)
    assert curve.nominal == pytest.approx((values + 1) / 5, rel=1e-12)
    assert np.all(curve.low < curve.high)
    assert curve.crossings == pytest.approx((4.0,), rel=1e-2)
    assert curve.own.value == 2.0
    flat = price_curve(MINE, RIVAL, LIBRARY, "exact", values[:2], n_draws=8)
    assert flat.nominal == pytest.approx([0.6, 0.6])
    assert flat.crossings == ()


def test_the_band_leaves_out_the_component_itself():
    only = case(mac="a")
    curve = price_curve(only, case(mac="exact"), LIBRARY, "a", np.array([7.0, 14.0]))
    assert curve.low == pytest.approx([1, 2])
    assert curve.high == pytest.approx([1, 2])


def test_share_won_is_paired():
    mine, rival = (account(*c, LIBRARY, 2000) for c in (MINE, RIVAL))
    a, c = LIBRARY.draws("a", 2000), LIBRARY.draws("c", 2000)
    assert share_won(mine, rival) == np.mean(a < c)
    assert share_won(mine, mine) == 0
    with pytest.raises(ComponentError, match=r"paired draws"):
        share_won(mine, account(*RIVAL, LIBRARY, 2000, seed=1))


def test_used_names_what_was_charged_and_the_floor_of_a_converter():
    library = Library.parse(
        [entry("adc.some", 1.0), entry(ADC_FLOOR, 0.5), entry("never", 1.0)]
    )
    read = case(state_read="adc.some")
    assert [c.id for c in used(*read, library)] == ["adc.some", ADC_FLOOR]
    assert [c.id for c in used(*MINE, LIBRARY)] == ["a", "b"]


def test_what_is_refused():
    with pytest.raises(ComponentError, match=r"unknown component 'd'"):
        set_values(LIBRARY, {"d": 1.0})
    for value in (np.nan, np.inf, -1.0):
        with pytest.raises(ComponentError, match=r"component 'a': field"):
            set_values(LIBRARY, {"a": value})
    with pytest.raises(ComponentError, match=r"unknown component 'nothing'"):
        price_curve(MINE, RIVAL, LIBRARY, "nothing", np.array([1.0, 2.0]))
    for values in ([1.0], [2.0, 1.0], [0.0, 1.0], [-1.0, 1.0]):
        with pytest.raises(ComponentError, match=r"must increase from above 0"):
            price_curve(MINE, RIVAL, LIBRARY, "a", np.array(values))
    nothing = Case(Counts(tokens=1), Prices.of({}))
    with pytest.raises(ComponentError, match=r"system total is 0: no ratio"):
        extremes(MINE, nothing, LIBRARY)
