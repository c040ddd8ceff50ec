"""Every observable of a run in one call, against closed forms on one trajectory."""

import numpy as np
import pytest

import oscsim as osc

pytestmark = pytest.mark.kernel


def test_a_locked_pair_and_a_stranger():
    """dw = .5, K = 1 both ways: lag asin(.25), common rate .25; the third at 3.

    tan((phi - phi*)/2)-like relaxation aside, after 20 s everything is settled.
    """
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[1, 0] = 1.0
    net = osc.Network.kuramoto(weights, omega=[0.5, 0.0, 3.0])
    run = osc.simulate(net, t1=60, dt=0.05, start=[0.0, 0.0, 1.0], save_every=4)
    lag = np.arcsin(0.25)
    late = run.t >= 30
    rates = osc.effective_frequencies(run, after=30)
    np.testing.assert_allclose(rates, [[0.25, 0.25, 3.0]], atol=1e-9)
    assert osc.locked_clusters(run, 1e-6, after=30).tolist() == [[0, 0, 1]]
    coherence = osc.pairwise_coherence(run, after=30)[0]
    assert coherence[0, 1] == pytest.approx(1.0, abs=1e-9)
    assert coherence[0, 2] < 0.05
    local = osc.local_order_parameter(run, net.coupling)
    np.testing.assert_allclose(local[0, :, :2], 1.0, atol=1e-12)
    assert np.isnan(local[0, :, 2]).all()
    r, theta = osc.order_parameter(run), run.y[0, late]
    pair = 2 * np.cos(lag / 2)
    turning = theta[:, 2] - theta[:, :2].mean(axis=1)
    exact = np.sqrt(pair**2 + 1 + 2 * pair * np.cos(turning)) / 3
    np.testing.assert_allclose(r[0, late], exact, atol=1e-9)
    energy = osc.potential(net, run)[0]
    np.testing.assert_allclose(energy[late], -np.cos(lag), atol=1e-9)
    assert energy[0] == -1.0


def test_settling_of_a_driven_phase_and_vector():
    """t = ln(tan(phi_0/2) / tan(eps/2)) / L: 2.5 rad to .01 at L = 2."""
    exact = np.log(np.tan(1.25) / np.tan(0.005)) / 2
    torus = osc.Network.driven([[2.0, 0.0]], geometry="torus")
    run = osc.simulate(torus, t1=6, dt=0.01, start=[2.5], save_every=1)
    found = osc.settling_times(run, 0.01, target=np.zeros(1))
    assert exact <= found[0, 0] < exact + 0.0101
    sphere = osc.Network.driven([[2.0, 0.0, 0.0]])
    start = [[np.cos(2.5), 0.0, np.sin(2.5)]]
    run = osc.simulate(sphere, t1=6, dt=0.01, start=start, save_every=1)
    found = osc.settling_times(run, 0.01, target=np.array([[1.0, 0.0, 0.0]]))
    assert exact <= found[0, 0] < exact + 0.0101
    assert osc.settling_times(run, 0.02)[0, 0] < exact
