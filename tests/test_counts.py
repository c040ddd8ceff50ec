"""Tallies of work."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.counts import PHASES, Counts
from oscsim.errors import SpecError

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(PHASES), st.sampled_from(["mac", "add"]), st.integers(0, 1000)
    ),
    max_size=20,
)


def tally(events, tokens=0):
    counts = Counts(tokens=tokens)
    for event in events:
        counts.add(*event)
    return counts


@given(EVENTS)
def test_a_total_is_the_sum_over_phases(events):
    counts = tally(events)
    for action in ("mac", "add"):
        assert counts.total(action) == sum(n for _, a, n in events if a == action)
    assert counts.total("never") == 0


@given(EVENTS, EVENTS, st.integers(0, 9), st.integers(0, 9))
def test_a_sum_is_the_tally_of_both_and_changes_neither(one, two, m, n):
    mine, theirs = tally(one, m), tally(two, n)
    both = mine + theirs
    assert both == tally(one + two, m + n)
    assert mine == tally(one, m)
    assert theirs == tally(two, n)
    mine += theirs
    assert mine == both


def test_many_tallies_sum_from_an_empty_one():
    parts = [tally([("ffn", "mac", k)], 1) for k in range(4)]
    assert sum(parts, Counts()) == tally([("ffn", "mac", 6)], 4)


def test_seconds_are_counted_like_events():
    counts = tally([("settle", "oscillator_s", 1e-6)] * 2)
    assert counts.actions == Counter({("settle", "oscillator_s"): 2e-6})


@pytest.mark.parametrize("number", [-1, -1e-30, float("nan"), float("inf")])
def test_a_number_that_is_no_count_is_refused(number):
    with pytest.raises(SpecError, match="count of mac must be finite and >= 0"):
        Counts().add("ffn", "mac", number)


def test_an_unknown_phase_is_refused():
    with pytest.raises(SpecError, match="unknown phase 'fnn': one of projection"):
        Counts().add("fnn", "mac", 1)
