"""Coupling errors, static on a chip or redrawn, against the anchors averaged.

Every coupling w becomes w exp(N(0, s^2)), once a chip or anew for every window; the
position i of a window is driven by i anchors. Does averaging over more anchors help,
and does it matter that errors of a chip stay? Differences count from 3 standard errors.
Layers: angle of h (rad) over the errors, anchors that share a drive, |h| / sum w |r|.
"""

import argparse
import csv
from pathlib import Path

from oscsim import load_checkpoint, read_bytes
from oscsim.bridge.text_data import bundled_text
from oscsim.report.canvas import png
from oscsim.report.figures import mismatch_figure
from oscsim.study.mismatch import mismatch_by_context
from oscsim.study.mismatch_table import Row

FOLDER = Path(__file__).resolve().parent.parent / "data" / "checkpoints"
NAMES = tuple(f"bytes-osc-{name}" for name in ("d2-p4", "d8-p1", "d8-p4", "d32-p4"))

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", type=Path, nargs="*", help=f"default: {NAMES}")
parser.add_argument("--out", type=Path, default=Path("mismatch-context"))
parser.add_argument("--chips", type=int, default=8)
parser.add_argument("--quick", action="store_true", help="4 windows, 2 chips")
given = parser.parse_args()
paths = given.checkpoints or [FOLDER / n for n in NAMES if (FOLDER / n).is_dir()]
models = [load_checkpoint(path) for path in paths]
n_windows, chips = (4, 2) if given.quick else (128, given.chips)
data = read_bytes(bundled_text(), 64, n_windows)
results = [mismatch_by_context(model, data, chips=chips) for model in models]
print(__doc__)
for result in results:
    rows, n_bins = result.rows(), len(result.last)
    print(f"{result.checkpoint}: loss in bits per byte (standard error) at positions")
    names = [f"{a}-{b}" for a, b in zip(result.first, result.last, strict=True)]
    print(f"{'':>13}" + "".join(f"{name:>17}" for name in names) + "  first - last bin")
    for k in range(0, len(rows), n_bins):
        cells = [f"{r.loss:+.4f} ({r.error:.4f})" for r in rows[k : k + n_bins]]
        last = rows[k + n_bins - 1]
        line = f"{last.kind:>8} {last.strength:4g}" + "".join(f"{c:>17}" for c in cells)
        print(f"{line}{last.gained:+10.4f} ({last.gained_error:.4f})")
    difference, error = result.static_minus_redrawn()
    for s, line, spread in zip(result.strengths, difference, error, strict=True):
        cells = [f"{d:+.4f} ({e:.4f})" for d, e in zip(line, spread, strict=True)]
        print(f"  s - r  {s:4g}" + "".join(f"{cell:>17}" for cell in cells))
    for layer, values in enumerate(
        zip(result.turn, result.effective, result.aligned, strict=True), 1
    ):
        cells = [f"{t:.2f} {e:5.1f} {a:.2f}" for t, e, a in zip(*values, strict=True)]
        print(f"      layer {layer}" + "".join(f"{cell:>17}" for cell in cells))
    beyond = int((abs(difference) > 3 * error).sum())
    print(f"static differs from redrawn in {beyond} of {difference.size} cells\n")
with given.out.with_suffix(".csv").open("w", newline="") as file:
    rows = [row for result in results for row in result.rows()]
    csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])
given.out.with_suffix(".png").write_bytes(png(mismatch_figure(results)))
