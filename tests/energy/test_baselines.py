import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from oscsim.counts import Counts
from oscsim.energy.baselines import (
    Shape,
    digital_oscillator,
    digital_oscillator_factored,
    digital_softmax,
)
from oscsim.energy.published import published_cost
from oscsim.errors import SpecError
from oscsim.models import counting
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.models.fixed_query import Pass, forward

SMALL = Shape(
    n_layers=2,
    n_heads=2,
    d_model=8,
    d_ff=12,
    d_osc=3,
    lengths=[5, 3],
    causal=True,
    coupling="softplus",
    n_outputs=7,
)
ATTENTION = {"weights", "load", "settle", "readout", "similarity", "normalise", "value"}


def attention_stage(counts):
    stage = {key: n for key, n in counts.actions.items() if key[0] in ATTENTION}
    return stage | {
        key: n for key, n in counts.actions.items() if key[1] == "sram_write_byte"
    }


@pytest.mark.parametrize("causal", [True, False])
def test_pairs_are_what_a_loop_over_the_mask_finds(causal):
    shape = replace(SMALL, causal=causal)
    found = sum(
        1
        for length in shape.lengths
        for _ in range(shape.n_heads)
        for i in range(length)
        for j in range(length)
        if j <= i or not causal
    )
    assert shape.pairs == found


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("attention", ["softmax", "oscillator"])
@pytest.mark.parametrize("reads_all", [True, False])
def test_closed_forms_equal_what_a_model_executes(causal, attention, reads_all):
    """The tally of a forward pass over padded ids, digital state included."""
    oscillator = attention == "oscillator"
    config = FixedQueryConfig(
        attention=attention,
        vocab_size=11,
        d_model=8,
        n_heads=2,
        n_layers=2,
        d_ff=12,
        d_osc=3 if oscillator else None,
        max_len=5,
        n_outputs=7,
        p=2,
        causal=causal,
    )
    rng = np.random.default_rng(0)
    weights = {k: rng.normal(size=s) for k, s in tensor_shapes(config).items()}
    ids = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0]])
    run = Pass()
    forward(
        weights,
        config,
        ids,
        run=run,
        positions=None if reads_all else np.array([1, 2]),
    )
    shape = replace(
        SMALL, causal=causal, power=2, head_rows=None if reads_all else len(ids)
    )
    rival = digital_oscillator if oscillator else digital_softmax
    expected = rival(shape)
    assert run.counts.tokens == expected.tokens == 8
    assert dict(run.counts.actions) == dict(expected.actions)


def test_rivals_differ_in_the_attention_stage_only():
    rivals = [
        digital_softmax(SMALL, reuse=4),
        digital_oscillator(SMALL, reuse=4),
        digital_oscillator_factored(SMALL, reuse=4),
    ]
    bodies = [
        {k: n for k, n in r.actions.items() if k not in attention_stage(r)}
        for r in rivals
    ]
    assert bodies[0] == bodies[1] == bodies[2]
    assert len({tuple(sorted(attention_stage(r).items())) for r in rivals}) == 3


def test_every_unfactored_weight_is_read_once_per_row():
    """9 matrices of this model, their biases, two norms a layer and the last."""
    d, d_ff, rows = 8, 12, 8
    layer = 4 * d * d + d + 2 * d * d_ff + d_ff + d + 2 * 2 * d
    head = d * 7 + 7 + 2 * d
    tables = 2 * d
    counts = digital_softmax(SMALL)
    assert counts.total("weight_read_byte") == rows * (2 * layer + head + tables)


def test_macs_by_hand():
    """Causal lengths 5 and 3: 15 + 6 pairs a head, 2 heads, 2 layers."""
    pairs, rows, layers = 2 * 21, 8, 2
    counts = digital_oscillator(SMALL)
    assert counts.actions["weights", "mac"] == layers * pairs * 4
    assert counts.actions["value", "mac"] == layers * pairs * 4
    assert counts.actions["load", "mac"] == layers * pairs * 3
    assert counts.actions["similarity", "mac"] == layers * pairs * 3
    assert counts.total("coupling_softplus") == layers * pairs
    assert counts.total("rsqrt") == layers * 2 * rows + (2 * layers + 1) * rows
    factored = digital_oscillator_factored(SMALL)
    assert factored.actions["value", "mac"] == layers * 2 * rows * 2 * 3 * 4
    assert factored.total("coupling_softplus") == layers * pairs
    assert factored.total("exp") == 0


def test_the_factored_read_out_grows_linearly():
    long, longer = (
        digital_oscillator_factored(replace(SMALL, lengths=[n])) for n in (64, 128)
    )
    for key in (("value", "mac"), ("similarity", "mac"), ("value", "sram_read_byte")):
        assert longer.actions[key] == 2 * long.actions[key]
    assert longer.actions["weights", "mac"] > 3.9 * long.actions["weights", "mac"]


def test_running_sums_are_stored_once_unless_a_query_waits_for_them():
    """Per layer, 2 heads, items of 5 and 3: states of (3 + 1) x 4 x 2 bytes.

    Causal: 16 (head, anchor) pairs each store theirs. Otherwise once per head
    and item, 4 times. Anchors (3 bytes) are read once per pair in both, and
    every query reads the state and the table of anchors, (4 x 4 + 3) x 2 bytes.
    """
    for causal, stores in ((True, 16), (False, 4)):
        counts = digital_oscillator_factored(replace(SMALL, causal=causal))
        read = stores * 32 + 16 * 3 + 16 * 38
        assert counts.actions["value", "sram_read_byte"] == 2 * read
        assert counts.actions["value", "sram_write_byte"] == 2 * stores * 32


@pytest.mark.parametrize("power", [2, 4])
def test_only_p_of_1_factors(power):
    with pytest.raises(SpecError, match=rf"for p = 1 only, got {power}"):
        digital_oscillator_factored(replace(SMALL, power=power))


def test_reuse_divides_the_traffic_and_nothing_else():
    once, often = digital_oscillator(SMALL), digital_oscillator(SMALL, reuse=8)
    for key, number in once.actions.items():
        if key == ("memory", "weight_read_byte"):
            tables = SMALL.rows * SMALL.d_model
            assert often.actions[key] == tables + tables / 8
        elif key[1].endswith("read_byte"):
            assert often.actions[key] == number / 8
        else:
            assert often.actions[key] == number


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_layers": 0}, r"n_layers must be at least 1, got 0"),
        ({"n_heads": 3}, r"n_heads = 3 does not divide d_model = 8"),
        ({"lengths": []}, r"lengths must name.*got \[\]"),
        ({"lengths": [4, 0]}, r"lengths must name.*got \[4, 0\]"),
        ({"lengths": [1.5]}, r"a length must be a whole number, got 1.5"),
        ({"lengths": [True]}, r"a length must be a whole number, got True"),
        ({"lengths": [2**21]}, r"a length must be at most 1,048,576, got 2,097,152"),
        ({"d_model": 10**400}, r"d_model must be at most .*got a number of about 401"),
        ({"n_layers": 2000}, r"n_layers must be at most 1,024, got 2,000"),
        ({"d_osc": 2.0}, r"d_osc must be a whole number, got 2.0"),
        ({"coupling": "exp"}, r"coupling must be one of softplus.*got 'exp'"),
        ({"power": 3}, r"power must be one of 1, 2, 4, got 3"),
        ({"head_rows": -5}, r"head_rows must be at least 1, got -5"),
        ({"n_features": 0}, r"n_features must be at least 1, got 0"),
    ],
)
def test_impossible_shapes(change, message):
    with pytest.raises(SpecError, match=message):
        replace(SMALL, **change)


KWS = {"n_positions": 49, "n_heads": 2, "d_osc": 2}
SVA = {"n_positions": 9, "n_heads": 1, "d_osc": 2}
TINY = {"n_positions": 128, "n_heads": 4, "d_osc": 8, "causal": True}


@pytest.mark.parametrize(
    ("task", "coupling", "expected"),
    [
        (KWS, "relu", (48_216, 24_402, 14_602, 4_998)),
        (SVA, "relu", (828, 441, 261, 99)),
        (TINY, "relu", (331_264, 563_456, 298_240, 34_048)),
        (KWS, "elu", (48_216, 24_402, 14_602, 4_998)),
        (KWS, "softplus", (48_216, 67_620, 57_820, 48_216)),
        (SVA, "softplus", (828, 1_170, 990, 828)),
        (TINY, "softplus", (331_264, 860_672, 595_456, 331_264)),
    ],
)
def test_published_table(task, coupling, expected):
    cost = published_cost(coupling=coupling, **task)
    assert list(cost) == [
        "softmax",
        "all digital",
        "equilibration physical",
        "equilibration and read-out physical",
    ]
    assert tuple(cost.values()) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_positions": 0}, r"n_positions must be at least 1, got 0"),
        ({"d_osc": 0}, r"d_osc must be at least 1, got 0"),
        ({"coupling": "tanh"}, r"unknown coupling function 'tanh'"),
    ],
)
def test_published_cost_refuses(change, message):
    with pytest.raises(SpecError, match=message):
        published_cost(**(KWS | {"coupling": "relu"} | change))


def test_counting_refuses():
    with pytest.raises(SpecError, match=r"unknown coupling function 'tanh': one of"):
        counting.count_coupling(Counts(), 1, "tanh")
    with pytest.raises(SpecError, match=r"exponent p must be 1, 2 or 4, got 3"):
        counting.count_similarity(Counts(), 1, 2, power=3)
    for reuse in (0.5, 0.0, -1.0, math.nan):
        with pytest.raises(SpecError, match=rf"reuse must be >= 1.*got {reuse}"):
            counting.count_scores(Counts(), 1, 2, reuse=reuse)


@pytest.mark.parametrize(("power", "muls"), [(1, 0), (2, 1), (4, 2)])
def test_a_power_costs_its_squarings(power, muls):
    counts = Counts()
    counting.count_similarity(counts, 10, 3, power=power)
    assert counts.total("mul") == 10 * muls


def test_every_block_by_hand():
    """3 vectors of 4, one block after the other."""
    expected = {
        "linear": Counter(mac=24, add=6, weight_read_byte=30),
        "layernorm": Counter(add=24, mac=24, mul=18, rsqrt=3, weight_read_byte=24),
        "residual": Counter(add=12),
        "embedding": Counter(add=12, weight_read_byte=24),
        "softmax": Counter(compare=5, add=10, exp=5, recip=3, mul=12),
        "unit": Counter(mul=24, add=12, rsqrt=3),
        "normalise": Counter(add=5, recip=3, mul=12),
        "prefix update": Counter(mac=24, add=12, sram_read_byte=78, sram_write_byte=72),
        "prefix update, once": Counter(
            mac=24, add=12, sram_read_byte=30, sram_write_byte=24
        ),
        "prefix read": Counter(mac=30, add=15, recip=3, mul=12, sram_read_byte=84),
        "token io": Counter(token_io_byte=20),
    }
    calls = {
        "linear": lambda c: counting.count_linear(c, "ffn", 3, 4, 2, bias=True),
        "layernorm": lambda c: counting.count_layernorm(c, 3, 4),
        "residual": lambda c: counting.count_residual(c, 3, 4),
        "embedding": lambda c: counting.count_embedding(c, 3, 4),
        "softmax": lambda c: counting.count_softmax(c, 5, 3, 4),
        "unit": lambda c: counting.count_unit(c, 3, 4),
        "normalise": lambda c: counting.count_readout_normalise(c, 5, 3, 4),
        "prefix update": lambda c: counting.count_prefix_update(c, 3, 2, 4),
        "prefix update, once": lambda c: counting.count_prefix_update(
            c, 3, 2, 4, stores=1
        ),
        "prefix read": lambda c: counting.count_prefix_read(c, 3, 2, 4),
        "token io": lambda c: counting.count_token_io(c, 3, 7),
    }
    for name, call in calls.items():
        counts = Counts()
        call(counts)
        found: Counter[str] = Counter()
        for (_, action), number in counts.actions.items():
            found[action] += number
        assert found == expected[name], name
