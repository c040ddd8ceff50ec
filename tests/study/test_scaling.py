"""The power law of the gap to softmax, on data whose law is known."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import linregress

from oscsim.errors import SpecError
from oscsim.study.published_scaling import PUBLISHED_SCALING
from oscsim.study.resample import perplexities
from oscsim.study.scaling import power_law, scaling_law
from oscsim.study.scaling_study import family_laws
from tests.study.families import DIMENSIONS, family

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


def nearly_closed(alpha, amplitude, trial):
    """The law of what is worse than softmax; trainings scatter as the bundled do."""
    models, softmax = family(
        lambda d: SOFTMAX_PPL + amplitude * d**-alpha,
        SOFTMAX_PPL,
        seeds={2: 3, 4: 1, 8: 3, 16: 1, 32: 3},
        twins=3,
        spread=0.0097,
        seed=trial,
    )
    given = {0: softmax}
    return family_laws(4, models, given, 0, has_floor=False, resamples=200).law


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "amplitude"), [(2.1, 2.9), (1.1, 1.0)])
def test_the_interval_holds_alpha_where_the_gap_is_nearly_closed(alpha, amplitude):
    """200 trials; resamples without a gap are those of the largest alpha.

    With them left out the interval holds alpha 2.1 in .67, too low in all others.
    """
    laws = [nearly_closed(alpha, amplitude, trial) for trial in range(200)]
    laws = [law for law in laws if law is not None]
    assert len(laws) > 150
    held = [law.alpha95[0] < alpha < law.alpha95[1] for law in laws]
    assert np.mean(held) >= 0.95
    told = [not law.alpha95[0] < 0.3 < law.alpha95[1] for law in laws]
    assert np.mean(told) > 0.8, "an interval that holds everything says nothing"


def test_a_resample_without_a_gap_leaves_the_end_open():
    law = nearly_closed(2.1, 2.9, 1)
    assert law.dropped > 0.025
    assert math.isinf(law.alpha95[1])
    assert math.isinf(law.amplitude95[1])
    assert 0 < law.alpha95[0] < 2.1


def test_a_gap_that_levels_off_describes_and_a_power_holds():
    """Gaps 1, .5, .3, .3, .33 with errors of .03 to .05 follow no power of d_osc."""
    level = dict(zip(DIMENSIONS, (1, 0.5, 0.3, 0.3, 0.33), strict=True))
    how = {"spread": 0.0097, "seed": 3}
    off = scaling_law(
        *family(lambda d: SOFTMAX_PPL + level[d], SOFTMAX_PPL, **how), resamples=400
    )
    assert off.chi2 > 6
    assert not off.holds
    fine = scaling_law(*made(**how), resamples=400)
    assert fine.chi2 < 3
    assert fine.holds


def test_chi2_is_of_the_gaps_about_the_closest_law_in_their_errors():
    """As scipy finds it; of windows that do not differ no errors and no verdict."""
    models, softmax = made(spread=0.02, seed=2)
    law = scaling_law(models, softmax, resamples=400)
    every = perplexities([*models.values(), softmax], resamples=400)
    low, high = np.quantile((every[:, :-1] - every[:, -1:])[1:], [0.025, 0.975], axis=0)
    _, _, about, *_ = curve_fit(
        lambda d, amplitude, alpha: amplitude * d**-alpha,
        np.array(DIMENSIONS, float),
        law.gaps,
        p0=(law.amplitude, law.alpha),
        sigma=(high - low) / 3.919928,
        full_output=True,
    )
    assert law.chi2 == pytest.approx((about["fvec"] ** 2).sum() / 3, rel=1e-3)
    np.testing.assert_allclose(np.abs(law.misses), np.abs(about["fvec"]), atol=0.05)
    flat = {d: np.full((1, 4), bits) for d, bits in ((2, 3.0), (4, 2.9), (8, 2.8))}
    nothing = scaling_law(flat, np.full((1, 4), 2.0), resamples=5)
    assert math.isnan(nothing.chi2)
    assert not nothing.holds


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
