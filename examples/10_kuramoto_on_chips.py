"""Kuramoto attention on phase oscillators, beside its digital twin and a transformer.

"map" is the trained step theta += bound(v a) in the field that the chip makes; "flow"
is a dwell in it for a time r |v|, r the bound of the update: the same to first order.
Then order, rates and attention entropy by layer.
"""

import argparse
import csv
from pathlib import Path

from oscsim import Device, compare, infer, load_checkpoint, read_bytes
from oscsim.bridge.passes import in_float64
from oscsim.report.canvas import png
from oscsim.report.phase_figure import phase_layers_figure
from oscsim.study.dwell import DwellRow, dwell_rows
from oscsim.study.phase_layers import LayerPhases, phase_layers

DATA = Path(__file__).resolve().parent.parent / "data"
MODELS = DATA / "checkpoints"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", nargs="?", default=MODELS / "kuramoto-260k")
parser.add_argument("--baseline", default=MODELS / "transformer-260k")
parser.add_argument("--device", default="ring-65nm")
parser.add_argument("--out", type=Path, default=Path("kuramoto-on-chips"))
parser.add_argument("--quick", action="store_true", help="two windows, one chip")
given = parser.parse_args()
source = DATA / "datasets" / "enwik8" / "validation.bin"
text = read_bytes(source, 128, 2 if given.quick else 64)
model, device = load_checkpoint(given.model), Device.load(given.device)
twin = compare(infer(load_checkpoint(given.baseline), text, rung="digital"))
print(__doc__)
print(f"transformer, digital: {twin.digital:.4f} bits per byte, {len(text)} windows\n")
print(("{:>12}" * 8).format(*DwellRow._fields))
rows = dwell_rows(
    model,
    text,
    device,
    chips=1 if given.quick else 4,
    on_row=lambda row: print(("{:>12}" * 4 + "{:12.4f}" * 4).format(*row), flush=True),
)
weights = in_float64(model.weights)
on = [(None, "map"), (Device.load("ideal"), "flow"), (device, model.config.update)]
layers = [
    phase_layers(weights, model.config, text.ids, device=one, update=how)
    for one, how in on
]
by_layer = [(result.on, *row) for result in layers for row in result.rows]
print("\n" + ("{:>16}" + "{:>14}" * 9).format("on", *LayerPhases._fields))
for on, number, *values in by_layer:
    print(f"{on:>16}{number:14d}" + "".join(f"{value:14.3f}" for value in values))
for suffix, names, table in (
    ("", DwellRow._fields, rows),
    ("-layers", ("on", *LayerPhases._fields), by_layer),
):
    with Path(f"{given.out}{suffix}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *table])
given.out.with_suffix(".png").write_bytes(png(phase_layers_figure(layers)))
