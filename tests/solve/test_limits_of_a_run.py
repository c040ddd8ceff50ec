"""What a run refuses before it starts, how it fails, and how it is interrupted."""

import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from oscsim.errors import IntegrationError, SpecError
from oscsim.network.spec import Network
from oscsim.solve import run
from oscsim.solve.simulate import simulate

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
RUN = {"t1": 1.0, "dt": 0.1}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("method", "limit"), [("rk4", 2.78), ("heun", 2.0), ("euler-maruyama", 2.0)]
)
def test_a_step_unstable_for_the_coupling_is_refused_with_one_that_would_do(
    method, limit
):
    for form in (np.asarray, sparse.csr_array):
        stiff = Network.kuramoto(form(PAIR), coupling=30)
        with pytest.raises(
            SpecError, match=f"unstable for '{method}'.*is above {limit}"
        ):
            simulate(stiff, method=method, **RUN)
        good = float(f"{limit / 30:.3g}")
        with pytest.raises(SpecError, match=f"use dt <= {good:.3g}"):
            simulate(stiff, method=method, **RUN)
    signed = Network.kuramoto("all-to-all", n=5, coupling=-40)
    with pytest.raises(SpecError, match=r"sum \|K\| dt = 3.2"):
        simulate(signed, **RUN)
    just = Network.kuramoto(PAIR, coupling=limit / 0.1 * 0.999)
    assert simulate(just, method=method, **RUN).status[0] == -1
    for free in ("map", "adaptive", "rk45"):
        assert simulate(stiff, method=free, **RUN).is_complete


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
        ({"method": "adaptive", "rtol": 0.0}, "rtol and atol must be positive"),
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


@pytest.mark.kernel
def test_a_failure_in_an_ensemble_spares_the_other_runs():
    rng = np.random.default_rng(0)
    net = Network.driven(rng.standard_normal((40, 2)), geometry="torus")
    weights = rng.standard_normal((40, 40)) / 40
    net = Network.kuramoto(weights, anchors=[0.0], anchor_weights=np.full((40, 1), 50))
    start = np.zeros((20, 40))
    start[7, 3] = np.pi / 2
    run_ = simulate(
        net,
        t1=1,
        dt=0.1,
        start=start,
        n_trajectories=20,
        on_failure="return",
        save_every=1,
        method="euler-maruyama",
    )
    assert run_.status[7] == 1
    assert np.isfinite(run_.y[7, 0]).all()
    assert np.isnan(run_.y[7, 1:]).all()
    with pytest.raises(
        IntegrationError, match="oscillator 3 of trajectory 7"
    ) as caught:
        simulate(
            net, t1=1, dt=0.1, start=start, n_trajectories=20, method="euler-maruyama"
        )
    assert (caught.value.step, caught.value.index) == (1, 3)


@pytest.mark.kernel
@pytest.mark.parametrize("geometry", ["torus", "sphere"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_runs_that_fail_together_are_all_told(geometry, n_threads):
    """Three of 40 runs, two in one block of 32, at the first step, one finite.

    The error names the first by number and counts the others.
    """
    rng = np.random.default_rng(0)
    weights, pull = rng.standard_normal((33, 33)) / 33, np.zeros((33, 1))
    pull[[3, 5]] = 50.0
    bad, where = [7, 9, 35], [5, 3, 3]
    if geometry == "torus":
        net = Network.kuramoto(weights, anchors=[0.0], anchor_weights=pull)
        start = np.zeros((40, 33))
        start[bad, where] = np.pi / 2
    else:
        anchors = [[1.0, 0.0, 0.0]]
        net = Network.lohe(weights, d=3, anchors=anchors, anchor_weights=pull)
        start = np.tile([1.0, 0.0, 0.0], (40, 33, 1))
        start[bad, where] = [0.0, 1.0, 0.0]
    arguments = {
        "t1": 0.3,
        "dt": 0.1,
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
def test_an_interrupted_adaptive_run_keeps_its_saved_times(rows):
    def stop(done, n):
        if done >= rows:
            raise KeyboardInterrupt

    net = Network.kuramoto(PAIR, omega=[0.3, 0.0])
    cut = simulate(net, t1=1, dt=0.1, save_every=2, method="adaptive", progress=stop)
    assert not cut.is_complete
    assert cut.t.size == rows + 1 or cut.t.size == rows
    assert np.isfinite(cut.y).all()


def choices(n_pieces, without, with_threads):
    """What is chosen for pieces of steps that last so long (s)."""
    is_on = np.ones(1, int)
    choice, made = run._Choice(is_on), []
    for _ in range(n_pieces):
        n_steps = 1 if choice.set() else 16
        made.append((int(is_on[0]), n_steps))
        choice.learn(n_steps * (with_threads if is_on[0] else without), n_steps)
    return made


def test_threads_inside_a_step_are_tried_where_steps_or_runs_are_long():
    trial = [(1, 1), (1, 1), (0, 1)]
    assert choices(6, 0.01, 0.006) == [(0, 1), *trial, (1, 16), (1, 16)]
    assert choices(6, 0.01, 0.02) == [(0, 1), *trial, (0, 16), (0, 16)]
    short = choices(100, 1e-3, 5e-4)
    assert short[:14] == [(0, 1)] + 13 * [(0, 16)]
    assert short[14:18] == [*trial, (1, 16)]
    assert short[14 + 64 : 14 + 67] == trial


def test_without_the_choice_nothing_is_tried():
    choice = run._Choice(None)
    for _ in range(5):
        assert not choice.set()
        choice.learn(1.0, 4)
