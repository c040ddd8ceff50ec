import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.physics.sincos import sincos

pytestmark = pytest.mark.kernel


def both(theta, dtype=np.float64):
    theta = np.asarray(theta, dtype)
    s, c = np.empty_like(theta), np.empty_like(theta)
    sincos(theta, s, c)
    return s, c


def angles():
    rng = np.random.default_rng(0)
    quarters = np.arange(-40, 41) * np.pi / 2
    return np.concatenate(
        [
            rng.uniform(-8, 8, 500),
            rng.uniform(-1e6, 1e6, 500),
            quarters,
            np.nextafter(quarters, 9e9),
            [0.0, -0.0, 1e-300, 1e-9],
        ]
    )


def test_double_precision_to_one_unit_in_the_last_place():
    theta = angles()
    exact = np.longdouble(theta)
    for got, want in zip(both(theta), (np.sin(exact), np.cos(exact)), strict=True):
        assert np.abs(got - want).max() < 1.7e-16
        units = np.spacing(np.abs(want.astype(float)))
        near = np.abs(theta) < 8
        assert (np.abs(got - want) <= 1.5 * units)[near & (np.abs(want) > 0.1)].all()


def test_single_precision_to_one_unit_in_the_last_place():
    theta = angles()
    theta = theta[np.abs(theta) < 7000].astype(np.float32)
    exact = theta.astype(float)
    got = both(theta, np.float32)
    assert got[0].dtype == np.float32
    for value, want in zip(got, (np.sin(exact), np.cos(exact)), strict=True):
        assert np.abs(value - want).max() < 1.2e-7


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_angles_stay_right(dtype):
    theta = np.array([1e7, -3e9, 1e15, 12345.678], dtype)
    s, c = both(theta, dtype)
    tolerance = 1e-15 if dtype == np.float64 else 1e-7
    np.testing.assert_allclose(s, np.sin(theta.astype(float)), atol=tolerance)
    np.testing.assert_allclose(c, np.cos(theta.astype(float)), atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_gives_nan_and_spares_its_neighbours(bad, dtype):
    for k in range(20):
        theta = np.linspace(-3, 3, 20)
        theta[k] = bad
        s, c = both(theta, dtype)
        assert np.isnan(s[k])
        assert np.isnan(c[k])
        rest = np.arange(20) != k
        np.testing.assert_allclose(s[rest], np.sin(theta[rest]), atol=1e-6)
        assert np.isfinite(c[rest]).all()


@given(st.floats(-1e5, 1e5), st.integers(1, 40))
def test_place_in_the_array_does_not_matter(theta, n):
    s, c = both(np.full(n, theta))
    assert len(set(s.tolist())) == len(set(c.tolist())) == 1
    assert abs(s[0] ** 2 + c[0] ** 2 - 1) < 5e-16
