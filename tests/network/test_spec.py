import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.kuramoto import KuramotoParams
from oscsim.physics.lohe import LoheParams
from tests.helpers import antisymmetric

pytestmark = pytest.mark.kernel


def test_torus():
    net = Network.driven([[1, 2], [3, 4]], 5, "torus")
    assert (net.n_osc, net.state_shape) == (2, (2,))
    params = net.params()
    assert isinstance(params, KuramotoParams)
    np.testing.assert_array_equal(params.omega, [[5.0, 5.0]])
    assert params.field.dtype == np.float64
    assert params.field.flags.c_contiguous


def test_sphere():
    turn = np.array([[0, -2.0, 0], [2.0, 0, 0], [0, 0, 0]])
    net = Network.driven(np.ones((4, 3)), turn)
    assert (net.n_osc, net.state_shape) == (4, (4, 3))
    params = net.params(np.float32)
    assert isinstance(params, LoheParams)
    assert params.omega.shape == (1, 3, 3, 4)
    assert params.field.dtype == params.omega.dtype == np.float32
    assert Network.driven(np.ones((4, 3))).params().omega.shape == (1, 0, 3, 4)


def test_plane_takes_rates_positive_anticlockwise():
    net = Network.driven(np.zeros((2, 2)), [1.0, -2.0])
    np.testing.assert_array_equal(net.omega[1], [[0, 2.0], [-2.0, 0]])
    assert Network.driven(np.zeros((2, 2)), 1.0).omega[0, 1, 0] == 1


def test_the_caller_keeps_its_arrays():
    field = np.ones((2, 2))
    net = Network.driven(field, geometry="torus")
    field[:] = 7
    assert net.field.max() == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Network.driven(np.ones((2, 2)), None, "plane"), "'torus' or 'sphere'"),
        (lambda: Network.driven(np.ones((2, 2)) * 1j), "field must hold real numbers"),
        (lambda: Network.driven([["1", "2"]]), "field must hold real numbers"),
        (lambda: Network.driven([[1, 2], [3]]), "the rows of field must be equally"),
        (
            lambda: Network.driven(np.ma.array(np.ones((2, 2)), mask=np.eye(2))),
            "field has masked entries",
        ),
        (
            lambda: Network.driven(np.ones((10**4, 10**3)), np.zeros((10**3, 10**3))),
            "10000 oscillators with d = 1000 needs",
        ),
        (lambda: Network.driven(np.ones(3)), r"shape \(n, d\).*got \(3,\)"),
        (lambda: Network.driven(np.ones((0, 3))), "n >= 1 and d >= 2"),
        (lambda: Network.driven(np.ones((2, 1))), "n >= 1 and d >= 2"),
        (lambda: Network.driven(np.ones((2, 3)), None, "torus"), r"shape \(n, 2\)"),
        (
            lambda: Network.driven([[1.0, np.nan]]),
            r"field must be finite, got nan at index \(0, 1\)",
        ),
        (lambda: Network.driven(np.ones((1, 2)), np.inf), "omega must be finite"),
        (
            lambda: Network.driven(np.ones((3, 2)), [1.0, 2.0], "torus"),
            r"have shape \(3,\), got \(2,\)",
        ),
        (
            lambda: Network.driven(np.ones((2, 3)), 1.0),
            r"shape \(3, 3\) or \(2, 3, 3\)",
        ),
        (lambda: Network.driven(np.ones((2, 3)), np.ones((3, 3))), "antisymmetric"),
        (lambda: Network.driven(np.ones((2, 3))).params(int), "float64 or float32"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()


def test_a_rotation_in_other_axes_may_be_off_by_rounding():
    rng = np.random.default_rng(0)
    omega, q = antisymmetric(0, 5, 4), np.linalg.qr(rng.standard_normal((4, 4)))[0]
    turned = q @ omega @ q.T
    found = Network.driven(np.ones((5, 4)), turned).omega
    np.testing.assert_allclose(found, turned, atol=1e-15)
    assert np.array_equal(found, -found.swapaxes(1, 2))
    assert np.array_equal(Network.driven(np.ones((5, 4)), omega).omega, omega)
