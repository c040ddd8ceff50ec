"""Bits per byte of models with d_osc 2 to 32 against thermal noise.

D is given relative to the median |h| of each model; oscillators settle and are read
from their exact law. "Best" is the smallest mean; models within 3 paired standard
errors over windows are undecided. One trained model a dimension.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from oscsim import load_checkpoint, read_bytes
from oscsim.bridge.text_data import bundled_text
from oscsim.report.canvas import png
from oscsim.report.figures import noise_figure
from oscsim.study.noise import Row, noise_by_dimension

FOLDER = Path(__file__).resolve().parent.parent / "data" / "checkpoints"
MODELS = sorted(FOLDER.glob("bytes-osc-d*-p4"), key=lambda path: (len(path.name), path))
REPLICA = {0.0: 32, 0.003: 16, 0.01: 8, 0.03: 8, 0.1: 2}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", type=Path, nargs="*", default=MODELS)
parser.add_argument("--out", type=Path, default=Path("noise-dimension"))
parser.add_argument("--windows", type=int, default=256)
parser.add_argument("--quick", action="store_true", help="8 windows, three noises")
given = parser.parse_args()
models = [load_checkpoint(path) for path in given.checkpoints]
data = read_bytes(bundled_text(), 64, 8 if given.quick else given.windows)
noises = {"relative": (0.0, 0.03, 0.3)} if given.quick else {}
result = noise_by_dimension(models, data, repeats=1 if given.quick else 4, **noises)
print(__doc__)
print("median |h| (model units): whole model, then layer by layer")
for name, whole, layers in zip(
    result.checkpoints, result.medians, result.layer_medians, strict=True
):
    print(f"{name:>18} {whole:8.3f}  " + " ".join(f"{layer:8.3f}" for layer in layers))
print("\nbits per byte, and its loss to the best with the paired standard error")
print(f"{'D / median':>10}" + "".join(f"{f'd {d}':>25}" for d in result.d_osc))
rows = result.rows()
for noise in result.relative:
    cells = [
        f"{r.bits_per_byte:.4f} {r.difference:+.4f} ({r.difference_error:.4f})"
        for r in rows
        if r.relative == noise
    ]
    print(f"{noise:10g}" + "".join(f"{cell:>25}" for cell in cells))
print("\nours, and an earlier replica in torch (other initialisation, normalised")
print("anchors, D per layer, one seed, no errors kept)")
for noise, words in zip(result.relative, result.said(), strict=True):
    print(f"{words}; replica: {REPLICA.get(float(noise), 'not measured')}")
with given.out.with_suffix(".csv").open("w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])
middle = int(np.argmin(np.abs(np.log(np.array(result.d_osc) / 8))))
given.out.with_suffix(".png").write_bytes(png(noise_figure(result, middle)))
