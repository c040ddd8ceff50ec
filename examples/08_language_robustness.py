"""Bits per byte of language models under the published perturbations and against T.

Beside ours, in a table of its own: figures published for another model (TinyStories,
d_osc 8, perplexity per word), as the relative change of its perplexity. Data, units and
models differ: only the order of the effects can be compared.
"""

import argparse
import csv
from pathlib import Path

from oscsim import load_checkpoint, read_bytes, robustness
from oscsim.bridge.text_data import bundled_text
from oscsim.report.canvas import png
from oscsim.report.figures import robustness_figure
from oscsim.study.robustness import Row

FOLDER = Path(__file__).resolve().parent.parent / "data" / "checkpoints"
NAMES = ("bytes-osc-d2-p4", "bytes-osc-d8-p4", "bytes-osc-d8-p1")
STRENGTHS = (0.01, 0.05, 0.1, 0.2, 0.5)
PUBLISHED_DIGITAL = 7.5946
PUBLISHED = {
    "coupling": (7.595, 7.596, 7.597, 7.620, 7.677),
    "state": (7.596, 7.623, 7.713, 8.092, 11.105),
    "frequency": (7.597, 7.638, 7.657, 7.701, 7.854),
    "settling": (8.037, 7.823, 7.738, 7.667, 7.625, 7.605),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", type=Path, nargs="*", help=f"default: {NAMES}")
parser.add_argument("--out", type=Path, default=Path("robustness-bytes"))
parser.add_argument("--quick", action="store_true", help="2 windows, one redraw")
given = parser.parse_args()
paths = given.checkpoints or [FOLDER / n for n in NAMES if (FOLDER / n).is_dir()]
models = [load_checkpoint(path) for path in paths]
data = read_bytes(bundled_text(), 64, 2 if given.quick else 64)
redraws = 1 if given.quick else 3
results = [robustness(m, data, strengths=STRENGTHS, redraws=redraws) for m in models]
ours = [row for result in results for row in result.rows()]
table = {(row.checkpoint, row.kind, row.value): row.mean for row in ours}
cells = list(dict.fromkeys((row.kind, row.value) for row in ours))
print(__doc__)
print("ours: bits per byte (relative change of perplexity per byte)")
print(f"{'kind':>9} {'s or T':>7}" + "".join(f"{m.name:>27}" for m in models))
print(f"{'digital':>17}" + "".join(f"{r.digital:18.4f}{'':9}" for r in results))
for kind, value in cells:
    line = f"{kind:>9} {value:7g}"
    for r in results:
        bits = table[r.checkpoint, kind, value]
        line += f"{bits:18.4f} ({2 ** (bits - r.digital) - 1:+6.1%})"
    print(line)
print(
    f"\npublished: perplexity per word, digital {PUBLISHED_DIGITAL} (relative change)"
)
for (kind, value), words in zip(cells, sum(PUBLISHED.values(), ()), strict=True):
    print(f"{kind:>9} {value:7g} {words:10.3f} ({words / PUBLISHED_DIGITAL - 1:+6.1%})")
with given.out.with_suffix(".csv").open("w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([Row._fields, *ours])
given.out.with_suffix(".png").write_bytes(png(robustness_figure(results)))
