"""Every part of the field in every way that a run is laid out, against twins.

One matrix, many runs of one matrix by matrix products, a batch of matrices, edges,
equal weights, rows shared by threads, blocks of oscillators without coupling.
"""

import numpy as np
import pytest
from scipy import sparse

from oscsim.network.spec import Network
from oscsim.physics.driven import settle_detuned
from oscsim.solve.plan import NOISE_STAGE
from oscsim.solve.simulate import simulate
from oscsim.solve.stream import Stream
from tests import naive
from tests.helpers import antisymmetric, random_units

DT = 1e-3
WAYS = ["one", "ensemble", "batch", "sparse", "all-to-all"]


def weights_of(way, rng):
    """Return (topology, number of trajectories, a matrix for each of them)."""
    n = 33 if way == "ensemble" else 7
    if way == "all-to-all":
        return "all-to-all", 2, [np.full((n, n), 1 / n) - np.eye(n) / n] * 2
    if way == "batch":
        weights = rng.standard_normal((3, n, n)) / 3
        return weights, 2, [weights[k % 3] for k in range(6)]
    weights = rng.standard_normal((n, n)) / 3
    n_runs = 17 if way == "ensemble" else 2
    form = sparse.csr_array if way == "sparse" else np.asarray
    return form(weights), n_runs, [weights] * n_runs


def rates(net, start, n_runs):
    """The drift at the start of every run, from one step of Euler's."""
    run = simulate(
        net, t1=DT, dt=DT, method="euler-maruyama", start=start, n_trajectories=n_runs
    )
    return (run.y[:, 1] - run.y[:, 0]) / DT


@pytest.mark.kernel
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lags", ["all", "edges"])
def test_phases_with_lag_anchors_and_injection(way, lags):
    """Each of them moves the twin by more than .05, so none may be lost."""
    rng = np.random.default_rng(4)
    topology, n_runs, matrices = weights_of(way, rng)
    n = len(matrices[0])
    lag = 0.4 if lags == "all" or way in ("ensemble", "all-to-all") else None
    lag = rng.uniform(-1, 1, (n, n)) if lag is None else lag
    omega, shil, psi = rng.standard_normal(n), rng.random(n), rng.uniform(-3, 3, n)
    anchors, pull = rng.uniform(-3, 3, 2), rng.standard_normal((n, 2))
    net = Network.kuramoto(
        topology,
        omega=omega,
        lag=lag,
        anchors=anchors,
        anchor_weights=pull,
        shil=shil,
        shil_phase=psi,
    )
    start = rng.uniform(-3, 3, (len(matrices), n))
    found = rates(net, start, n_runs)
    field = pull @ np.stack([np.cos(anchors), np.sin(anchors)], axis=1)
    for theta, matrix, rate in zip(start, matrices, found, strict=True):
        whole = {"lag": lag, "field": field, "shil": shil, "shil_phase": psi}
        exact = naive.coupled_phases(theta, omega, matrix, **whole)
        np.testing.assert_allclose(rate, exact, atol=1e-11)
    for lost in ({"lag": 0.0}, {"lag": -lag}, {"field": None}, {"shil": 0.0}):
        wrong = naive.coupled_phases(theta, omega, matrix, **(whole | lost))
        assert np.abs(wrong - exact).max() > 0.05


@pytest.mark.kernel
@pytest.mark.parametrize("way", WAYS)
def test_vectors_with_rotation_and_anchors(way):
    rng = np.random.default_rng(5)
    topology, n_runs, matrices = weights_of(way, rng)
    n = len(matrices[0])
    omega = antisymmetric(6, n, 3)
    anchors, pull = random_units(7, 2, 3), rng.standard_normal((n, 2))
    net = Network.lohe(topology, d=3, omega=omega, anchors=anchors, anchor_weights=pull)
    start = random_units(8, len(matrices) * n, 3).reshape(-1, n, 3)
    run = simulate(
        net, t1=DT, dt=DT, method="euler-maruyama", start=start, n_trajectories=n_runs
    )
    for z, matrix, end in zip(start, matrices, run.y[:, 1], strict=True):
        moved = z + DT * naive.coupled_vectors(z, omega, matrix, pull @ anchors)
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        np.testing.assert_allclose(end, moved, atol=1e-14)


@pytest.mark.parametrize("method", ["adaptive", "rk45"])
def test_adaptive_steps_of_a_batch_keep_its_networks_apart(method):
    rng = np.random.default_rng(4)
    weights, start = rng.standard_normal((3, 5, 5)), rng.uniform(-3, 3, (6, 5))
    omega = rng.standard_normal((3, 5))
    net = Network.kuramoto(weights, omega=omega, shil=0.5, lag=0.2)
    free = simulate(net, t1=1, method=method, start=start, n_trajectories=2)
    fixed = simulate(net, t1=1, dt=1e-3, start=start, n_trajectories=2)
    np.testing.assert_allclose(free.y[:, -1], fixed.y[:, -1], atol=3e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [3, 5])
def test_an_odd_number_of_components_with_threads_inside_a_step(form, d):
    """320 vectors: 102400 weights, enough for threads, on from the second step."""
    rng, n, dt = np.random.default_rng(d), 320, 0.01
    weights = rng.standard_normal((n, n)) / 20
    z = random_units(1, n, d)
    net = Network.lohe(form(weights), d=d)
    run = simulate(
        net,
        t1=3 * dt,
        dt=dt,
        method="euler-maruyama",
        start=z,
        save_every=1,
        n_threads=2,
    )
    for step in range(3):
        push = weights @ z
        z = z + dt * (push - np.sum(z * push, axis=1, keepdims=True) * z)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        np.testing.assert_allclose(run.y[0, step + 1], z, atol=1e-13)


@pytest.mark.parametrize("geometry", ["torus", "sphere"])
def test_every_block_of_free_oscillators_has_its_own_rates(geometry):
    """Blocks have 170 vectors of d = 3, 256 phases: 600 fill several and a part."""
    n, d = 600, 2 if geometry == "torus" else 3
    rng = np.random.default_rng(1)
    h, z = rng.standard_normal((n, d)), random_units(2, n, d)
    if geometry == "torus":
        omega = rng.standard_normal(n)
        start = np.arctan2(z[:, 1], z[:, 0])
    else:
        omega, start = antisymmetric(3, n, d), z
    end = simulate(Network.driven(h, omega, geometry), t1=1, dt=0.01, start=start).y[
        0, -1
    ]
    if geometry == "torus":
        end = np.stack([np.cos(end), np.sin(end)], axis=1)
    np.testing.assert_allclose(end, settle_detuned(h, omega, z, 1.0), atol=1e-7)


@pytest.mark.kernel
@pytest.mark.parametrize("d", [1, 3])
def test_every_copy_of_an_ensemble_has_its_own_noise(d):
    """40 runs from one start, in blocks of 32: the twin's numbers of each run."""
    n, n_runs, noise = 33, 40, 0.3
    size = np.sqrt(2 * noise * DT)
    if d == 1:
        net, start = Network.kuramoto(np.zeros((n, n))), np.zeros(n)
    else:
        net, start = Network.lohe(np.zeros((n, n)), d=d), random_units(0, n, d)
        size *= np.exp((2 - d) * noise * DT / 6)
    run = simulate(
        net,
        t1=DT,
        dt=DT,
        method="euler-maruyama",
        diffusion=noise,
        start=start,
        n_trajectories=n_runs,
        seed=5,
    )
    for k in range(n_runs):
        stream = Stream(5, NOISE_STAGE, repeat=k)
        kick = size * naive.component_noise(stream, n, 0, d)
        if d == 1:
            end = kick[:, 0]
        else:
            kick -= np.sum(kick * start, axis=1, keepdims=True) * start
            angle = np.linalg.norm(kick, axis=1, keepdims=True)
            end = np.cos(angle) * start + np.sin(angle) / angle * kick
        np.testing.assert_allclose(run.y[k, 1], end, atol=1e-14)
    assert len(np.unique(run.y[:, 1].reshape(n_runs, -1)[:, 0])) == n_runs
