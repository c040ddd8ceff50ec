"""Shares of settled oscillators follow the closed form of the cap."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.errors import SpecError
from oscsim.study.convergence import convergence, share_within

TAUS = [2.0, 4.0, 5.0, 5.2, 5.4, 5.6, 6.0, 8.0]


@pytest.mark.parametrize("d", [2, 8, 32])
@pytest.mark.parametrize("h_norm", [0.2, 5.0])
def test_sample_follows_the_closed_form(d, h_norm):
    """4 standard errors at n = 40,000, |h| given; and the negative control.

    With the angle off by a factor of 2 the same check fails by far more.
    """
    times = np.array(TAUS) / h_norm
    found = convergence(d, h_norm=h_norm, times=times, sample=40_000)
    z = found.z_scores()
    assert np.isfinite(z).sum() >= 4
    assert np.nanmax(np.abs(z)) < 4
    half = share_within(d, np.array(TAUS), 0.005)
    spread = np.sqrt(found.exact * (1 - found.exact) / found.sample)
    wrong = np.abs(found.measured - half)[np.isfinite(z)] / spread[np.isfinite(z)]
    assert wrong.max() > 50


@given(st.floats(0, 12))
def test_circle_and_sphere_by_hand(tau):
    reach = 2 * math.atan(math.tan(0.005) * math.exp(tau))
    assert share_within(2, tau, 0.01) == pytest.approx(reach / math.pi)
    assert share_within(3, tau, 0.01) == pytest.approx(
        (1 - math.cos(reach)) / 2, rel=1e-9, abs=1e-15
    )


@given(st.integers(2, 64), st.floats(0, 50), st.floats(0, 50))
def test_more_time_never_means_fewer(d, one, two):
    early, late = share_within(d, np.sort([one, two]), 0.01)
    assert 0 <= early <= late <= 1


def test_half_have_arrived_when_the_equator_has():
    tau = -math.log(math.tan(0.005))
    for d in (2, 8, 32):
        assert share_within(d, tau, 0.01) == pytest.approx(0.5)


def test_the_end_does_not_overflow():
    assert share_within(2, np.array([1e3, np.inf]), 0.01) == pytest.approx([1, 1])


def test_few_expected_have_no_score():
    found = convergence(32, h_norm=1.0, times=[1.0, 5.3], sample=1000)
    assert np.isnan(found.z_scores()).tolist() == [True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"h_norm": 0.0}, "h_norm must be positive and finite, got 0.0"),
        ({"h_norm": math.nan}, "h_norm must be positive and finite, got nan"),
        ({"sample": 0}, "sample must be at least 1, got 0"),
        ({"times": [-1.0]}, r"\|h\| T must be >= 0, got -1.0"),
        ({"within_rad": 4.0}, r"within_rad must be in \(0, pi\), got 4.0"),
        ({"d": 1}, "d must be at least 2, got 1"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"d": 2, "h_norm": 1.0, "times": [1.0], "sample": 10} | change
    with pytest.raises(SpecError, match=message):
        convergence(arguments.pop("d"), **arguments)
