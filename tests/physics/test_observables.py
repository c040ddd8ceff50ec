"""Observables of one instant: bounds, limits, energies that drive the motion."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.sparse import coo_matrix, csr_array

from oscsim.errors import SpecError
from oscsim.physics.observables import (
    local_order_parameter,
    order_parameter,
    pair_potential,
    unit_vectors,
)
from oscsim.solve.noise import Stream, uniforms
from tests import naive
from tests.helpers import assert_mean, random_units


def phases(seed, *shape):
    return np.random.default_rng(seed).uniform(-3, 3, shape)


def symmetric(seed, n):
    m = np.random.default_rng(seed).standard_normal((n, n))
    return m + m.T


# Order parameter


def test_order_parameter():
    theta = phases(0, 4, 5, 30)
    r = order_parameter(theta)
    assert r.shape == (4, 5)
    assert r[1, 2] == pytest.approx(naive.order_parameter(theta[1, 2]))
    z = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    np.testing.assert_allclose(order_parameter(z, "sphere"), r, atol=1e-15)


@given(st.floats(-1e3, 1e3), st.integers(2, 300))
def test_identical_phases_stay_within_one(theta, n):
    r = float(order_parameter(np.full(n, theta)))
    assert 1 - 1e-14 <= r <= 1


@given(st.integers(0, 2**31), st.integers(2, 50), st.integers(2, 6))
def test_identical_vectors_stay_within_one(seed, n, d):
    z = np.repeat(random_units(seed, 1, d), n, axis=0)
    assert 1 - 1e-14 <= float(order_parameter(z, "sphere")) <= 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_order_parameter_lies_in_the_unit_interval(theta):
    assert 0 <= float(order_parameter(np.array(theta))) <= 1


def test_opposite_phases_cancel():
    assert float(order_parameter(np.array([0.3, 0.3 + np.pi]))) < 1e-15
    near = np.pi - 1e-3
    assert float(order_parameter(np.array([near, -near]))) == pytest.approx(
        np.cos(1e-3), abs=1e-15
    )


def test_random_phases_have_the_exact_mean_square():
    theta = 2 * np.pi * uniforms(Stream(1, 99), np.arange(20_000), 100)
    r = order_parameter(theta)
    assert_mean(r**2, 1 / 100, 1 / 50, 1 / 200)
    assert_mean(r, 0.0886, 0.0886 / 2, 0.0886 * 2, 0.092)


@pytest.mark.parametrize("state", [(np.array([0.4]),), (np.eye(3)[:1], "sphere")])
def test_one_oscillator_is_flagged(state):
    with pytest.warns(UserWarning, match="of one oscillator is 1 by definition"):
        assert float(order_parameter(*state)) == 1.0


def test_not_a_number_stays_not_a_number():
    assert np.isnan(order_parameter(np.array([0.0, np.nan])))
    with pytest.warns(UserWarning, match="one oscillator"):
        assert np.isnan(order_parameter(np.array([np.nan])))


def test_order_parameter_refuses():
    with pytest.raises(SpecError, match="geometry must be 'torus' or 'sphere'"):
        order_parameter(np.zeros(3), "plane")
    with pytest.raises(SpecError, match="no oscillators in a state of shape"):
        order_parameter(np.zeros((2, 0)))
    with pytest.raises(SpecError, match="no oscillators in a state of shape"):
        order_parameter(np.zeros(3), "sphere")
    run = SimpleNamespace(y=np.zeros((1, 2, 3)), geometry="torus")
    with pytest.raises(SpecError, match="contradicts the simulation's 'torus'"):
        order_parameter(run, "sphere")


def test_phases_are_unit_vectors_of_the_plane():
    z = unit_vectors(np.array([0.0, np.pi / 2]))
    np.testing.assert_allclose(z, np.eye(2), atol=1e-16)


# Local order parameter


def test_local_order_parameter_of_a_pair_of_neighbours():
    weights = np.array([[5.0, 1, 2], [0, 0, 0], [-1, 1, 0]])
    theta = np.array([0.0, 0.5, 1.2])
    r = local_order_parameter(theta, weights)
    assert r[0] == pytest.approx(abs(np.exp(0.5j) + 2 * np.exp(1.2j)) / 3)
    assert np.isnan(r[1])
    assert r[2] == pytest.approx(abs(-1 + np.exp(0.5j)) / 2)
    for form in (csr_array, coo_matrix):
        np.testing.assert_allclose(local_order_parameter(theta, form(weights)), r)


def test_opposite_signs_that_pull_the_same_way_agree():
    weights = np.array([[0.0, 1, -1], [0, 0, 0], [0, 0, 0]])
    theta = np.array([0.0, 0.7, 0.7 + np.pi])
    assert local_order_parameter(theta, weights)[0] == pytest.approx(1.0)


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_local_order_parameter_is_one_when_all_agree(seed, n):
    weights = np.abs(symmetric(seed, n))
    z = np.repeat(random_units(seed, 1, 3), n, axis=0)
    r = local_order_parameter(z, weights, "sphere")
    assert np.all((r >= 1 - 1e-14) & (r <= 1))
    r = local_order_parameter(phases(seed, 4, 5, n), csr_array(weights))
    assert r.shape == (4, 5, n)
    assert np.all((r >= 0) & (r <= 1))


def test_uniform_weights_give_the_global_order_parameter_of_the_others():
    theta = phases(2, 6)
    local = local_order_parameter(theta, np.ones((6, 6)))
    others = [order_parameter(np.delete(theta, i)) for i in range(6)]
    np.testing.assert_allclose(local, others)


def test_a_number_means_all_to_all_in_local_order_too():
    theta = phases(2, 4, 6)
    exact = local_order_parameter(theta, np.ones((6, 6)))
    np.testing.assert_allclose(local_order_parameter(theta, -0.3), exact, atol=1e-14)
    assert np.isnan(local_order_parameter(theta, 0.0)).all()
    assert np.isnan(local_order_parameter(np.zeros(1), 2.0)).all()
    with pytest.raises(SpecError, match="weights must be finite, got nan"):
        local_order_parameter(theta, float("nan"))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 2)), r"weights must have shape \(3, 3\), got \(2, 2\)"),
        (np.full((3, 3), np.nan), "weights must be finite"),
        (csr_array(np.diag([1.0, np.inf, 0])), r"finite, got inf at index \(1, 1\)"),
        (np.ones((3, 3)) * 1j, "weights must hold real numbers, got type complex128"),
        (csr_array(np.eye(3) * 1j), "weights must hold real numbers"),
        ([[0, 1, 2], [1, 0]], "the rows of weights must be equally long"),
    ],
)
def test_local_order_parameter_refuses(weights, message):
    with pytest.raises(SpecError, match=message):
        local_order_parameter(np.zeros(3), weights)


def test_large_weights_do_not_overflow():
    theta, weights = phases(3, 5), np.abs(symmetric(3, 5))
    huge = weights * (1e308 / weights.max())
    expected = local_order_parameter(theta, weights)
    np.testing.assert_allclose(local_order_parameter(theta, huge), expected)
    np.testing.assert_allclose(local_order_parameter(theta, csr_array(huge)), expected)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (["a"], "state must hold real numbers, got type <U1"),
        (np.zeros(3) * 1j, "got type complex128"),
        (np.ma.array(np.zeros(3), mask=[0, 1, 0]), "state has masked entries"),
        ([[0, 1], [1]], "the rows of state must be equally long"),
    ],
)
def test_states_are_real_numbers(state, message):
    with pytest.raises(SpecError, match=message):
        order_parameter(state)


# Potential


def drift_on_the_torus(theta, K, W, anchors, shil, shil_phase):
    pull = (K * np.sin(theta[None, :] - theta[:, None])).sum(axis=1)
    pull += (W * np.sin(anchors[None, :] - theta[:, None])).sum(axis=1)
    return pull - shil * np.sin(2 * theta - shil_phase)


def test_the_torus_moves_down_its_potential():
    rng = np.random.default_rng(3)
    K, W, anchors = symmetric(3, 7), rng.standard_normal((7, 2)), phases(4, 2)
    shil, shil_phase, theta = rng.random(7), phases(5, 7), phases(6, 7)

    def energy(x, scale=1.0):
        return float(
            pair_potential(
                x,
                csr_array(K),
                anchors=anchors,
                anchor_weights=W,
                shil=scale * shil,
                shil_phase=shil_phase,
            )
        )

    drift = drift_on_the_torus(theta, K, W, anchors, shil, shil_phase)
    slope = approx_fprime(theta, energy, 1e-7)
    np.testing.assert_allclose(-slope, drift, atol=1e-5)
    wrong = approx_fprime(theta, lambda x: energy(x, 2.0), 1e-7)
    assert np.abs(wrong + drift).max() > 0.1


def test_the_sphere_moves_down_its_potential():
    rng = np.random.default_rng(3)
    K, W, r = symmetric(3, 5), rng.standard_normal((5, 2)), random_units(4, 2, 4)
    z = random_units(5, 5, 4)
    field = (K - np.diag(np.diag(K))) @ z + W @ r

    def energy(x):
        one = x.reshape(z.shape)
        arguments = {"anchors": r, "anchor_weights": W, "geometry": "sphere"}
        return float(pair_potential(one, K, **arguments))

    slope = approx_fprime(z.ravel(), energy, 1e-7).reshape(z.shape)
    np.testing.assert_allclose(-slope, field, atol=1e-5)


def test_a_number_means_all_to_all():
    theta = phases(1, 2, 3, 8)
    expected = pair_potential(theta, np.full((8, 8), 1.5 / 8))
    np.testing.assert_allclose(pair_potential(theta, 1.5), expected, atol=1e-13)
    assert expected.shape == (2, 3)
    assert pair_potential(np.zeros(8), 1.5) == pytest.approx(-1.5 * 7 / 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.triu(np.ones((3, 3)))}, "only symmetric weights"),
        ({"weights": csr_array(np.triu(np.ones((3, 3))))}, "differ by up to 1"),
        ({"anchors": np.zeros(2)}, "go together, got one of them"),
        ({"anchor_weights": np.zeros((3, 2))}, "go together, got one of them"),
        (
            {"anchors": np.zeros(2), "anchor_weights": np.zeros((2, 3))},
            r"anchor_weights must have shape \(3, 2\), .* got \(2, 3\)",
        ),
        (
            {"anchors": np.zeros((2, 3)), "anchor_weights": np.zeros((3, 2))},
            r"anchors must have shape \(a,\) or \(a, 2\), got \(2, 3\)",
        ),
        ({"shil": np.ones(2)}, r"shil must be a number or have shape \(3,\), got"),
        ({"shil": 1.0, "shil_phase": np.ones(2)}, "shil_phase must be a number"),
        ({"weights": 1j}, "weights must hold real numbers, got 1j"),
        ({"state": ["a", "b", "c"]}, "state must hold real numbers, got type <U1"),
        (
            {"state": np.eye(3), "geometry": "sphere", "shil": 1.0},
            "acts on phases, got unit vectors",
        ),
    ],
)
def test_potential_refuses(change, message):
    arguments = {"state": np.zeros(3), "weights": np.ones((3, 3))} | change
    with pytest.raises(SpecError, match=message):
        pair_potential(**arguments)
