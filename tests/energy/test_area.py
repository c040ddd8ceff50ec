"""Area of arrays by hand, and what has no area."""

import numpy as np
import pytest

from oscsim.energy.area import MEMORY_BYTES, area
from oscsim.energy.components import Library
from oscsim.energy.mapping import Attention, map_attention
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device, presets
from tests.energy.toy import entry

LIBRARY = Library.load()
RING = Device.load("ring-65nm").changed(
    oscillators=3, tiles=2, couplers_per_oscillator=5
)
MODEL = Attention(n_layers=1, n_heads=2, d_osc=2, context=4, causal=True, d_head=4)
MEMORY = 8 * MEMORY_BYTES * 0.519e-6


def of(device, model=MODEL, **options):
    return area(map_attention(device, model), options.pop("library", LIBRARY))


def with_areas(device, node=None, **areas):
    update = {"areas": areas}
    if node is not None:
        update["digital_node_nm"] = node
    return device.changed(energy=device.energy.model_copy(update=update).model_dump())


def test_an_array_by_hand():
    """2 tiles of 3 rings that see 5 anchors: 6 rings, 10 anchors, 30 couplers."""
    found = of(RING)
    rings, anchors, couplers, converters, memory, logic = found.parts
    assert [p.number for p in found.parts] == [6, 10, 30, 6, 8 * 1_081_344, None]
    assert rings.nominal_mm2 == pytest.approx(6 * 250e-6)
    assert anchors.nominal_mm2 == pytest.approx(10 * 250e-6)
    assert couplers.nominal_mm2 == pytest.approx(30 * 110.5e-6)
    assert converters.nominal_mm2 == pytest.approx(6 * 700e-6)
    assert memory.nominal_mm2 == pytest.approx(MEMORY)
    assert logic.nominal_mm2 is None
    assert found.nominal_mm2 == pytest.approx(
        sum(p.nominal_mm2 for p in found.parts[:-1]), rel=1e-12
    )
    assert found.unknown == ("digital logic, bus and clock",)
    assert {c.id for c in found.components} == {
        "area.ring_puf_65",
        "area.coupler_cell_65",
        "area.tdc_65",
        "area.sram_bit_45",
    }


def test_what_grows_with_what():
    base = [p.nominal_mm2 for p in of(RING).parts[:-1]]
    for change, factors in (
        ({"tiles": 4}, [2, 2, 2, 2, 1]),
        ({"oscillators": 6}, [2, 1, 2, 2, 1]),
        ({"couplers_per_oscillator": 10}, [1, 2, 2, 1, 1]),
    ):
        found = [p.nominal_mm2 for p in of(RING.changed(**change)).parts[:-1]]
        assert found == pytest.approx(
            [f * a for f, a in zip(factors, base, strict=True)]
        )


def test_a_sphere_has_every_component_of_each():
    sphere = with_areas(
        Device.load("sphere-generic").changed(
            oscillators=3, tiles=2, couplers_per_oscillator=5
        ),
        oscillator=["area.ring_puf_65"],
    )
    wide = Attention(1, 2, 7, 4, causal=True, d_head=4)
    assert [p.number for p in of(sphere, wide).parts[:4]] == [42, 70, 210, 42]


def test_what_is_not_known_is_named_and_never_guessed():
    bare = with_areas(RING, node=7)
    found = of(bare)
    assert found.known == ()
    assert found.nominal_mm2 == 0
    assert found.coverage.startswith("no area known for any part: 6 oscillators")
    some = of(with_areas(RING, converter=["area.tdc_65"]))
    assert some.known == ("6 converters", "1,056 KB of memory")
    assert "no area known for 6 oscillators, 10 anchors, 30 couplers" in some.coverage
    assert "at least this much" in some.coverage


def test_an_array_without_sizes_is_as_large_as_a_sequence_asks():
    found = of(Device.load("ring-65nm"))
    assert [p.number for p in found.parts[:4]] == [2 * 4, 2 * 4, 2 * 4 * 4, 2 * 4]
    said = "oscillators, couplers_per_oscillator, tiles: not stated, as many as one"
    assert any(said in note for note in found.notes)
    assert not any("not stated" in note for note in of(RING).notes)


def test_ranges_are_of_draws_that_parts_share():
    """Rings and anchors have one cause: their sum spreads as one, not less."""
    parts = [entry("ring", 100.0, low=50.0, high=200.0, unit="um2", per="event")]
    library = Library.parse(parts)
    device = with_areas(RING, node=7, oscillator=["ring"], anchor=["ring"])
    found = of(device, library=library)
    assert found.spread_mm2.p10 == pytest.approx(16 * 50e-6, rel=0.05)
    assert found.spread_mm2.p50 == pytest.approx(16 * 100e-6, rel=0.05)
    assert found.spread_mm2.p90 == pytest.approx(16 * 200e-6, rel=0.05)
    assert found.spread_mm2 == pytest.approx(
        np.multiply(found.parts[0].spread_mm2, 16 / 6), rel=1e-9
    )


def test_the_cells_of_a_published_chip_fit_its_die():
    """Lo et al. 2023: four arrays of 48 x 48 cells on 1.8 x 1.0 mm, more than half."""
    chip = RING.changed(oscillators=48, tiles=4, couplers_per_oscillator=48)
    cells = of(chip).parts[2]
    assert cells.number == 4 * 48 * 48
    assert 0.5 * 1.8 < cells.nominal_mm2 < 1.8


def test_another_node_is_said():
    said = of(Device.load("ring-7nm")).coverage
    assert "converters: of 65 nm at 7 nm, as it is" in said
    assert not any("as it is" in note for note in of(RING).notes)


@pytest.mark.parametrize("name", [n for n in presets() if n != "ideal"])
def test_every_preset_says_what_it_covers(name):
    found = of(Device.load(name))
    assert "no area known for" in found.coverage
    assert found.nominal_mm2 >= 0
    for part in found.parts:
        assert all(LIBRARY[c].unit in ("um2", "ratio") for c in part.components)


@pytest.mark.parametrize(
    ("areas", "message"),
    [
        ({"wire": ["area.tdc_65"]}, "gives the area of 'wire': parts are oscillator"),
        ({"converter": ["area.tdc_56"]}, "unknown component 'area.tdc_56'; close: are"),
        ({"converter": ["tdc.ds_8b_65nm"]}, r"exactly one component in um2.*\(pJ\)"),
        ({"converter": ["knob.periphery"]}, "exactly one component in um2"),
        ({"converter": ["area.tdc_65", "area.ring_puf_65"]}, "exactly one component"),
    ],
)
def test_areas_that_cannot_be(areas, message):
    with pytest.raises(ComponentError, match=message):
        of(with_areas(RING, **areas))


def test_a_device_without_an_energy_section_has_no_area():
    with pytest.raises(ComponentError, match="no energy section: no area is known"):
        of(RING.changed(energy=None))


@pytest.mark.parametrize(
    ("name", "bits", "is_bound", "said"),
    [
        ("josephson-4k", 4, False, "of 6 bits, but read to 4 bits"),
        ("josephson-4k", 6, True, ""),
        ("lc-board", 10, True, "of 8 bits, but read to 10 bits"),
        ("lc-board", 8, True, ""),
        ("ring-7nm", 8, False, "of 65 nm at 7 nm"),
    ],
)
def test_a_converter_of_more_bits_or_a_larger_node_is_no_lower_bound(
    name, bits, is_bound, said
):
    found = of(Device.load(name).changed(adc_bits=bits))
    assert ("at least this much" in found.coverage) is is_bound
    assert ("no lower bound, as" in found.coverage) is not is_bound
    text = " ".join((found.coverage, *found.notes))
    assert said in text
    assert ("but read to" in text) is ("but read to" in said)


@pytest.mark.parametrize(
    ("bits", "is_bound", "said"),
    [(3, False, "of 5 bits, but set to 3 bits"), (5, True, ""), (8, True, "8 bits")],
)
def test_a_coupling_cell_of_other_bits_is_said(bits, is_bound, said):
    """No source says what a bit of it takes: its area stays, and only that is said."""
    found, own = of(RING.changed(weight_bits=bits)), of(RING)
    assert found.nominal_mm2 == own.nominal_mm2
    assert ("at least this much" in found.coverage) is is_bound
    text = " ".join((found.coverage, *found.notes))
    assert said in text
    assert ("but set to" in text) is (said != "")
