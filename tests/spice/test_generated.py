"""Generated circuits in ngspice against the engine."""

import numpy as np
import pytest
from scipy import sparse

import oscsim as osc
from oscsim.physics.driven import settle
from oscsim.spice.build import to_circuit
from oscsim.spice.head import AttentionHead
from oscsim.spice.head_circuit import Tank
from oscsim.spice.head_run import LONGEST, run_head, usual_duration
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit

pytestmark = [pytest.mark.spice, pytest.mark.usefixtures("ngspice")]


def draw(seed):
    return np.random.default_rng(seed)


def unit(rng, n, d):
    vectors = rng.normal(size=(n, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def compared(network, start, t1):
    """Largest difference of the last state from the engine's."""
    circuit = to_circuit(network, start=start, duration=t1)
    waves = simulate_circuit(circuit.netlist()).waveforms
    found = np.array([waves.signal(f"v({node})")[-1] for node in circuit.saved])
    path = osc.simulate(network, t1=t1, dt=t1 / 2000, start=start, save_every=2000)
    return np.abs(found.reshape(start.shape) - path.y[0, -1]).max()


def test_a_crossbar_with_all_that_it_has():
    """Lags of every edge, anchors, injection and detuning, either sign of K."""
    rng = draw(1)
    network = osc.Network.kuramoto(
        0.3 * rng.normal(size=(8, 8)),
        omega=rng.normal(size=8),
        lag=rng.normal(size=(8, 8)),
        anchors=rng.normal(size=3),
        anchor_weights=rng.normal(size=(8, 3)),
        shil=0.5,
        shil_phase=0.4,
    )
    assert compared(network, rng.uniform(-3, 3, 8), 10.0) < 1e-4


def test_a_sparse_crossbar_and_one_at_radio_frequency():
    rng = draw(2)
    start = rng.uniform(-3, 3, 30)
    weights = sparse.random_array((30, 30), density=0.1, rng=rng, format="csr")
    lags = sparse.csr_array(
        (0.5 * weights.data, weights.indices, weights.indptr), weights.shape
    )
    slow = osc.Network.kuramoto(weights, omega=rng.normal(size=30), lag=lags)
    assert compared(slow, start, 10.0) < 1e-4
    fast = osc.Network.kuramoto(
        "all-to-all", omega=1e6 * rng.normal(size=30), coupling=3e6
    )
    assert compared(fast, start, 5e-6) < 1e-4


def test_a_lohe_network_that_turns():
    rng = draw(3)
    turning = rng.normal(size=(6, 3, 3))
    network = osc.Network.lohe(
        0.3 * rng.normal(size=(6, 6)),
        d=3,
        omega=turning - np.swapaxes(turning, 1, 2),
        anchors=unit(rng, 2, 3),
        anchor_weights=rng.normal(size=(6, 2)),
    )
    assert compared(network, unit(rng, 6, 3), 10.0) < 1e-4


def a_head(rng, d, queries=3, anchors=7):
    """Anchors of any length, one weight missing."""
    weights = rng.exponential(size=(queries, anchors))
    weights[0, 0] = 0.0
    return AttentionHead(
        weights, 2 * rng.normal(size=(anchors, d)), unit(rng, queries, d)
    )


@pytest.mark.parametrize("d", [2, 5])
def test_the_sphere_follows_the_exact_flow(d):
    """In the middle of the way and at its end; another full scale is another flow."""
    head = a_head(draw(d), d)
    for duration in (4.0, 60.0):
        netlist = to_circuit(head, duration=duration).netlist()
        run = run_head(head, netlist, "sphere")
        exact = settle(
            head.weights @ head.anchors, head.start, duration / head.full_scale
        )
        np.testing.assert_allclose(run.final, exact, rtol=0, atol=1e-4)
    assert run.time_in_scales == duration
    other = settle(head.weights @ head.anchors, head.start, 4.0 / head.full_scale / 1.2)
    early = run.directions[:, np.searchsorted(run.time, 4.0)]
    assert np.abs(early - other).max() > 1e-2


def test_settling_times_follow_the_closed_form():
    """tan(phi/2) falls as exp(-|h| t): when it passes tan(.01)."""
    head = a_head(draw(7), 3)
    netlist = to_circuit(head, duration=60).netlist()
    run = run_head(head, netlist, "sphere")
    lengths = np.linalg.norm(head.drives, axis=1)
    phi = np.arccos(np.sum(head.drives * head.start, axis=1) / lengths)
    expected = np.log(np.tan(phi / 2) / np.tan(0.01)) / lengths
    np.testing.assert_allclose(run.settle_times, expected, atol=0.03)
    short = run_head(head, to_circuit(head, duration=3).netlist(), "sphere")
    assert np.isnan(short.settle_times).all()


def test_energies_are_what_the_sources_say():
    """The sum over queries is the sum of V I of the anchors' sources."""
    head = a_head(draw(8), 2)
    circuit = to_circuit(head, duration=30)
    names = [f"vr_{j}_{k}" for j in range(7) for k in range(2)]
    text = circuit.text().replace(
        ".end\n", "".join(f".save i({name})\n" for name in names) + ".end\n"
    )
    text = text.replace(".ends\n.end\n", ".ends\n")
    watched = Netlist("watched", text, circuit.netlist().folder)
    waves = simulate_circuit(watched).waveforms
    volts = head.directions.ravel()
    delivered = -sum(
        volts[n] * np.trapezoid(waves.signal(f"i({name})"), waves.time)
        for n, name in enumerate(names)
    )
    run = run_head(head, circuit.netlist(), "sphere")
    assert run.energies.min() > 0
    assert run.energies.sum() == pytest.approx(delivered, rel=1e-9)


def turned(first, second):
    """Sine of the angle from the first vectors to the second."""
    return first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]


def test_oscillators_lock_to_the_drive_and_follow_the_flow():
    """Gate .01 rad after the constant offset, .06 on the way; without it not.

    Steps are fixed, so that the tank runs at the frequency of the tones.
    """
    rng = draw(9)
    head = AttentionHead(
        np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 0.1]]),
        np.array([[1.0, 0.2], [-0.3, 1.5], [0.4, 0.4]]),
        unit(rng, 2, 2),
    )
    duration = 7e-4
    netlist = to_circuit(head, duration=duration, circuit="lc").netlist()
    run = run_head(head, netlist, "lc")
    tank = Tank.shipped()
    target = head.drives / np.linalg.norm(head.drives, axis=1, keepdims=True)
    apart = turned(target, run.final)
    assert np.abs(apart).max() < 0.003
    assert (np.abs(apart - 0.025) > 0.01).all(), "the offset is needed"
    for at in (5e-5, 1e-4, 2e-4):
        way = run.directions[:, np.searchsorted(run.time, at)]
        exact = settle(tank.rate * head.drives, head.start, at)
        assert np.abs(turned(exact, way)).max() < 0.06
    assert run.time_in_scales == pytest.approx(tank.rate * run.time[-1])
    swing = tank.g1 / 2 * duration
    assert swing < run.energies.min() < run.energies.max() < 1.5 * swing


def test_the_usual_duration_is_long_enough_and_bounded():
    head = a_head(draw(4), 2)
    weakest = np.linalg.norm(head.drives, axis=1).min()
    assert usual_duration(head, "sphere") == pytest.approx(15 / weakest)
    assert usual_duration(head, "lc") == pytest.approx(
        min(10 / weakest / Tank.shipped().rate, LONGEST["lc"])
    )
    weak = AttentionHead(
        np.array([[1.0, 0.0], [1e-6, 0.0]]), np.eye(2), unit(draw(5), 2, 2)
    )
    assert usual_duration(weak, "sphere") == 600.0
