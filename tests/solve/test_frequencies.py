"""Natural frequencies follow their law, at random and at exact quantiles."""

import numpy as np
import pytest
from scipy import stats

from oscsim.errors import SpecError
from oscsim.solve.frequencies import natural_frequencies
from tests import naive
from tests.helpers import assert_mean

LAWS = {
    "normal": stats.norm,
    "lorentzian": stats.cauchy,
    "uniform": stats.uniform(-1, 2),
}


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_are_exact_and_symmetric(name):
    found = natural_frequencies(name, 101, width=0.5, centre=2.0)
    exact = 2.0 + 0.5 * LAWS[name].ppf((np.arange(101) + 0.5) / 101)
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    assert found[50] == 2.0
    centred = natural_frequencies(name, 100, width=3.0)
    np.testing.assert_array_equal(centred, -centred[::-1])
    assert np.all(np.diff(centred) > 0)


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_the_law(name):
    found = natural_frequencies(name, 20_000, width=0.5, centre=2.0, seed=7)
    law = LAWS[name]
    inside = np.abs(found - 2.0) < 0.5 * law.ppf(0.75)
    assert_mean(inside, 0.5, law.cdf(2 * law.ppf(0.75)) * 2 - 1)
    assert stats.kstest((found - 2.0) / 0.5, law.cdf).pvalue > 1e-3
    assert stats.kstest((found - 2.0) / 0.25, law.cdf).pvalue < 1e-12


def test_a_draw_depends_on_seed_and_number_alone():
    many = natural_frequencies("uniform", 200, width=1.0, seed=3)
    np.testing.assert_array_equal(
        many[:7], natural_frequencies("uniform", 7, width=1.0, seed=3)
    )
    assert np.all(many != natural_frequencies("uniform", 200, width=1.0, seed=4))
    w = naive.philox4x32((0, 0, 0, 5), (3, 3))
    share = (2 * (((w[0] << 32) | w[1]) >> 12) + 1) / 2**53
    assert many[5] == 2 * share - 1


def test_no_width_gives_equal_frequencies():
    assert set(natural_frequencies("normal", 4, width=0, centre=1.5)) == {1.5}
    assert natural_frequencies("lorentzian", 1, width=1.0).tolist() == [0.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"distribution": "cauchy"},
            "one of normal, lorentzian, uniform, got 'cauchy'",
        ),
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"n": 2.5}, "got 2.5"),
        ({"width": -1.0}, "width must be finite and >= 0, got -1.0"),
        ({"width": np.nan}, "got nan"),
        ({"centre": np.inf}, "centre must be finite, got inf"),
        ({"n": None}, "n must be a whole number >= 1, got None"),
        ({"n": np.nan}, "got nan"),
        ({"n": 10**14}, "a draw of 100000000000000 frequencies needs .* GB"),
        ({"width": "1"}, "width must hold real numbers, got '1'"),
        ({"centre": None}, "centre must hold real numbers, got None"),
        ({"distribution": ["normal"]}, r"lorentzian, uniform, got \['normal'\]"),
        ({"distribution": "lorentzian", "width": 1.7e308}, "must be finite, got -inf"),
        ({"width": 1.7e308, "centre": 1.7e308, "seed": 0}, "must be finite, got inf"),
        ({"seed": True}, "seed must be a whole number .* got True"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    arguments = {"distribution": "normal", "n": 5, "width": 1.0} | change
    with pytest.raises(SpecError, match=message):
        natural_frequencies(**arguments)
