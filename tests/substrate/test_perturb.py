"""The published perturbations: their definitions, by statistics."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.models.fixed_query import settle_digital
from oscsim.substrate.perturb import (
    FREQUENCY_TIME,
    Perturbation,
    settle_perturbed,
)
from tests.substrate.drives import angle, drive, single
from tests.substrate.zscore import assert_normal, z_score

KINDS = ("coupling", "state", "frequency")


def perturbed(kind, s, asked, *, seed=0, chip=0, repeat=0, max_len=10):
    settle = settle_perturbed(
        Perturbation(kind, s), seed=seed, chip=chip, repeat=repeat, max_len=max_len
    )
    return settle(asked, Counts())


def random_drive(n=6, heads=2, d=2, **how):
    rng = np.random.default_rng(4)
    anchors = rng.normal(size=(heads, 5, d))
    return drive(rng.uniform(0.5, 2, size=(n, heads, 5, 5)), anchors, **how)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_strength_is_the_digital_model(kind, d):
    asked = random_drive(d=d)
    np.testing.assert_allclose(
        perturbed(kind, 0.0, asked), settle_digital(asked, Counts()), atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", [-1.0, 1.0])
@pytest.mark.parametrize("sideways", [0.0, 1e-17, -1e-17])
def test_a_drive_along_an_axis_is_no_special_case(kind, target, sideways):
    asked = drive(np.ones((1, 1, 1, 1)), [[[target, sideways]]])
    found = perturbed(kind, 0.0, asked)
    np.testing.assert_allclose(found[0, 0, 0], [target, 0.0], atol=1e-12)


def test_coupling_is_log_normal_per_pair():
    """Two orthogonal anchors of equal coupling: log tan is a difference of two."""
    asked = drive(np.ones((20_000, 1, 1, 2)), [[[1, 0], [0, 1]]])
    found = angle(perturbed("coupling", 0.2, asked))
    assert_normal(np.log(np.tan(found)), 0.2 * math.sqrt(2))


@pytest.mark.parametrize("d", [2, 3])
def test_state_noise_is_added_and_then_normalised(d):
    """tan of the angle is N(0, s^2) over (1 + N(0, s^2)), whatever the drive."""
    s = 0.02
    for w in (0.1, 10.0):
        found = perturbed("state", s, single(20_000, w=w, d=d))
        np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1.0, atol=1e-12)
        for axis in range(1, d):
            assert_normal(found[..., axis] / found[..., 0], s)


def test_strong_state_noise_reaches_every_direction():
    found = perturbed("state", 1e3, single(5000))
    assert abs(z_score(found[..., 0], 0.0)) < 4
    assert found[..., 0].min() < -0.99


def test_frequency_disorder_has_deviation_s_over_root_two():
    """Locked at asin(omega/|h|), reached from the fixed point in 30 time units."""
    s, w = 0.1, 2.0
    found = angle(perturbed("frequency", s, single(20_000, w=w)))
    assert_normal(np.sin(found) * w, s / math.sqrt(2))


def test_frequency_disorder_on_a_sphere_has_that_deviation_in_every_entry():
    """First order in s: the shift across h is Omega h / |h|^2."""
    s, w = 1e-3, 2.0
    found = perturbed("frequency", s, single(20_000, w=w, d=3))
    for axis in (1, 2):
        assert_normal(found[..., axis] * w, s / math.sqrt(2))


def test_frequency_disorder_starts_at_the_fixed_point_and_runs_for_its_time():
    """Without drive to speak of it turns by omega T from the drive's direction."""
    s = 1e-3
    found = angle(perturbed("frequency", s, single(20_000, w=1e-9)))
    assert_normal(found, FREQUENCY_TIME * s / math.sqrt(2))


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_new_for_every_sentence_head_query_repeat_and_seed(kind):
    n, heads = 300, 2
    asked = drive(np.ones((n, heads, 3, 3)), np.tile(np.eye(3), (heads, 1, 1)))
    first = perturbed(kind, 0.3, asked) - settle_digital(asked, Counts())

    def correlated(other):
        return abs(z_score(np.sum(first * other, axis=-1), 0.0)) > 4

    def error(**how):
        return perturbed(kind, 0.3, asked, **how) - settle_digital(asked, Counts())

    assert correlated(first)
    assert not correlated(np.roll(first, 1, axis=0))
    assert not correlated(first[:, ::-1])
    assert not correlated(np.roll(first, 1, axis=2))
    assert not correlated(error(repeat=1))
    assert not correlated(error(seed=1))
    layer = perturbed(kind, 0.3, asked._replace(layer=1))
    assert not correlated(layer - settle_digital(asked, Counts()))


@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_item_not_its_place_or_the_padding(kind):
    items = np.array([5, 0, 900, 31, 2, 7])
    asked = random_drive(items=items)
    order = np.array([2, 0, 3, 1, 5, 4])
    shuffled = asked._replace(items=items[order], coupling=asked.coupling[order])
    found = perturbed(kind, 0.3, asked)
    np.testing.assert_allclose(perturbed(kind, 0.3, shuffled), found[order], atol=1e-12)
    padded = asked._replace(
        coupling=np.pad(asked.coupling, ((0, 0), (0, 0), (0, 2), (0, 2))),
        anchors=np.pad(asked.anchors, ((0, 0), (0, 2), (0, 0)), constant_values=1.0),
        connected=np.pad(asked.connected, ((0, 0), (0, 2), (0, 2))),
        live=np.pad(asked.live, ((0, 0), (0, 2))),
    )
    longer = perturbed(kind, 0.3, padded)
    np.testing.assert_allclose(longer[:, :, :5], found, atol=1e-12)
    np.testing.assert_array_equal(longer[:, :, 5:], 0.0)


@given(st.sampled_from(KINDS), st.floats(0, 1e6, allow_subnormal=False))
def test_a_perturbation_is_what_it_prints(kind, s):
    asked = Perturbation(kind, s)
    assert Perturbation.parse(str(asked)) == asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("noise=0.1", "unknown perturbation 'noise'"),
        ("coupling", "a perturbation is written kind=s"),
        ("coupling=", "a perturbation is written kind=s"),
        ("coupling=strong", "a perturbation is written kind=s"),
        ("coupling=0.1=2", "a perturbation is written kind=s"),
        ("", "a perturbation is written kind=s"),
        ("=0.1", "unknown perturbation ''"),
        ("coupling=-0.1", "must be finite and >= 0, got -0.1"),
        ("state=inf", "must be finite and >= 0, got inf"),
        ("frequency=nan", "must be finite and >= 0, got nan"),
    ],
)
def test_a_wrong_perturbation_is_one_sentence(text, expected):
    with pytest.raises(SpecError) as error:
        Perturbation.parse(text)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_chip_number_is_another_redraw(kind):
    asked = random_drive()
    first = perturbed(kind, 0.3, asked)
    assert np.abs(perturbed(kind, 0.3, asked, chip=1) - first).max() > 0.01
    other = perturbed(kind, 0.3, asked, repeat=1)
    assert np.abs(perturbed(kind, 0.3, asked, chip=1) - other).max() > 0.01
