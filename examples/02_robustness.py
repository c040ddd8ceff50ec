"""Hard accuracy under the published perturbations and against the settling time.

Beside ours: an earlier replica of the published recipe, trained and evaluated in torch
on other generated sentences, seeds 0 and 1, padded positions left in the read-out.
"""

import argparse
import csv
from pathlib import Path

from oscsim import load_checkpoint, robustness
from oscsim.bridge.datasets import parse_sva
from oscsim.report.canvas import png
from oscsim.report.figures import robustness_figure
from oscsim.study.robustness import Row

DATA = Path(__file__).resolve().parent.parent / "data"
SENTENCES = DATA / "datasets" / "sva" / "validation.jsonl"
MODELS = [DATA / "checkpoints" / f"sva-osc-d2-s{seed}" for seed in (0, 1)]
STRENGTHS, TIMES = (0.05, 0.1, 0.2, 0.5), (0.5, 1, 2, 5, 10, 30)
VALUES = {"coupling": STRENGTHS, "state": STRENGTHS, "settling": TIMES}
REPLICA = {
    ("replica s0", "coupling"): (97.5, 97.5, 97.6, 95.4),
    ("replica s0", "state"): (97.4, 97.4, 97.5, 94.4),
    ("replica s0", "settling"): (85.3, 91.9, 95.7, 97.3, 97.4, 97.4),
    ("replica s1", "coupling"): (97.9, 97.9, 97.8, 96.3),
    ("replica s1", "state"): (97.9, 97.9, 97.9, 94.8),
    ("replica s1", "settling"): (96.8, 97.8, 97.9, 97.9, 97.9, 97.9),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", type=Path, nargs="*", default=MODELS)
parser.add_argument("--out", type=Path, default=Path("robustness-sva"))
parser.add_argument("--quick", action="store_true", help="few sentences, one redraw")
given = parser.parse_args()
models = [load_checkpoint(path) for path in given.checkpoints]
lines = SENTENCES.read_bytes().splitlines()[: 256 if given.quick else None]
data = parse_sva(b"\n".join(lines), models[0].config, source=str(SENTENCES))
results = [robustness(m, data, redraws=1 if given.quick else 3) for m in models]
ours = [row for result in results for row in result.rows()]
replica = [
    Row(name, kind, value, accuracy / 100, accuracy / 100, accuracy / 100)
    for (name, kind), found in REPLICA.items()
    for value, accuracy in zip(VALUES[kind], found, strict=True)
]
table = {(r.checkpoint, r.kind, r.value): 100 * r.mean for r in ours + replica}
print(__doc__)
names = list(dict.fromkeys(name for name, _, _ in table))
print(f"{'kind':>9} {'s or T':>7}" + "".join(f"{name:>15}" for name in names))
print(f"{'digital':>17}" + "".join(f"{100 * r.digital:15.2f}" for r in results))
for kind, value in dict.fromkeys((row.kind, row.value) for row in ours):
    cells = [table.get((name, kind, value)) for name in names]
    shown = [f"{'-':>15}" if cell is None else f"{cell:15.2f}" for cell in cells]
    print(f"{kind:>9} {value:7g}" + "".join(shown))
with given.out.with_suffix(".csv").open("w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([Row._fields, *ours, *replica])
given.out.with_suffix(".png").write_bytes(png(robustness_figure(results, replica)))
