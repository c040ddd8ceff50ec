import re
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


def table(out):
    """Cells by name of the row and number of the sweep."""
    lines = [line for line in out.splitlines() if line.startswith(("│", "┃"))]
    cells = [[c.strip() for c in re.split("[│┃]", line)[1:-1]] for line in lines]
    return {row[0]: row[1:] for row in cells}


def test_each_sweep_is_a_column():
    found = table(printed(RING, causal=True))
    assert found["sweep, batch"] == [
        "prefill, 1",
        "prefill, 8",
        "decode, 1",
        "decode, 8",
    ]
    assert found["passes"] == ["4", "32", "2", "2"]
    # decoding: 2 layers x (1 row and one of anchors, 100 ns each, 1 us, 10 ns)
    third = {name: cells[2] for name, cells in found.items()}
    assert third["time to load"] == "400 ns"
    assert third["time to settle"] == "2 µs"
    assert third["time to read"] == "20 ns"
    assert third["latency"] == "2.42 µs"
    assert third["tokens per second"] == "413 k"
    assert third["memory lasts"] == "volatile"


def test_a_stream_of_sweeps_has_a_rate_and_a_busiest_part():
    """Prefill: 2 x (64 rows and one of anchors) of 100 ns, more than 4 of 1.01 us."""
    found = table(printed(RING, causal=True))
    assert found["busiest"] == ["bus", "bus", "-", "array"]
    assert found["sweeps in flight"] == ["2", "2", "1", "2"]
    assert found["if overlapped, at best"][0] == "4.92 M"
    assert found["if overlapped, at best"][2] == found["tokens per second"][2]
    out = printed(RING, causal=True)
    assert "needs a second set of couplings" in out


def test_writing_and_anchors_are_shown_where_they_are_known():
    device, model = RING, Attention(2, 4, 2, 64, causal=True, d_head=16)
    console = Console(file=StringIO(), width=300)
    print_timelines(console, sweeps(device, model, batch=1), (1e-12, 2e-12))
    found = table(console.file.getvalue())
    assert found["to write, per token"] == ["1 pJ", "2 pJ"]
    assert found["anchor words per token"] == ["8", "512"]
    assert "anchor words per token" not in table(
        printed(RING.changed(tiles=8), causal=True)
    )
    assert "to write, per token" not in table(printed(RING, causal=True))


def test_what_is_unlimited_or_not_timed_is_said():
    out = printed(RING, causal=True)
    assert "couplers_per_oscillator: not stated, unlimited" in out
    assert "no digital rate was given" in out


def test_a_model_that_is_not_causal_is_not_decoded():
    out = printed(RING, causal=False, macs_per_s=1e12)
    assert "decode, 1" not in out
    assert "prefill, 1" in out
    assert {"time to score", "time to sum values"} <= set(table(out))
    assert "no digital rate" not in out


def test_a_memory_that_wears_says_how_long_it_lasts():
    kind = RING.changed(write_endurance=1e14)
    lasting = table(printed(kind, causal=True, batch=1))["memory lasts"]
    assert all(one.endswith("years") for one in lasting)
    brief = printed(kind.changed(write_endurance=1e9), causal=True, lifetime_s=1.0)
    assert table(brief)["memory lasts"][0].endswith("s")


def test_it_fits_a_terminal_of_80_columns():
    model = Attention(2, 4, 2, 64, causal=True, d_head=16)
    console = Console(file=StringIO(), width=80)
    print_timelines(console, sweeps(RING, model, batch=8))
    assert "decode, 8" in console.file.getvalue()


def test_nothing_to_print():
    console = Console(file=StringIO())
    print_timelines(console, ())
    assert console.file.getvalue() == ""
