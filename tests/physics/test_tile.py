"""Matrices in tiles: the sums of a tile, and how tiles lie in memory."""

import numpy as np
import pytest

from oscsim._jit import kernel
from oscsim.physics.dense import in_tiles
from oscsim.physics.tile import LINE, WIDTHS, tile_sums

pytestmark = pytest.mark.kernel


@kernel
def sums(weights, t, x, y, a, b):
    tile_sums(weights, t, x, y, a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", WIDTHS)
def test_sums_of_one_tile_leave_the_others_alone(width, dtype):
    rng = np.random.default_rng(width)
    for n in (1, 2, 7, 40):
        weights = rng.standard_normal((3, n, width)).astype(dtype)
        x, y = rng.standard_normal((2, n)).astype(dtype)
        a, b = np.full((2, 3 * width), 7.0, dtype)
        sums(weights, 1, x, y, a, b)
        for found, source in ((a, x), (b, y)):
            exact = [
                sum(float(weights[1, j, k]) * float(source[j]) for j in range(n))
                for k in range(width)
            ]
            close = 4 * n * np.finfo(dtype).eps
            np.testing.assert_allclose(found[width : 2 * width], exact, atol=close)
            assert (found[:width] == 7).all()
            assert (found[2 * width :] == 7).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_not_finite_reaches_its_own_column_and_vector_only(width, bad):
    weights, ones = np.ones((1, 5, width)), np.ones(5)
    weights[0, 3, 2] = bad
    a, b = np.zeros((2, width))
    sums(weights, 0, ones, ones, a, b)
    assert np.flatnonzero(~np.isfinite(a)).tolist() == [2]
    spoilt = ones.copy()
    spoilt[4] = bad
    weights[0, 3, 2] = 1.0
    sums(weights, 0, spoilt, ones, a, b)
    assert not np.isfinite(a).any()
    assert (b == 5.0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n_rows", "n_tiles", "width"),
    [(1, 1, 8), (8, 1, 8), (9, 1, 16), (17, 1, 32), (32, 1, 32), (70, 3, 32)],
)
def test_tiles_hold_the_matrix_turned_and_zeros(n_rows, n_tiles, width, dtype):
    weights = np.random.default_rng(0).random((2, n_rows, 5)).astype(dtype)
    for given in (weights, np.asfortranarray(weights), weights[1]):
        tiles = in_tiles(given, dtype).weights
        given = given.reshape(-1, n_rows, 5)
        assert tiles.shape == (len(given), n_tiles, 5, width)
        assert tiles.dtype == dtype
        assert tiles.flags.c_contiguous
        assert tiles.ctypes.data % LINE == 0
        lined_up = np.moveaxis(tiles, 2, 3).reshape(len(given), -1, 5)
        assert np.array_equal(lined_up[:, :n_rows], given)
        assert (lined_up[:, n_rows:] == 0).all()
