"""Phases keep counting however many turns they have made."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from oscsim.network.spec import Network
from oscsim.solve import run as running
from oscsim.solve.adaptive import _Rate
from oscsim.solve.plan import Plan
from oscsim.solve.simulate import simulate
from tests import naive
from tests.helpers import assert_variance

FREE = Network.driven([[0.0, 0.0]], 1.0, "torus")
TURNS = 2 * np.pi * 3200


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["rk4", "heun", "euler-maruyama", "map", "rk45"])
def test_steps_below_the_resolution_of_a_large_phase_add_up(dtype, method):
    """1 rad in 1000 steps from 20000 rad; float32 resolves .002 rad there."""
    start = [20_000.0]
    run = simulate(FREE, t1=1, dt=1e-3, method=method, start=start, dtype=dtype)
    assert run.y.dtype == dtype
    assert run.y[0, :, 0].tolist() == pytest.approx([20_000, 20_001], abs=1e-7)


def test_fast_rotation_in_single_precision_keeps_its_rate():
    """100 rad/s for 100 s: 1e4 rad to the six digits of dt and rate in float32."""
    net = Network.driven([[0.0, 0.0]], 100.0, "torus")
    run = simulate(net, t1=100, dt=1e-3, start=[0.0], dtype=np.float32)
    assert run.y[0, -1, 0] == pytest.approx(1e4, rel=2e-7)


def test_noise_in_single_precision_adds_up_at_large_phases():
    """Variance 2 D t = .001 of 20000 phases whose kicks are half the spacing."""
    n = 20_000
    run = simulate(
        Network.driven(np.zeros((n, 2)), geometry="torus"),
        t1=1,
        dt=1e-3,
        method="heun",
        diffusion=5e-4,
        start=np.full(n, 2e4),
        dtype=np.float32,
    )
    assert_variance(run.y[0, -1].astype(float) - 2e4, 1e-3, 0.9e-3, 1.1e-3)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["dense", "ensemble", "all-to-all", "sparse"])
def test_coupled_phases_do_not_feel_whole_turns(kind):
    """Order parameters of float32 runs, with and without 3200 turns at the start.

    Angles of 2e4 rad as they are would be off by 1e-3.
    """
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((33, 33)) / 6
    omega, theta = rng.standard_normal(33), rng.uniform(-3, 3, 33)
    topology = {"all-to-all": "all-to-all", "sparse": sparse.csr_array(weights)}
    net = Network.kuramoto(topology.get(kind, weights), omega=omega)
    arguments = {
        "t1": 2.0,
        "dt": 0.05,
        "save_every": 5,
        "observe": "order_parameter",
        "n_trajectories": 17 if kind == "ensemble" else 1,
    }
    near = simulate(net, start=theta, **arguments)
    far = simulate(net, start=theta + TURNS, dtype=np.float32, **arguments)
    np.testing.assert_allclose(far.r_observed, near.r_observed, atol=3e-6)
    np.testing.assert_allclose(far.y - TURNS, near.y, atol=2e-3)


@pytest.mark.kernel
@pytest.mark.parametrize("n_runs", [3, 20])
def test_threads_and_pieces_of_time_change_no_bit_of_single_precision(
    n_runs, monkeypatch
):
    rng = np.random.default_rng(2)
    net = Network.kuramoto(rng.standard_normal((32, 32)) / 6, diffusion=0.1)
    arguments = {
        "t1": 1.0,
        "dt": 0.05,
        "method": "heun",
        "save_every": 3,
        "n_trajectories": n_runs,
        "dtype": np.float32,
    }
    whole = simulate(net, n_threads=1, **arguments)
    monkeypatch.setattr(running, "_PIECE_S", 0.0)
    pieces = simulate(net, n_threads=2, **arguments)
    assert np.array_equal(whole.y, pieces.y)
    double = simulate(net, **(arguments | {"dtype": np.float64}))
    np.testing.assert_allclose(whole.y, double.y, atol=2e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ["driven", "ensemble"])
def test_a_phase_beyond_single_precision_is_a_failure(kind):
    """4e37 rad per step pass the largest float32, 3.4e38, at the ninth."""
    n = 33
    omega = np.where(np.arange(n) == 4, 4e37, 0.0)
    net = Network.driven(np.zeros((n, 2)), omega, "torus")
    if kind == "ensemble":
        net = Network.kuramoto(np.zeros((n, n)), omega=omega)
    run = simulate(
        net,
        t1=12,
        dt=1,
        start=np.zeros(n),
        save_every=1,
        n_trajectories=17,
        dtype=np.float32,
        on_failure="return",
    )
    assert run.status.tolist() == [9] * 17
    assert np.isfinite(run.y[:, :9]).all()
    assert np.isnan(run.y[:, 9:]).all()


@pytest.mark.kernel
def test_where_double_precision_ends():
    """At 1e8 rad a step rounds to 1e-8 rad; at 1e17 nothing is left, and said."""
    run = simulate(FREE, t1=1, dt=1e-3, start=[1e8])
    moved = run.y[0, -1, 0] - 1e8
    assert 1e-7 < abs(moved - 1.0) < 7.5e-6
    with pytest.warns(RuntimeWarning, match=r"reach 1e\+17 rad.* resolves 16 rad"):
        run = simulate(FREE, t1=1, dt=1e-3, start=[1e17])
    assert run.y[0, -1, 0] == 1e17
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(Network.driven([[1.0, 0.0]]), t1=1, dt=0.1)


@pytest.mark.kernel
def test_adaptive_steps_in_single_precision_see_phases_less_whole_turns():
    rng = np.random.default_rng(3)
    net = Network.kuramoto(rng.standard_normal((5, 5)))
    theta = rng.uniform(-3, 3, 5)
    whole = Plan("adaptive", 1.0, 1, 1, np.zeros(0), 0, np.dtype("f4"), 1, False)
    rate = _Rate(net, whole, 5)
    exact = naive.coupled_phases(theta, np.zeros(5), net.coupling)
    np.testing.assert_allclose(rate(0.0, theta), exact, atol=2e-6)
    np.testing.assert_allclose(rate(0.0, theta + TURNS), exact, atol=2e-6)
