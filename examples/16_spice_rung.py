"""Attention of a shipped checkpoint as circuits in ngspice, beside digital and engine.

A sentence and a window of text: every query as a unit vector behind resistors, those of
the sentence also as LC oscillators that lock to tones. Needs ngspice.
"""

import argparse
from pathlib import Path

from rich.console import Console

import oscsim as osc
from oscsim.errors import SimulatorError
from oscsim.files import write_whole
from oscsim.report.canvas import png
from oscsim.report.spice_rung_figure import spice_rung_figure
from oscsim.report.spice_rung_text import print_spice_rung, weights_csv
from oscsim.spice.ngspice import find_ngspice
from oscsim.study.spice_rung import spice_rung

CHECKPOINTS = Path(__file__).parents[1] / "data" / "checkpoints"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tokens", type=int, default=4)
parser.add_argument("--item", type=int, default=0, help="which sentence and window")
parser.add_argument("--out", type=Path, default=Path())
parser.add_argument("--quick", action="store_true", help="two tokens, shorter runs")
given = parser.parse_args()
try:
    find_ngspice()
except SimulatorError as error:
    parser.exit(1, f"{error}\n")

tokens = 2 if given.quick else given.tokens
runs = [
    ("sva-osc-d2-s0", "sphere", 60.0),
    ("sva-osc-d2-s0", "lc", 8e-4),
    ("bytes-osc-d8-p1", "sphere", 60.0),
    ("bytes-osc-d8-p4", "sphere", 60.0),
]
console = Console(width=110)
for name, circuit, short in runs:
    rung = spice_rung(
        osc.load_checkpoint(CHECKPOINTS / name),
        circuit=circuit,
        tokens=tokens,
        item=given.item,
        duration=short if given.quick else None,
    )
    print_spice_rung(console, rung)
    console.print()
    file = given.out / f"{name}-{circuit}"
    write_whole(file.with_suffix(".png"), png(spice_rung_figure(rung)))
    write_whole(file.with_suffix(".csv"), weights_csv(rung))
    write_whole(file.with_suffix(".cir"), rung.netlist.text.encode())
