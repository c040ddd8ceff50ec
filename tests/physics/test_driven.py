import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.errors import SpecError
from oscsim.physics.driven import settle, settle_detuned, settling_time
from oscsim.physics.geometry import angle_between
from tests import naive
from tests.helpers import antisymmetric, random_units, unit

pytestmark = pytest.mark.kernel

DIMENSIONS = [2, 3, 8, 32]


def circle(theta):
    return np.stack([np.cos(theta), np.sin(theta)], axis=-1)


def test_angle_of_the_text():
    z = settle([2.0, 0.0], circle(2.5), 0.7)
    assert np.arctan2(z[1], z[0]) == pytest.approx(1.276917259, abs=5e-10)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_settle_against_the_ode(d):
    h, z0 = np.random.default_rng(d).standard_normal((6, d)), random_units(1, 6, d)
    z = settle(h, z0, 0.8)
    zero = np.zeros((d, d))
    expected = [naive.driven_ode(h[i], zero, z0[i], 0.8) for i in range(6)]
    np.testing.assert_allclose(z, expected, atol=1e-10)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_tangent_of_half_the_angle_decays(d):
    """Down to 1e-12 rad, where a cosine has lost the angle long before."""
    h, z0 = np.random.default_rng(1).standard_normal((20, d)), random_units(2, 20, d)
    length = np.linalg.norm(h, axis=1)
    phi0 = angle_between(z0, unit(h))
    for tau in (0.1, 3.0, 18.0, 25.0):
        phi = angle_between(settle(h, z0, tau / length), unit(h))
        exact = 2 * np.arctan(np.tan(phi0 / 2) * np.exp(-tau))
        np.testing.assert_allclose(phi, exact, rtol=1e-9, atol=1e-15)


def test_settle_keeps_unit_length_and_broadcasts():
    h = np.random.default_rng(0).standard_normal((4, 1, 5))
    z = settle(h, random_units(0, 7, 5), np.linspace(0, 3, 7))
    assert z.shape == (4, 7, 5)
    np.testing.assert_allclose(np.linalg.norm(z, axis=-1), 1, atol=2e-15)
    assert settle(np.empty((0, 3)), np.empty((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_infinite_time(d):
    h, z0 = np.random.default_rng(0).standard_normal((9, d)), random_units(1, 9, d)
    np.testing.assert_allclose(settle(h, z0, np.inf), unit(h), atol=1e-15)
    assert np.array_equal(settle(0 * h, z0, np.inf), z0)
    assert np.array_equal(settle(h, -unit(h), np.inf), -unit(h))
    assert np.array_equal(settle(h, -unit(h), 1e6), -unit(h))


# Without the JIT the kernels' scalars warn where compiled code is silent.
@np.errstate(over="ignore", under="ignore", invalid="ignore")
def test_nine_decades_and_beyond():
    z0 = np.array([0.0, 1.0, 0.0])
    for size in (1e-200, 1e-6, 1e3, 1e200):
        h = np.array([size, 0.0, 0.0])
        np.testing.assert_allclose(settle(h, z0, np.inf), [1, 0, 0])
        np.testing.assert_allclose(
            settle(h, z0, 1 / size), settle([1.0, 0, 0], z0, 1.0), atol=1e-15
        )
    np.testing.assert_allclose(settle([1e6, 0, 0], z0, 1e6), [1, 0, 0])


# As above, for the scalars of kernels without the JIT.
@np.errstate(over="ignore", under="ignore", invalid="ignore")
@pytest.mark.parametrize("d", [2, 3, 8])
def test_odd_drives_among_plain_ones(d):
    """Rows outside the range of the formula for blocks are settled one by one."""
    n = 150
    h, z0 = np.random.default_rng(d).standard_normal((n, d)), random_units(1, n, d)
    h[3], h[70] = 0, 1e-310
    h[64] *= 1e180
    h[149] *= 1e-180
    z0[5], z0[148] = -unit(h[5]), -unit(h[148])
    t = np.ones(n)
    t[64], t[149], t[66] = 1e-180, 1e180, np.inf
    z = settle(h, z0, t)
    plain = np.setdiff1d(np.arange(n), [3, 70, 5, 148, 64, 149, 66])
    alone = [naive.settled(h[i], z0[i], t[i]) for i in plain]
    np.testing.assert_allclose(z[plain], alone, atol=1e-12)
    for kept in (3, 70, 5, 148):
        np.testing.assert_array_equal(z[kept], z0[kept])
    for i, factor in ((64, 1e-180), (149, 1e180)):
        near = naive.settled(h[i] * factor, z0[i], t[i] / factor)
        np.testing.assert_allclose(z[i], near, atol=1e-12)
    np.testing.assert_allclose(z[66], unit(h[66]), atol=1e-15)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("row", [0, 63, 64, 131])
def test_the_refused_row_is_named(d, row):
    h, z0 = np.ones((132, d)), random_units(d, 132, d)
    h[row, -1] = np.nan
    with pytest.raises(SpecError, match=rf"oscillator {row} \(flat index\).*t = 1\.0"):
        settle(h, z0, 1.0)


def test_start_near_the_antipode_keeps_its_direction():
    delta = 1e-7
    z = settle([1.0, 0.0], circle(np.pi - delta), np.log(2 / delta))
    assert np.arctan2(z[1], z[0]) == pytest.approx(np.pi / 2, abs=1e-8)


@given(st.floats(0.01, 100), st.floats(-3.1, 3.1), st.floats(0, 10), st.floats(0, 10))
def test_time_adds_up(length, theta, tau1, tau2):
    h = length * circle(0.4)
    z0 = circle(theta + 0.4)
    in_two = settle(h, settle(h, z0, tau1 / length), tau2 / length)
    np.testing.assert_allclose(
        in_two, settle(h, z0, (tau1 + tau2) / length), atol=1e-12
    )


@given(st.integers(0, 2**31), st.sampled_from([2, 3, 5]))
def test_rotating_everything_rotates_the_result(seed, d):
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    h, z0, t = rng.standard_normal(d), unit(rng.standard_normal(d)), rng.uniform(0, 3)
    omega = antisymmetric(seed, 1, d)[0]
    np.testing.assert_allclose(
        settle(q @ h, q @ z0, t), q @ settle(h, z0, t), atol=1e-11
    )
    turned = settle_detuned(q @ h, q @ omega @ q.T, q @ z0, t)
    np.testing.assert_allclose(turned, q @ settle_detuned(h, omega, z0, t), atol=1e-9)


@given(st.floats(-3, 3), st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 5))
def test_mirror_image_turns_the_other_way(theta, omega, phase, t):
    """The circle has reflections too: theta, phase, omega change sign together."""
    z = settle_detuned(circle(phase), omega, circle(theta), t)
    mirrored = settle_detuned(circle(-phase), -omega, circle(-theta), t)
    np.testing.assert_allclose(mirrored, z * [1, -1], atol=1e-11)


def test_potential_falls():
    """V = -h.z with dV/dt = -|(I - z z^T) h|^2."""
    h, z0 = np.random.default_rng(3).standard_normal(4), random_units(4, 1, 4)[0]
    t = np.linspace(0, 5, 200)
    v = -settle(h, z0, t) @ h
    assert np.all(np.diff(v) < 0)
    dt = 1e-5
    slope = (-settle(h, z0, dt) @ h + z0 @ h) / dt
    assert slope == pytest.approx(-(h @ h - (h @ z0) ** 2), rel=1e-4)


@pytest.mark.parametrize(("start", "angle"), [(1, 0.8032930753), (-1, 0.1905374490)])
def test_detuned_angles_of_the_text(start, angle):
    z = settle_detuned([1.0, 0.0], 0.5, [0.0, start], 2.0)
    assert np.arctan2(z[1], z[0]) == pytest.approx(angle, abs=5e-11)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_detuned_against_expm(d, scale):
    rng = np.random.default_rng(d)
    h, t = scale * rng.standard_normal((8, d)), rng.uniform(0, 2, 8)
    z0, omega = random_units(1, 8, d), antisymmetric(d, 8, d, 2.0)
    z = settle_detuned(h, omega, z0, t)
    expected = [naive.driven_expm(h[i], omega[i], z0[i], t[i]) for i in range(8)]
    np.testing.assert_allclose(z, expected, atol=2e-12)
    flipped = settle_detuned(h, -omega, z0, t)
    assert scale > 1 or np.abs(flipped - expected).max() > 0.1


def test_scalar_and_matrix_detuning_agree():
    h, z0 = np.random.default_rng(0).standard_normal((9, 2)), random_units(1, 9, 2)
    w = np.linspace(-3, 3, 9)
    matrices = w[:, None, None] * np.array([[0.0, -1.0], [1.0, 0.0]])
    scalar = settle_detuned(h, w, z0, 1.7)
    assert np.array_equal(scalar, settle_detuned(h, matrices, z0, 1.7))
    assert settle_detuned(h[0], matrices[0], z0[0], 1.7).shape == (2,)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_no_detuning_is_settle(d):
    h, z0 = np.random.default_rng(0).standard_normal((9, d)), random_units(1, 9, d)
    z = settle_detuned(h, np.zeros((d, d)), z0, 1.3)
    np.testing.assert_allclose(z, settle(h, z0, 1.3), atol=1e-12)


@pytest.mark.parametrize(("h", "w"), [(1.0, 1.0), (1.0, 1 - 1e-12), (1.0, 1 + 1e-12)])
def test_edge_of_the_lock_range(h, w):
    """On the edge theta - pi/2 decays as 2/t: tan((pi/2 - theta)/2) = 1/(t + 1)."""
    z = settle_detuned([h, 0.0], w, [1.0, 0.0], 50.0)
    assert np.arctan2(z[1], z[0]) == pytest.approx(
        np.pi / 2 - 2 * np.arctan(1 / 51), abs=1e-8
    )


def test_locked_static_error_and_huge_drives():
    for h, w in ((2.0, 0.6), (1e6, 7e5), (1e200, 5e199)):
        z = settle_detuned([h, 0.0], w, [0.0, 1.0], 1e3 / h if h > 1e100 else 1e6)
        assert np.arctan2(z[1], z[0]) == pytest.approx(np.arcsin(w / h), abs=1e-12)
    h3 = np.array([1e6, 0.0, 0.0])
    omega = np.array([[0, -7e5, 0], [7e5, 0, 0], [0, 0, 0.0]])
    z = settle_detuned(h3, omega, [0.0, 0.0, 1.0], 1e3)
    np.testing.assert_allclose(z, [np.sqrt(0.51), 0.7, 0.0], atol=1e-9)


def test_beating_returns_after_a_period():
    period = 2 * np.pi / np.sqrt(1.5**2 - 1)
    z = settle_detuned([1.0, 0.0], 1.5, circle(0.3), period)
    np.testing.assert_allclose(z, circle(0.3), atol=1e-13)
    early = settle_detuned([1.0, 0.0], 1.5, circle(0.3), period / 2)
    assert np.abs(early - circle(0.3)).max() > 0.5


def test_unstable_fixed_point_stays_without_detuning():
    for t in (1.0, 50.0, 1e6):
        z = settle_detuned([1.0, 0.0], 0.0, [-1.0, 0.0], t)
        np.testing.assert_array_equal(z, [-1.0, 0.0])


def test_settling_time():
    t = settling_time(2.5, 0.1, 2.0)
    z = settle([2.0, 0.0], circle(2.5), t)
    assert np.arctan2(z[1], z[0]) == pytest.approx(0.1, rel=1e-12)
    assert settling_time(0.05, 0.1, 2.0) == 0
    assert settling_time(0.05, 0.1, 0.0) == 0
    assert settling_time(1.0, 0.1, 0.0) == np.inf
    assert settling_time(np.pi, 0.1, 1.0) == np.inf
    assert settling_time([1.0, 2.0], 0.1, 1.0).shape == (2,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: settle([1.0, 0], [1.0, 0, 0], 1.0), "same last axis d >= 2"),
        (lambda: settle([1.0], [1.0], 1.0), "same last axis d >= 2"),
        (lambda: settle(np.ones((2, 3)), np.ones((5, 3)), 1.0), "do not broadcast"),
        (lambda: settle([1.0, 0], [1.0, 0], -1.0), "here t = -1.0"),
        (lambda: settle([np.nan, 0], [1.0, 0], 1.0), "must be finite"),
        (lambda: settle([1.0, 0], [np.inf, 0], 1.0), "must be finite"),
        (lambda: settle([np.inf, 0], [1.0, 0], 1.0), "must be finite"),
        (lambda: settle([1.0, 0], [1.0, 0], np.nan), "here t = nan"),
        (lambda: settle_detuned([1.0, 0], 0.1, [1.0, 0], np.inf), "here t = inf"),
        (lambda: settle_detuned([1.0, 0], np.nan, [1.0, 0], 1.0), "must be finite"),
        (
            lambda: settle_detuned([1.0, 0, 0], np.zeros((3, 3)), [1.0, 0, 0], np.inf),
            "here t = inf",
        ),
        (
            lambda: settle_detuned([np.nan, 0, 0], np.zeros((3, 3)), [1.0, 0, 0], 1.0),
            "must be finite",
        ),
        (lambda: settle_detuned([1.0, 0, 0], 0.1, [1.0, 0, 0], 1.0), "needs d = 2"),
        (
            lambda: settle_detuned([1.0, 0], np.ones((2, 2)), [1.0, 0], 1.0),
            "must be antisymmetric",
        ),
        (lambda: settling_time(4.0, 0.1, 1.0), "phi0 is outside its interval"),
        (lambda: settling_time(1.0, 0.0, 1.0), "eps is outside its interval"),
        (lambda: settling_time(1.0, 0.1, -1.0), "h_norm is outside its interval"),
    ],
)
@np.errstate(invalid="ignore")
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()


@pytest.mark.kernel
def test_a_settled_state_does_not_depend_on_its_start():
    rng = np.random.default_rng(8)
    h = rng.normal(size=(300, 3))
    starts = rng.normal(size=(2, 300, 3))
    starts /= np.linalg.norm(starts, axis=-1, keepdims=True)
    first, second = (settle(h, start, np.inf) for start in starts)
    np.testing.assert_array_equal(first, second)
