"""Byte models of more and more components: do oscillators reach softmax, and where?

Laws are fitted to the digital models only; what was published for words stands apart.
"""

import argparse
import csv
from pathlib import Path

from oscsim.report.canvas import png
from oscsim.report.figures import scaling_figure
from oscsim.report.scaling_text import said_of_scaling
from oscsim.study.family import measure
from oscsim.study.scaling_rows import ScalingRow, scaling_rows
from oscsim.study.scaling_study import scaling_study

CHECKPOINTS = Path(__file__).resolve().parent.parent / "data" / "checkpoints"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("checkpoints", type=Path, nargs="*", help="bundled byte models")
parser.add_argument("--windows", type=int, help="all 4096 of the bundled text")
parser.add_argument("--out", type=Path, default=Path("scaling-bytes"))
parser.add_argument("--quick", action="store_true", help="64 windows, 200 resamples")
given = parser.parse_args()
paths = given.checkpoints or sorted(CHECKPOINTS.glob("bytes-*"))
members = measure(paths, windows=64 if given.quick else given.windows)
study = scaling_study(members, resamples=200 if given.quick else 2000)
print(__doc__)
print("\n".join(said_of_scaling(study)))
with given.out.with_suffix(".csv").open("w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerows([ScalingRow._fields, *scaling_rows(study)])
given.out.with_suffix(".png").write_bytes(png(scaling_figure(study)))
