"""The d_osc at which a family equals another model."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.study.meeting import meeting
from tests.study.families import family


def bits_fall(d):
    """Perplexity whose bits fall by .1 with every doubling, 2.5 at d = 2."""
    return 2 ** (2.6 - 0.1 * np.log2(d))


def test_a_crossing_is_found_between_dimensions():
    models, other = family(bits_fall, bits_fall(11.0), noise=0.0)
    found = meeting(models, other, resamples=20)
    assert found.d_osc == pytest.approx(11.0, rel=1e-9)
    np.testing.assert_allclose(found.d_osc95, 11.0, rtol=1e-9)
    assert str(found) == "11.0 [11.0, 11.0]"


def test_the_interval_holds_the_crossing_and_is_finite():
    models, other = family(bits_fall, bits_fall(11.0), spread=0.01, seeds=4)
    low, high = meeting(models, other, resamples=300).d_osc95
    assert 8 < low < 11 < high < 16


def test_what_lies_beyond_the_measured_is_said_so():
    models, other = family(bits_fall, bits_fall(40.0), noise=0.0)
    found = meeting(models, other, resamples=5)
    assert (found.d_osc, str(found)) == (np.inf, "> 32 [> 32, > 32]")
    found = meeting(models, other + 1, resamples=5)
    assert (found.d_osc, str(found)) == (0.0, "< 2 [< 2, < 2]")


def test_an_end_that_the_spread_reaches_is_open():
    models, other = family(bits_fall, bits_fall(30.0), spread=0.02)
    low, high = meeting(models, other, resamples=200).d_osc95
    assert low < 30
    assert high == np.inf


def test_of_several_crossings_the_first_counts():
    models, other = family(bits_fall, bits_fall(6.0), noise=0.0)
    found = meeting(models | {16: models[2]}, other, resamples=3)
    assert found.d_osc == pytest.approx(6.0, rel=1e-9)


def test_refusals():
    models, other = family(bits_fall, 5.0, windows=30)
    with pytest.raises(SpecError, match="two dimensions at least, got 1"):
        meeting({2: models[2]}, other)
    with pytest.raises(SpecError, match="measured on 20 windows"):
        meeting(models, other[:, :20])
