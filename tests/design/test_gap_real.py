"""A sweep over trained models has the law that the study finds without hardware."""

from pathlib import Path

import numpy as np
import pytest

from oscsim.design.rule import fit_rule
from oscsim.design.run import sweep
from oscsim.design.spec import parse_spec
from oscsim.design.store_file import open_store
from oscsim.design.table import read_table
from oscsim.study.family import measure
from oscsim.study.scaling_study import scaling_study

CHECKPOINTS = Path(__file__).resolve().parents[2] / "data" / "checkpoints"
OWN = ("bytes-osc-d2-p1", "bytes-osc-d2-p1-s1", "bytes-osc-d8-p1", "bytes-osc-d32-p1")
TWINS = ("bytes-softmax", "bytes-softmax-s1")
WINDOWS = 24


@pytest.fixture(scope="module")
def rule(tmp_path_factory):
    spec = {
        "name": "families",
        "checkpoints": list(OWN),
        "twins": list(TWINS),
        "windows": WINDOWS,
        "device": "ideal",
        "chips": 2,
        "axes": {"relative_diffusion": [0.0, 0.3]},
    }
    store = tmp_path_factory.mktemp("families") / "store.sqlite"
    sweep(parse_spec(spec, CHECKPOINTS), store, workers=1)
    with open_store(store) as opened:
        return fit_rule(read_table(opened))


def test_trainings_are_recognised(rule):
    (one,) = rule.families
    assert one.family.members == {2: OWN[:2], 8: OWN[2:3], 32: OWN[3:]}
    assert one.family.twins == TWINS
    seeds = [rule.table.subjects[name]["training"]["seed"] for name in OWN]
    assert seeds == [0, 1, 0, 0]


def test_without_noise_the_law_is_the_studys(rule):
    paths = [CHECKPOINTS / name for name in (*OWN, *TWINS)]
    study = scaling_study(measure(paths, windows=WINDOWS, n_threads=1))
    (family,) = study.families
    (one,) = rule.families
    law = one.places[0].gap.law
    assert law.alpha == pytest.approx(family.law.alpha, abs=1e-9)
    assert law.amplitude == pytest.approx(family.law.amplitude, rel=1e-9)
    assert law.alpha95 == pytest.approx(family.law.alpha95, abs=1e-9)
    assert law.n_seeds == (2, 1, 1)
    for level in study.levels:
        if level.d_osc:
            found = one.places[0].levels[level.d_osc].metric
            assert found == pytest.approx(level.bits, abs=1e-12)


def test_with_much_noise_there_is_none_and_the_smallest_is_best(rule):
    (one,) = rule.families
    place = one.places[1]
    assert place.gap.law is None
    assert one.no_law_from == 0.3
    assert place.best.d_osc == 2
    gaps = np.array([gap.value for gap in place.gap.gaps.values()])
    assert (np.diff(gaps) > 0).all()
