"""How many oscillators come near their fixed point in time: a sample and the formula.

From a uniform random start an oscillator is within eps of h/|h| at time T if its
first angle was below 2 atan(tan(eps/2) exp(|h| T)): a cap of the sphere.
"""

import argparse
import math
from pathlib import Path

import numpy as np

from oscsim.physics.geometry import antipodal_probability
from oscsim.report.canvas import png
from oscsim.report.figures import convergence_figure
from oscsim.report.study_figures import said_of_scores
from oscsim.study.convergence import convergence

DRIVE_TIMES = np.array([1, 2, 4, 5, 5.2, 5.4, 5.6, 6, 7, 9])

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--drive", type=float, nargs="+", default=[0.2, 5.0], metavar="H")
parser.add_argument("--figure", type=Path, default=Path("convergence.png"))
parser.add_argument("--quick", action="store_true", help="a smaller sample")
given = parser.parse_args()
sample = 20_000 if given.quick else 200_000
print(f"share within 0.01 rad after T, {sample} random starts")
print("z = (sampled - exact) / standard error, - where fewer than 10 are expected")
shown = []
for seed, h_norm in enumerate(given.drive):
    times = DRIVE_TIMES / h_norm
    curves = [
        convergence(d, h_norm=h_norm, times=times, sample=sample, seed=seed)
        for d in (2, 8, 32)
    ]
    shown += curves
    print(f"\n|h| = {h_norm:<6g}" + "".join(f"{f'd = {c.d_osc}':>29}" for c in curves))
    print("         T" + "    sampled %   exact %      z" * 3)
    for k, time in enumerate(times):
        row = f"{time:10.4g}"
        for found in curves:
            z = found.z_scores()[k]
            row += f"{100 * found.measured[k]:13.4f}{100 * found.exact[k]:10.4f}"
            row += "      -" if np.isnan(z) else f"{z:+7.2f}"
        print(row)
print(f"\n{said_of_scores(shown)} (4.55 %)")
given.figure.write_bytes(png(convergence_figure(shown)))
print("\nprobability to start within an angle of the antipode\n\nangle", end="")
print("".join(f"{f'd = {d}':>12}" for d in (2, 3, 8, 16, 32)))
for part in (8, 6, 4):
    chances = [antipodal_probability(math.pi / part, d) for d in (2, 3, 8, 16, 32)]
    print(f"pi/{part} " + "".join(f"{p:12.3g}" for p in chances))
