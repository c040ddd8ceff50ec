"""Small coupled problems whose answer is known, each beside one that must differ."""

import numpy as np
import pytest

from oscsim.network.potential import potential
from oscsim.network.spec import Network
from oscsim.physics.driven import alignment
from oscsim.physics.observables import order_parameter
from oscsim.solve.simulate import simulate
from tests.helpers import antisymmetric, assert_mean, random_units

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def angle_of(run):
    a, b = run.y[0, -1].astype(float)
    return float(np.arccos(a @ b))


def test_who_moves_and_where_to():
    """K = [[0, 1], [0, 0]], theta = (0, 1): 0 moves to 1, which stays.

    tan((1 - theta)/2) = tan(1/2) exp(-t); the transpose moves the other one.
    """
    one_way = np.array([[0.0, 1.0], [0.0, 0.0]])
    run = simulate(Network.kuramoto(one_way), t1=2, dt=0.01, start=[0.0, 1.0])
    left = 2 * np.arctan(np.tan(0.5) * np.exp(-2.0))
    np.testing.assert_allclose(run.y[0, -1], [1.0 - left, 1.0], atol=1e-9)
    assert run.y[0, -1, 1] == 1.0
    run = simulate(Network.kuramoto(one_way.T), t1=2, dt=0.01, start=[0.0, 1.0])
    np.testing.assert_allclose(run.y[0, -1], [0.0, left], atol=1e-9)


def test_a_pair_out_of_lock_beats():
    """dw = 2.5 > 2 K: difference turns at sqrt(dw^2 - 4 K^2) = 1.5."""
    net = Network.kuramoto(PAIR, omega=[2.5, 0.0])
    t1 = 4 * 2 * np.pi / 1.5
    run = simulate(
        net, t1=t1, dt=t1 / 4000, start=[0.2, 0.0], observe="effective_frequency"
    )
    assert -np.diff(run.frequency[0])[0] == pytest.approx(1.5, abs=1e-8)
    assert run.frequency[0].mean() == pytest.approx(1.25, abs=1e-12)


def test_lag_of_a_pair_turns_it_by_its_sine_and_sign():
    """K 1, alpha .3: -.29552; the sign and a cosine in its place would differ."""
    for lag in (0.3, -0.3):
        net = Network.kuramoto(PAIR, lag=lag)
        run = simulate(
            net, t1=10, dt=0.05, start=[0.0, 0.0], observe="effective_frequency"
        )
        np.testing.assert_allclose(run.frequency, -np.sin(lag), atol=1e-12)
    assert np.sin(0.3) == pytest.approx(0.29552, abs=5e-6)


def test_noisy_identical_pair():
    """<cos(theta_1 - theta_2)> = A_2(K/D); 2000 pairs, D off by 3/2 fails."""
    n = 2000
    run = simulate(
        Network.kuramoto(PAIR),
        t1=8,
        dt=0.05,
        method="heun",
        diffusion=0.4,
        start=[0.0, 0.0],
        n_trajectories=n,
        seed=4,
    )
    c = np.cos(run.y[:, -1, 0] - run.y[:, -1, 1])
    assert_mean(c, alignment(2, 1 / 0.4), alignment(2, 1 / 0.6))


def test_lohe_pair_of_the_text():
    """tan(phi/2) decays at K + K: angle 2, K = 1, t = .5 gives 1.0405669.

    Acting one way it decays at K and gives 1.5142.
    """
    start = [[1.0, 0, 0], [np.cos(2), np.sin(2), 0]]
    for weights, rate in ((PAIR, 2.0), (np.triu(PAIR), 1.0)):
        run = simulate(Network.lohe(weights, d=3), t1=0.5, dt=0.01, start=start)
        exact = 2 * np.arctan(np.tan(1.0) * np.exp(-rate * 0.5))
        assert angle_of(run) == pytest.approx(exact, abs=1e-8)
        assert (abs(exact - 1.0405669) < 5e-8) == (rate == 2.0)


def test_injection_holds_within_its_range_only():
    """sin 2 theta = dw / I = .3: .15235; beyond I the phase slips, at twice
    the rate of a drive: the mean of 2 theta turns at sqrt((2 dw)^2 - (2 I)^2).
    """
    held = Network.kuramoto(np.zeros((1, 1)), omega=0.3, shil=1.0)
    end = simulate(held, t1=40, dt=0.05, start=[0.0]).y[0, -1, 0]
    assert end == pytest.approx(0.15235, abs=5e-6)
    lost = Network.kuramoto(np.zeros((1, 1)), omega=1.25, shil=1.0)
    t1 = 4 * np.pi / 0.75
    run = simulate(
        lost, t1=t1, dt=t1 / 2000, start=[0.2], observe="effective_frequency"
    )
    assert run.frequency[0, 0] == pytest.approx(0.75, abs=1e-8)


def test_energy_falls_for_symmetric_coupling_only():
    """Symmetric K: every step lowers it. With rotation, or one-way, it also rises."""
    rng = np.random.default_rng(3)
    weights = 0.3 * rng.standard_normal((12, 12))
    weights = weights + weights.T
    arguments = {"t1": 6, "dt": 0.02, "save_every": 1, "seed": 2}
    symmetric = Network.kuramoto(weights)
    energy = potential(symmetric, simulate(symmetric, **arguments))[0]
    assert np.diff(energy).max() < 1e-12
    one_way = Network.kuramoto(2 * np.triu(weights))
    energy = potential(symmetric, simulate(one_way, **arguments))[0]
    assert np.diff(energy).max() > 1e-3


def test_mean_frequency_is_kept_by_symmetric_coupling_without_lag_only():
    rng = np.random.default_rng(5)
    weights = 0.3 * rng.standard_normal((12, 12))
    weights, omega = weights + weights.T, rng.standard_normal(12)
    arguments = {"t1": 5, "dt": 0.02, "seed": 2, "observe": "effective_frequency"}
    run = simulate(Network.kuramoto(weights, omega=omega), **arguments)
    assert run.frequency.mean() == pytest.approx(omega.mean(), abs=1e-12)
    run = simulate(Network.kuramoto(weights, omega=omega, lag=0.5), **arguments)
    assert abs(run.frequency.mean() - omega.mean()) > 0.05


def test_a_run_turns_with_its_start_unless_something_is_fixed():
    """A common rotation of the start is that of the end; anchors break it."""
    rng = np.random.default_rng(6)
    weights, theta = rng.standard_normal((6, 6)), rng.uniform(-3, 3, 6)
    for anchored in (False, True):
        anchors = {"anchors": [0.0], "anchor_weights": np.ones((6, 1))}
        net = Network.kuramoto(weights, **(anchors if anchored else {}))
        a = simulate(net, t1=1, dt=0.01, start=theta).y[0, -1]
        b = simulate(net, t1=1, dt=0.01, start=theta + 0.8).y[0, -1]
        assert np.allclose(b, a + 0.8, atol=1e-11) is not anchored
    q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    omega, z = antisymmetric(0, 6, 3), random_units(1, 6, 3)
    a = simulate(Network.lohe(weights, d=3, omega=omega), t1=1, dt=0.01, start=z)
    turned = Network.lohe(weights, d=3, omega=q @ omega @ q.T)
    b = simulate(turned, t1=1, dt=0.01, start=z @ q.T)
    np.testing.assert_allclose(b.y[0, -1], a.y[0, -1] @ q.T, atol=1e-11)


def test_mean_field_is_all_pairs():
    """N = 50: the O(N) sum and the matrix K/N, along a path; a diagonal aside."""
    omega = np.random.default_rng(0).standard_normal(50)
    arguments = {"t1": 1, "dt": 0.02, "seed": 3, "save_every": 10}
    fast = Network.kuramoto("all-to-all", omega=omega, coupling=2.0)
    matrix = np.full((50, 50), 2.0 / 50)
    slow = Network.kuramoto(matrix, omega=omega)
    a, b = simulate(fast, **arguments), simulate(slow, **arguments)
    np.testing.assert_allclose(a.y, b.y, atol=1e-12)
    assert isinstance(fast.coupling, float)
    matrix[3, 7] *= 2
    other = simulate(Network.kuramoto(matrix, omega=omega), **arguments)
    assert np.abs(other.y - b.y).max() > 1e-4
    assert order_parameter(a).shape == (1, 6)
