import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import gamma, ive

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


# dw, L, D, drift and moment from the continued fraction of I_{1-ia} / I_{-ia} in 60
# to 700 digits, drift = dw - L Im(moment); from a drift that neither locks nor slips
# to one slip in 10^290 s, on the edge of locking and far beyond it
REFERENCES = [
    (1e5, 1, 1, 99999.999995, 5.0e-11, 4.999999999625e-6),
    (
        *(3.2e8, 3.1e8, 1),
        *(79372539.331939646, 2.4603174603170924e-8, 0.77621761505825921),
    ),
    (2, 1, 1e-6, 1.7320508075690136, 1.6666666666650462e-7, 0.26794919243098639),
    (1e-8, 1, 1, 6.2386036043206923e-9, 0.44638996589653448, 3.761396395679308e-9),
    (1, 1, 1e-6, 0.0079544127794086235, 0.004592282360642162, 0.99204558722059138),
    (1.0001, 1, 1e-6, 0.014762833158912769, 0.0020607347779865875, 0.98533716684108722),
    (0.9999, 1, 1e-6, 0.0017806818933213827, 0.011062252781437973, 0.99811931810667863),
    (0.99, 1, 1e-4, 8.9004472505040056e-10, 0.13843054381103227, 0.98999999910995527),
    (0.5, 1, 0.01, 1.558672533922013e-30, 0.85930586477933425, 0.5),
    (0.5, 1, 0.002, 1.6716466336465048e-149, 0.86469000569056147, 0.5),
    (1e-3, 1e3, 3, 6.1812723567770857e-290, 0.99849887160857869, 1.0e-6),
    (1, 1, 1e-8, 0.0017137262833034826, 9.8941833098316192e-4, 0.99828627371669652),
    (-30, 20, 7, -23.322035918575262, 0.10449964488281555, -0.33389820407123692),
]


@pytest.mark.parametrize(("dw", "drive", "noise", "drift", "x", "y"), REFERENCES)
def test_adler_laws_keep_their_digits(dw, drive, noise, drift, x, y):
    assert adler_drift(dw, drive, noise) == pytest.approx(drift, rel=1e-12, abs=0)
    moment = adler_moment(dw, drive, noise)
    assert moment.real == pytest.approx(x, rel=3e-14, abs=0)
    assert moment.imag == pytest.approx(y, rel=3e-15, abs=0)
    if abs(drift) > 1e-3 * abs(dw):
        assert adler_drift(dw, drive, noise) == pytest.approx(drift, rel=3e-15, abs=0)


@pytest.mark.parametrize("ratio", [0.0, 1e-300, 1e-9, 1.0, 1e5, 1e12, 1e300])
def test_without_drive_the_drift_is_the_detuning(ratio):
    assert adler_drift(ratio, 0.0, 1.0) == pytest.approx(ratio, rel=1e-14, abs=0)
    assert adler_moment(ratio, 0.0, 1.0) == 0
    weak = adler_moment(ratio, 1e-9, 1.0)
    exact = 0.5e-9 * ratio / (1 + ratio * ratio) if ratio < 1e9 else 0.5e-9 / ratio
    assert weak.imag == pytest.approx(exact, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("kappa", [1e6, 1e8, 1e10, 1e15])
def test_at_the_edge_noise_unlocks_by_its_cube_root(kappa):
    """dw = L: drift -> 3^(5/6) pi^(1/2) / Gamma(1/6) (L^2 D)^(1/3), from the cubic."""
    edge = adler_drift(1.0, 1.0, 1 / kappa)
    scale = 3 ** (5 / 6) * np.pi**0.5 / gamma(1 / 6)
    assert edge == pytest.approx(scale * kappa ** (-1 / 3), rel=2 * kappa ** (-2 / 3))
    assert adler_moment(1.0, 1.0, 1 / kappa).imag == pytest.approx(
        1.0 - edge, rel=1e-14
    )


def test_noise_too_small_for_a_ratio_is_none():
    assert adler_drift(-2.0, 1.0, 1e-320) == -(3**0.5)
    assert adler_drift(0.5, 1.0, 1e-320) == 0
    assert adler_drift(1e300, 1e299, 1e-9) == pytest.approx(0.99**0.5 * 1e300)
    assert adler_moment(0.5, 1.0, 1e-320) == pytest.approx(complex(0.75**0.5, 0.5))
    assert adler_moment(2.0, 1.0, 1e-320) == pytest.approx(1j / (2 + 3**0.5))
    assert adler_moment(2.0, 0.0, 1e-320) == 0


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
        (lambda: alignment(1, 1.0), "d must be a whole number >= 2, got 1"),
        (lambda: alignment(2, -1.0), "kappa must be >= 0, got -1.0"),
        (lambda: alignment(2, np.nan), "kappa must be >= 0, got nan"),
        (lambda: adler_moment(0.1, -1.0, 1.0), "drive must be >= 0, got -1.0"),
        (lambda: adler_drift(0.1, np.nan, 1.0), "drive must be finite, got nan"),
        (lambda: adler_drift("a", 1.0, 1.0), "detuning must hold real numbers"),
        (lambda: adler_drift(1.0, 1.0, 1j), "diffusion must hold real numbers"),
        (lambda: alignment(2.5, 1.0), "d must be a whole number >= 2, got 2.5"),
        (lambda: alignment(2, 1j), "kappa must hold real numbers, got 1j"),
        (lambda: beat_frequency(1j, 1.0), "detuning must hold real numbers"),
        (lambda: adler_drift(np.inf, 1.0, 1.0), "must be finite"),
        (lambda: adler_moment(0.1, 1.0, 0.0), "diffusion must be positive"),
        (lambda: lock_angle(2.0, 1.0), "outside the lock range"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()
