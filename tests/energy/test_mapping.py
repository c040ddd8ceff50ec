"""Heads and queries on arrays small enough to count by hand."""

import pytest

from oscsim.energy.mapping import Attention, map_attention
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device

RING = Device.load("ring-65nm")
MODEL = Attention(n_layers=2, n_heads=3, d_osc=2, context=5, causal=True, d_head=4)


def array(**sizes):
    return RING.changed(**sizes)


def test_an_unlimited_array_settles_every_layer_at_once_and_says_so():
    found = map_attention(RING, MODEL)
    assert found.passes == 2
    assert found.tokens == 5
    assert found.rows == 2 * 3 * 5
    assert found.pairs == 2 * 3 * (1 + 2 + 3 + 4 + 5)
    assert found.writes_per_token == 2 * 3 * 3
    assert found.rewrites == 1
    assert found.anchor_loads == 0
    assert found.unlimited == ("oscillators", "couplers_per_oscillator", "tiles")
    assert found.oscillator_use == 1 / 2, "the other layer's tiles are idle"
    assert found.coupler_use == 3 / 5


def test_too_few_tiles_and_oscillators_take_more_passes():
    small = array(oscillators=2, tiles=2, couplers_per_oscillator=8)
    found = map_attention(small, MODEL)
    assert (found.head_rounds, found.query_rounds) == (2, 3)
    assert found.passes == 2 * 2 * 3
    assert found.anchor_loads == 6
    assert found.rewrites == 30 / 4
    assert found.oscillator_use == 30 / (12 * 2 * 2)
    assert found.coupler_use == 3 / 8
    assert found.unlimited == ()


@pytest.mark.parametrize(
    ("tiles", "rounds", "loads"),
    [(1, 3, 6), (2, 2, 6), (3, 1, 6), (5, 1, 6), (6, 1, 0)],
)
def test_tiles(tiles, rounds, loads):
    found = map_attention(array(tiles=tiles), MODEL)
    assert (found.head_rounds, found.anchor_loads) == (rounds, loads)


def test_every_query_is_written_whatever_the_array():
    for sizes in ({}, {"oscillators": 1}, {"tiles": 1, "oscillators": 4}):
        found = map_attention(array(**sizes), MODEL)
        assert (found.rows, found.pairs) == (30, 90)
        assert found.passes * found.tiles * found.oscillators >= found.rows


def test_queries_that_see_everything_have_longer_rows():
    free = Attention(2, 3, 2, 5, causal=False, d_head=4)
    found = map_attention(RING, free)
    assert found.pairs == 2 * 3 * 25
    assert found.coupler_use == 1


def test_decoding_has_one_query_a_sequence_against_a_full_context():
    one = map_attention(RING, MODEL, is_decoding=True)
    assert (one.tokens, one.rows, one.pairs, one.passes) == (1, 6, 30, 2)
    many = map_attention(array(oscillators=4), MODEL, is_decoding=True, batch=6)
    assert (many.tokens, many.query_rounds, many.passes) == (6, 2, 4)
    assert many.oscillator_use == pytest.approx(6 / 8 / 2)
    assert many.writes_per_token == one.writes_per_token


def test_sequences_share_the_anchors_of_a_tile():
    assert map_attention(array(oscillators=10), MODEL, batch=2).query_rounds == 1
    assert map_attention(array(oscillators=9), MODEL, batch=2).query_rounds == 2


def test_one_slot_serves_all_queries_in_turn():
    found = map_attention(array(query_slots=1), MODEL)
    assert found.oscillators == 1
    assert found.passes == 2 * 5
    assert found.rewrites == 5
    assert "oscillators" not in found.unlimited


def test_doubling_queries_or_heads_doubles_what_it_should():
    wide = Attention(2, 6, 2, 5, causal=True, d_head=4)
    base, twice = (map_attention(array(tiles=3), m) for m in (MODEL, wide))
    assert twice.passes == 2 * base.passes
    assert twice.pairs == 2 * base.pairs
    assert twice.query_rounds == base.query_rounds


# What cannot be


def test_a_context_beyond_the_couplers_does_not_fit():
    map_attention(array(couplers_per_oscillator=5), MODEL)
    with pytest.raises(DeviceError) as error:
        map_attention(array(couplers_per_oscillator=4), MODEL)
    said = str(error.value)
    assert "context of 5 tokens does not fit device ring-65nm" in said
    assert "couplers_per_oscillator = 4" in said
    assert "at most 4, or a device with at least 5" in said


def test_more_components_than_the_oscillators_have():
    deep = Attention(1, 1, 8, 5, causal=True, d_head=4)
    with pytest.raises(DeviceError, match="d_osc = 8: use sphere-generic"):
        map_attention(RING, deep)
    assert map_attention(Device.load("sphere-generic"), deep).passes == 1


def test_bad_requests():
    with pytest.raises(SpecError, match="batch must be at least 1, got 0"):
        map_attention(RING, MODEL, batch=0)
    free = Attention(1, 1, 2, 5, causal=False, d_head=4)
    with pytest.raises(SpecError, match="not causal cannot be decoded"):
        map_attention(RING, free, is_decoding=True)
    for name in ("n_layers", "n_heads", "context", "d_head"):
        sizes = {"n_layers": 1, "n_heads": 1, "context": 1, "d_head": 1} | {name: 0}
        with pytest.raises(SpecError, match=f"{name} must be at least 1, got 0"):
            Attention(**sizes, d_osc=2, causal=True)
    with pytest.raises(SpecError, match="d_osc must be at least 2, got 1"):
        Attention(1, 1, 1, 1, causal=True, d_head=1)
