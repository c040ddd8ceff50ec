"""The onset of synchrony of Lorentzian frequencies."""

import numpy as np
import pytest

from oscsim.network.spec import Network
from oscsim.solve.frequencies import natural_frequencies
from oscsim.solve.simulate import simulate


@pytest.mark.parametrize("ratio", [1.25, 1.6, 2.0, 3.0])
def test_order_of_lorentzian_frequencies(ratio):
    """r = sqrt(1 - K_c/K), K_c = 2 gamma, at K = ratio K_c.

    Exact quantiles of n = 2000 oscillators, started at the predicted state: those
    within the lock range at asin(w / K r), the others at random. Drifting ones
    make r fluctuate by less than .01; K_c off by a tenth, or a coupling that is
    divided by n - 1 twice over, is more than .03 off.
    """
    gamma, n = 1.0, 2000
    omega = natural_frequencies("lorentzian", n, width=gamma)
    omega = np.clip(omega, -60.0, 60.0)
    coupling = ratio * 2 * gamma
    r = np.sqrt(1 - 1 / ratio)
    ratio_to_range = omega / (coupling * r)
    start = np.random.default_rng(0).uniform(-np.pi, np.pi, n)
    locked = np.abs(ratio_to_range) <= 1
    start[locked] = np.arcsin(ratio_to_range[locked])

    def mean(k):
        net = Network.kuramoto("all-to-all", omega=omega, coupling=k)
        with pytest.warns(RuntimeWarning, match="rad per step"):
            run = simulate(
                net,
                t1=40,
                dt=0.02,
                start=start,
                save_every=10,
                observe="order_parameter",
            )
        return run.r_observed[0, 100:].mean()

    assert mean(coupling) == pytest.approx(r, abs=0.015)
    assert abs(mean(coupling / 1.2) - r) > 0.03


def test_below_the_onset_order_vanishes():
    """K = K_c / 2: r' = -gamma r + (K/2) r (1 - r^2) from 1, so r^2/(1 + r^2) =
    exp(-t) / 2 at gamma = 1; then 1/sqrt(n) remains.
    """
    omega = np.clip(natural_frequencies("lorentzian", 2000, width=1.0), -60, 60)
    net = Network.kuramoto("all-to-all", omega=omega, coupling=1.0)
    with pytest.warns(RuntimeWarning, match="rad per step"):
        run = simulate(
            net,
            t1=40,
            dt=0.02,
            start=np.zeros(2000),
            save_every=100,
            observe="order_parameter",
        )
    assert run.r_observed[0, 1] == pytest.approx(0.2694, abs=0.02)
    assert run.r_observed[0, 10:].mean() < 0.05
