"""Which checkpoints are one family, and which d_osc is best over trainings."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy.stats import t as student_t
from scipy.stats import ttest_ind

from oscsim.design.best_dimension import best_dimension, is_above, pooled
from oscsim.design.family import families
from oscsim.design.rule import fit_rule
from oscsim.design.training import training_of
from tests.design.family_sample import SOFTMAX, family_table


def level(d, _noise):
    """D_osc 32 best, 16 next."""
    return SOFTMAX + 3.0 / d


def changed(table, name, **parts):
    about = table.subjects[name]
    config = about["config"] | parts.pop("config", {})
    return dataclasses.replace(
        table, subjects={**table.subjects, name: {**about, "config": config, **parts}}
    )


def test_a_family_shares_everything_but_dimension_and_seed():
    table = family_table(level, dimensions=(2, 8), noises=(0.0,))
    (one,) = families(table)
    assert one.members == {
        2: ("osc-d2-s0", "osc-d2-s1", "osc-d2-s2"),
        8: ("osc-d8-s0", "osc-d8-s1", "osc-d8-s2"),
    }
    assert one.twins == ("softmax-s0", "softmax-s1", "softmax-s2")
    assert (one.name, one.p, one.width) == ("p = 4", 4, 64)
    assert one.has_trainings


@pytest.mark.parametrize(
    "other",
    [
        {"config": {"p": 1}},
        {"config": {"d_model": 32}},
        {"config": {"n_layers": 3}},
        {"data_sha256": "other"},
        {"training": {"seed": 0, "tokens": 99, "recipe": {"steps": 1}}},
        {"training": {"seed": 0, "tokens": 100, "recipe": {"steps": 2}}},
        {"training": None},
    ],
    ids=["p", "width", "layers", "data", "tokens", "recipe", "unknown"],
)
def test_a_model_that_differs_in_anything_else_is_not_in_it(other):
    table = family_table(level, dimensions=(2, 8), noises=(0.0,))
    (one,) = families(changed(table, "osc-d8-s0", **other))
    assert one.members[8] == ("osc-d8-s1", "osc-d8-s2")
    if "p" not in other.get("config", {}):
        (one,) = families(changed(table, "softmax-s0", **other))
        assert one.twins == ("softmax-s1", "softmax-s2")


def test_one_training_counts_once():
    table = family_table(level, dimensions=(2, 8), noises=(0.0,))
    seed = table.subjects["osc-d8-s0"]["training"]
    (one,) = families(changed(table, "osc-d8-s1", training=seed))
    assert one.members[8] == ("osc-d8-s0", "osc-d8-s2")
    assert one.repeated == ("osc-d8-s1",)
    plain = table
    for name in table.subjects:
        plain = changed(plain, name, training=None)
    (one,) = families(plain)
    assert len(one.members[8]) == 3, "told apart by their weights"
    (one,) = families(changed(plain, "osc-d8-s2", sha256="osc-d8-s0"))
    assert one.repeated == ("osc-d8-s2",)


def test_families_are_named_apart():
    table = family_table(level, dimensions=(2, 8), noises=(0.0,))
    for name in ("osc-d2-s0", "osc-d8-s0"):
        table = changed(table, name, config={"p": 1})
    assert [one.name for one in families(table)] == ["p = 1", "p = 4"]
    for name in ("osc-d2-s0", "osc-d8-s0"):
        table = changed(table, name, config={"p": 4, "d_model": 32})
    assert {one.name for one in families(table)} == {
        "p = 4, width 64",
        "p = 4, width 32",
    }
    for name in ("osc-d2-s0", "osc-d8-s0"):
        table = changed(table, name, config={"d_model": 64, "n_layers": 7})
    assert len({one.name for one in families(table)}) == 2
    assert families(family_table(level, dimensions=(8,), noises=(0.0,))) == ()


def best_of(table):
    cells = {}
    for cell in table.cells:
        cells.setdefault(table.d_osc(cell.subject), []).append(cell)
    n = len(table.cells[0].items)
    return best_dimension(
        cells, np.ones(n, bool), is_loss_bits=table.metric == "bits_per_byte"
    )


def test_the_best_stands_where_trainings_scatter_little_and_not_otherwise():
    """d_osc 16 and 32 are .026 bits apart; trainings by .002 or by .05."""
    tight = best_of(family_table(level, noises=(0.0,), spread=0.002))
    assert (tight.d_osc, tight.trainings) == (32, 3)
    assert tight.stands
    loose = best_of(family_table(level, noises=(0.0,), spread=0.05, seed=5))
    assert not loose.stands
    assert loose.undecided_alone == (), "on these trainings alone all is decided"


def test_the_best_is_of_means_not_of_the_luckiest_training():
    table = family_table(level, noises=(0.0,))
    shift = {"osc-d16-s0": -0.1, "osc-d16-s1": 0.2}
    cells = tuple(
        dataclasses.replace(
            c,
            values=c.values + shift.get(c.subject, 0.0),
            items=c.items + shift.get(c.subject, 0.0),
        )
        for c in table.cells
    )
    least = min(cells, key=lambda c: c.values.mean())
    assert least.subject == "osc-d16-s0"
    found = best_of(dataclasses.replace(table, cells=cells))
    assert found.d_osc == 32
    assert not found.stands


def test_equal_dimensions_are_told_apart_in_one_trial_of_twenty():
    """300 trials of two equal models: .05 within three standard errors, .038.

    Without the scatter between trainings most would be told apart.
    """
    told = alone = 0
    for trial in range(300):
        found = best_of(
            family_table(
                lambda _d, _noise: 6.0,
                dimensions=(2, 8),
                noises=(0.0,),
                spread=0.02,
                own=0.02,
                seed=trial,
            )
        )
        told += found.stands
        alone += not found.undecided_alone
    assert 0.012 <= told / 300 <= 0.088
    assert alone / 300 > 0.5


def test_of_five_equal_dimensions_seldom_any_is_told_apart():
    """300 trials: .05 within three standard errors; each pair at .05 gives .2."""
    told = 0
    for trial in range(300):
        found = best_of(
            family_table(
                lambda _d, _noise: 6.0,
                seeds={2: 3, 4: 1, 8: 3, 16: 1, 32: 3},
                noises=(0.0,),
                twins=0,
                spread=0.02,
                own=0.02,
                seed=trial,
            )
        )
        told += len(found.undecided) < 4
    assert 0.012 <= told / 300 <= 0.1


def test_more_is_better_of_accuracies():
    table = family_table(level, noises=(0.0,), spread=0.002, metric="accuracy")
    assert best_of(table).d_osc == 2


def test_with_one_training_each_nothing_is_said_over_trainings():
    table = family_table(level, seeds=1)
    assert best_of(dataclasses.replace(table, cells=table.cells[::3])) is None
    rule = fit_rule(table)
    assert all(p.best is None for one in rule.families for p in one.places)
    assert rule.optima, "each checkpoint alone is still compared"


def test_trainings_alone_give_students_test():
    """One source of scatter: the pooled two-sample test of scipy."""
    one, other = [1.0, 2.0, 4.0], [0.0, 0.5, 0.1]
    spread, freedom = pooled([one, other])
    assert freedom == 4
    more = np.mean(one) - np.mean(other)
    p = ttest_ind(one, other).pvalue
    scale = 1.0
    for scale in (1.0, 0.5, 2.0):
        part = ((scale * spread) ** 2 * (2 / 3), freedom)
        t = more / math.sqrt(part[0])
        assert is_above(more, [part]) == (t > 2.776445)
    assert (p < 0.05) == is_above(more, [(spread**2 * 2 / 3, freedom)])
    assert pooled([[1.0], [2.0]]) == (0.0, 0)


def test_sources_add_and_a_single_value_tells_nothing():
    assert is_above(1.0, [(0.0, 5), (0.0, 3)])
    assert not is_above(0.0, [(0.0, 5)])
    assert not is_above(1.0, [(0.0, 5), (math.inf, 1)])
    # Two equal sources of 3 degrees of freedom have 6 together: t is 2.4469.
    assert is_above(2.46, [(0.5, 3), (0.5, 3)])
    assert not is_above(2.43, [(0.5, 3), (0.5, 3)])


def test_comparisons_share_the_chance_to_be_wrong():
    """With 6 degrees of freedom t is 3.521 at .025 / 4 a side, 3.287 at .025 / 3."""
    limit = float(student_t.isf(0.025 / 4, 6))
    assert is_above(limit + 0.01, [(1.0, 6)], 4)
    assert not is_above(limit - 0.01, [(1.0, 6)], 4)
    assert is_above(limit - 0.01, [(1.0, 6)], 3)


def test_what_a_checkpoint_says_of_its_training(tmp_path):
    assert training_of(tmp_path) is None
    file = tmp_path / "training.json"
    for text in ("{", "[]", '{"tokens": 3}', '{"seed": "x"}'):
        file.write_text(text)
        assert training_of(tmp_path) is None
    file.write_text(json.dumps({"seed": 2, "tokens": 7, "history": [1]}))
    assert training_of(tmp_path) == {"seed": 2, "tokens": 7}
    assert training_of(tmp_path / "model.safetensors") == {"seed": 2, "tokens": 7}
