import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import ive

from oscsim.errors import SpecError
from oscsim.physics.driven import (
    adler_drift,
    adler_moment,
    alignment,
    beat_frequency,
    lock_angle,
    settle_detuned,
)

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    ("d", "value"), [(2, 0.93524), (3, 0.87500), (8, 0.63768), (32, 0.23674)]
)
def test_alignment_of_the_text(d, value):
    assert alignment(d, 8.0) == pytest.approx(value, abs=5e-6)


@pytest.mark.parametrize("d", [2, 3, 5, 8, 17, 32, 64])
def test_alignment_over_fourteen_decades(d):
    kappa = 10.0 ** np.arange(-6, 8.5, 0.5)
    exact = ive(d / 2, kappa) / ive(d / 2 - 1, kappa)
    np.testing.assert_allclose(alignment(d, kappa), exact, rtol=2e-13)
    assert alignment(d, 1e-9) == pytest.approx(1e-9 / d, rel=1e-14)
    assert alignment(d, 1e12) == pytest.approx(1 - (d - 1) / 2e12, abs=1e-15)
    assert alignment(d, 0.0) == 0
    assert alignment(d, np.inf) == 1


def test_alignment_on_s2_is_langevin():
    kappa = np.array([[0.3, 2.0], [7.0, 30.0]])
    exact = 1 / np.tanh(kappa) - 1 / kappa
    np.testing.assert_allclose(alignment(3, kappa), exact, rtol=1e-13)


@pytest.mark.parametrize(
    ("d", "ratio", "r"), [(2, 4, 0.83146), (3, 6, 0.78889), (8, 16, 0.73705)]
)
def test_mean_field_self_consistency(d, ratio, r):
    """r = A_d(K r / D) for identical, noisy, all-to-all oscillators."""
    assert alignment(d, ratio * r) == pytest.approx(r, abs=2e-5)


def density(theta, a, kappa):
    """Stationary density by its quadrature formula, unnormalised.

    p = exp(V) int_0^{2 pi} exp(-V(x + theta)) dx with
    V(x) = a x + kappa cos x (flux to the right for a > 0).
    """

    def potential(x):
        return a * x + kappa * np.cos(x)

    return quad(
        lambda x: np.exp(potential(theta) - potential(theta + x)), 0, 2 * np.pi
    )[0]


@pytest.mark.parametrize(("dw", "drive", "noise"), [(1, 2, 0.25), (-0.7, 0.4, 0.3)])
def test_adler_moment_against_quadrature(dw, drive, noise):
    theta = np.linspace(-np.pi, np.pi, 401)[:-1]
    p = np.array([density(x, dw / noise, drive / noise) for x in theta])
    exact = (p * np.exp(1j * theta)).sum() / p.sum()
    assert adler_moment(dw, drive, noise) == pytest.approx(exact, abs=1e-9)


def test_adler_numbers_of_the_text():
    assert adler_moment(1, 2, 0.25) == pytest.approx(0.76889 + 0.49664j, abs=1e-5)
    assert adler_drift(1.5, 1, 0.5) == pytest.approx(1.19423, abs=5e-6)


@pytest.mark.parametrize("dw", [0.0, 0.3, 1.5, -4.0])
@pytest.mark.parametrize("drive", [0.0, 0.2, 1.0, 3.0])
@pytest.mark.parametrize("noise", [0.1, 0.5, 20.0])
def test_drift_is_detuning_less_mean_pull(dw, drive, noise):
    """<dtheta/dt> = dw - L Im <e^{i theta}>: two formulas, one number."""
    moment = adler_moment(dw, drive, noise)
    drift = adler_drift(dw, drive, noise)
    assert drift == pytest.approx(dw - drive * moment.imag, abs=1e-11)


def test_moment_without_detuning_is_von_mises():
    assert adler_moment(0, 3, 0.5) == pytest.approx(alignment(2, 6.0), abs=1e-14)


def test_rare_slips_keep_their_digits():
    """Kramers: (D/pi) sinh(pi a) 2 pi kappa exp(-2 kappa), for kappa >> 1, a << 1."""
    drift = adler_drift(1e-4, 1.0, 0.02)
    exact = 0.02 / np.pi * np.sinh(np.pi * 5e-3) * 100 * np.pi * np.exp(-100)
    assert drift == pytest.approx(exact, rel=0.01)
    assert 0 < drift < 1e-40


def test_noiseless_limits():
    assert adler_drift(1.5, 1.0, 1e-4) == pytest.approx(
        beat_frequency(1.5, 1.0), rel=1e-4
    )
    assert np.angle(adler_moment(0.5, 1.0, 1e-5)) == pytest.approx(
        lock_angle(0.5, 1.0), abs=1e-4
    )


def test_beat_frequency():
    assert beat_frequency(1.25, 1.0) == pytest.approx(0.75)
    assert beat_frequency(-1.25, 1.0) == pytest.approx(-0.75)
    assert beat_frequency(0.5, 1.0) == 0
    phase = solve_ivp(lambda _, x: 1.25 - np.sin(x), (0, 400), [0.0], rtol=1e-10)
    assert phase.y[0, -1] / 400 == pytest.approx(0.75, abs=0.01)


def test_lock_angle_is_the_settled_error():
    assert lock_angle(0.5, 1.0) == pytest.approx(0.5235988, abs=1e-7)
    z = settle_detuned([1.0, 0.0], 0.5, [1.0, 0.0], 100.0)
    assert np.arctan2(z[1], z[0]) == pytest.approx(float(lock_angle(0.5, 1.0)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alignment(1, 1.0), "d must be at least 2, got 1"),
        (lambda: alignment(2, -1.0), "kappa must be >= 0, got -1.0"),
        (lambda: alignment(2, np.nan), "kappa must be >= 0, got nan"),
        (lambda: adler_moment(0.1, -1.0, 1.0), "drive >= 0, got 0.1 and -1.0"),
        (lambda: adler_drift(np.inf, 1.0, 1.0), "must be finite"),
        (lambda: adler_moment(0.1, 1.0, 0.0), "diffusion must be positive"),
        (lambda: lock_angle(2.0, 1.0), "outside the lock range"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()
