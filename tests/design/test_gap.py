"""The scaling law of a sweep's families, on data whose law is known."""

import dataclasses
import json
import math

import numpy as np
import pytest

from oscsim.design.family_json import family_json
from oscsim.design.family_rule import family_rules
from oscsim.design.gap import gap_at
from oscsim.design.replicates import half_width
from oscsim.errors import SpecError
from oscsim.study.scaling import scaling_law
from tests.design.family_sample import DIMENSIONS, NOISES, SOFTMAX, family_table

ALPHA, AMPLITUDE = 0.6, 3.5
HELD = {"relative_diffusion": 0.0}


def falling(d, noise):
    """Alpha falls and C grows with noise."""
    return SOFTMAX + AMPLITUDE * (1 + noise) * d ** -(ALPHA * (1 - noise))


def rising(d, noise):
    """Falls without noise, rises beyond d_osc 4 with it."""
    return falling(d, 0.0) + 4 * noise * d


def rules(table, resamples=60):
    return list(family_rules(table, HELD, resamples=resamples))


def test_a_law_without_scatter_is_found_exactly_at_every_noise():
    (one,) = rules(family_table(falling))
    assert [place.value for place in one.places] == list(NOISES)
    for place in one.places:
        law = place.gap.law
        assert law.alpha == pytest.approx(ALPHA * (1 - place.value), abs=1e-9)
        assert law.amplitude == pytest.approx(AMPLITUDE * (1 + place.value), rel=1e-9)
        assert place.gap.largest_miss < 1e-9
        assert place.gap.gaps[8].value == pytest.approx(
            falling(8, place.value) - SOFTMAX
        )
    assert one.no_law_from is None


def test_it_is_the_studys_fit_on_the_same_windows():
    """Same point, same intervals: chips that do not differ add nothing."""
    table = family_table(falling, spread=0.02, own=0.02)
    known = table.known
    models = {
        d: np.stack([known[f"osc-d{d}-s{k}"].digital for k in range(3)])
        for d in DIMENSIONS
    }
    softmax = np.stack([known[f"softmax-s{k}"].digital for k in range(3)])
    study = scaling_law(models, softmax, resamples=100)
    law = rules(table, 100)[0].places[0].gap.law
    assert law.alpha == pytest.approx(study.alpha, abs=1e-9)
    assert law.alpha95 == pytest.approx(study.alpha95, abs=1e-9)
    assert law.amplitude95 == pytest.approx(study.amplitude95, abs=1e-9)


def test_chips_widen_the_interval_to_students():
    """All models move together with a chip, the twin does not: t s / sqrt(6) bits."""
    table = family_table(falling, of_chip=0.05, noises=(0.0, 0.01))
    gap = rules(table, 1000)[0].places[0].gap
    chips = table.cells[0].values
    half = half_width(chips) * math.log(2) * falling(8, 0.0)
    assert 0.1 < half < 0.5
    assert np.ptp(gap.gaps[8][1:]) / 2 == pytest.approx(half, rel=0.15)
    still = rules(family_table(falling, noises=(0.0, 0.01)), 1000)[0].places[0].gap
    assert np.ptp(still.gaps[8][1:]) / 2 < 0.15 * half


@pytest.mark.slow
def test_intervals_cover_alpha_and_the_amplitude():
    """200 families with scatter of trainings, windows and chips: 90 to 99 %.

    Three standard errors of a share of .95 of 200 are .046.
    """
    covered = np.zeros(2)
    seeds = {2: 3, 4: 1, 8: 3, 16: 1, 32: 3}
    for trial in range(200):
        table = family_table(
            falling,
            seeds=seeds,
            noises=(0.05,),
            spread=0.01,
            own=0.02,
            of_chip=0.003,
            seed=trial,
        )
        cells = {
            d: [c for c in table.cells if table.d_osc(c.subject) == d]
            for d in DIMENSIONS
        }
        twins = [table.known[f"softmax-s{k}"].digital for k in range(3)]
        law = gap_at(cells, twins, np.ones(200, bool), resamples=200).law
        true = (ALPHA * 0.95, AMPLITUDE * 1.05)
        for k, (low, high) in enumerate((law.alpha95, law.amplitude95)):
            covered[k] += low < true[k] < high
    assert (covered / 200 >= 0.90).all()
    assert (covered / 200 <= 0.99).all()


def test_there_is_no_law_where_the_gap_rises():
    noises = (0.0, 0.0005, 0.01, 0.1)
    (one,) = rules(family_table(rising, spread=0.003, noises=noises), 400)
    calm, small, large, largest = (place.gap for place in one.places)
    assert calm.law is not None
    assert small.law is not None, ".002 d: d_osc 32 is still better than 16"
    assert large.why_no_law.startswith("the gap rises from d_osc 16 (1.")
    assert largest.why_no_law.endswith(" to 32 (13.2)")
    assert large.law is None
    assert math.isnan(large.largest_miss)
    assert one.no_law_from == 0.01
    said = family_json(one)
    assert said["no_law_from"] == 0.01
    assert said["values"][2]["law"] is None
    assert said["values"][0]["law"]["falls_throughout"]
    json.dumps(said, allow_nan=False)


def test_a_gap_that_levels_off_describes_roughly():
    level = dict(zip(DIMENSIONS, (1, 0.5, 0.3, 0.3, 0.33), strict=True))
    table = family_table(lambda d, _n: SOFTMAX + level[d], spread=0.0097, seed=3)
    gap = rules(table, 400)[0].places[0].gap
    assert gap.law is not None
    assert not gap.law.holds
    said = family_json(rules(table, 400)[0])["values"][0]["law"]
    assert (said["holds"], said["chi2"]) == (False, gap.law.chi2)
    true = rules(family_table(falling, spread=0.0097, seed=3), 400)[0].places[0].gap
    assert true.law.holds


def test_an_open_end_is_null():
    table = family_table(
        lambda d, _n: SOFTMAX + 2.9 * d**-2.1, spread=0.0097, noises=(0.0, 1.0), seed=6
    )
    (one,) = rules(table, 400)
    law = one.places[0].gap.law
    assert law.dropped > 0.025
    assert math.isinf(law.alpha95[1])
    said = family_json(one)["values"][0]["law"]
    assert said["alpha"] == [law.alpha, law.alpha95[0], None]
    assert said["amplitude"][2] is None
    assert said["dropped"] == law.dropped


def test_intervals_say_what_they_are_over():
    def sources(**how):
        return rules(family_table(falling, **how), 20)[0].places[0].gap.sources

    assert sources() == ("windows", "chips", "trainings")
    assert sources(seeds=1, twins=1) == ("windows", "chips")
    assert sources(seeds=1, twins=2) == ("windows", "chips", "trainings")


def test_a_flat_gap_has_no_law():
    table = family_table(lambda _d, _n: SOFTMAX + 1.0, spread=0.01, seed=3)
    (one,) = rules(table, 400)
    gap = one.places[0].gap
    assert "the gap does not fall with d_osc beyond its interval" in gap.why_no_law
    assert gap.laws.law is not None
    assert gap.law is None
    assert one.no_law_from == 0.0


def test_a_family_that_meets_softmax_early_has_no_law():
    def closing(d, _noise):
        return SOFTMAX + 1.0 - 0.4 * math.log2(d)

    (one,) = rules(family_table(closing))
    gap = one.places[0].gap
    assert gap.why_no_law == (
        "2 d_osc are worse than softmax below the first that is not, a law needs 3"
    )
    assert gap.meets.startswith("5.6 [")
    assert gap.gaps[32].value == pytest.approx(-1.0)


def test_a_law_says_nothing_beyond_what_was_fitted():
    def closing(d, noise):
        return falling(d, noise) if d < 32 else SOFTMAX - 0.1

    law = rules(family_table(closing))[0].places[0].gap.law
    assert law.dimensions == (2, 4, 8, 16)
    assert law.gap(16) == pytest.approx(AMPLITUDE * 16**-ALPHA)
    with pytest.raises(SpecError, match="says nothing of 32"):
        law.gap(32)


def test_values_without_a_model_are_fitted_without_it():
    table = family_table(falling)
    kept = tuple(
        c
        for c in table.cells
        if not (c.subject.startswith("osc-d32") and c.point["relative_diffusion"])
    )
    (one,) = rules(dataclasses.replace(table, cells=kept))
    assert one.places[0].gap.law.dimensions == DIMENSIONS
    assert one.places[1].gap.law.dimensions == (2, 4, 8, 16)


def test_without_twins_or_of_accuracies_there_is_no_gap():
    (one,) = rules(family_table(falling, twins=0))
    assert (
        one.why_no_gap == "the sweep has no softmax twin of its size, training and data"
    )
    assert one.places[0].gap is None
    assert one.no_law_from is None
    (one,) = rules(family_table(falling, metric="accuracy"))
    assert one.why_no_gap.startswith("a gap is one of perplexities")


def test_a_number_of_which_more_is_better_ends_at_its_low_end():
    table = family_table(lambda d, bits: rising(d, 2.0**-bits), noises=(2.0, 4.0, 12.0))
    cells = tuple(
        dataclasses.replace(c, point={"adc_bits": c.point["relative_diffusion"]})
        for c in table.cells
    )
    held = {"adc_bits": 12.0}
    (one,) = family_rules(dataclasses.replace(table, cells=cells), held, resamples=50)
    assert one.better == "larger"
    assert [p.gap.law is not None for p in one.places] == [False, False, True]
    assert one.no_law_from == 4.0
    assert one.places[2].gap.laws.floored is not None
    assert one.places[0].gap.laws.floored is None
