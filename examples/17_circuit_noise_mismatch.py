"""Circuits in ngspice beside the engine: noise, mismatch, phase response, energy.

White noise drawn from a seed spreads phases as the von Mises law says; conductances
with the coupler errors of a chip turn attention as h/|h| turns; two rings lag as the
engine says from the phase response of one. Energies stand beside the recipes of the
energy model, each with the reason of its difference. Needs ngspice.
"""

import argparse
from pathlib import Path

import numpy as np

from oscsim.report.canvas import png
from oscsim.report.circuit_study_figure import circuit_study_figure
from oscsim.spice.supply_check import supply_comparisons
from oscsim.study.circuit_study import LOADS, lags, spreads, variances

SIGMAS = (0.01, 0.02, 0.04, 0.08)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--figure", type=Path, default=Path("circuit-noise-mismatch.png"))
parser.add_argument("--quick", action="store_true", help="fewer runs")
given = parser.parse_args()
noises = variances((0.04,) if given.quick else (0.01, 0.04, 0.16), given.seed)
sigmas, n_draws = (SIGMAS[1:2], 8) if given.quick else (SIGMAS, 64)
turned = [spreads(sigma, n_draws, given.seed) for sigma in sigmas]
rings = lags(LOADS[1:4:2] if given.quick else LOADS, 12 if given.quick else 20)

print("D (rad^2/s)  diffusion found  variance found  von Mises  standard error")
for one in noises:
    print(f"{one.diffusion:11.3g} {one.found:16.4f} {one.variance:15.5f}", end="")
    print(f" {one.expected:10.5f} {one.error:15.1%}")
print("\nsigma  query  rms angle, circuit  engine's, same draws  first order (mrad)")
for sigma, one in zip(sigmas, turned, strict=True):
    for query, row in enumerate(1e3 * np.stack([one.circuit, one.engine, one.law], 1)):
        print(f"{sigma:5.2f} {query:6} {row[0]:19.3f} {row[1]:21.3f} {row[2]:19.3f}")
    print(
        f"{sigma:5.2f}    all  farthest from h/|h| of its own draw {one.farthest:.1g}"
    )
print("\nshare of the lock range  engine  lag (degrees)  ngspice  lag (degrees)")
for one in rings:
    told = [f"{name:9}{lag:12.1f}" for name, lag in (one.engine, one.circuit)]
    print(f"{one.share:23.3f}  {'  '.join(told)}")
for one in () if given.quick else supply_comparisons():
    print(f"\n{one.name}: {one.measured_j:.3g} J = {one.ratio:.3f} of {one.component},")
    print(f"  {one.explained:.3f} expected: {one.reason}")

given.figure.write_bytes(png(circuit_study_figure(noises, sigmas, turned, rings)))
