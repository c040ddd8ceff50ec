import numpy as np
import pytest

from oscsim._jit import kernel
from oscsim.physics.gather import ROWS, slice_sums

pytestmark = pytest.mark.kernel


@kernel
def summed(weights, columns, first, last, pairs, sums):
    slice_sums(weights, columns, first, last, pairs, sums)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (2, 7)])
def test_sums_of_a_slice(dtype, first, last):
    """A matrix product; slots outside the slice hold NaN."""
    rng = np.random.default_rng(0)
    n, n_slots = 50, 9
    columns = rng.integers(0, n, (n_slots, ROWS)).astype(np.uint32)
    weights = np.full((n_slots, ROWS), np.nan, dtype)
    weights[first:last] = rng.standard_normal((last - first, ROWS))
    pairs = rng.standard_normal((n, 2)).astype(dtype)
    dense = np.zeros((ROWS, n))
    for p in range(first, last):
        for lane in range(ROWS):
            dense[lane, columns[p, lane]] += weights[p, lane]
    sums = np.full((ROWS, 2), np.nan, dtype)
    summed(weights, columns, first, last, pairs, sums)
    np.testing.assert_allclose(sums, dense @ pairs, atol=20 * np.finfo(dtype).eps)
    again = np.empty_like(sums)
    slice_sums(weights, columns, first, last, pairs, again)
    np.testing.assert_allclose(sums, again, atol=20 * np.finfo(dtype).eps)
