"""The polynomials against the library in extended precision."""

import numpy as np
import pytest

from oscsim.physics.explog import LANES, decay_lanes, log_lanes

pytestmark = pytest.mark.kernel


def by_blocks(function, x):
    """Apply a function of whole blocks to any number of values."""
    out, scratch = np.empty(LANES), np.empty(LANES)
    blocks = np.ones((-(-x.size // LANES), LANES))
    blocks.ravel()[: x.size] = x
    values = []
    for block in blocks:
        function(block, out, scratch)
        values.append(out.copy())
    return np.concatenate(values)[: x.size]


def relative_error(got, exact):
    return np.abs(np.asarray(got, np.longdouble) / exact - 1).max()


def test_decay_is_right_to_one_unit():
    x = np.concatenate([np.linspace(0, 40, 2000), np.logspace(-18, np.log10(707), 999)])
    got = by_blocks(decay_lanes, x)
    assert relative_error(got, np.exp(-np.asarray(x, np.longdouble))) < 2.3e-16


def test_decay_ends_in_zero():
    got = by_blocks(decay_lanes, np.array([0.0, 1e-300, 708.0, 1e5, np.inf]))
    np.testing.assert_array_equal(got, [1, 1, 0, 0, 0])


def test_logarithm_is_right_to_two_units():
    """Also next to 1, where it has a zero."""
    near = 1 + np.linspace(-0.3, 0.42, 1500)
    x = np.concatenate([near[near != 1], np.logspace(-300, 300, 1200), [2.0**-53]])
    got = by_blocks(log_lanes, x)
    assert relative_error(got, np.log(np.asarray(x, np.longdouble))) < 4.5e-16
    assert by_blocks(log_lanes, np.array([1.0])) == 0
