from functools import cache

import numpy as np
import pytest

from oscsim.physics.aligned import aligned, aligned_zeros
from oscsim.solve.kicks import fill_noise, n_lanes
from oscsim.solve.philox import LANES
from oscsim.solve.stream import Stream, stream_words
from tests import naive

pytestmark = pytest.mark.kernel
STREAM = Stream(seed=3, stage=2, repeat=1)


def kicks(first, n, deviation, dtype=np.float64):
    words, step = stream_words(STREAM), 5
    lanes, out = np.empty((5, n_lanes(1, n))), np.empty((1, n), dtype)
    counters = np.empty((2, LANES), np.uint64)
    fill_noise(words, step, first, deviation[first : first + n], counters, lanes, out)
    return out[0]


@cache
def whole():
    return kicks(0, 1300, np.linspace(0.5, 2.0, 1300))


@pytest.mark.parametrize(
    ("first", "n"),
    [(0, 1), (0, 64), (0, 65), (0, 129), (64, 64), (127, 2), (130, 300), (0, 1300)],
)
def test_a_kick_depends_on_the_oscillator_alone(first, n):
    """Any piece of 1300 phases has the bits that the whole has there."""
    piece = kicks(first, n, np.linspace(0.5, 2.0, 1300))
    np.testing.assert_array_equal(piece, whole()[first : first + n])


def test_kicks_against_the_naive_stream():
    deviation = np.linspace(0.5, 2.0, 200)
    expected = deviation * naive.component_noise(STREAM, 200, 5)[:, 0]
    np.testing.assert_allclose(kicks(0, 200, deviation), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_arrays_begin_on_a_cache_line(dtype, n):
    given = np.arange(3 * n, dtype=dtype).reshape(n, 3).T
    copy = aligned(given, dtype)
    np.testing.assert_array_equal(copy, given)
    room = aligned_zeros(3, n, copy)
    assert room.shape == (3, n)
    assert not room.any()
    for array in (copy, room):
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0
