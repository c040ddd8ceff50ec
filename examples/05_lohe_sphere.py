"""Noisy synchronisation on spheres: r = A_d(K r / D), with the threshold K_c = d D.

Identical oscillators on S^{d-1}, all-to-all with noise. Every oscillator sees the
mean field K r and is distributed as von Mises-Fisher around it, hence the law. The
threshold rises with d: at one noise level high dimensions need stronger coupling.
The start is aligned, since order grows slowly near the threshold.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import oscsim as osc
from oscsim.physics.stationary import alignment
from oscsim.report.canvas import png
from oscsim.report.figures import Agreement

NOISE, RATIOS = 0.5, np.array([0.6, 0.9, 1.1, 1.25, 1.5, 2.0, 3.0])

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--figure", type=Path, default=Path("lohe.png"))
parser.add_argument("--quick", action="store_true", help="fewer oscillators")
given = parser.parse_args()
n, spread_times = (300, 20.0) if given.quick else (3000, 80.0)


def exact(d, ratio):
    """Solve r = A_d(K r / D) for K = ratio K_c."""
    if ratio <= 1:
        return 0.0
    return brentq(lambda r: r - float(alignment(d, ratio * d * r)), 1e-6, 1.0)


fine = np.linspace(RATIOS[0], RATIOS[-1], 200)
print(f"{n} oscillators, D = {NOISE} rad²/s, K_c = d D")
print("  d   K / K_c   r measured   r theory   difference")
curves = []
for d in (2, 3, 8):
    found = []
    for ratio in RATIOS:
        network = osc.Network.lohe(
            "all-to-all", d=d, n=n, coupling=ratio * d * NOISE, diffusion=NOISE
        )
        t1 = spread_times / ((d - 1) * NOISE)
        steps = round(80 * t1 * NOISE * (ratio * d + d - 1))
        options = {"t1": t1, "dt": t1 / steps, "save_every": 80, "method": "heun"}
        options |= {"start": np.eye(d)[np.zeros(n, int)], "observe": "order_parameter"}
        run = osc.simulate(network, **options, seed=d)
        found.append(run.r_observed[0, run.t_observed > t1 / 2].mean())
        theory = exact(d, ratio)
        print(f"{d:3} {ratio:9.2f} {found[-1]:12.4f} {theory:10.4f} ", end="")
        print(f"{found[-1] - theory:+12.4f}")
    theory = np.array([exact(d, ratio) for ratio in fine])
    curves.append(Agreement(f"d = {d}", RATIOS, np.array(found), fine, theory))
labels = {"x_label": "coupling K / (d D)", "y_label": "order parameter r"}
given.figure.write_bytes(png(osc.plot(curves, **labels)))
