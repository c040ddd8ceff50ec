"""The power law of the gap to softmax, on data whose law is known."""

import numpy as np
import pytest
from scipy.stats import linregress

from oscsim.errors import SpecError
from oscsim.study.published_scaling import PUBLISHED_SCALING
from oscsim.study.scaling import power_law, scaling_law
from tests.study.families import family

SOFTMAX_PPL = 5.6


def made(alpha=0.6, amplitude=3.5, **how):
    """Models whose gaps follow the law."""
    return family(lambda d: SOFTMAX_PPL + amplitude * d**-alpha, SOFTMAX_PPL, **how)


def test_a_law_without_spread_is_found_exactly():
    law = scaling_law(*made(noise=0.0), resamples=50)
    assert law.alpha == pytest.approx(0.6, abs=1e-9)
    assert law.amplitude == pytest.approx(3.5, rel=1e-9)
    assert law.residual < 1e-9
    assert law.falls
    assert law.dropped == 0
    assert law.gap(8) == pytest.approx(3.5 * 8**-0.6)


def test_the_interval_holds_the_law_and_not_another():
    law = scaling_law(*made(spread=0.01, seeds=12), resamples=400)
    low, high = law.alpha95
    assert low < 0.6 < high
    assert high < 0.9
    assert low > 0.3


def test_one_seed_hides_the_spread_between_trainings():
    wide = scaling_law(*made(spread=0.02), resamples=300)
    models, softmax = made(spread=0.02)
    one = scaling_law({d: m[:1] for d, m in models.items()}, softmax[:1], resamples=300)
    width = [law.alpha95[1] - law.alpha95[0] for law in (wide, one)]
    assert width[0] > 2 * width[1]
    assert one.n_seeds == (1,) * 5


def test_resampling_is_reproducible():
    first, second = (scaling_law(*made(), resamples=20, seed=4) for _ in range(2))
    assert first == second


def test_refusals():
    models, softmax = made(windows=50)
    with pytest.raises(SpecError, match="three dimensions at least, got 2"):
        scaling_law({2: models[2], 4: models[4]}, softmax)
    with pytest.raises(SpecError, match="measured on 40 windows, another on 50"):
        scaling_law(models, softmax[:, :40])
    with pytest.raises(SpecError, match="d_osc 4 is not worse"):
        scaling_law(models | {4: softmax - 0.1}, softmax)
    with pytest.raises(SpecError, match="says nothing of 64"):
        scaling_law(models, softmax, resamples=5).gap(64)


def test_the_interval_from_scatter_is_that_of_a_straight_line():
    law = scaling_law(*made(spread=0.02, seeds=1), resamples=5)
    line = linregress(np.log(law.dimensions), np.log(law.gaps))
    t_three = 3.182446
    expected = -line.slope - t_three * line.stderr, -line.slope + t_three * line.stderr
    np.testing.assert_allclose(law.scatter95, expected, rtol=1e-5)


@pytest.mark.parametrize("found", PUBLISHED_SCALING, ids=lambda found: found.text)
def test_the_published_fit_follows_from_the_published_table(found):
    gaps = {d: gap for d, gap in found.gaps.items() if d <= found.fitted_to}
    slope, level = power_law(list(gaps), np.array(list(gaps.values())))
    assert -slope == pytest.approx(found.alpha, abs=0.0006)
    assert np.exp(level) == pytest.approx(found.amplitude, abs=0.006)
    low, high = found.alpha95
    assert low < -slope < high
    all_six = power_law(list(found.gaps), np.array(list(found.gaps.values())))
    assert abs(-all_six[0] - found.alpha) > 0.005, "d_osc 64 is not in the fit"
