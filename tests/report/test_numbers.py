"""Numbers keep three digits and their size."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.energy.ledger import Range
from oscsim.report.numbers import (
    PREFIXES,
    between,
    difference_range,
    percent,
    points,
    quantity,
    quantity_range,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.386e-7, "139 nJ"),
        (999.6e-12, "1 nJ"),
        (1e-6, "1 µJ"),
        (0.0, "0 J"),
        (-2.5e-3, "-2.5 mJ"),
        (7.2e7, "72 MJ"),
        (math.inf, "inf J"),
    ],
)
def test_quantity(value, text):
    assert quantity(value, "J") == text


@given(st.floats(1e-17, 1e13))
def test_a_quantity_reads_back_to_three_digits(value):
    number, unit = quantity(value, "J").split()
    exponents = {prefix: exponent for exponent, prefix in PREFIXES.items()}
    back = float(number) * 10.0 ** exponents[unit.removesuffix("J")]
    assert back == pytest.approx(value, rel=5.01e-3)
    assert float(number) < 1000 or value > 1e14


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Range(76.5e-9, 1.386e-7, 2.17e-7), "76.5..217 nJ"),
        (Range(368e-9, 1.27e-6, 6.69e-6), "0.368..6.69 µJ"),
        (Range(156e-9, 739e-9, 4.21e-6), "156 nJ..4.21 µJ"),
        (Range(156e-9, 739e-9, 999.9e-9), "156 nJ..1 µJ"),
    ],
)
def test_a_range_stands_in_the_unit_of_its_median_or_of_each_end(found, text):
    assert quantity_range(found, "J") == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.97675, "97.67 %"),
        (0.0, "0.00 %"),
        (1e-6, "< 0.01 %"),
        (1.0, "100.00 %"),
    ],
)
def test_percent_never_shows_something_as_nothing(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Range(-2.94e-10, 6.69e-10, 2.33e-9), "+0.669 (-0.294..+2.33) nJ"),
        (Range(-7e-9, -5e-12, 1e-12), "-0.005 (-7..+0.001) nJ"),
        (Range(0.0, 0.0, 0.0), "+0 (+0..+0) J"),
    ],
)
def test_a_difference_has_signs_and_one_unit(found, text):
    assert difference_range(found, "J") == text


def test_points_have_a_sign_and_an_error_if_there_is_one():
    assert points(0.0021, 0.00127) == "+0.21 ± 0.13 points"
    assert points(-0.5, math.nan) == "-50.00 points"


def test_an_infinite_end_of_an_interval_is_open():
    assert between(0.8, math.inf, 2) == "[0.80, open)"
    assert between(-math.inf, 1.0, 1, sign="+") == "(open, +1.0]"
    assert between(-1.0, 2.0, 3, sign="+") == "[-1.000, +2.000]"
