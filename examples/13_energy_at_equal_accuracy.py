"""Joules per token of byte models at the bits that softmax reaches.

Bits are those of digital models, in floating point or as measured on a data path of
few bits: on a chip with noise and mismatch they are more.
"""

import argparse
import csv
from pathlib import Path

from oscsim.energy.measured import read_measurements
from oscsim.report.canvas import png
from oscsim.report.equal_accuracy_figure import equal_accuracy_figure
from oscsim.study import equal_accuracy as study
from oscsim.substrate.device import Device

TABLE = Path(__file__).resolve().parent.parent / "data/benchmarks/scaling-bytes.csv"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bits", type=Path, default=TABLE, help="of a scaling study")
parser.add_argument("--reuse", type=float, default=16.0, help="uses of a byte read")
parser.add_argument("--out", type=Path, default=Path("energy-accuracy"))
parser.add_argument("--quick", action="store_true", help="64 draws")
given = parser.parse_args()
options = {"reuse": given.reuse, "n_draws": 64 if given.quick else 4096}
models = study.read_bits(given.bits)
if given.bits == TABLE:
    models += study.on_data_paths(models, read_measurements())
points = study.price_models(models, Device.load("sphere-generic"), **options)
circle = [model for model in models if model.d_osc == 2 and not model.mode]
rings = study.price_models(circle, Device.load("ring-65nm"), **options)
rings = [point for point in rings if point.way == "substrate"]
print(__doc__)
rows = []
for point in (*points, *rings):
    row = [point.way, point.device, *point.model]
    rows.append([*row, point.system.nominal_j(), point.attention.nominal_j()])
print(f"{'':48} {'bits':>7} {'system, nJ':>11} {'attention, nJ':>14}")
for way, where, p, d_osc, width, bits, mode, system, attention in rows:
    what = f"{way} {where}, p {p}, d_osc {d_osc}" if p else f"{way}, width {width}"
    what += f", {mode}" if mode else ""
    print(f"{what:48} {bits:7.4f} {system * 1e9:11.4g} {attention * 1e9:14.4g}")
print("\nAt equal bits, over softmax: median and p10..p90, an assumption range")
for one in study.equal_accuracy(points):
    found = one.status
    if one.ratio is not None:
        low, middle, high = one.ratio.p10, one.ratio.p50, one.ratio.p90
        found = f"{middle:.3f} ({low:.3f}..{high:.3f})"
    softmax = " ".join(filter(None, ["softmax", one.mode, "width"]))
    print(f"{one.way}, p {one.p}, {softmax} {one.width}, {one.part}: {found}")
with given.out.with_suffix(".csv").open("w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["way", "device", *study.Bits._fields, "system_j", "attention_j"])
    table.writerows(rows)
given.out.with_suffix(".png").write_bytes(png(equal_accuracy_figure(points, rings)))
