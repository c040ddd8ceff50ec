"""Counts of Kuramoto attention and of its twin, against sums by hand."""

import numpy as np
import pytest

from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices, digital_nodes
from oscsim.errors import SpecError
from oscsim.models.kuramoto_attention import PhasePass, forward
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.models.phase_counting import causal_pairs, digital_kuramoto, transformer
from tests.models.kuramoto_models import K, T, V, model, tokens

N = 4
ROWS, PAIRS = N * T, N * T * (T + 1) // 2


def executed(**changes):
    config, weights = model(**changes)
    run = PhasePass()
    items = np.array([0, 1, -1, 2, 3])
    forward(weights, config, tokens(5), items=items, run=run)
    return config, run.counts


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bound": "norm"},
        {"update": "flow"},
        {"bound": "unit", "n_heads": 2},
        {"gates": False, "omega": "zero", "ffn": "off", "d_ff": None},
        {"ffn": "lift", "share_metric": True, "value": "linear"},
    ],
)
def test_a_pass_executes_what_the_closed_form_says_fillers_left_out(changes):
    config, counts = executed(**changes)
    assert counts == digital_kuramoto(config, N, T)
    assert counts.tokens == ROWS


def test_scores_are_two_products_of_size_k_a_pair_and_the_field_two_more():
    _, counts = executed()
    layers = 3
    assert counts.actions["weights", "mac"] == layers * PAIRS * 2 * K
    assert counts.actions["value", "mac"] == layers * (PAIRS * 2 * K + ROWS * K)
    assert counts.actions["weights", "exp"] == layers * PAIRS
    _, by_head = executed(n_heads=2)
    assert by_head.actions["weights", "mac"] == layers * PAIRS * 2 * K
    assert by_head.actions["weights", "exp"] == layers * 2 * PAIRS
    assert causal_pairs(T) * N == PAIRS


def test_the_smallest_model_by_hand():
    """No gates, rates or feed-forward block: what is left fits on one line each."""
    _, counts = executed(gates=False, omega="zero", ffn="off", d_ff=None, n_layers=1)
    linear = ROWS * 2 * K * (K + V)
    assert counts.actions["projection", "mac"] == linear
    assert counts.actions["projection", "sincos"] == 2 * ROWS * K
    assert counts.actions["value", "tanh"] == ROWS * K
    assert counts.actions["value", "mul"] == 3 * ROWS * K
    assert counts.actions["value", "add"] == ROWS * K
    assert counts.actions["memory", "token_io_byte"] == 2 * (ROWS + ROWS * V)
    assert counts.total("silu") == counts.total("coupling_softplus") == 0


def test_the_transformer_by_hand():
    config = TransformerConfig(
        vocab_size=V, d_model=8, n_layers=2, n_heads=2, d_ff=12, max_len=T
    )
    counts = transformer(config, N, T)
    assert counts.tokens == ROWS
    d, d_ff, heads = 8, 12, 2
    norms = (2 * 2 + 1) * ROWS * d
    assert counts.actions["projection", "mac"] == (
        2 * 4 * ROWS * d * d + ROWS * d * V + norms
    )
    assert counts.actions["ffn", "mac"] == 2 * 3 * ROWS * d * d_ff
    assert counts.actions["weights", "mac"] == 2 * heads * PAIRS * (d // heads)
    assert counts.actions["weights", "exp"] == 2 * heads * PAIRS
    assert counts.actions["value", "mac"] == 2 * PAIRS * d
    assert counts.actions["ffn", "silu"] == 2 * ROWS * d_ff
    doubled = transformer(config, 2 * N, T)
    assert all(doubled.actions[key] == 2 * n for key, n in counts.actions.items())


def assert_only_reads_are_fewer(once, often, factor):
    """Rows of the embedding are data: each is read once, whatever is reused."""
    assert set(once.actions) == set(often.actions)
    moved = 0
    for (phase, action), number in once.actions.items():
        is_embedding = (phase, action) == ("memory", "weight_read_byte")
        is_read = action in ("sram_read_byte", "weight_read_byte")
        share = factor if is_read and not is_embedding else 1
        moved += share != 1
        assert often.actions[phase, action] == number / share, (phase, action)
    assert moved >= 3


@pytest.mark.parametrize(
    "changes",
    [
        {"bound": "norm", "n_heads": 2},
        {"update": "flow", "share_metric": True},
        {"ffn": "lift", "value": "linear"},
    ],
)
def test_reuse_moves_the_reads_of_kuramoto_attention_alone(changes):
    config, counts = executed(**changes)
    assert digital_kuramoto(config, N, T, reuse=1.0) == counts
    assert_only_reads_are_fewer(counts, digital_kuramoto(config, N, T, reuse=16), 16)
    with pytest.raises(SpecError, match=r"reuse must be >= 1 .* got 0.5"):
        digital_kuramoto(config, N, T, reuse=0.5)


def test_reuse_moves_the_reads_of_the_transformer_alone():
    config = TransformerConfig(
        vocab_size=V, d_model=8, n_layers=2, n_heads=2, d_ff=12, max_len=T
    )
    once, often = (transformer(config, N, T, reuse=r) for r in (1, 16))
    assert once == transformer(config, N, T)
    assert_only_reads_are_fewer(once, often, 16)
    with pytest.raises(SpecError, match=r"reuse must be >= 1 .* got 0.5"):
        transformer(config, N, T, reuse=0.5)


@pytest.mark.parametrize("node", digital_nodes())
def test_everything_that_is_counted_has_a_price(node):
    config, counts = executed(bound="norm")
    twin = transformer(
        TransformerConfig(
            vocab_size=V, d_model=8, n_layers=2, n_heads=2, d_ff=12, max_len=T
        ),
        N,
        T,
    )
    for one in (counts, twin, digital_kuramoto(config, N, T)):
        ledger = account(one, Prices.digital(node), Library.load())
        assert all(entry.joules > 0 for entry in ledger.entries)
