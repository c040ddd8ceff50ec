"""How adaptive steps fail, and that they are heard of meanwhile."""

import warnings

import numpy as np
import pytest

from oscsim.errors import IntegrationError
from oscsim.network.spec import Network
from oscsim.solve import adaptive
from oscsim.solve.simulate import simulate

ADAPTIVE = pytest.mark.parametrize("method", ["adaptive", "rk45"])
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("error")]


@ADAPTIVE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("geometry", ["torus", "sphere"])
def test_a_first_rate_that_is_not_finite_fails_at_once(method, dtype, geometry):
    """Two finite weights whose sum is not; it used to be tried for ever."""
    weights = np.zeros((3, 3))
    weights[1, [0, 2]] = 0.9 * float(np.finfo(dtype).max)
    net, start = Network.kuramoto(weights), np.array([1.5, 0.0, 1.5])
    if geometry == "sphere":
        net, start = Network.lohe(weights, d=3), np.eye(3)[[1, 0, 1]]
    arguments = {"t1": 1.0, "method": method, "dtype": dtype, "start": start}
    with np.errstate(over="ignore"), pytest.raises(IntegrationError) as caught:
        simulate(net, **arguments)
    error = caught.value
    assert (error.step, error.time, error.index) == (1, 0.0, 1)
    assert "too large for any step" in str(error)
    with np.errstate(over="ignore"):
        run = simulate(net, on_failure="return", n_trajectories=2, **arguments)
    assert run.status.tolist() == [1, 1]
    assert np.isfinite(run.y[:, 0]).all()
    assert np.isnan(run.y[:, 1]).all()


@ADAPTIVE
def test_a_failure_names_oscillator_and_step(method):
    """1.7e308 rad/s overflow within the first step of either method."""
    net = Network.kuramoto("all-to-all", n=2, omega=[0, 1.7e308])
    with pytest.raises(IntegrationError, match="oscillator 1 is") as caught:
        simulate(net, t1=10.0, dt=0.1, save_every=10, method=method)
    assert (caught.value.step, caught.value.time) == (1, 0.0)


def test_a_late_failure_tells_the_time_it_reached_and_keeps_what_was_saved():
    """1e306 rad/s pass the largest number, 1.7977e308, at 179.77 s."""
    net = Network.kuramoto("all-to-all", n=2, coupling=0.0, omega=[0, 1e306])
    arguments = {"t1": 400.0, "method": "rk45", "start": [0.0, 0.0]}
    with pytest.raises(IntegrationError, match="oscillator 1 is") as caught:
        simulate(net, dt=0.1, save_every=100, **arguments)
    assert caught.value.time == pytest.approx(179.769, abs=1e-3)
    assert caught.value.step == 1798
    with pytest.raises(IntegrationError, match="at step 1 ") as caught:
        simulate(net, **arguments)
    assert caught.value.time == pytest.approx(179.769, abs=1e-3)
    run = simulate(net, dt=0.1, save_every=100, on_failure="return", **arguments)
    assert run.status.tolist() == [1798]
    is_kept = run.t < 179.0
    np.testing.assert_allclose(run.y[0, is_kept, 1], 1e306 * run.t[is_kept])
    assert np.isnan(run.y[0, ~is_kept]).all()


def test_one_run_of_several_fails():
    """Only the second begins less than 100 s from the largest number."""
    net = Network.kuramoto("all-to-all", n=2, coupling=0.0, omega=[0, 1e306])
    arguments = {"t1": 100.0, "dt": 10.0, "save_every": 1, "method": "rk45"}
    arguments |= {"start": [[0.0, 0.0], [0.0, 1e308]], "n_trajectories": 2}
    with pytest.raises(
        IntegrationError, match="oscillator 1 of trajectory 1 is"
    ) as caught:
        simulate(net, **arguments)
    assert caught.value.time == pytest.approx(79.769, abs=1e-3)
    run = simulate(net, on_failure="return", **arguments)
    assert run.status.tolist() == [-1, 8]
    assert np.isfinite(run.y[0]).all()
    assert np.isfinite(run.y[1, :8]).all()
    assert np.isnan(run.y[1, 8:]).all()


def test_progress_comes_between_saved_times(monkeypatch):
    monkeypatch.setattr(adaptive, "_PIECE_S", 0.0)
    net, seen = Network.kuramoto([[0, 1], [1, 0]], coupling=200.0), []
    arguments = {"t1": 1.0, "method": "adaptive", "n_trajectories": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(net, progress=lambda *now: seen.append(now), **arguments)
    done = [now[0] for now in seen]
    assert done == sorted(done)
    assert len(set(done)) > 10
    assert {now[1] for now in seen} == {2000}
    assert done[-1] == 2000
    seen.clear()
    monkeypatch.setattr(adaptive, "_PIECE_S", 1e9)
    simulate(net, progress=lambda *now: seen.append(now), **arguments)
    assert seen == [(2000, 2000)]


def test_an_interruption_between_saved_times_is_heeded(monkeypatch):
    monkeypatch.setattr(adaptive, "_PIECE_S", 0.0)

    def stop(done, n):
        raise KeyboardInterrupt

    net = Network.kuramoto([[0, 1], [1, 0]], coupling=1e9)
    cut = simulate(net, t1=1.0, method="adaptive", progress=stop)
    assert not cut.is_complete
    assert cut.t.tolist() == [0.0]
