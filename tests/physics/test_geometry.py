import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gamma

from oscsim.errors import SpecError
from oscsim.physics.geometry import (
    angle_between,
    antipodal_probability,
    circular_mean,
    circular_variance,
    wrap,
)

angles = st.floats(-1e3, 1e3)


def test_wrap_range_and_ends():
    assert wrap(np.pi) == np.pi
    assert wrap(-np.pi) == np.pi
    assert wrap(np.nextafter(-np.pi, 0)) == np.nextafter(-np.pi, 0)
    assert wrap(np.nextafter(np.pi, 4)) == pytest.approx(-np.pi, abs=1e-15)
    assert wrap(np.nextafter(np.pi, 4)) > -np.pi
    assert wrap(1e-300) == 1e-300
    np.testing.assert_allclose(
        wrap([9.2, 9.2, 9.3, 0.5]), [2.917, 2.917, 3.017, 0.5], atol=5e-4
    )


@given(angles)
def test_wrap_is_the_same_direction_inside_the_range(theta):
    w = float(wrap(theta))
    assert -np.pi < w <= np.pi
    assert abs(np.exp(1j * w) - np.exp(1j * theta)) < 1e-12
    assert wrap(w) == w


def test_error_across_the_cut_is_small():
    assert abs(wrap(np.deg2rad(179.0) - np.deg2rad(-179.0))) == pytest.approx(
        np.deg2rad(2.0)
    )


def test_circular_mean_crosses_zero():
    theta = np.deg2rad([350.0, 10.0])
    assert abs(circular_mean(theta)) < 1e-15
    assert abs(theta.mean() - np.pi) < 1e-15
    assert circular_mean(np.full((3, 2), np.pi), axis=0).shape == (2,)
    assert circular_mean([-np.pi]) == np.pi


def test_circular_variance_ends():
    assert circular_variance([0.3, 0.3, 0.3]) == pytest.approx(0, abs=1e-15)
    assert circular_variance([0.0, np.pi]) == pytest.approx(1)


def test_angle_between_keeps_small_angles():
    a = np.array([1.0, 0.0])
    b = np.array([np.cos(1e-9), np.sin(1e-9)])
    assert angle_between(a, b) == pytest.approx(1e-9, rel=1e-12)
    assert angle_between(a, -b) == pytest.approx(np.pi - 1e-9, rel=1e-15)


TABLE = {
    np.pi / 8: {2: 0.125, 3: 0.0381, 8: 1.86e-4, 16: 6.0e-8, 32: 9.0e-15},
    np.pi / 6: {2: 0.1667, 3: 0.0670, 8: 1.268e-3, 16: 3.5e-6, 32: 3.8e-11},
    np.pi / 4: {2: 0.25, 3: 0.1464, 8: 1.657e-2, 16: 7.5e-4, 32: 2.1e-6},
}


@pytest.mark.parametrize("angle", TABLE)
@pytest.mark.parametrize("d", [2, 3, 8, 16, 32])
def test_antipodal_table(angle, d):
    norm = gamma(d / 2) / (np.sqrt(np.pi) * gamma((d - 1) / 2))
    exact = norm * quad(lambda x: np.sin(x) ** (d - 2), 0, angle)[0]
    value = antipodal_probability(angle, d)
    assert value == pytest.approx(exact, rel=1e-9)
    # The table prints two to four digits.
    assert value == pytest.approx(TABLE[angle][d], rel=2e-2)


def test_antipodal_probability_is_a_distribution():
    for d in (2, 5, 32):
        assert antipodal_probability(0.0, d) == 0
        assert antipodal_probability(np.pi / 2, d) == pytest.approx(0.5)
        assert antipodal_probability(np.pi, d) == 1
        grid = antipodal_probability(np.linspace(0, np.pi, 50), d)
        assert np.all(np.diff(grid) >= 0)


def test_antipodal_probability_refuses():
    with pytest.raises(SpecError, match="d must be at least 2, got 1"):
        antipodal_probability(0.1, 1)
    with pytest.raises(SpecError, match=r"angle must lie in \[0, pi\]"):
        antipodal_probability(4.0, 3)
