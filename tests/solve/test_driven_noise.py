import numpy as np
import pytest

from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.noise import Stream
from tests import naive
from tests.helpers import antisymmetric, random_units

pytestmark = pytest.mark.kernel
STREAM = Stream(seed=9, stage=1, chip=3, repeat=2)


@pytest.mark.parametrize("d", [2, 3, 4, 7])
@pytest.mark.parametrize("is_detuned", [False, True])
def test_paths_against_naive(d, is_detuned):
    """Step by step on the same random numbers; 12 to 130 steps, two noise blocks."""
    n = 3
    h, z0 = np.random.default_rng(d).standard_normal((n, d)), random_units(1, n, d)
    omega = antisymmetric(2, n, d) if is_detuned else np.zeros((n, d, d))
    t, noise, items = np.array([0.3, 1.0, 0.6]), 0.1, np.array([5, 0, 2**20])
    z = sample_driven(h, z0, t, noise, STREAM, items, omega if is_detuned else None)
    for i in range(n):
        args = (h[i], omega[i], z0[i], t[i], noise)
        expected = naive.noisy_path(*args, STREAM, int(items[i]))
        np.testing.assert_allclose(z[i], expected, atol=1e-12)
        other = naive.noisy_path(*args, STREAM._replace(repeat=3), int(items[i]))
        assert np.abs(z[i] - other).max() > 1e-3
