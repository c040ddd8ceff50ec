"""Noise on the sphere: the law of a step, of free diffusion and of a drive."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import eval_gegenbauer

from oscsim.network.spec import Network
from oscsim.physics.driven import alignment, settle
from oscsim.solve.simulate import simulate
from oscsim.solve.sphere_noise import kick_deviation
from tests.helpers import assert_mean, estimate_order, random_units, z_score


def mean_harmonic(degree, d, deviation, turn=lambda size: size):
    """The mean over the random turn of the harmonic that is 1 where it began."""

    def weighted(x):
        angle = np.cos(turn(deviation * x))
        if d == 2:
            return np.cos(degree * turn(deviation * x)) * stats.chi(1).pdf(x)
        top = eval_gegenbauer(degree, d / 2 - 1, 1.0)
        value = eval_gegenbauer(degree, d / 2 - 1, angle) / top
        return value * stats.chi(d - 1).pdf(x)

    return quad(weighted, 0, np.sqrt(d) + 12, epsabs=1e-14, limit=200)[0]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_mean_of_a_turn_is_that_of_brownian_motion_to_second_order(d, degree):
    """exp(-l (l+d-2) D dt); a deviation of sqrt(2 D dt) leaves an error of dt^2.

    Dividing z + v by its length, a turn by atan |v|, leaves one for d = 2 too.
    """
    noise, steps = 0.7, np.array([0.04, 0.02]) / (degree * (degree + d - 2))

    def errors(deviation, turn=lambda size: size):
        exact = np.exp(-degree * (degree + d - 2) * noise * steps)
        found = [mean_harmonic(degree, d, s, turn) for s in deviation]
        return np.abs(found - exact)

    ours = [float(kick_deviation(np.array(noise), dt, d)) for dt in steps]
    plain = np.sqrt(2 * noise * steps)
    assert 1.8 < estimate_order(steps, errors(plain, np.arctan)) < 2.2
    if d == 2:
        assert ours == pytest.approx(plain)
        assert errors(ours).max() < 1e-12
    else:
        assert 2.8 < estimate_order(steps, errors(ours)) < 3.2
        assert 1.8 < estimate_order(steps, errors(plain)) < 2.2


@pytest.mark.parametrize("method", ["heun", "euler-maruyama"])
@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("coarse", [0.02, 0.1, 0.25])
def test_free_diffusion_whatever_the_step(method, d, coarse):
    """<z(t).z(0)> = exp(-(d-1) D t) at (d-1) D t = 1/2, steps of (d-1) D dt = coarse.

    D off by 2 must fail, and at the coarsest step what dividing by the length
    would give, slow by (d+2) D dt.
    """
    n, noise = 20_000, 0.3
    unit = 1 / ((d - 1) * noise)
    run = simulate(
        Network.driven(np.zeros((n, d))),
        t1=0.5 * unit,
        dt=coarse * unit,
        method=method,
        diffusion=noise,
        seed=d,
    )
    c = (run.y[0, 0] * run.y[0, -1]).sum(axis=1)
    assert_mean(c, np.exp(-0.5), np.exp(-1.0), np.exp(-0.25))
    if coarse == 0.25:
        slow = np.sqrt(2 * coarse / (d - 1))
        assert z_score(c, mean_harmonic(1, d, slow, np.arctan) ** 2) > 8


@pytest.mark.parametrize("d", [2, 3, 8])
def test_free_diffusion_of_the_text(d):
    """D .3, t 1: .74082 .54881 .12246."""
    n = 20_000
    free = Network.driven(np.zeros((n, d)))
    run = simulate(free, t1=1, dt=0.05, method="heun", diffusion=0.3, seed=9)
    c = (run.y[0, 0] * run.y[0, -1]).sum(axis=1)
    exact = {2: 0.74082, 3: 0.54881, 8: 0.12246}[d]
    assert exact == pytest.approx(np.exp(-0.3 * (d - 1)), abs=1e-5)
    assert_mean(c, exact, exact**2, exact**0.5)


@pytest.mark.parametrize("method", ["heun", "euler-maruyama"])
def test_the_circle_has_the_law_of_the_phases(method):
    """Angles of a driven, turning circle and torus, coarse steps: the same law.

    Two samples of 20000 by Kolmogorov and Smirnov; D larger by a half differs.
    """
    n, theta = 20_000, 0.7
    h, common = np.tile([1.0, 0.5], (n, 1)), {"t1": 1.6, "dt": 0.2, "method": method}
    torus = Network.driven(h, 0.4, "torus")
    a = simulate(torus, diffusion=0.3, start=np.full(n, theta), seed=1, **common)
    start = np.tile([np.cos(theta), np.sin(theta)], (n, 1))

    def p_value(noise):
        b = simulate(
            Network.driven(h, 0.4), diffusion=noise, start=start, seed=2, **common
        ).y[0, -1]
        phase = np.remainder(a.y[0, -1], 2 * np.pi)
        plane = np.remainder(np.arctan2(b[:, 1], b[:, 0]), 2 * np.pi)
        return stats.ks_2samp(phase, plane).pvalue

    assert p_value(0.3) > 1e-3
    assert p_value(0.45) < 1e-6


@pytest.mark.parametrize(
    ("d", "kappa"), [(2, 4.0), (3, 6.0), (8, 8.0), (8, 16.0), (32, 40.0)]
)
def test_driven_alignment_of_heun(d, kappa):
    """A_d(kappa) at D = 1 and h dt = .08, stationary; D off by 1/10 fails."""
    n = 20_000
    field, start = np.zeros((n, d)), np.zeros((n, d))
    field[:, 0], start[:, 0] = kappa, 1.0
    dt = 0.08 / kappa
    run = simulate(
        Network.driven(field),
        t1=60 * dt,
        dt=dt,
        method="heun",
        diffusion=1.0,
        start=start,
        seed=5,
    )
    c = run.y[0, -1, :, 0]
    assert_mean(c, alignment(d, kappa), alignment(d, kappa / 1.1))


@pytest.mark.kernel
@pytest.mark.parametrize("method", ["heun", "euler-maruyama"])
@pytest.mark.parametrize(
    ("d", "noise", "dt"), [(2, 0.5, 0.04), (8, 0.5, 0.04), (3, 1.0, 1.0), (5, 1e3, 1.0)]
)
def test_noise_of_any_size_stays_on_the_sphere(method, d, noise, dt):
    run = simulate(
        Network.driven(0.2 * np.ones((9, d)) / dt),
        t1=200 * dt,
        dt=dt,
        method=method,
        diffusion=noise,
        save_every=1,
    )
    assert run.status.tolist() == [-1]
    assert np.abs(np.linalg.norm(run.y, axis=-1) - 1).max() < 1e-12


def test_single_precision_keeps_length_and_law():
    run = simulate(
        Network.lohe(np.zeros((31, 31)), d=3),
        n_trajectories=600,
        t1=1,
        dt=0.1,
        method="heun",
        diffusion=0.3,
        dtype=np.float32,
    )
    z = run.y.astype(float)
    assert np.abs(np.linalg.norm(z, axis=-1) - 1).max() < 1e-6
    moved = (z[:, 0] * z[:, -1]).sum(axis=-1).ravel()
    assert_mean(moved, np.exp(-0.6), np.exp(-1.2))


@pytest.mark.kernel
def test_a_quiet_oscillator_among_noisy_ones_keeps_to_the_exact_flow():
    h, z = np.random.default_rng(0).standard_normal((6, 3)), random_units(1, 6, 3)
    noise = np.where(np.arange(6) == 2, 0.0, 0.4)
    for method, tolerance in (("heun", 2e-4), ("euler-maruyama", 2e-2)):
        run = simulate(
            Network.driven(h), t1=1, dt=0.02, method=method, diffusion=noise, start=z
        )
        off = np.abs(run.y[0, -1] - settle(h, z, 1.0)).max(axis=1)
        assert off[2] < tolerance
        assert np.all(np.delete(off, 2) > 2e-2)


@pytest.mark.kernel
@pytest.mark.parametrize("method", ["heun", "euler-maruyama"])
def test_a_drift_too_long_for_a_step_is_an_error_with_noise_too(method):
    field = np.zeros((4, 3))
    field[1:3] = [0.0, 1.8, 0.0]
    start = np.tile([1.0, 0, 0], (4, 1))
    arguments = {"t1": 1.0, "dt": 1.0, "method": method, "on_failure": "return"}
    run = simulate(Network.driven(field), start=start, diffusion=1e-9, **arguments)
    assert run.status.tolist() == [1]
    field[1:3] *= 1.7 / 1.8
    run = simulate(Network.driven(field), start=start, diffusion=1e-9, **arguments)
    assert run.status.tolist() == [-1]
