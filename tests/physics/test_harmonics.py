"""Coupling functions with several harmonics, against pairs and closed forms."""

import numpy as np
import pytest
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.network.potential import potential
from oscsim.network.spec import Network
from oscsim.physics.field import drift, member
from oscsim.solve.simulate import simulate
from tests import naive

pytestmark = pytest.mark.kernel

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def rate(net, theta, dtype=np.float64):
    params = net.params(dtype)
    one = member(params, 0, params.scratch, params.mean)
    out = np.empty(len(theta), dtype)
    drift(0.0, np.asarray(theta, dtype), one, out)
    return out


def problem(seed, n, m):
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5)
    np.fill_diagonal(weights, 0.0)
    harmonics = rng.standard_normal((m, 2))
    return weights, rng.standard_normal(n), harmonics, rng.uniform(-9, 9, n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 2, 13, 29])
def test_harmonics_against_pairs(form, m, n):
    weights, omega, harmonics, theta = problem(n + m, n, m)
    net = Network.kuramoto(form(weights), omega=omega, harmonics=harmonics)
    expected = naive.coupled_by_harmonics(theta, omega, weights, harmonics)
    np.testing.assert_allclose(rate(net, theta), expected, atol=3e-14 * n * m)
    single = rate(net, theta, np.float32)
    np.testing.assert_allclose(single, expected, atol=6e-6 * n * m)


def test_the_same_weight_between_all():
    _, omega, harmonics, theta = problem(0, 40, 3)
    net = Network.kuramoto("all-to-all", omega=omega, coupling=2, harmonics=harmonics)
    weights = np.full((40, 40), 2 / 40) - np.eye(40) * 2 / 40
    expected = naive.coupled_by_harmonics(theta, omega, weights, harmonics)
    np.testing.assert_allclose(rate(net, theta), expected, atol=1e-12)


def test_one_harmonic_is_the_sine_and_its_turn_the_lag():
    """sin(d - a) = cos(a) sin(d) - sin(a) cos(d)."""
    weights, omega, _, theta = problem(1, 17, 1)
    injected = {"shil": 0.4, "shil_phase": 0.9}
    turned = [[np.cos(0.7), -np.sin(0.7)]]
    for lag, harmonics in ((0.0, [[1.0, 0.0]]), (0.7, turned)):
        sine = Network.kuramoto(weights, omega=omega, lag=lag, **injected)
        same = Network.kuramoto(weights, omega=omega, harmonics=harmonics, **injected)
        np.testing.assert_allclose(rate(same, theta), rate(sine, theta), atol=1e-13)
    other = Network.kuramoto(weights, omega=omega, harmonics=turned, **injected)
    plain = Network.kuramoto(weights, omega=omega, **injected)
    assert np.abs(rate(other, theta) - rate(plain, theta)).max() > 0.1


def test_a_pair_rests_where_its_coupling_function_says():
    """dphi = 2 w - 2 (sin phi + 0.4 sin 2 phi): the odd part alone holds a pair."""
    net = Network.kuramoto(PAIR, omega=[0.8, -0.8], harmonics=[[1, 0.3], [0.4, 0.2]])
    run = simulate(net, t1=40, dt=0.02, start=[0.1, 0.0])
    apart = run.y[0, -1, 0] - run.y[0, -1, 1]
    assert np.sin(apart) + 0.4 * np.sin(2 * apart) == pytest.approx(0.8, abs=1e-9)
    assert np.sin(apart) < 0.7  # a sine alone would rest at 0.8


@pytest.mark.parametrize("n_trajectories", [1, 40])
def test_noisy_runs_agree_between_threads_and_forms(n_trajectories):
    weights, omega, harmonics, _ = problem(3, 33, 3)
    given = {"omega": omega, "harmonics": harmonics / 3, "coupling": 0.05}
    asked = {
        "t1": 1,
        "dt": 0.05,
        "method": "heun",
        "diffusion": 0.1,
        "n_trajectories": n_trajectories,
    }
    net = Network.kuramoto(weights, **given)
    one, two = (simulate(net, n_threads=k, **asked).y for k in (1, 2))
    assert np.array_equal(one, two)
    sparse_net = Network.kuramoto(sparse.csr_array(weights), **given)
    np.testing.assert_allclose(simulate(sparse_net, **asked).y, one, atol=1e-10)


def test_a_batch_is_its_networks_one_by_one():
    rng = np.random.default_rng(4)
    weights, harmonics = rng.standard_normal((3, 9, 9)), [[0.5, 0.1], [0.2, -0.3]]
    start, asked = rng.uniform(-3, 3, 9), {"t1": 0.5, "dt": 0.01}
    batch = Network.kuramoto(weights, harmonics=harmonics)
    together = simulate(batch, start=start, **asked).y
    for k in range(3):
        alone = simulate(
            Network.kuramoto(weights[k], harmonics=harmonics), start=start, **asked
        )
        np.testing.assert_allclose(together[k], alone.y[0], atol=1e-12)


def test_the_slope_of_the_function_limits_the_step():
    """K |G'| <= 1 + 2 2: r dt of 5 dt, where a sine had dt."""
    sine = Network.kuramoto(PAIR)
    steep = Network.kuramoto(PAIR, harmonics=[[1, 0], [0, 2]])
    simulate(sine, t1=1.2, dt=0.6, start=[0.1, 0.0])
    with pytest.raises(SpecError, match=r"sum \|K\| \|G'\| dt = 3 of an oscillator"):
        simulate(steep, t1=1.2, dt=0.6, start=[0.1, 0.0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"harmonics": [1.0, 0.0]}, r"shape \(m, 2\) with m from 1 to 64, got shape"),
        ({"harmonics": np.ones((65, 2))}, r"got shape \(65, 2\)"),
        ({"harmonics": np.ones((0, 2))}, r"got shape \(0, 2\)"),
        ({"harmonics": [[1.0, np.nan]]}, "harmonics"),
        ({"harmonics": [[1.0, 0.0]], "lag": 0.2}, "harmonics and lag exclude"),
        (
            {
                "harmonics": [[1.0, 0.0]],
                "anchors": [0.0],
                "anchor_weights": [[1.0], [1.0]],
            },
            "harmonics and anchors exclude",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(given, told):
    with pytest.raises(SpecError, match=told):
        Network.kuramoto(PAIR, **given)


def test_there_is_no_potential_of_a_sine():
    net = Network.kuramoto(PAIR, harmonics=[[1.0, 0.2]])
    with pytest.raises(SpecError, match="the potential is that of a sine"):
        potential(net, np.zeros(2))
