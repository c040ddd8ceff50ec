import numpy as np
import pytest

from oscsim.physics.driven import settle_detuned
from oscsim.physics.locked import locked_states
from oscsim.physics.propagator import contraction_rate
from tests.helpers import antisymmetric, random_units

pytestmark = pytest.mark.kernel


def found(h, omega):
    state, rate = np.empty_like(h), np.empty(len(h))
    locked_states(h, omega, state, rate)
    return state, rate


@pytest.mark.parametrize("d", [3, 5, 8])
def test_fixed_point_and_rate(d):
    """Where the exact flow ends, and the largest real eigenvalue of its generator."""
    n = 20
    h, omega = 3.0 * random_units(d, n, d), antisymmetric(1, n, d, 0.4)
    state, rate = found(h, omega)
    end = settle_detuned(h, omega, random_units(2, n, d), 60.0)
    np.testing.assert_allclose(state, end, atol=1e-9)
    work = np.empty((6, d + 1, d + 1))
    for i in range(n):
        expected = contraction_rate(h[i], omega[i], work)
        assert rate[i] == pytest.approx(expected, rel=1e-4)
        drive = h[i][:, None]
        generator = np.block([[omega[i], drive], [drive.T, np.zeros((1, 1))]])
        assert rate[i] == pytest.approx(np.linalg.eigvals(generator).real.max())


def test_no_lock_is_rate_zero():
    """A rotation much faster than the drive, no drive, and an infinite one."""
    h = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0], [np.inf, 0.0, 0.0]])
    omega = np.zeros((3, 3, 3))
    omega[:, 0, 1], omega[:, 1, 0] = 5.0, -5.0
    assert found(h, omega)[1].tolist() == [0.0, 0.0, 0.0]
