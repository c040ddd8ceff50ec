import pytest

from oscsim.energy.mapping import Attention
from oscsim.errors import SpecError
from oscsim.report.timeline_figure import timeline_figure
from oscsim.substrate.device import Device

RING = Device.load("ring-28nm").changed(tiles=4)
MODEL = Attention(2, 4, 2, 64, causal=True, d_head=16)
BATCHES = (1, 4, 16)


def drawn(*devices, **options):
    return timeline_figure(devices, MODEL, batches=BATCHES, **options).axes


def test_a_small_array_stops_gaining_and_shares_add_to_all():
    arrays = [RING.changed(oscillators=n) for n in (4, 16)]
    left, right = drawn(*arrays, macs_per_s=1e12)
    few, many = (line.get_ydata() for line in left.lines)
    assert list(few[:2]) == list(many[:2])
    assert few[2] < 1.1 * few[1]
    assert many[2] > 2 * many[1]
    tops = {}
    for bar in right.patches:
        middle = round(bar.get_x() + bar.get_width() / 2)
        tops[middle] = tops.get(middle, 0) + bar.get_height()
    assert tops == pytest.approx(dict.fromkeys(range(3), 100.0))
    assert "16 oscillators" in right.get_title()
    names = [text.get_text() for text in right.get_legend().get_texts()]
    assert names == ["value", "read", "settle", "load", "weights"]


def test_sizes_are_named():
    left, _ = drawn(RING.changed(query_slots=1, oscillators=None), Device.load("mems"))
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels == ["1", "unlimited"]


def test_nothing_to_draw():
    with pytest.raises(SpecError, match="1 to 6 devices and at least one batch"):
        timeline_figure((), MODEL)
    with pytest.raises(SpecError, match="got 7 and 9"):
        timeline_figure([RING] * 7, MODEL)
