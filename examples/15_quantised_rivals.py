"""What digital rivals lose at the precision that they are priced at.

Nothing is trained again: weights and operands are rounded, ranges come from training
items that are not evaluated.
"""

import argparse
import csv
from pathlib import Path

from oscsim.bridge.byte_text import SLICE
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.energy.measured import Measurement, said
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.study.quantised import qualities

FOLDER = Path(__file__).resolve().parent.parent / "data/checkpoints"
QUICK = ("bytes-softmax", "bytes-osc-d8-p4", "sva-softmax-s0", "digits-osc-d2")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", nargs="*", type=Path, help="all bundled by default")
parser.add_argument("--windows", type=int, default=1024, help="of oscillator models")
parser.add_argument("--out", type=Path, default=Path("quantised"))
parser.add_argument("--quick", action="store_true", help="four models, 64 windows")
given = parser.parse_args()
paths = given.checkpoints or sorted(FOLDER.glob("*/"))
if given.quick:
    paths = [FOLDER / name for name in QUICK]
print(__doc__)
rows = []
for path in paths:
    model = load_checkpoint(path)
    config = model.config
    if isinstance(config, KuramotoConfig):
        print(f"{model.name}: no quantised forward pass")
        continue
    windows = None
    if config.task == "bytes":
        every = SLICE // (getattr(config, "trained_length", None) or config.max_len)
        is_softmax = getattr(config, "attention", None) == "softmax"
        windows = 64 if given.quick else every if is_softmax else given.windows
    for found in qualities(model, windows=windows):
        kind = (getattr(config, "attention", "transformer"), config.task)
        shape = (config.d_model, config.n_heads, config.n_layers)
        power = None if model.d_osc is None else model.fixed_query.p
        identity = (model.name, model.sha256, *kind, power, model.d_osc, *shape)
        values = [
            round(v, 6) if isinstance(v, float) else v for v in vars(found).values()
        ]
        rows.append(Measurement(*identity, *values))
        print(f"{model.name}, {found.mode}: {said(rows[-1:])}", flush=True)
with given.out.with_suffix(".csv").open("w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(Measurement._fields)
    table.writerows(rows)
