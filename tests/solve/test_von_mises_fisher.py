import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_simpson

from oscsim.errors import SpecError
from oscsim.physics.driven import alignment
from oscsim.physics.geometry import angle_between
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.noise import Stream, points_on_sphere, von_mises_fisher
from tests.helpers import assert_mean, z_score

STREAM = Stream(seed=1, stage=1)
N = 20_000


def angle_cdf(d, kappa):
    """Cumulative law of the angle to the mean, density exp(kappa cos) sin^(d-2)."""
    end = min(np.pi, 14 * np.sqrt(d / max(kappa, 1e-9)))
    phi = np.linspace(0, end, 20_001)
    p = np.exp(-2 * kappa * np.sin(phi / 2) ** 2) * np.sin(phi) ** (d - 2)
    total = cumulative_simpson(p, x=phi, initial=0)
    return lambda x: np.interp(x, phi, total / total[-1])


@pytest.mark.parametrize("d", [2, 3, 8, 64])
@pytest.mark.parametrize(
    ("kappa", "wrong"), [(1e-3, 1.0), (1.0, 2.0), (100.0, 200.0), (1e6, 5e5)]
)
def test_law_of_the_angle(d, kappa, wrong):
    index = np.arange(N)
    mean = points_on_sphere(Stream(2, 2), index, d)
    phi = angle_between(von_mises_fisher(STREAM, index, mean, kappa), mean)
    assert stats.kstest(phi, angle_cdf(d, kappa)).pvalue > 1e-3
    assert stats.kstest(phi, angle_cdf(d, wrong)).pvalue < 1e-6


@pytest.mark.parametrize(("d", "kappa"), [(2, 8), (3, 8), (8, 8), (32, 8), (200, 80)])
def test_mean_alignment(d, kappa):
    """A_d(kappa) within 4 standard errors; kappa an eighth off is far outside."""
    mean = points_on_sphere(Stream(2, 2), np.arange(N), d)
    z = von_mises_fisher(STREAM, np.arange(N), mean, kappa)
    wrong = alignment(d, kappa * 7 / 8), alignment(d, kappa * 9 / 8)
    assert_mean((z * mean).sum(axis=1), alignment(d, kappa), *wrong)


@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("first", [1.0, -1.0, 0.6, -0.6])
def test_tangent_is_isotropic(d, first):
    """Whatever the mean: no preferred direction around it."""
    mean = np.zeros(d)
    mean[0], mean[-1] = first, np.sqrt(1 - first**2)
    z = von_mises_fisher(STREAM, np.arange(N), np.tile(mean, (N, 1)), 3.0)
    tangent = z - (z @ mean)[:, None] * mean
    axes = np.linalg.svd(mean[None])[2][1:]
    parts = tangent @ axes.T
    size = (tangent**2).sum(axis=1).mean() / (d - 1)
    for k in range(d - 1):
        assert z_score(parts[:, k], 0.0) < 4
        assert_mean(parts[:, k] ** 2, size, 0.85 * size)
    assert d == 2 or z_score(parts[:, 0] * parts[:, -1], 0.0) < 4


@pytest.mark.parametrize("d", [2, 3, 8])
def test_large_concentrations_are_gaussian(d):
    """2 kappa (1 - cos) has the chi-square law with d - 1 degrees of freedom."""
    mean = np.tile(np.eye(d)[1], (N, 1))
    for kappa in (1e9, 1e20, 1e200):
        z = von_mises_fisher(STREAM, np.arange(N), mean, kappa)
        chi = kappa * angle_between(z, mean) ** 2
        law = stats.chi2(d - 1)
        if kappa < 1e12:
            assert stats.kstest(chi, law.cdf).pvalue > 1e-3
            assert stats.kstest(1.1 * chi, law.cdf).pvalue < 1e-6
        np.testing.assert_allclose(np.linalg.norm(z, axis=1), 1, atol=1e-14)
    z = von_mises_fisher(STREAM, np.arange(N), mean, np.inf)
    np.testing.assert_array_equal(z, mean)


@pytest.mark.kernel
def test_batch_and_order_do_not_matter():
    for d in (2, 3, 8, 33):
        index = np.arange(120)
        mean = points_on_sphere(Stream(2, 2), index, d)
        kappa = np.logspace(-2, 5, 120)
        whole = von_mises_fisher(STREAM, index, mean, kappa)
        for part in (np.random.default_rng(0).permutation(120), np.array([119, 3])):
            got = von_mises_fisher(STREAM, index[part], mean[part], kappa[part])
            np.testing.assert_array_equal(got, whole[part])


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: von_mises_fisher(STREAM, [0], np.ones(3), 1.0),
            "mean must have shape",
        ),
        (lambda: von_mises_fisher(STREAM, [0], np.ones((1, 1)), 1.0), "d >= 2, got"),
        (
            lambda: von_mises_fisher(STREAM, [0, 1], np.eye(3), 1.0),
            "one entry per mean",
        ),
        (lambda: von_mises_fisher(STREAM, [0], [[1.0, 1.0]], 1.0), "not a unit vector"),
        (lambda: von_mises_fisher(STREAM, [0], [[np.nan, 1.0]], 1.0), "not a unit"),
        (
            lambda: von_mises_fisher(STREAM, [0], [[0.0, 1.0]], -1.0),
            "kappa must be >= 0",
        ),
        (
            lambda: von_mises_fisher(STREAM, [0], [[0.0, 1.0]], np.nan),
            "got nan for item",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()


@pytest.mark.parametrize("h", [[-1.0, 0.0], [-1.0, 1e-16], [-1.0, 0.0, 0.0]])
def test_a_settled_draw_lies_about_its_drive_whatever_the_drive(h):
    drive = np.array([h])
    start = np.zeros_like(drive)
    start[0, 0] = 1.0
    drawn = sample_driven(drive, start, np.inf, 1e-9, Stream(0, 1), np.array([0]))
    assert drawn[0, 0] < -0.99
