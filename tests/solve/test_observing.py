"""Measuring during a run: order parameters and mean frequencies, without the path."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.driven import adler_drift, beat_frequency
from oscsim.physics.locking import effective_frequencies
from oscsim.solve import run as running
from oscsim.solve.simulate import simulate
from tests.helpers import assert_mean

BOTH = ("order_parameter", "effective_frequency")


def crowd(n=12):
    omega = np.linspace(-2, 2, n)
    return Network.kuramoto("all-to-all", omega=omega, coupling=1.5)


@pytest.mark.kernel
def test_observed_frequencies_are_those_of_the_stored_path():
    arguments = {"t1": 2.0, "dt": 0.1, "save_every": 5, "n_trajectories": 3}
    stored = simulate(crowd(), **arguments)
    seen = simulate(crowd(), observe="effective_frequency", **arguments)
    exact = effective_frequencies(stored)
    np.testing.assert_allclose(seen.frequency, exact, rtol=1e-13)
    assert seen.frequency.shape == (3, 12)
    assert seen.t.tolist() == [0.0, 2.0]
    assert np.array_equal(seen.y, stored.y[:, [0, -1]])
    assert seen.r_observed.size == 0
    assert stored.frequency.size == 0
    assert seen.to_xarray()["frequency"].dims == ("trajectory", "oscillator")
    assert "frequency" not in stored.to_xarray()


@pytest.mark.kernel
def test_several_observables_at_once():
    arguments = {"t1": 2.0, "dt": 0.1, "save_every": 5, "n_trajectories": 2}
    both = simulate(crowd(), observe=BOTH, **arguments)
    for name in BOTH:
        one = simulate(crowd(), observe=name, **arguments)
        kept = "r_observed" if name == "order_parameter" else "frequency"
        assert np.array_equal(getattr(both, kept), getattr(one, kept))
    assert both.r_observed.shape == (2, 5)
    assert np.array_equal(simulate(crowd(), observe=[], **arguments).t, both.t_observed)


def test_beat_of_unlocked_phases_and_rest_of_locked_ones():
    """sqrt(dw^2 - L^2) beyond the lock range, 0 within; a second run drops the start.

    Whole turns of a period: the end is the start again, so the mean is exact.
    """
    dw, n_turns = np.array([1.25, -1.25, 0.5]), 6
    beat = beat_frequency(dw, 1.0)
    assert beat.tolist() == [0.75, -0.75, 0.0]
    net = Network.driven(np.tile([1.0, 0.0], (3, 1)), dw, "torus")
    t1 = n_turns * 2 * np.pi / 0.75
    arguments = {"t1": t1, "dt": t1 / 5000, "observe": "effective_frequency"}
    first = simulate(net, start=[0.3, 0.3, 0.3], **arguments)
    np.testing.assert_allclose(first.frequency[0, :2], beat[:2], atol=1e-8)
    later = simulate(net, start=first.y[0, -1], **arguments)
    np.testing.assert_allclose(later.frequency[0], beat, atol=1e-8)
    assert abs(first.frequency[0, 2]) > 1e-3


def test_mean_frequency_of_noisy_unlocked_phases():
    """(D/pi) sinh(pi a) / |I_ia(kappa)|^2 = 1.19423 at dw 1.5, L 1, D .5.

    2000 phases over 20 s from equilibrium; without noise it would be 1.118, with
    D doubled 1.306.
    """
    n = 2000
    net = Network.driven(np.tile([1.0, 0.0], (n, 1)), 1.5, "torus")
    arguments = {"dt": 0.05, "method": "heun", "diffusion": 0.5}
    before = simulate(net, t1=5, seed=1, **arguments)
    run = simulate(
        net,
        t1=20,
        seed=2,
        start=before.y[0, -1],
        observe="effective_frequency",
        **arguments,
    )
    exact = adler_drift(1.5, 1.0, 0.5)
    assert exact == pytest.approx(1.19423, abs=5e-6)
    noiseless, louder = float(beat_frequency(1.5, 1.0)), adler_drift(1.5, 1.0, 1.0)
    assert_mean(run.frequency[0], exact, noiseless, louder)


@pytest.mark.kernel
def test_no_end_no_frequency(monkeypatch):
    field = np.zeros((2, 2))
    field[1] = [40.0, 0.0]
    net = Network.driven(field, geometry="torus")
    arguments = {"t1": 1.0, "dt": 0.1, "method": "euler-maruyama", "observe": BOTH}
    failed = simulate(net, start=[0.0, 1.5], on_failure="return", **arguments)
    assert np.isnan(failed.frequency).all()
    monkeypatch.setattr(running, "_PIECE_S", 0.0)

    def stop(done, n_steps):
        raise KeyboardInterrupt

    cut = simulate(crowd(), progress=stop, **arguments)
    assert not cut.is_complete
    assert np.isnan(cut.frequency).all()
    assert cut.frequency.shape == (1, 12)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("network", "arguments", "message"),
    [
        (crowd(), {"observe": "energy"}, "observe must be of order_parameter, "),
        (crowd(), {"observe": 5}, "or None, got 5"),
        (crowd(), {"observe": [*BOTH, "energy"]}, "or None, got 'energy'"),
        (crowd(), {"observe": BOTH, "method": "rk45"}, "fixed step, got 'rk45'"),
        (
            Network.driven(np.ones((2, 2))),
            {"observe": "effective_frequency"},
            "effective_frequency needs phases: unit vectors have none",
        ),
    ],
)
def test_refusals(network, arguments, message):
    with pytest.raises(SpecError, match=message):
        simulate(network, t1=1.0, dt=0.1, **arguments)
