"""What a run refuses before it starts, how it fails, and how it is interrupted."""

import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from oscsim.errors import IntegrationError, SpecError
from oscsim.network.spec import Network
from oscsim.solve import adaptive, plan, run
from oscsim.solve.simulate import simulate

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
RUN = {"t1": 1.0, "dt": 0.1}


@pytest.mark.kernel
def test_other_methods_know_no_limit_of_the_step():
    for form in (np.asarray, sparse.csr_array):
        stiff = Network.kuramoto(form(PAIR), coupling=30)
        with pytest.raises(SpecError, match=r"unstable for 'rk4': sum \|K\| dt = 3 "):
            simulate(stiff, **RUN)
        for free in ("map", "adaptive", "rk45"):
            assert simulate(stiff, method=free, **RUN).is_complete
    signed = Network.kuramoto("all-to-all", n=5, coupling=-40)
    with pytest.raises(SpecError, match=r"sum \|K\| dt = 3.2"):
        simulate(signed, **RUN)


@pytest.mark.kernel
def test_fast_rotation_only_warns():
    net = Network.kuramoto(PAIR, omega=[20.0, 20.0])
    with pytest.warns(RuntimeWarning, match="turns by 2 rad per step"):
        end = simulate(net, start=[0.0, 0.1], **RUN).y[0, -1]
    assert end.mean() == pytest.approx(20.05)
    simulate(Network.kuramoto(PAIR, omega=[9.0, 9.0]), **RUN)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": None}, "'rk4' needs dt"),
        ({"method": "adaptive", "dt": None, "save_every": 2}, "give dt as well"),
        ({"method": "adaptive", "dt": None, "t1": -1.0}, "t1 must be positive"),
        ({"method": "adaptive", "observe": "order_parameter"}, "fixed step"),
        ({"method": "adaptive", "diffusion": 0.1}, "'adaptive' has no noise term"),
        ({"method": "map", "diffusion": 0.1}, "'map' has no noise term"),
        ({"method": "rk45", "diffusion": 0.1}, "'rk45' has no noise term"),
        ({"observe": "energy"}, "observe must be of order_parameter, "),
        ({"dtype": np.float16}, "float64 or float32, got float16"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
        ({"seed": "one"}, "seed must be a whole number"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(SpecError, match=message):
        simulate(Network.kuramoto(PAIR), **{**RUN, **arguments})


@pytest.mark.kernel
def test_a_noisy_network_refuses_deterministic_methods_unless_silenced():
    net = Network.kuramoto(PAIR, diffusion=0.1)
    with pytest.raises(SpecError, match="'rk4' has no noise term"):
        simulate(net, **RUN)
    assert simulate(net, diffusion=0.0, **RUN).is_complete
    a = simulate(net, method="heun", **RUN)
    b = simulate(Network.kuramoto(PAIR), method="heun", diffusion=[0.1, 0.1], **RUN)
    assert np.array_equal(a.y, b.y)


@pytest.mark.kernel
def test_more_memory_than_there_is_is_refused_before_anything_is_allocated():
    net = Network.kuramoto("all-to-all", n=1000)
    with pytest.raises(SpecError, match=r"this run needs 8(\.\d+)?e\+03 GB"):
        simulate(net, t1=1e6, dt=1e-3, save_every=1)
    with pytest.raises(SpecError, match=r"this run needs 1e\+03 GB"):
        simulate(
            Network.driven(np.zeros((1, 2)), geometry="torus"),
            t1=1e7,
            dt=1,
            save_every=1,
            n_trajectories=10_000,
            observe="order_parameter",
        )
    assert 1e6 < plan._free_memory() < 1e15


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_failure_in_an_ensemble_spares_the_other_runs():
    """A phase of 1.79e308 rad that gains 1e305 a step is infinite at the eighth."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((40, 40)) / 40
    omega = np.where(np.arange(40) == 3, 1e305, 0.0)
    net = Network.kuramoto(weights, omega=omega)
    start = np.zeros((20, 40))
    start[7, 3] = 1.79e308
    arguments = {"t1": 10, "dt": 1, "start": start, "n_trajectories": 20}
    arguments |= {"method": "euler-maruyama"}
    run_ = simulate(net, on_failure="return", save_every=1, **arguments)
    assert run_.status.tolist() == [-1] * 7 + [8] + [-1] * 12
    assert np.isfinite(run_.y[7, :8]).all()
    assert np.isnan(run_.y[7, 8:]).all()
    assert np.isfinite(np.delete(run_.y, 7, axis=0)).all()
    with pytest.raises(
        IntegrationError, match="oscillator 3 of trajectory 7 is"
    ) as caught:
        simulate(net, **arguments)
    assert (caught.value.step, caught.value.index, caught.value.time) == (8, 3, 8.0)


@pytest.mark.kernel
@pytest.mark.parametrize("method", ["euler-maruyama", "heun"])
def test_when_a_run_fails_does_not_depend_on_the_others(method):
    """Noisy vectors, pulled by 19 to the second axis, steps of .1: near a right
    angle to it a step is too long, which comes about in most of 40 runs within
    20 steps, in each at its own. The same by edges, where every run is alone.
    Where a failed run waits, on the first axis, it would fail at every step.
    """
    pull = np.zeros((33, 1))
    pull[[2, 20]] = 19.0
    found = []
    for form in (np.asarray, sparse.csr_array):
        net = Network.lohe(
            form(np.zeros((33, 33))),
            d=3,
            anchors=[[0.0, 1.0, 0.0]],
            anchor_weights=pull,
        )
        run_ = simulate(
            net,
            t1=2.0,
            dt=0.1,
            method=method,
            diffusion=0.6 if method == "euler-maruyama" else 0.9,
            start=np.tile([0.0, 1.0, 0.0], (33, 1)),
            n_trajectories=40,
            save_every=1,
            on_failure="return",
            seed=3,
        )
        found.append(run_)
    assert found[0].status.tolist() == found[1].status.tolist()
    assert len(set(found[0].status.tolist())) > 8
    np.testing.assert_allclose(found[0].y, found[1].y, atol=1e-11)


@pytest.mark.kernel
@pytest.mark.parametrize("geometry", ["torus", "sphere"])
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_runs_that_fail_together_are_all_told(geometry, n_threads):
    """Three of 40 runs, two in one block of 32, at the first step.

    Phases overflow; vectors at a right angle to an anchor are pulled too far. The
    error names the first by number and counts the others.
    """
    rng = np.random.default_rng(0)
    weights, pull = rng.standard_normal((33, 33)) / 330, np.zeros((33, 1))
    pull[[3, 5]] = 15.0
    bad, where = [7, 9, 35], [5, 3, 3]
    if geometry == "torus":
        omega = np.where(pull[:, 0] > 0, 1e308, 0.0)
        net = Network.kuramoto(weights, omega=omega)
        start = np.zeros((40, 33))
        start[bad, where] = 1.79e308
    else:
        anchors = [[1.0, 0.0, 0.0]]
        net = Network.lohe(weights, d=3, anchors=anchors, anchor_weights=pull)
        start = np.tile([1.0, 0.0, 0.0], (40, 33, 1))
        start[bad, where] = [0.0, 1.0, 0.0]
    arguments = {
        "t1": 0.375,
        "dt": 0.125,
        "start": start,
        "n_trajectories": 40,
        "method": "euler-maruyama",
        "n_threads": n_threads,
    }
    found = simulate(net, on_failure="return", save_every=1, **arguments)
    assert np.flatnonzero(found.status >= 0).tolist() == bad
    assert found.status[bad].tolist() == [1, 1, 1]
    assert np.isfinite(np.delete(found.y, bad, axis=0)).all()
    with pytest.raises(IntegrationError, match="2 more trajectories failed") as caught:
        simulate(net, **arguments)
    error = caught.value
    assert (error.step, error.trajectory, error.index) == (1, 7, 5)
    assert error.n_others == 2
    assert "oscillator 5 of trajectory 7" in str(error)


@pytest.mark.kernel
def test_progress_is_told():
    seen = []
    net = Network.kuramoto(PAIR)
    simulate(net, t1=10, dt=0.1, progress=lambda done, n: seen.append((done, n)))
    assert seen[-1] == (100, 100)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    seen.clear()
    simulate(
        net, t1=1, method="adaptive", progress=lambda done, n: seen.append((done, n))
    )
    assert seen


@pytest.mark.kernel
@pytest.mark.parametrize("n", [1, 3])
def test_an_interruption_keeps_what_all_runs_have(n, monkeypatch):
    monkeypatch.setattr(run, "_PIECE_S", 0.0)

    def stop(done, n_steps):
        if done >= 30:
            raise KeyboardInterrupt

    net = Network.kuramoto(PAIR, omega=[0.3, 0.0])
    arguments = {"t1": 10, "dt": 0.1, "save_every": 10, "n_trajectories": n}
    whole = simulate(net, **arguments)
    cut = simulate(net, progress=stop, **arguments)
    assert whole.is_complete
    assert not cut.is_complete
    np.testing.assert_array_equal(cut.t, whole.t[:4])
    assert np.array_equal(cut.y, whole.y[:, :4])
    seen = simulate(net, progress=stop, observe="order_parameter", **arguments)
    assert seen.t.tolist() == [0.0]
    np.testing.assert_array_equal(seen.t_observed, whole.t[:4])
    assert np.isfinite(seen.r_observed).all()


def test_a_real_interruption_stops_a_long_run_soon():
    net = Network.kuramoto("all-to-all", n=50)
    simulate(net, t1=1, dt=0.1)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    # A shell's background job starts with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        cut = simulate(net, t1=1e7, dt=0.1, save_every=1_000_000, n_threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not cut.is_complete
    assert cut.y.shape[1] == cut.t.size >= 1


@pytest.mark.kernel
@pytest.mark.parametrize("rows", [1, 3])
def test_an_interrupted_adaptive_run_keeps_its_saved_times(rows, monkeypatch):
    monkeypatch.setattr(adaptive, "_PIECE_S", 0.0)

    def stop(done, n):
        if done >= 200 * rows:
            raise KeyboardInterrupt

    net = Network.kuramoto(PAIR, omega=[0.3, 0.0])
    cut = simulate(net, t1=1, dt=0.1, save_every=2, method="adaptive", progress=stop)
    assert not cut.is_complete
    assert cut.t.size >= rows + 1
    assert np.isfinite(cut.y).all()


@pytest.mark.kernel
@pytest.mark.parametrize(("cost_on", "chosen"), [(3.0, 0), (0.5, 1)])
def test_threads_inside_a_step_are_used_where_they_were_faster(cost_on, chosen):
    is_on = np.zeros(1, int)
    choice = run._Choice(is_on)
    trials = []
    for _ in range(10):
        trials.append(choice.set())
        choice.learn(cost_on if is_on[0] else 1.0)
    assert trials == [True] * 4 + [False] * 6
    assert is_on[0] == chosen
    assert not run._Choice(None).set()
