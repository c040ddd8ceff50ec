"""Bytes a model needs, and what is said where they exceed the priced memories."""

import dataclasses

import pytest

from oscsim.counts import Counts
from oscsim.energy.area import MEMORY_BYTES, area
from oscsim.energy.baselines import Shape, digital_softmax
from oscsim.energy.capacity import CACHE_BYTES, WEIGHTS_BYTES, Stored, stored
from oscsim.energy.components import Library
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.window_shape import WindowShape
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.models.phase_counting import count_body, transformer
from oscsim.substrate.device import Device

SMALL = Shape(
    n_layers=2,
    n_heads=4,
    d_model=8,
    d_ff=16,
    d_osc=3,
    lengths=[5, 9],
    causal=True,
    coupling="softplus",
    n_outputs=7,
)


def test_weights_are_what_one_token_reads_and_the_cache_what_an_item_writes():
    found = stored(SMALL)
    # a row of the embedding and one of the positions
    layer = 4 * 64 + 8 + (8 * 16 + 16) + (16 * 8 + 8) + 4 * 8
    assert found.weights == 2 * layer + 2 * 8 + 2 * 8 + 8 * 7 + 7
    written = digital_softmax(dataclasses.replace(SMALL, lengths=[9]))
    keys_and_values = written.total("sram_write_byte")
    assert stored(SMALL, has_anchors=False).cache == keys_and_values == 2 * 9 * 2 * 8
    assert found.cache == keys_and_values + 2 * 9 * 4 * (3 + 1)
    step = dataclasses.replace(SMALL, is_decoding=True)
    assert stored(step) == found, "a decoding step needs what a prefill left"


def test_windows_keep_what_they_write():
    model = KuramotoConfig(
        vocab_size=11, n_osc=8, n_heads=2, n_layers=3, max_len=6, d_ff=5
    )
    counts = Counts()
    count_body(counts, model, 1, 6)
    found = stored(WindowShape(model, 4, 6))
    assert found.cache == counts.actions["memory", "sram_write_byte"] == 3 * 6 * 24
    twin = TransformerConfig(
        vocab_size=11, d_model=8, n_heads=2, n_layers=3, d_ff=5, max_len=6
    )
    written = transformer(twin, 1, 6).actions["memory", "sram_write_byte"]
    assert stored(WindowShape(twin, 4, 6)).cache == written == 3 * 6 * 16


def test_a_note_names_both_sizes_only_where_the_model_is_larger():
    assert Stored(WEIGHTS_BYTES, CACHE_BYTES).notes == ()
    (one,) = Stored(WEIGHTS_BYTES + 1, CACHE_BYTES).notes
    assert one.startswith("weights: 1,025 KB, but reads are priced as of a memory of ")
    assert "1,024 KB" in one
    (other,) = Stored(1, 2**26).notes
    assert "65,536 KB" in other
    assert "32 KB" in other
    assert "the true price is higher" in other
    large = dataclasses.replace(SMALL, d_model=2048, d_ff=8192, lengths=[2048])
    assert len(stored(large).notes) == 2
    assert stored(SMALL).notes == ()


def test_memory_is_as_large_as_the_model_and_never_smaller_than_what_is_priced():
    device, library = Device.load("ring-65nm"), Library.load()
    asked = Attention(1, 2, 2, 4, causal=True, d_head=4)

    def memory(needs):
        parts = area(map_attention(device, asked), library, needs=needs).parts
        return next(p for p in parts if p.name.endswith("memory"))

    least = memory(None)
    assert memory(Stored(1, 1)) == least
    assert least.number == 8 * MEMORY_BYTES
    wide = memory(Stored(3 * WEIGHTS_BYTES, 1))
    assert wide.number == 8 * (3 * WEIGHTS_BYTES + CACHE_BYTES)
    assert wide.name == "3,104 KB of memory"
    assert wide.nominal_mm2 / least.nominal_mm2 == pytest.approx(3104 / 1056)
