"""Observables of a path: frequencies, clusters, coherence, settling."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oscsim as osc
from oscsim.errors import SpecError
from oscsim.physics.locking import (
    effective_frequencies,
    locked_clusters,
    pairwise_coherence,
    settling_times,
)
from tests.helpers import assert_mean, random_units

TIMES = np.linspace(0.0, 10.0, 201)


def path(y, geometry="torus", t=TIMES):
    return SimpleNamespace(t=t, y=np.asarray(y), geometry=geometry)


def turning(*rates):
    return path(0.3 + np.multiply.outer(TIMES, rates)[None])


def on_circle(run):
    return path(np.stack([np.cos(run.y), np.sin(run.y)], axis=-1), "sphere", run.t)


# Effective frequencies


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=5))
def test_steady_rotation_has_its_own_frequency(rates):
    np.testing.assert_allclose(
        effective_frequencies(turning(*rates)), [rates], atol=1e-12
    )
    np.testing.assert_allclose(
        effective_frequencies(on_circle(turning(*rates))), [rates], atol=1e-12
    )


def test_the_transient_is_left_out():
    theta = np.where(TIMES < 5, 3.0 * TIMES, 15 - (TIMES - 5))
    run = path(theta[None, :, None])
    assert effective_frequencies(run)[0, 0] == pytest.approx(1.0)
    assert effective_frequencies(run, after=5.0)[0, 0] == pytest.approx(-1.0)


def test_adler_beat_frequency():
    """theta' = w - K sin theta, w > K: mean rate sqrt(w^2 - K^2)."""
    w, K = 2.0, 1.2
    beat = np.sqrt(w**2 - K**2)
    t = np.linspace(0.0, 50 * 2 * np.pi / beat, 4001)
    half = np.arctan((K + beat * np.tan(beat * t / 2)) / w)
    run = path(np.unwrap(2 * half)[None, :, None], t=t)
    assert effective_frequencies(run)[0, 0] == pytest.approx(beat, rel=1e-6)
    assert effective_frequencies(run)[0, 0] != pytest.approx(w, rel=0.1)


def test_effective_frequencies_refuse():
    with pytest.raises(SpecError, match=r"1 saved times from 10\.0 s on, needed 2"):
        effective_frequencies(turning(1.0), after=10.0)
    with pytest.raises(SpecError, match="after must be finite, got nan"):
        effective_frequencies(turning(1.0), after=np.nan)
    sphere = path(np.zeros((1, 201, 2, 3)), "sphere")
    with pytest.raises(SpecError, match="unit vectors of 2 components, got 3"):
        effective_frequencies(sphere)


@pytest.mark.parametrize(
    "measure",
    [effective_frequencies, pairwise_coherence, lambda path: settling_times(path, 0.1)],
)
def test_an_array_is_no_path(measure):
    with pytest.raises(SpecError, match=r"must be the result of a simulation, .* nd"):
        measure(np.zeros((1, 5, 3)))
    with pytest.raises(SpecError, match="got Network"):
        measure(osc.Network.driven(np.ones((2, 2))))


def slipping(t, w=1.05):
    """theta' = w - sin theta in closed form, unwrapped: long rests, fast slips."""
    beat = np.sqrt(w**2 - 1)
    half = beat * t / 2
    theta = 2 * np.arctan((1 + beat * np.tan(half)) / w)
    return theta + 2 * np.pi * np.round((half - theta / 2) / np.pi)


def test_a_slip_between_rests_needs_short_steps():
    """Saved five times a turn on average, and wrong by the turns of some slips."""
    beat = np.sqrt(1.05**2 - 1)
    period = 2 * np.pi / beat
    coarse = np.linspace(0, 20 * period, 20 * 5 + 4)
    fine = np.linspace(0, 20 * period, 20 * 60 + 1)
    assert np.abs(np.diff(slipping(fine))).max() < 0.9 * np.pi
    found = effective_frequencies(
        on_circle(path(slipping(fine)[None, :, None], t=fine))
    )
    assert found[0, 0] == pytest.approx(beat)
    assert np.abs(np.diff(slipping(coarse))).max() > np.pi
    with pytest.warns(RuntimeWarning, match="nearly half a turn"):
        found = effective_frequencies(
            on_circle(path(slipping(coarse)[None, :, None], t=coarse))
        )
    assert found[0, 0] < 0.5 * beat


def test_unit_vectors_that_turn_by_nearly_half_are_doubted():
    t = np.arange(4.0)
    for rate, is_doubted in ((0.85 * np.pi, False), (0.95 * np.pi, True)):
        run = path((rate * t)[None, :, None], t=t)
        assert effective_frequencies(run)[0, 0] == pytest.approx(rate)
        if is_doubted:
            with pytest.warns(RuntimeWarning, match="save more often"):
                effective_frequencies(on_circle(run))
        else:
            assert effective_frequencies(on_circle(run))[0, 0] == pytest.approx(rate)


def test_wrapped_phases_are_doubted_and_slow_ones_are_not():
    run = turning(1.0, -0.7)
    run.y = np.angle(np.exp(1j * run.y))
    with pytest.warns(RuntimeWarning, match="if they are wrapped, unwrap them"):
        effective_frequencies(run)
    run = path(np.linspace(-3, 3, 201)[None, :, None])
    assert effective_frequencies(run)[0, 0] == pytest.approx(0.6)
    ends = path(np.array([[[-3.0], [1.0]]]), t=np.array([0.0, 4.0]))
    assert effective_frequencies(ends)[0, 0] == pytest.approx(1.0)


def test_a_failed_trajectory_has_no_frequency():
    run = turning(1.0, 2.0)
    run.y = np.concatenate([run.y, run.y])
    run.y[1, 100:] = np.nan
    for one in (run, on_circle(run)):
        found = effective_frequencies(one)
        np.testing.assert_allclose(found[0], [1, 2])
        assert np.isnan(found[1]).all()


# Clusters


def test_clusters_are_numbered_by_size_then_frequency():
    rates = [5.0, 1.0, 9.0, 1.01, 5.02, 1.02, 5.01, 1.03, -2.0]
    found = locked_clusters(np.array(rates), 0.035)
    assert found.tolist() == [1, 0, 3, 0, 1, 0, 1, 0, 2]
    assert locked_clusters(np.array(rates), 0.0).max() == 8
    assert locked_clusters(np.array(rates), 100.0).max() == 0


@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=20),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_clusters_are_narrow_and_the_first_is_the_largest(rates, tolerance, random):
    rates = np.array(rates)
    labels = locked_clusters(rates, tolerance)
    sizes = np.bincount(labels)
    assert np.all(np.diff(sizes) <= 0)
    for k in range(labels.max() + 1):
        assert np.ptp(rates[labels == k]) <= tolerance
    windows = [np.sum((rates >= x) & (rates <= x + tolerance)) for x in rates]
    assert sizes[0] == max(windows)
    order = list(range(len(rates)))
    random.shuffle(order)
    shuffled = locked_clusters(rates[order], tolerance)
    assert np.bincount(shuffled).tolist() == sizes.tolist()
    for rate in np.unique(rates):
        assert len(set(labels[rates == rate])) == 1


def test_a_dense_spectrum_is_not_one_cluster():
    """A chain of small steps must not count as locked, however fine it is."""
    rates = np.linspace(-1.0, 1.0, 100_001)
    assert np.bincount(locked_clusters(rates, 0.01))[0] < 600
    rates[np.abs(rates) < 0.3] = 0.0
    assert np.bincount(locked_clusters(rates, 0.01))[0] == pytest.approx(
        30_000, rel=0.03
    )
    assert np.bincount(locked_clusters(rates, 1e-7))[1] == 1


def test_clusters_of_a_run_in_one_call():
    theta = np.multiply.outer(TIMES, [1.0, 1.0, 1.0, -2.0])
    theta[TIMES < 2, 0] *= 3.0
    run = path(theta[None])
    assert locked_clusters(run, 0.1, after=2.0).tolist() == [[0, 0, 0, 1]]
    assert locked_clusters(turning(1.0, 2.0), 0.1).tolist() == [[0, 1]]
    with pytest.raises(SpecError, match="needed 2"):
        locked_clusters(run, 0.1, after=10.0)


def test_clusters_keep_the_shape():
    assert locked_clusters(np.zeros((2, 3, 4)), 0.1).shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("rates", "tolerance", "message"),
    [
        ([1.0, np.nan], 0.1, "frequencies must be finite, got nan at index 1"),
        ([1j], 0.1, "frequencies must hold real numbers"),
        ([1.0], "wide", "tolerance must hold real numbers, got 'wide'"),
        ([], 0.1, "n >= 1"),
        (1.0, 0.1, "n >= 1"),
        ([1.0], -0.1, "tolerance must be finite and >= 0, got -0.1"),
        ([1.0], np.nan, "tolerance must be finite, got nan"),
    ],
)
def test_clusters_refuse(rates, tolerance, message):
    with pytest.raises(SpecError, match=message):
        locked_clusters(np.array(rates), tolerance)


# Coherence


def test_locked_pairs_cohere_and_others_do_not():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(TIMES.size).cumsum()
    other = rng.uniform(-np.pi, np.pi, TIMES.size)
    run = path(np.stack([common, common + 2.0, other], axis=-1)[None])
    found = pairwise_coherence(run)[0]
    np.testing.assert_array_equal(np.diag(found), 1.0)
    np.testing.assert_array_equal(found, found.T)
    assert found[0, 1] == pytest.approx(1.0, abs=1e-14)
    assert found[0, 2] < 4 / np.sqrt(TIMES.size)


def test_coherence_of_unrelated_phases_has_its_mean_square():
    y = np.random.default_rng(1).uniform(-np.pi, np.pi, (2000, 25, 2))
    found = pairwise_coherence(path(y, t=np.arange(25.0)))[:, 0, 1]
    assert_mean(found**2, 1 / 25, 2 / 25, 1 / 50)


def test_coherence_on_the_sphere_is_the_mean_cosine():
    z = np.stack([random_units(k, 3, 4) for k in range(10)])[None]
    found = pairwise_coherence(path(z, "sphere", np.arange(10.0)), after=3.0)[0]
    cosines = np.einsum("tic,tjc->ij", z[0, 3:], z[0, 3:]) / 7
    np.testing.assert_allclose(found, cosines, atol=1e-14)
    assert np.all(np.abs(found) <= 1)


def test_the_same_pair_coheres_alike_as_phases_and_as_vectors():
    rng = np.random.default_rng(2)
    common = rng.standard_normal(TIMES.size).cumsum()
    run = path(np.stack([common, common + 2.0, 0.3 * common], axis=-1)[None])
    found = pairwise_coherence(run)
    np.testing.assert_allclose(pairwise_coherence(on_circle(run)), found, atol=1e-14)
    assert found[0, 0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("w", [1.05, 1.5, 4.0])
def test_a_beating_pair_is_as_coherent_as_its_rests_are_long(w):
    beat = np.sqrt(w**2 - 1)
    t = np.linspace(0.0, 50 * 2 * np.pi / beat, 100_001)
    pair = np.stack([np.zeros_like(t), slipping(t, w)], axis=-1)
    found = pairwise_coherence(path(pair[None], t=t))[0, 0, 1]
    assert found == pytest.approx(w - beat, abs=1e-3)
    assert found > 10 / np.sqrt(t.size), "not what unrelated samples give"


def test_coherence_of_more_components_tells_alignment_not_locking():
    """Two vectors that turn together at a constant right angle."""
    turn = np.stack([np.cos(TIMES), np.sin(TIMES), 0 * TIMES], axis=-1)
    side = np.stack([-np.sin(TIMES), np.cos(TIMES), 0 * TIMES], axis=-1)
    three = path(np.stack([turn, side, -turn], axis=1)[None], "sphere")
    found = pairwise_coherence(three)[0]
    assert found[0, 1] == pytest.approx(0.0, abs=1e-15)
    assert found[0, 2] == pytest.approx(-1.0)


def test_coherence_refuses_an_empty_span():
    with pytest.raises(SpecError, match=r"0 saved times from 11\.0 s on, needed 1"):
        pairwise_coherence(turning(1.0), after=11.0)


# Settling


def test_exponential_approach_settles_when_the_formula_says():
    theta = 1.5 + 2.0 * np.exp(-TIMES)
    run = path(np.stack([theta, np.full_like(theta, 1.5 + 2 * np.pi)], axis=-1)[None])
    found = settling_times(run, 0.01, target=np.array([1.5, 1.5]))
    exact = np.log(2.0 / 0.01)
    assert exact <= found[0, 0] < exact + TIMES[1]
    assert found[0, 1] == 0.0
    assert settling_times(run, 0.01)[0, 0] == pytest.approx(found[0, 0], abs=0.051)


def test_leaving_again_does_not_count_as_settled():
    theta = np.where((TIMES < 3) | ((TIMES > 6) & (TIMES < 7)), 1.0, 0.0)
    run = path(theta[None, :, None])
    assert settling_times(run, 0.1)[0, 0] == TIMES[TIMES >= 7][0]
    run = path(np.where(TIMES < 9.99, 0.0, 1.0)[None, :, None])
    assert settling_times(run, 0.1, target=np.zeros(1))[0, 0] == np.inf


def test_across_the_cut_the_distance_is_small():
    target = np.array([np.pi - 1e-3])
    run = path(np.full((1, 201, 1), -np.pi + 1e-3))
    assert settling_times(run, 0.01, target=target)[0, 0] == 0.0


def test_the_circle_settles_like_its_phases():
    theta = np.stack([2.5 * np.exp(-TIMES), -3.0 * np.exp(-2 * TIMES)], axis=-1)[None]
    run = path(theta)
    expected = settling_times(run, 0.02, target=np.zeros(2))
    found = settling_times(on_circle(run), 0.02, target=np.tile([1.0, 0.0], (2, 1)))
    np.testing.assert_array_equal(found, expected)


def test_a_failed_path_never_settles():
    y = np.zeros((2, 201, 1))
    y[1, 100:] = np.nan
    assert settling_times(path(y), 0.1).ravel().tolist() == [0.0, np.inf]


@pytest.mark.parametrize(
    ("within", "target", "message"),
    [
        (0.0, None, r"within must be an angle in \(0, pi\) rad, got 0.0"),
        (np.nan, None, "got nan"),
        (3.2, None, "got 3.2"),
        ("0.1", None, "within must hold real numbers, got '0.1'"),
        (0.1, [1j], "target must hold real numbers"),
        (0.1, [np.nan], "target must be finite"),
        (0.1, np.zeros(2), r"target must have shape \(1,\), got \(2,\)"),
    ],
)
def test_settling_refuses(within, target, message):
    with pytest.raises(SpecError, match=message):
        settling_times(turning(1.0), within, target)
