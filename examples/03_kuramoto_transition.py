"""The Kuramoto transition: order against coupling, beside r = sqrt(1 - K_c / K).

All-to-all, natural frequencies at the exact quantiles of a Lorentzian of half-width
gamma, so that K_c = 2 gamma without sampling error. Well below K_c a finite network
keeps r of about 1 / sqrt(N); near K_c it fluctuates far above that, and the law of an
infinite one holds only beyond it. The second figure shows who is locked at the
largest K.
"""

import argparse
from pathlib import Path

import numpy as np

import oscsim as osc
from oscsim.report.canvas import png
from oscsim.report.figures import Agreement

GAMMA = 0.5
COUPLINGS = np.array([0.4, 0.7, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0])

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--oscillators", type=int, default=2000)
parser.add_argument("--figure", type=Path, default=Path("kuramoto.png"))
parser.add_argument("--quick", action="store_true", help="a smaller network")
given = parser.parse_args()
n, t1 = (300, 60.0) if given.quick else (given.oscillators, 150.0)
omega = osc.natural_frequencies("lorentzian", n, width=GAMMA)
n_steps = int(np.ceil(t1 * omega.max()))
options = {"t1": t1, "dt": t1 / n_steps, "save_every": max(1, n_steps // 2000)}


def exact(coupling):
    return np.sqrt(np.maximum(0.0, 1 - 2 * GAMMA / coupling))


print(f"{n} oscillators, gamma = {GAMMA} rad/s, K_c = {2 * GAMMA} rad/s")
print("K (rad/s)   r measured   r theory   difference")
measured = []
for coupling in COUPLINGS:
    network = osc.Network.kuramoto("all-to-all", omega=omega, coupling=coupling)
    run = osc.simulate(network, **options, observe="order_parameter", seed=1)
    measured.append(run.r_observed[0, run.t_observed > t1 / 2].mean())
    theory = exact(coupling)
    print(f"{coupling:9.2f} {measured[-1]:12.4f} {theory:10.4f} ", end="")
    print(f"{measured[-1] - theory:+12.4f}")
fine = np.linspace(COUPLINGS[0], COUPLINGS[-1], 400)
points = Agreement(f"N = {n}", COUPLINGS, np.array(measured), fine, exact(fine))
labels = {"x_label": "coupling K (rad/s)", "y_label": "order parameter r"}
given.figure.write_bytes(png(osc.plot(points, **labels)))
run = osc.simulate(network, **options, seed=1)
staircase = osc.plot(run, "locking", omega=omega, after=t1 / 2)
given.figure.with_stem(given.figure.stem + "-locking").write_bytes(png(staircase))
