"""Digital operations of a sweep, by hand and by what a token adds."""

import math
from collections import Counter
from dataclasses import replace

import pytest

from oscsim.counts import Counts
from oscsim.energy.baselines import Shape
from oscsim.energy.digital_work import (
    attention_counts,
    digital_seconds,
    is_elementwise,
    sweep_counts,
)
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.prices import DIGITAL_ACTIONS
from oscsim.energy.substrate import substrate
from oscsim.errors import SpecError
from oscsim.substrate.device import Device

RING = Device.load("ring-65nm")
SHAPE = Shape(2, 3, 12, 16, 2, [9], True, "softplus", 7)


def sweep(shape, *, context, batch=1, is_decoding=False):
    model = Attention(
        shape.n_layers,
        shape.n_heads,
        shape.d_osc,
        context,
        causal=shape.causal,
        d_head=shape.d_head,
    )
    mapping = map_attention(RING, model, batch=batch, is_decoding=is_decoding)
    return sweep_counts(shape, mapping), mapping


def test_a_prefill_is_what_the_ledger_counts():
    """Everything of an estimate but what happens on the substrate."""
    found, _ = sweep(SHAPE, context=9, batch=2)
    whole = substrate(replace(SHAPE, lengths=[9, 9]), RING)
    digital = {k: n for k, n in whole.actions.items() if k[1] in DIGITAL_ACTIONS}
    assert dict(found.actions) == digital
    assert found.tokens == whole.tokens


def test_decoding_token_by_token_adds_up_to_a_prefill():
    steps = Counter()
    for context in range(1, 10):
        steps.update(sweep(SHAPE, context=context, is_decoding=True)[0].actions)
    prefill = sweep(SHAPE, context=9)[0].actions
    assert +steps == +prefill


def test_a_step_by_hand():
    """One token against 9: 3 heads x 2 layers x 9 scores of 4 products each."""
    found, mapping = sweep(SHAPE, context=9, batch=4, is_decoding=True)
    assert found.actions["weights", "mac"] == 4 * 2 * 3 * 9 * 4
    assert found.actions["ffn", "mac"] == 4 * 2 * 2 * 12 * 16
    assert found.actions["ffn", "gelu"] == 4 * 2 * 16
    assert mapping.tokens == found.tokens == 4


def test_a_head_that_reads_once_reads_once_a_prefill():
    once = replace(SHAPE, head_rows=1)
    every, single = (sweep(s, context=9)[0].total("mac") for s in (SHAPE, once))
    head, norm = 12 * 7, 2 * 12
    assert every - single == 8 * (head + norm)


def test_the_attention_alone_is_a_part_of_it():
    found, mapping = sweep(SHAPE, context=9, batch=2)
    alone = attention_counts(mapping)
    assert alone.actions["weights", "mac"] == found.actions["weights", "mac"]
    value = found.actions["value", "mac"] + found.actions["similarity", "mac"]
    assert alone.actions["value", "mac"] == value


def test_seconds_are_operations_over_their_rate():
    counts = Counts(tokens=1)
    counts.add("projection", "mac", 10)
    counts.add("projection", "add", 6)
    counts.add("value", "mac", 8)
    counts.add("similarity", "compare", 3)
    counts.add("normalise", "recip", 3)
    counts.add("value", "sram_read_byte", 1e9)
    counts.add("memory", "weight_read_byte", 1e9)
    assert digital_seconds(counts, 2.0) == {
        "projection": 5,
        "weights": 0,
        "value": 4,
        "ffn": 0,
    }
    both = digital_seconds(counts, 2.0, 3.0)
    assert both == {"projection": 5 + 2, "weights": 0, "value": 4 + 2, "ffn": 0}


def test_every_digital_action_is_a_mac_a_byte_or_one_operation():
    assert not is_elementwise("mac")
    assert not is_elementwise("sram_read_byte")
    named = {a for a in DIGITAL_ACTIONS if is_elementwise(a)}
    assert named == set(DIGITAL_ACTIONS) - {"mac"} - {
        a for a in DIGITAL_ACTIONS if a.endswith("byte")
    }
    assert {"add", "exp", "coupling_softplus", "gelu"} <= named


def test_what_cannot_be():
    _, mapping = sweep(SHAPE, context=9)
    with pytest.raises(SpecError, match="must be of one model"):
        sweep_counts(replace(SHAPE, n_layers=3), mapping)
    for rate in (0.0, -2.0, math.nan, math.inf):
        with pytest.raises(SpecError, match="macs_per_s must be finite and > 0"):
            digital_seconds(Counts(), rate)
        with pytest.raises(SpecError, match="ops_per_s must be finite and > 0"):
            digital_seconds(Counts(), 1.0, rate)
