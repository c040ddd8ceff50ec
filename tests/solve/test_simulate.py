import numpy as np
import pytest

from oscsim import __version__
from oscsim.errors import IntegrationError, SpecError
from oscsim.network.spec import Network
from oscsim.physics.driven import settle, settle_detuned
from oscsim.physics.observables import order_parameter
from oscsim.solve.simulate import simulate
from tests.helpers import (
    antisymmetric,
    assert_mean,
    assert_variance,
    random_units,
    unit,
)

FREE = Network.driven(np.zeros((1, 2)), geometry="torus")


def free(n, omega=None):
    return Network.driven(np.zeros((n, 2)), omega, "torus")


@pytest.mark.parametrize("method", ["rk4", "heun"])
def test_torus_follows_the_exact_flow(method):
    rng = np.random.default_rng(0)
    h, w, theta = (
        rng.standard_normal((9, 2)),
        rng.standard_normal(9),
        np.linspace(-3, 3, 9),
    )
    run = simulate(
        Network.driven(h, w, "torus"), t1=2, dt=0.01, method=method, start=theta
    )
    z = settle_detuned(h, w, np.stack([np.cos(theta), np.sin(theta)], 1), 2.0)
    got = np.stack([np.cos(run.y[0, -1]), np.sin(run.y[0, -1])], 1)
    np.testing.assert_allclose(got, z, atol=1e-8 if method == "rk4" else 1e-3)


@pytest.mark.parametrize("d", [3, 8])
@pytest.mark.parametrize("method", ["rk4", "heun"])
def test_sphere_follows_the_exact_flow(d, method):
    h, z0 = np.random.default_rng(d).standard_normal((5, d)), random_units(1, 5, d)
    omega = antisymmetric(2, 5, d)
    tolerance = 1e-8 if method == "rk4" else 1e-3
    for rotation in (None, omega):
        net = Network.driven(h, rotation)
        run = simulate(net, t1=1.5, dt=0.01, method=method, start=z0)
        exact = (
            settle(h, z0, 1.5)
            if rotation is None
            else settle_detuned(h, omega, z0, 1.5)
        )
        np.testing.assert_allclose(run.y[0, -1], exact, atol=tolerance)


def test_torus_and_circle_agree_path_by_path_without_noise():
    rng = np.random.default_rng(5)
    h, w, theta = (
        rng.standard_normal((6, 2)),
        rng.standard_normal(6),
        rng.uniform(-3, 3, 6),
    )
    a = simulate(
        Network.driven(h, w, "torus"), t1=1, dt=1e-3, start=theta, save_every=100
    )
    z0 = np.stack([np.cos(theta), np.sin(theta)], 1)
    b = simulate(Network.driven(h, w), t1=1, dt=1e-3, start=z0, save_every=100)
    np.testing.assert_allclose(np.cos(a.y), b.y[..., 0], atol=1e-11)
    np.testing.assert_allclose(np.sin(a.y), b.y[..., 1], atol=1e-11)


def test_noise_never_shifts_the_mean_frequency():
    """2000 phases, omega = 1, sigma = .1 (D = .005), dt .01, T = 20."""
    run = simulate(
        free(2000, 1.0),
        t1=20,
        dt=0.01,
        method="euler-maruyama",
        diffusion=0.005,
        start=np.zeros(2000),
    )
    moved = run.y[0, -1]
    assert abs(moved.mean() / 20 - 1.0) < 0.002
    assert_mean(moved / 20, 1.0, 1.01)
    assert_variance(moved - 20.0, 0.20, 0.10, 0.40)


@pytest.mark.parametrize("dt", [1e-1, 1e-2, 1e-3])
def test_diffusion_does_not_depend_on_the_step(dt):
    """Var = 2 D t = 1 at t = 1 with D = 1/2, whatever dt; half or twice D fails."""
    run = simulate(
        free(10_000, 3.0),
        t1=1,
        dt=dt,
        method="heun",
        diffusion=0.5,
        start=np.zeros(10_000),
    )
    assert_variance(run.y[0, -1] - 3.0, 1.0, 0.5, 2.0)


def test_pure_noise_keeps_the_state():
    """dx = dW, 1e4 trials: variance 1 and no pull anywhere."""
    run = simulate(
        FREE,
        t1=1,
        dt=0.01,
        method="euler-maruyama",
        diffusion=0.5,
        start=[2.0],
        n_trajectories=10_000,
    )
    x = run.y[:, -1, 0] - 2.0
    assert_mean(x, 0.0, 0.1)
    assert_variance(x, 1.0, 0.5)


def test_independent_noises_add_in_variance():
    """.3 and .4 per sqrt(s): .25 per second, not .49."""
    run = simulate(
        free(20_000),
        t1=1,
        dt=0.1,
        method="heun",
        diffusion=(0.3**2 + 0.4**2) / 2,
        start=np.zeros(20_000),
    )
    assert_variance(run.y[0, -1], 0.25, 0.49)


def test_relaxation_with_noise():
    """dx = -x/tau dt + sigma sqrt(2/tau) dB about the drive: D = sigma^2 / tau.

    tau = 1/|h|; at sigma = .05 the pull is linear and the deviation is sigma.
    """
    n, tau, sigma = 8000, 0.5, 0.05
    net = Network.driven(np.tile([1 / tau, 0.0], (n, 1)), geometry="torus")
    run = simulate(
        net, t1=5, dt=0.02, method="heun", diffusion=sigma**2 / tau, start=np.zeros(n)
    )
    assert_variance(run.y[0, -1], sigma**2, sigma**2 / 2, 2 * sigma**2)


@pytest.mark.kernel
@pytest.mark.parametrize("geometry", ["torus", "sphere"])
def test_threads_do_not_matter(geometry):
    net = Network.driven(
        np.random.default_rng(0).standard_normal((7, 2)), 0.3, geometry
    )
    runs = [
        simulate(
            net,
            t1=1,
            dt=0.05,
            method="heun",
            diffusion=[0.1] * 7,
            seed=1,
            n_trajectories=9,
            save_every=4,
            n_threads=k,
        )
        for k in (1, 2, 8)
    ]
    assert np.array_equal(runs[0].y, runs[1].y)
    assert np.array_equal(runs[0].y, runs[2].y)
    fewer = simulate(
        net,
        t1=1,
        dt=0.05,
        method="heun",
        diffusion=0.1,
        seed=1,
        n_trajectories=3,
        save_every=4,
    )
    assert np.array_equal(fewer.y, runs[0].y[:3])
    other = simulate(net, t1=1, dt=0.05, method="heun", diffusion=0.1, seed=2)
    assert not np.any(other.y[0, -1] == runs[0].y[0, -1])
    assert len(np.unique(runs[0].y[:, -1].ravel())) == runs[0].y[:, -1].size


def test_random_starts_are_uniform_and_differ():
    run = simulate(free(20_000), t1=1, dt=1, n_trajectories=2, seed=4)
    assert_mean(np.cos(run.y[0, 0]), 0.0, 0.05)
    assert -np.pi < run.y.min() < -3.14 < 3.14 < run.y.max() < np.pi
    assert not np.any(run.y[0, 0] == run.y[1, 0])
    run = simulate(free(100), t1=1, dt=1, n_trajectories=4000, seed=1)
    r = order_parameter(run)[:, 0]
    assert_mean(r**2, 1 / 100, 0)
    assert r.mean() == pytest.approx(0.0886, abs=0.003)


def test_rotation_keeps_length_and_order():
    """omega = 1, dt .01, 1000 steps: |z| = 1 to 1e-12; plain Euler leaves, 1.0513."""
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]])
    net = Network.driven(np.zeros((1, 3)), turn)
    for method, tolerance in (("rk4", 1e-9), ("heun", 2e-4), ("euler-maruyama", 1e-1)):
        run = simulate(
            net, t1=10, dt=0.01, method=method, start=[[1.0, 0, 0]], save_every=1
        )
        assert run.y.shape == (1, 1001, 1, 3)
        assert np.abs(np.linalg.norm(run.y, axis=-1) - 1).max() < 1e-12
        end = [np.cos(10), np.sin(10), 0]
        np.testing.assert_allclose(run.y[0, -1, 0], end, atol=tolerance)
    z = np.array([1.0, 0, 0])
    for _ in range(1000):
        z = z + 0.01 * turn @ z
    assert np.linalg.norm(z) == pytest.approx(1.0513, abs=1e-4)


def test_noisy_steps_keep_length():
    net = Network.driven(np.ones((4, 5)), antisymmetric(0, 4, 5))
    run = simulate(net, t1=20, dt=0.02, method="heun", diffusion=0.2, save_every=1)
    assert np.abs(np.linalg.norm(run.y, axis=-1) - 1).max() < 1e-12


@pytest.mark.kernel
def test_saved_times():
    run = simulate(FREE, t1=1, dt=0.1, save_every=4)
    np.testing.assert_allclose(run.t, [0, 0.4, 0.8, 1.0])
    assert simulate(FREE, t1=1, dt=0.1).t.tolist() == [0.0, 1.0]
    every = simulate(free(3, 0.5), t1=1, dt=0.1, save_every=1, start=np.zeros(3))
    np.testing.assert_allclose(every.y[0, :, 1], 0.5 * every.t, atol=1e-15)
    assert (run.version, run.method, run.dt, run.seed) == (__version__, "rk4", 0.1, 0)


@pytest.mark.kernel
def test_whole_numbers_are_numbers():
    a = simulate(Network.driven([[3, 0]], 1, "torus"), t1=1, dt=0.1, start=[1])
    b = simulate(
        Network.driven([[3.0, 0.0]], 1.0, "torus"), t1=1.0, dt=0.1, start=[1.0]
    )
    assert np.array_equal(a.y, b.y)


@pytest.mark.kernel
@pytest.mark.parametrize("geometry", ["torus", "sphere"])
def test_blow_up_names_step_time_and_index(geometry):
    field = np.zeros((4, 2))
    field[2] = [0.7, 0.7]
    net = Network.driven(field, geometry=geometry)
    start = unit(np.tile([1.0, -0.3], (4, 1)))
    if geometry == "torus":
        start = np.full(4, -0.3)
    with pytest.raises(IntegrationError, match="oscillator 2") as caught:
        simulate(net, t1=2e6, dt=1e6, start=start)
    assert (caught.value.step, caught.value.time, caught.value.index) == (1, 1e6, 2)
    run = simulate(
        net, t1=2e6, dt=1e6, start=start, on_failure="return", n_trajectories=2
    )
    assert run.status.tolist() == [1, 1]
    assert np.isfinite(run.y[:, 0]).all()
    assert np.isnan(run.y[:, 1]).all()
    assert simulate(net, t1=1, dt=0.1, start=start).status.tolist() == [-1]


@pytest.mark.kernel
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_start_that_is_not_finite_is_named(bad):
    for k in range(3):
        start = np.zeros(3)
        start[k] = bad
        with pytest.raises(SpecError, match=rf"got {bad} at index \({k},\)"):
            simulate(free(3), t1=1, dt=0.1, start=start)


@pytest.mark.kernel
def test_labelled_data():
    data = simulate(free(3), t1=1, dt=0.1, n_trajectories=2).to_xarray()
    assert data["theta"].dims == ("trajectory", "time", "oscillator")
    assert data.attrs["method"] == "rk4"
    run = simulate(Network.driven(np.ones((2, 4))), t1=1, dt=0.1)
    assert run.to_xarray()["z"].dims == (
        "trajectory",
        "time",
        "oscillator",
        "component",
    )
    np.testing.assert_array_equal(run.to_xarray()["time"], run.t)
    assert order_parameter(run).shape == (1, 2)
    np.testing.assert_array_equal(
        order_parameter(run), order_parameter(run.y, "sphere")
    )
    with pytest.raises(SpecError, match="contradicts the simulation's 'sphere'"):
        order_parameter(run, "torus")


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": 0.0}, "dt must be positive and finite, got 0.0"),
        ({"dt": np.nan}, "dt must be positive"),
        ({"t1": 0.0}, "at least one step"),
        ({"t1": np.inf}, "t1 must be finite"),
        ({"t1": 0.25}, "the nearest are 2 steps, t1 = 0.2"),
        ({"t1": 1e10}, r"at most 2\^32 steps"),
        ({"method": "leapfrog"}, "method must be one of rk4, heun, euler-maruyama"),
        ({"diffusion": 0.1}, "'rk4' has no noise term"),
        ({"diffusion": -0.1, "method": "heun"}, "diffusion must be finite and >= 0"),
        ({"diffusion": [0.1, 0.2], "method": "heun"}, r"shape \(3,\), got \(2,\)"),
        ({"start": np.zeros(2)}, r"start must have shape \(3,\) or \(1, 3\)"),
        ({"save_every": 0}, "save_every must be a whole number >= 1, got 0"),
        ({"n_trajectories": 1.5}, "n_trajectories must be a whole number"),
        ({"n_threads": 0}, "n_threads must be a whole number >= 1"),
        ({"on_failure": "ignore"}, "on_failure must be 'raise' or 'return'"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(SpecError, match=message):
        simulate(free(3), **{"t1": 1.0, "dt": 0.1, **arguments})


def test_start_off_the_sphere_is_refused():
    with pytest.raises(SpecError, match=r"unit vectors, got the length 1\.414"):
        simulate(Network.driven(np.ones((1, 2))), t1=1, dt=0.1, start=[[1.0, 1.0]])
