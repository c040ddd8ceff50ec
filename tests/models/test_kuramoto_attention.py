"""Kuramoto attention: what the layer is, against sums over single oscillators."""

import math

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.optimize import minimize

from oscsim.counts import Counts
from oscsim.models.kuramoto_attention import (
    PhasePass,
    attention_of,
    forward,
    map_update,
)
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    TransformerConfig,
    kuramoto_shapes,
)
from oscsim.models.layers import softmax
from oscsim.substrate.phase_pull import bounded, wrap

T, K, V = 6, 5, 11


def config(**changes):
    fields = {"vocab_size": V, "n_osc": K, "n_layers": 2, "d_ff": 7, "max_len": 16}
    return KuramotoConfig(**(fields | changes))


def weights_of(configuration, seed=0):
    draw = np.random.default_rng(seed)
    return {
        name: draw.normal(0, 0.7, shape)
        for name, shape in kuramoto_shapes(configuration).items()
    }


def ids(seed=1, batch=3):
    return np.random.default_rng(seed).integers(0, V, (batch, T))


def pulls_of(configuration, weights, **options):
    seen = []

    def watch(pull, counts):
        seen.append(pull)
        return map_update(pull, counts)

    forward(weights, configuration, ids(), run=PhasePass(update=watch, **options))
    return seen


def test_the_update_is_a_kuramoto_coupling():
    """Im(conj(z) G) = sum_u A_tu sin(theta_uj - theta_tj), pair by pair."""
    chosen = config()
    for pull in pulls_of(chosen, weights_of(chosen)):
        torque = np.zeros_like(pull.theta)
        for b, t, j in np.ndindex(pull.theta.shape):
            torque[b, t, j] = sum(
                pull.attention[b, 0, t, u]
                * math.sin(pull.theta[b, u, j] - pull.theta[b, t, j])
                for u in range(t + 1)
            )
        moved = map_update(pull, Counts()) - pull.theta
        np.testing.assert_allclose(
            moved, pull.radius * np.tanh(pull.strength * torque), atol=1e-14
        )


def test_learned_values_are_no_kuramoto_coupling():
    """The control of the test above: a token alone would pull itself."""
    chosen = config(value="linear")
    pull = pulls_of(chosen, weights_of(chosen))[0]
    first = (map_update(pull, Counts()) - pull.theta)[:, 0]
    assert np.abs(first).max() > 0.01
    raw = config()
    pull = pulls_of(raw, weights_of(raw))[0]
    assert np.abs((map_update(pull, Counts()) - pull.theta)[:, 0]).max() < 1e-15


def test_attention_against_a_sum_over_single_oscillators():
    chosen = config()
    weights = weights_of(chosen)
    theta = np.random.default_rng(3).uniform(-3, 3, (1, T, K))
    found = attention_of(weights, chosen, 0, theta)[0, 0]
    psi = np.concatenate([np.cos(theta), np.sin(theta)], -1)[0]
    gates = []
    for name in ("Wq", "Wk"):
        gate = np.log1p(np.exp(psi @ weights[f"layers.0.attn.{name}.weight"].T))
        gates.append(gate / gate.mean(-1, keepdims=True))
    tau = math.exp(weights["layers.0.attn.log_tau"][0])
    omega = weights["layers.0.attn.omega"]
    for t in range(T):
        score = [
            tau
            / math.sqrt(K)
            * sum(
                gates[0][t, j]
                * gates[1][u, j]
                * math.cos(theta[0, t, j] - theta[0, u, j] + omega[j] * (t - u))
                for j in range(K)
            )
            for u in range(t + 1)
        ]
        expected = np.exp(score) / np.sum(np.exp(score))
        np.testing.assert_allclose(found[t, : t + 1], expected, atol=1e-13)
        assert (found[t, t + 1 :] == 0).all()


def test_softmax_is_the_retrieval_that_an_entropy_regularises():
    """argmax over the simplex of <p, s> + H(p), found by a general optimiser."""
    score = np.random.default_rng(4).normal(0, 2, 5)

    def loss(free):
        p = np.exp(free - free.max())
        p /= p.sum()
        return -(p @ score) + p @ np.log(p)

    found = minimize(loss, np.zeros(5), tol=1e-14).x
    p = np.exp(found - found.max())
    np.testing.assert_allclose(p / p.sum(), softmax(score), atol=1e-5)
    doubled = softmax(2 * score)
    assert np.abs(p / p.sum() - doubled).max() > 0.01


def test_a_common_rotation_of_all_phases_leaves_the_metric_alone_without_gates():
    chosen = config(gates=False, ffn="off", d_ff=None)
    weights = weights_of(chosen)
    theta = np.random.default_rng(5).uniform(-3, 3, (2, T, K))
    np.testing.assert_allclose(
        attention_of(weights, chosen, 0, theta),
        attention_of(weights, chosen, 0, theta + 1.3),
        atol=1e-13,
    )


def test_a_wrapped_model_does_not_see_whole_turns_and_an_unwrapped_one_does():
    turns = 2 * math.pi * np.random.default_rng(6).integers(-2, 3, (V, K))
    for convention, sees in (("wrapped", False), ("unwrapped", True)):
        chosen = config(phase_convention=convention)
        weights = weights_of(chosen)
        turned = weights | {"embed.weight": weights["embed.weight"] + turns}
        one, two = (forward(w, chosen, ids()) for w in (weights, turned))
        # The first layer's feed-forward block reads the embedding's own turns.
        lifted = config(phase_convention=convention, ffn="off", d_ff=None)
        same = [forward(w, lifted, ids()) for w in (weights, turned)]
        np.testing.assert_allclose(*same, atol=1e-12)
        if sees:
            assert np.abs(one - two).max() > 1e-3


def test_wrap_keeps_the_phase_and_loses_the_turns():
    theta = np.linspace(-20, 20, 401)
    np.testing.assert_allclose(np.exp(1j * wrap(theta)), np.exp(1j * theta), atol=1e-13)
    assert np.abs(wrap(theta)).max() <= math.pi + 1e-15


@pytest.mark.parametrize("kind", ["coord", "unit", "norm"])
def test_a_bound_is_linear_for_small_updates_and_holds_for_large_ones(kind):
    radius = np.full(K, 0.5)
    small = 1e-4 * np.random.default_rng(7).normal(size=K)
    slope = {"coord": 0.5, "unit": 1.0, "norm": 0.5}[kind]
    np.testing.assert_allclose(bounded(kind, radius, small), slope * small, rtol=1e-4)
    large = bounded(kind, radius, 1e3 * np.ones(K))
    np.testing.assert_allclose(large, radius, rtol=1e-12)


def test_later_tokens_do_not_change_earlier_outputs():
    chosen = config(n_heads=1)
    weights = weights_of(chosen)
    changed = ids().copy()
    changed[:, -1] = (changed[:, -1] + 1) % V
    before, after = forward(weights, chosen, ids()), forward(weights, chosen, changed)
    np.testing.assert_array_equal(before[:, :-1], after[:, :-1])
    assert np.abs(before[:, -1] - after[:, -1]).max() > 1e-6


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_heads": 2}, "does not divide"),
        ({"ffn": "off"}, "d_ff"),
        ({"d_ff": None}, "d_ff"),
        ({"gates": False, "share_metric": True}, "share_metric"),
        ({"bound": "sphere"}, "bound"),
        ({"update": "flow", "bound": "norm"}, "no bound over all oscillators"),
        ({"update": "flow", "value": "linear"}, "needs value 'raw'"),
    ],
)
def test_contradictions_are_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        config(**changes)


def test_rotary_heads_need_pairs():
    with pytest.raises(ValidationError, match="twice"):
        TransformerConfig(
            vocab_size=V, d_model=12, n_layers=1, n_heads=4, d_ff=8, max_len=8
        )
