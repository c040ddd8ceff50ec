"""A study says what its models say, and what they leave open."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.report.figures import scaling_figure
from oscsim.report.scaling_text import said_of_scaling
from oscsim.study.family import Member
from oscsim.study.published_scaling import PUBLISHED_SCALING
from oscsim.study.scaling_rows import scaling_rows
from oscsim.study.scaling_study import scaling_study
from tests.study.families import DIMENSIONS, family

SOFTMAX = 5.0


def above(d):
    """A family that stays above softmax."""
    return 5.2 + 1.5 * d**-0.8


def through(d):
    """A family that passes softmax between d = 8 and 16."""
    return 4.5 + 1.5 * d**-0.5


def members(law, p, *, seeds=1, seed=1):
    """Models of one family and their softmax twin."""
    bits, twin = family(law, SOFTMAX, seeds=seeds, spread=0.003, seed=seed)
    return [
        Member(f"{p} {d} {s}", d, p, 64, s, 1000, 100 + d, bits[d][s])
        for d in DIMENSIONS
        for s in range(seeds)
    ], [Member(f"twin {s}", None, 1, 64, s, 1000, 99, twin[s]) for s in range(seeds)]


@pytest.fixture(scope="module")
def study():
    ones, twins = members(above, 1, seeds=3)
    fours, _ = members(through, 4, seeds=3)
    narrow = [
        Member(m.name, None, 1, width, m.seed, 1000, width, m.bits + more)
        for width, more in ((32, 0.3), (48, 0.15))
        for m in twins
    ]
    return scaling_study([*fours, *narrow, *ones, *twins], resamples=200)


def test_levels_are_the_models_in_order(study):
    assert [(v.p, v.d_osc, v.width) for v in study.levels] == [
        *((None, None, w) for w in (32, 48, 64)),
        *((p, d, 64) for p in (1, 4) for d in DIMENSIONS),
    ]
    twin = study.levels[2]
    assert (twin.gap, twin.gap95) == (0.0, (0.0, 0.0))
    for level in study.levels[3:]:
        law = above if level.p == 1 else through
        low, high = level.gap95
        assert low - 0.02 < law(level.d_osc) - SOFTMAX < high + 0.02
        assert level.trainings == 3


def test_a_family_that_passes_softmax_keeps_the_law_of_its_part(study):
    ones, fours = study.families
    assert ones.law.dimensions == DIMENSIONS
    assert ones.left_out == ()
    assert fours.law.dimensions == (2, 4, 8)
    assert fours.left_out == (16, 32)
    assert (ones.floored.below_softmax, fours.floored.below_softmax) == (0, 1)
    assert ones.meetings[64].d_osc == np.inf
    crossing = (1.5 / 0.5) ** 2
    low, high = fours.meetings[64].d_osc95
    assert low < crossing < high
    assert list(fours.meetings) == [32, 48, 64]
    order = [fours.meetings[w].d_osc for w in (32, 48, 64)]
    assert order == sorted(order)
    assert order[0] < order[-1]


def test_fewer_than_three_gaps_make_no_law():
    def early(d):
        return 4.7 + 1.5 * d**-0.9

    ours, twins = members(early, 4)
    (found,) = scaling_study([*ours, *twins], resamples=5).families
    assert found.law is None
    assert found.left_out == DIMENSIONS
    three, rises = ours[:3], [*ours[:4], Member("", 32, 4, 64, 0, 1, 1, ours[0].bits)]
    for few in (three, rises):
        (found,) = scaling_study([*few, *twins], resamples=5).families
        assert found.floored is None
    (found,) = scaling_study([ours[0], *twins], resamples=5).families
    assert found.meetings == {}


def test_rows_hold_every_number_with_its_interval(study):
    rows = {(r.quantity, r.p, r.d_osc, r.width): r for r in scaling_rows(study)}
    level = study.levels[-1]
    model = (4, 32, 64)
    assert rows["bits_per_byte", *model].value == level.bits
    assert rows["perplexity_per_byte", *model].parameters == 132
    gap = rows["gap", *model]
    assert (gap.value, gap.low95, gap.high95) == (level.gap, *level.gap95)
    fours = study.families[1]
    alpha = rows["gap_alpha", 4, None, 64]
    assert (alpha.value, alpha.dimensions) == (fours.law.alpha, "2 4 8")
    floor = rows["floor_scatter", 4, None, 64]
    assert (floor.low95, floor.high95) == fours.floored.scatter95
    met = rows["d_osc_of_softmax", 4, None, 48]
    assert (met.value, met.low95, met.high95) == (
        fours.meetings[48].d_osc,
        *fours.meetings[48].d_osc95,
    )
    assert not any("published" in name for name, *_ in rows)


def test_the_text_says_what_was_left_out_and_what_was_published(study):
    text = "\n".join(said_of_scaling(study))
    assert "d_osc 16, 32 left out" in text
    assert "as good as softmax of width 64 (its twin) at d_osc > 32" in text
    assert "alpha 0.420 [0.386, 0.463]" in text.split("Published")[1]
    ones, fours = text.split("p = 4, d_osc 2, 4, 8, 16, 32")
    assert "below softmax in 0.0 % of resamples, at" in ones
    assert "below softmax in 100.0 % of resamples (measured models are), at" in fours
    assert "One training each" not in text


def test_the_text_says_what_one_training_cannot_tell():
    ours, twins = members(lambda d: 6.5 - 0.25 * np.log2(d), 1)
    text = "\n".join(said_of_scaling(scaling_study([*ours, *twins], resamples=50)))
    assert "One training each" in text
    assert "the data cannot tell where the family goes" in text
    clear, twins = members(lambda d: 5.2 + 1.5 / d, 1, seeds=3)
    text = "\n".join(said_of_scaling(scaling_study([*clear, *twins], resamples=50)))
    assert "cannot tell" not in text


def test_the_figure_keeps_ours_and_the_published_apart(study):
    figure = scaling_figure(study)
    figure.draw_without_rendering()
    left, right = figure.axes
    assert left.get_ylabel() == "perplexity per byte"
    assert right.get_ylabel() == "perplexity per word above softmax"
    for container, p in zip(left.containers, (1, 4), strict=True):
        levels = [v for v in study.levels if v.p == p]
        x, y = container[0].get_data()
        np.testing.assert_array_equal(x, DIMENSIONS)
        np.testing.assert_allclose(y, [v.perplexity for v in levels])
        ends = np.array([s[:, 1] for s in container[2][0].get_segments()])
        shift = np.array([v.perplexity - v.gap for v in levels])[:, None]
        np.testing.assert_allclose(ends - shift, [v.gap95 for v in levels])
    flat = {line.get_ydata()[0] for line in left.lines if len(line.get_ydata()) == 2}
    assert {v.perplexity for v in study.levels[:3]} <= flat
    shown = [line.get_ydata() for line in right.lines]
    gaps = list(PUBLISHED_SCALING[0].gaps.values())
    np.testing.assert_allclose(shown[0], gaps[:5])
    np.testing.assert_allclose(shown[1], gaps[5:])


def test_refusals():
    ours, twins = members(above, 1)
    with pytest.raises(SpecError, match="got no oscillator model"):
        scaling_study(twins)
    with pytest.raises(SpecError, match="no softmax twin of width 64"):
        scaling_study(ours)
    wide = Member("wide", 2, 4, 96, 0, 1, 1, ours[0].bits)
    with pytest.raises(SpecError, match="has one width, got 64, 96"):
        scaling_study([*ours, wide, *twins])
