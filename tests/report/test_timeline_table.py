from io import StringIO

from rich.console import Console

from oscsim.energy.mapping import Attention
from oscsim.energy.timeline import sweeps
from oscsim.report.timeline_table import print_timelines
from oscsim.substrate.device import Device

RING = Device.load("ring-65nm").changed(oscillators=32, tiles=4)


def printed(device, *, causal, batch=8, **options):
    model = Attention(2, 4, 2, 64, causal=causal, d_head=16)
    console = Console(file=StringIO(), width=300)
    print_timelines(console, sweeps(device, model, batch=batch, **options))
    return console.file.getvalue()


def row(out, name):
    line = next(line for line in out.splitlines() if name in line)
    return [cell.strip() for cell in line.split("│")[1:-1]]


def test_each_sweep_is_a_row():
    out = printed(RING, causal=True)
    assert row(out, "prefill, batch 1")[1] == "4"
    assert row(out, "prefill, batch 8")[1] == "32"
    assert row(out, "decode, batch 8")[1] == "2"
    # 2 layers x (1 row and one of anchors, 100 ns each, 1 us, 10 ns)
    assert row(out, "decode, batch 1")[2:7] == [
        "400 ns",
        "2 µs",
        "20 ns",
        "2.42 µs",
        "413 k",
    ]
    assert "couplers_per_oscillator: not stated, unlimited" in out
    assert "no digital rate was given" in out


def test_a_model_that_is_not_causal_is_not_decoded():
    out = printed(RING, causal=False, macs_per_s=1e12)
    assert "decode" not in out
    assert "weights" in out
    assert "no digital rate" not in out


def test_a_memory_that_wears_says_how_long_it_lasts():
    kind = RING.changed(write_endurance=1e14)
    out = printed(kind, causal=True, batch=1)
    assert row(out, "decode, batch 1")[-1].endswith("years")
    assert "volatile" in printed(RING, causal=True)


def test_nothing_to_print():
    console = Console(file=StringIO())
    print_timelines(console, ())
    assert console.file.getvalue() == ""
