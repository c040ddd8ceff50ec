"""Runs of coupled networks against what is known exactly."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from oscsim.network.spec import Network
from oscsim.physics.driven import alignment
from oscsim.physics.geometry import wrap
from oscsim.physics.observables import order_parameter
from oscsim.solve.simulate import simulate
from tests import naive
from tests.helpers import antisymmetric, random_units

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])


@FORMS
def test_directed_three_with_lags(form):
    """Reference values from an adaptive solver at 1e-12; signs and order matter."""
    weights = np.array([[0, 1, 0.5], [0, 0, 0.8], [0.3, 0, 0]])
    lag = np.array([[0, 0.2, 0], [0, 0, -0.4], [0.1, 0, 0]])
    omega, start = [0.1, -0.2, 0.05], [0.0, 1.0, 2.5]

    def end(k, alpha):
        net = Network.kuramoto(form(k), omega=omega, lag=alpha)
        return simulate(net, t1=2, dt=0.01, start=start).y[0, -1]

    exact = np.array([1.676433, 1.946736, 2.115731])
    np.testing.assert_allclose(end(weights, lag), exact, atol=6e-7)
    np.testing.assert_allclose(end(weights.T, lag.T), [0.606, 0.181, 0.850], atol=6e-4)
    np.testing.assert_allclose(end(weights, -lag), [1.725, 1.459, 2.164], atol=6e-4)


@FORMS
def test_pairs_lock_where_they_must(form):
    mutual = Network.kuramoto(form(PAIR), omega=[0.5, 0.0])
    end = simulate(mutual, t1=60, dt=0.05, start=[0.3, 0.0]).y[0, -1]
    assert end[0] - end[1] == pytest.approx(np.arcsin(0.25), abs=1e-9)
    one_way = Network.kuramoto(form([[0, 1.0], [0, 0]]), omega=[0.5, 0.0])
    end = simulate(one_way, t1=60, dt=0.05, start=[0.3, 0.0]).y[0, -1]
    assert end[0] - end[1] == pytest.approx(np.arcsin(0.5), abs=1e-9)
    assert end[1] == 0.0
    beyond = Network.kuramoto(form(PAIR), omega=[2.1, 0.0])
    end = simulate(beyond, t1=60, dt=0.05, start=[0.3, 0.0]).y[0, -1]
    assert end[0] - end[1] > 2 * np.pi


def test_a_lag_slows_an_identical_pair():
    net = Network.kuramoto(PAIR, lag=0.3)
    run = simulate(net, t1=40, dt=0.05, start=[0.2, -0.1], save_every=400)
    speed = (run.y[0, -1] - run.y[0, 1]) / (run.t[-1] - run.t[1])
    np.testing.assert_allclose(speed, -np.sin(0.3), atol=1e-9)


def test_lohe_pair_and_its_angle():
    start = [[1, 0, 0], [np.cos(2), np.sin(2), 0]]
    for form in (np.asarray, sparse.csr_array):
        run = simulate(Network.lohe(form(PAIR), d=3), t1=0.5, dt=0.01, start=start)
        angle = np.arccos(run.y[0, -1, 0] @ run.y[0, -1, 1])
        assert angle == pytest.approx(1.0405669, abs=1e-7)


def test_injection_binarises():
    """Locks where sin 2 theta = dw / I; at psi = 0 the phases 0 and pi are stable."""
    net = Network.kuramoto(np.zeros((2, 2)), omega=0.3, shil=1.0)
    end = simulate(net, t1=40, dt=0.05, start=[1.0, 2.6]).y[0, -1]
    lock = 0.5 * np.arcsin(0.3)
    np.testing.assert_allclose(end, [lock, lock + np.pi], atol=1e-9)
    turned = Network.kuramoto(np.zeros((1, 1)), shil=1.0, shil_phase=0.8)
    end = simulate(turned, t1=40, dt=0.05, start=[0.1]).y[0, -1]
    assert end[0] == pytest.approx(0.4, abs=1e-9)


def test_a_ring_keeps_what_is_twisted_less_than_a_quarter_turn_a_step():
    ring = Network.kuramoto(nx.cycle_graph(20))
    nudge = 1e-3 * np.random.default_rng(0).standard_normal(20)
    for q, stays in ((4, True), (6, False)):
        twisted = 2 * np.pi * q * np.arange(20) / 20 + nudge
        end = simulate(ring, t1=100, dt=0.1, start=twisted).y[0, -1]
        turns = wrap(np.diff(np.append(end, end[0]))).sum() / (2 * np.pi)
        assert (round(float(turns)) == q) is stays


@FORMS
def test_the_circle_in_the_plane_is_the_torus_path_by_path(form):
    rng = np.random.default_rng(3)
    weights, omega = rng.standard_normal((7, 7)), rng.standard_normal(7)
    theta = rng.uniform(-3, 3, 7)
    anchors, w = rng.uniform(-3, 3, 2), rng.standard_normal((7, 2))
    arguments = {"omega": omega, "anchor_weights": w}
    plane = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    unit = np.stack([np.cos(anchors), np.sin(anchors)], axis=1)
    a = simulate(
        Network.kuramoto(form(weights), anchors=anchors, **arguments),
        t1=1,
        dt=1e-3,
        start=theta,
        save_every=100,
    )
    b = simulate(
        Network.lohe(form(weights), d=2, anchors=unit, **arguments),
        t1=1,
        dt=1e-3,
        start=plane,
        save_every=100,
    )
    np.testing.assert_allclose(np.cos(a.y), b.y[..., 0], atol=1e-10)
    np.testing.assert_allclose(np.sin(a.y), b.y[..., 1], atol=1e-10)


def test_energy_never_rises_and_the_mean_frequency_stays():
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((15, 15))
    weights = 0.2 * (weights + weights.T)
    run = simulate(Network.kuramoto(weights), t1=10, dt=0.02, save_every=1)
    energy = np.array([naive.phase_energy(theta, weights) for theta in run.y[0]])
    assert np.diff(energy).max() < 1e-12
    assert energy[-1] < energy[0] - 1
    omega = rng.standard_normal(15)
    run = simulate(Network.kuramoto(weights, omega=omega), t1=10, dt=0.02)
    assert (run.y[0, -1] - run.y[0, 0]).mean() / 10 == pytest.approx(omega.mean())


@pytest.mark.parametrize(
    ("d", "ratio", "r"), [(2, 4, 0.83146), (3, 6, 0.78889), (8, 16, 0.73705)]
)
def test_noisy_crowd_on_the_sphere(d, ratio, r):
    """r = A_d(K r / D) for identical oscillators, n = 3000; K_c = d D.

    The mean over time is known to about .001, the bias of n is O(1/n), that of
    the step below .002. Half the coupling or a step that diffuses 10 % too much
    must be seen.
    """
    assert float(alignment(d, ratio * r)) == pytest.approx(r, abs=2e-5)
    dt = 0.16 / ratio

    def mean(noise):
        net = Network.lohe("all-to-all", d=d, n=3000, coupling=ratio, diffusion=noise)
        start = np.eye(d)[np.zeros(3000, int)]
        run = simulate(
            net,
            t1=250 * dt,
            dt=dt,
            method="heun",
            start=start,
            save_every=2,
            observe="order_parameter",
            seed=1,
        )
        return run.r_observed[0, 25:].mean()

    assert abs(mean(1.0) - r) < 0.006
    assert abs(mean(1.1) - r) > 0.012
    assert mean(1.1 * ratio / d) < 0.2


def network_of(kind):
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((33, 33)) / 6
    omega = rng.standard_normal(33)
    if kind == "sphere":
        return Network.lohe(weights, d=3, omega=antisymmetric(0, 33, 3))
    if kind == "all-to-all":
        return Network.kuramoto("all-to-all", omega=omega, lag=0.2)
    if kind == "sparse":
        return Network.kuramoto(sparse.csr_array(weights * (weights > 0)), omega=omega)
    return Network.kuramoto(weights, omega=omega)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["dense", "sphere", "all-to-all", "sparse"])
def test_threads_and_the_number_of_runs_change_no_bit(kind):
    arguments = {
        "t1": 0.5,
        "dt": 0.05,
        "method": "heun",
        "diffusion": 0.1,
        "seed": 1,
        "save_every": 5,
    }
    net = network_of(kind)
    runs = [
        simulate(net, n_trajectories=5, n_threads=k, **arguments) for k in (1, 2, 8)
    ]
    assert np.array_equal(runs[0].y, runs[1].y)
    assert np.array_equal(runs[0].y, runs[2].y)
    one = simulate(net, **arguments)
    assert np.array_equal(one.y[0], runs[0].y[0])


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["dense", "sphere"])
def test_many_runs_of_one_matrix(kind):
    """By matrix products, 32 at a time: the same bits for 16, 20 or 70 runs."""
    net = network_of(kind)
    arguments = {
        "t1": 0.3,
        "dt": 0.05,
        "method": "heun",
        "diffusion": 0.1,
        "save_every": 2,
    }
    runs = [
        simulate(net, n_trajectories=n, n_threads=k, **arguments)
        for n, k in ((70, 2), (70, 1), (20, 1), (16, 2))
    ]
    for other in runs[1:]:
        assert np.array_equal(other.y, runs[0].y[: len(other.y)])
    few = simulate(net, n_trajectories=3, **arguments)
    np.testing.assert_allclose(runs[0].y[:3], few.y, atol=1e-12)
    assert len(np.unique(runs[0].y[:, -1].reshape(70, -1)[:, 0])) == 70


def test_many_runs_of_a_large_matrix():
    """64 at a time, the targets in chunks on threads: the same bits on one."""
    n = 1100
    rng = np.random.default_rng(0)
    weights, omega = rng.standard_normal((n, n)) / n, rng.standard_normal(n)
    drive = {"anchors": [0.3], "anchor_weights": rng.standard_normal((n, 1))}
    net = Network.kuramoto(weights, omega=omega, **drive)
    arguments = {"t1": 0.1, "dt": 0.05, "method": "heun", "dtype": "float32"}
    runs = [
        simulate(net, n_trajectories=n, n_threads=k, **arguments)
        for n, k in ((70, 2), (70, 1), (16, 2))
    ]
    for other in runs[1:]:
        assert np.array_equal(other.y, runs[0].y[: len(other.y)])
    few = simulate(net, n_trajectories=3, **arguments)
    np.testing.assert_allclose(runs[0].y[:3], few.y, atol=1e-5)


@pytest.mark.kernel
def test_a_batch_is_its_networks_one_by_one():
    rng = np.random.default_rng(2)
    weights = rng.standard_normal((3, 5, 5))
    omega = rng.standard_normal((3, 5))
    start = rng.uniform(-3, 3, (6, 5))
    batch = Network.kuramoto(weights, omega=omega, lag=0.1)
    run = simulate(batch, t1=1, dt=0.05, start=start, n_trajectories=2)
    assert run.y.shape == (6, 2, 5)
    for k in range(6):
        one = Network.kuramoto(weights[k % 3], omega=omega[k % 3], lag=0.1)
        alone = simulate(one, t1=1, dt=0.05, start=start[k])
        assert np.array_equal(run.y[k], alone.y[0])


@pytest.mark.kernel
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_noisy_step_against_its_twin(d):
    """One Euler-Maruyama step of a network with a diffusion for each oscillator."""
    from oscsim.solve.plan import NOISE_STAGE
    from oscsim.solve.stream import Stream

    rng = np.random.default_rng(d)
    weights, n = rng.standard_normal((200, 200)) / 20, 200
    diffusion, dt = rng.random(n), 0.01
    if d == 1:
        net = Network.kuramoto(weights, diffusion=diffusion)
    else:
        net = Network.lohe(weights, d=d, diffusion=diffusion)
    run = simulate(net, t1=3 * dt, dt=dt, method="euler-maruyama", save_every=1, seed=7)
    for step in range(3):
        x = run.y[0, step].reshape(n, -1)
        noise = naive.component_noise(Stream(7, NOISE_STAGE), n, step, d)
        noise = noise * np.sqrt(2 * diffusion * dt)[:, None]
        if d == 1:
            rate = naive.coupled_phases(x[:, 0], np.zeros(n), weights)
            expected = x[:, 0] + dt * rate + noise[:, 0]
        else:
            noise *= np.exp((2 - d) * diffusion * dt / 6)[:, None]
            along = (x * noise).sum(axis=1, keepdims=True)
            move = noise - along * x + dt * naive.coupled_vectors(x, [], weights)
            angle = np.linalg.norm(move, axis=1, keepdims=True)
            expected = np.cos(angle) * x + np.sin(angle) / angle * move
        np.testing.assert_allclose(run.y[0, step + 1], expected, atol=1e-13)


@pytest.mark.parametrize("kind", ["dense", "sphere", "all-to-all", "sparse"])
def test_single_precision_stays_close(kind):
    net = network_of(kind)
    double = simulate(net, t1=1, dt=0.02, save_every=10)
    single = simulate(net, t1=1, dt=0.02, save_every=10, dtype=np.float32)
    assert single.y.dtype == np.float32
    error = np.abs(single.y - double.y).max()
    assert 1e-9 < error < 3e-5


@pytest.mark.parametrize("method", ["adaptive", "rk45"])
@pytest.mark.parametrize("kind", ["dense", "sphere", "all-to-all", "sparse"])
def test_adaptive_steps_reach_the_same_end(kind, method):
    net = network_of(kind)
    fine = simulate(net, t1=2, dt=1e-3, save_every=250)
    free = simulate(net, t1=2, dt=0.25, method=method, save_every=1)
    np.testing.assert_allclose(free.t, fine.t)
    np.testing.assert_allclose(free.y, fine.y, atol=3e-8)
    loose = simulate(net, t1=2, method=method, rtol=1e-4, atol=1e-4)
    error = np.abs(loose.y[0, -1] - fine.y[0, -1]).max()
    assert 1e-9 < error < 1e-2
    assert loose.t.tolist() == [0, 2]
    assert loose.method == method


def test_the_map_is_a_normalised_step_of_any_size():
    """x <- (x + g (Omega x + P(J x + c))) / length; phases theta + g f."""
    rng = np.random.default_rng(0)
    weights, omega = 3 * rng.standard_normal((6, 6)), antisymmetric(1, 6, 4)
    anchors, w = random_units(2, 2, 4), rng.standard_normal((6, 2))
    net = Network.lohe(weights, d=4, omega=omega, anchors=anchors, anchor_weights=w)
    z = random_units(0, 6, 4)
    run = simulate(net, t1=3.0, dt=1.0, method="map", start=z, save_every=1)
    for step in range(3):
        z = z + naive.coupled_vectors(z, omega, weights, w @ anchors)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        np.testing.assert_allclose(run.y[0, step + 1], z, atol=1e-12)
    theta = rng.uniform(-3, 3, 6)
    run = simulate(Network.kuramoto(weights), t1=1, dt=1, method="map", start=theta)
    expected = theta + naive.coupled_phases(theta, np.zeros(6), weights)
    np.testing.assert_allclose(run.y[0, -1], expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sphere", "driven"])
def test_observing_equals_saving_and_measuring(kind):
    net = network_of(kind)
    if kind == "driven":
        net = Network.driven(np.random.default_rng(0).standard_normal((300, 3)))
    for n in (2, 20):
        arguments = {"t1": 0.5, "dt": 0.05, "n_trajectories": n, "save_every": 3}
        run = simulate(net, **arguments)
        seen = simulate(net, observe="order_parameter", **arguments)
        np.testing.assert_allclose(seen.t_observed, run.t)
        np.testing.assert_allclose(seen.r_observed, order_parameter(run), atol=1e-13)
        np.testing.assert_allclose(seen.y, run.y[:, [0, -1]], atol=1e-13)
        assert seen.t.tolist() == [0, 0.5]
        assert seen.to_xarray()["r"].shape == (n, run.t.size)


def test_one_oscillator_and_isolated_ones_are_legal():
    for net in (
        Network.kuramoto("all-to-all", omega=[2.0]),
        Network.kuramoto([[0]], omega=2),
        Network.kuramoto(nx.empty_graph(1), omega=2),
        Network.kuramoto(sparse.csr_array((1, 1)), omega=2),
    ):
        run = simulate(net, t1=1, dt=0.1, start=[0.5], save_every=1)
        np.testing.assert_allclose(run.y[0, :, 0], 0.5 + 2 * run.t, atol=1e-14)
        with pytest.warns(UserWarning, match="of one oscillator"):
            assert (order_parameter(run) == 1).all()
    graph = nx.empty_graph(4)
    graph.add_edge(0, 1)
    run = simulate(Network.kuramoto(graph), t1=1, dt=0.1, start=[0, 1, 2, 3.0])
    np.testing.assert_array_equal(run.y[0, -1, 2:], [2.0, 3.0])
    assert run.y[0, -1, 0] > 0.1


def test_whole_numbers_and_a_new_graph_compile_nothing():
    """K = 3 and K = 3.0 are the same; new n, K or graph use the same kernel.

    On one thread: threads inside a step, from 100000 weights on, are another.
    """
    one = {"t1": 1, "dt": 0.1, "n_threads": 1}
    from oscsim.solve.steppers import integrate

    rng = np.random.default_rng(0)
    for form in (np.asarray, sparse.csr_array):
        a = simulate(Network.kuramoto(form(3 * PAIR.astype(int))), t1=1, dt=0.1)
        n_compiled = len(getattr(integrate, "signatures", ()))
        b = simulate(Network.kuramoto(form(3.0 * PAIR)), t1=1.0, dt=0.1)
        assert np.array_equal(a.y, b.y)
        for n in (11, 500):
            simulate(Network.kuramoto(form(rng.random((n, n)) / n)), **one)
        large = sparse.random_array((2000, 2000), density=0.002, rng=rng)
        if form is sparse.csr_array:
            simulate(Network.kuramoto(large.tocsr()), **one)
        assert len(getattr(integrate, "signatures", ())) == n_compiled
