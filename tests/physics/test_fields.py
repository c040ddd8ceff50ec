import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.network.spec import Network
from oscsim.physics.field import advance, drift, member
from oscsim.physics.lohe import lohe_diffuse
from tests import naive
from tests.helpers import antisymmetric, random_units

pytestmark = pytest.mark.kernel


def random_network(seed, n, d, geometry):
    rng = np.random.default_rng(seed)
    field = rng.standard_normal((n, d))
    if geometry == "torus":
        return Network.driven(field, rng.standard_normal(n), "torus")
    return Network.driven(field, antisymmetric(seed, n, d))


def params_of(net):
    """The parameters of a single network."""
    params = net.params()
    return member(params, 0, params.scratch, params.mean)


def inner(x):
    """(n, d) to the flat state of the kernels, oscillators innermost."""
    return np.ascontiguousarray(np.transpose(x)).ravel()


def test_torus_drift_against_naive():
    net = random_network(1, 50, 2, "torus")
    theta, out = np.linspace(-9, 9, 50), np.empty(50)
    drift(0.0, theta, params_of(net), out)
    expected = naive.kuramoto_drift(theta, net.omega, net.field)
    np.testing.assert_allclose(out, expected, atol=1e-14)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_sphere_drift_against_naive(d):
    net = random_network(d, 20, d, "sphere")
    z, out = 1.1 * random_units(d, 20, d), np.empty(20 * d)
    drift(0.0, inner(z), params_of(net), out)
    expected = naive.lohe_drift(z, net.omega, net.field)
    np.testing.assert_allclose(out.reshape(d, 20).T, expected, atol=1e-13)


def test_sphere_without_rotation_is_rotation_by_zero():
    net = random_network(3, 4, 3, "sphere")
    z, a, b = random_units(0, 4, 3).ravel(), np.empty(12), np.empty(12)
    drift(0.0, z, params_of(Network.driven(net.field)), a)
    drift(0.0, z, params_of(Network.driven(net.field, np.zeros((4, 3, 3)))), b)
    np.testing.assert_array_equal(a, b)


@given(st.integers(0, 2**31))
def test_circle_in_the_plane_is_the_torus(seed):
    """dz/dt = dtheta/dt (-sin, cos), with a detuning that tells the signs apart."""
    rng = np.random.default_rng(seed)
    field, omega, theta = rng.standard_normal((3, 2)), rng.standard_normal(3), None
    theta = rng.uniform(-3, 3, 3)
    rate, velocity = np.empty(3), np.empty(6)
    drift(0.0, theta, params_of(Network.driven(field, omega, "torus")), rate)
    z = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    drift(0.0, inner(z), params_of(Network.driven(field, omega)), velocity)
    tangent = np.stack([-np.sin(theta), np.cos(theta)], axis=1)
    expected = rate[:, None] * tangent
    np.testing.assert_allclose(velocity.reshape(2, 3).T, expected, atol=1e-13)


def test_noise_is_tangent_on_the_sphere():
    z, noise = random_units(0, 5, 4), np.random.default_rng(0).standard_normal((5, 4))
    out = np.empty(20)
    sphere = params_of(Network.driven(np.ones((5, 4))))
    lohe_diffuse(inner(z), sphere, inner(noise), out)
    out = out.reshape(4, 5).T
    np.testing.assert_allclose(np.einsum("ij,ij->i", z, out), 0, atol=1e-15)
    along = np.einsum("ij,ij->i", z, noise)
    np.testing.assert_allclose(out, noise - along[:, None] * z, atol=1e-15)


def test_advance_reports_the_first_oscillator_that_failed():
    torus = params_of(Network.driven(np.ones((3, 2)), [0.0, 9.0, 0.0], "torus"))
    zero = np.zeros(3)
    assert advance(np.zeros(3), torus, 1.0, np.array([3.1, 9.0, -3.1]), zero) == -1
    # Half a turn beyond the free rotation of 9 rad, then a phase that is not one.
    y = np.zeros(3)
    assert advance(y, torus, 1.0, np.array([0, 9 + 3.2, 4]), zero) == 1
    assert np.isnan(y).tolist() == [False, True, True]
    assert advance(np.zeros(3), torus, 1.0, np.array([0, 9, np.nan]), zero) == 2
    for size in (np.inf, -np.inf, np.nan):
        noise = np.array([size, 0.0, 0.0])
        assert advance(np.zeros(3), torus, 1.0, np.array([0, 9.0, 0]), noise) == 0
    sphere = params_of(Network.driven(np.ones((2, 3))))
    z = inner([[1.0, 0, 0], [0, 1.0, 0]])
    still = np.zeros(6)
    assert advance(z.copy(), sphere, 1.0, still, still) == -1
    for size in (1.2, -0.6, np.nan):
        push = inner([[0, 0, 0], [0, size, 0.0]])
        assert advance(z.copy(), sphere, 1.0, push, still) == 1
