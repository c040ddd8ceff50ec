import numpy as np
import pytest
from scipy import stats

from oscsim.errors import SpecError
from oscsim.solve.noise import Stream, normals, points_on_sphere, uniforms
from oscsim.solve.philox import LANES, philox_lanes
from tests import naive
from tests.helpers import assert_mean, assert_variance

STREAM = Stream(seed=7, stage=3, chip=2, repeat=5)

# Known answers of the Random123 library: counter, key, output.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (2**32 - 1,) * 4,
        (2**32 - 1,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.kernel
@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter, key, answer):
    words = np.array([*key, *counter[:2]], np.uint64)
    step, index, high, low = np.zeros((4, LANES), np.uint64)
    step[:], index[:] = counter[2:]
    philox_lanes(words, step, index, high, low)
    w0, w1, w2, w3 = (np.uint64(w) for w in answer)
    np.testing.assert_array_equal(high, w0 << np.uint64(32) | w1)
    np.testing.assert_array_equal(low, w2 << np.uint64(32) | w3)
    assert naive.philox4x32(counter, key) == answer


@pytest.mark.kernel
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_word_of_the_address_counts(n):
    index = np.array([0, 3, 2**31 // 3])
    blocks = (n + 1) // 2
    u = uniforms(STREAM, index, n, step=11)
    z = normals(STREAM, index, n, step=11)
    for row, i in enumerate(index):
        pairs = [
            naive.uniform_pair(STREAM, 11, int(i) * blocks + b) for b in range(blocks)
        ]
        np.testing.assert_array_equal(u[row], np.ravel(pairs)[:n])
        expected = naive.normals(STREAM, int(i), n, step=11)
        np.testing.assert_allclose(z[row], expected, rtol=1e-13, atol=1e-14)


@pytest.mark.kernel
def test_streams_differ_in_every_field():
    index = np.arange(4)
    base = uniforms(STREAM, index, 3)
    for field in Stream._fields:
        other = STREAM._replace(**{field: getattr(STREAM, field) + 1})
        assert not np.any(uniforms(other, index, 3) == base)
    assert not np.any(uniforms(STREAM, index, 3, step=1) == base)


@pytest.mark.parametrize("draw", [uniforms, normals])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_batch_and_order_do_not_matter(draw, n):
    whole = draw(STREAM, np.arange(300), n)
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(draw(STREAM, order, n), whole[order])
    np.testing.assert_array_equal(draw(STREAM, np.arange(77, 78), n), whole[77:78])
    assert draw(STREAM, np.array([], dtype=int), n).shape == (0, n)


def test_uniforms_are_uniform_and_open():
    u = uniforms(STREAM, np.arange(50_000), 2)
    assert 0 < u.min() < u.max() < 1
    assert np.all((u * 2**53) % 2 == 1)
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-3
    assert stats.kstest(u.ravel() ** 1.05, "uniform").pvalue < 1e-6
    assert abs(np.corrcoef(u.T)[0, 1]) < 4 / np.sqrt(50_000)


def test_normals_are_normal():
    z = normals(STREAM, np.arange(100_000), 2)
    assert_mean(z.ravel(), 0.0, 0.05)
    assert_variance(z.ravel(), 1.0, 1.1)
    assert_mean(z.ravel() ** 4, 3.0, 3.3)
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    assert stats.kstest(1.03 * z.ravel(), "norm").pvalue < 1e-6
    assert_mean(z[:, 0] * z[:, 1], 0.0, 0.05)
    assert_mean(z[1:, 0] * z[:-1, 0], 0.0, 0.05)
    expected = 200_000 * 2 * stats.norm.sf(4.0)
    assert abs(np.sum(np.abs(z) > 4) - expected) < 4 * np.sqrt(expected)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_points_on_sphere(d):
    z = points_on_sphere(STREAM, np.arange(40_000), d)
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), 1, atol=1e-15)
    assert_mean(z[:, d - 1], 0.0, 0.05)
    assert_mean(z[:, 0] ** 2, 1 / d, 0.9 / d)
    assert_mean(z[:, 0] * z[:, 1], 0.0, 0.05 / d)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uniforms(Stream(-1, 0), [0], 1), r"seed must be .* got -1"),
        (lambda: uniforms(Stream(0, 2**32), [0], 1), "stage must be a whole number"),
        (lambda: uniforms(Stream(0, 0, 0.5), [0], 1), "chip must be a whole number"),
        (lambda: normals(Stream(0, 0, 0, -2), [0], 1), "repeat must be a whole"),
        (lambda: normals(STREAM, [0], 1, step=-1), "step must be a whole number"),
        (lambda: normals(STREAM, [0], 0), "n must be at least 1, got 0"),
        (lambda: normals(STREAM, [-1], 1), "index must be >= 0, got -1"),
        (lambda: normals(STREAM, [0.5], 1), "array of whole numbers"),
        (lambda: normals(STREAM, [[0]], 1), "one-dimensional array"),
        (lambda: normals(STREAM, [2**31], 4), r"at most 2147483647"),
        (lambda: points_on_sphere(STREAM, [0], 1), "d of at least 2, got 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(SpecError, match=message):
        call()


def test_last_counter_is_usable():
    assert normals(STREAM, [2**31 - 1], 4).shape == (1, 4)
