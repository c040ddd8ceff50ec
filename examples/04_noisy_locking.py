"""Locking to a drive with detuning and noise: mean phase and drift beside their laws.

dtheta = (dw - L sin theta) dt + sqrt(2 D) dB, many independent oscillators. Moment:
<exp(i theta)> = I_{1-ia}(kappa) / I_{-ia}(kappa), drift: (D / pi) sinh(pi a) /
|I_{ia}(kappa)|^2, with a = dw / D and kappa = L / D. Noise rounds the edge of locking
at dw = L; without it the drift is sqrt(dw^2 - L^2).
"""

import argparse
from pathlib import Path

import numpy as np

import oscsim as osc
from oscsim.physics.stationary import adler_drift, adler_moment, beat_frequency
from oscsim.report.canvas import png
from oscsim.report.figures import Agreement

DRIVE, DETUNINGS, NOISES = 1.0, np.arange(0.0, 2.01, 0.25), (0.05, 0.5)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--figure", type=Path, default=Path("locking.png"))
parser.add_argument("--quick", action="store_true", help="a smaller sample")
given = parser.parse_args()
n, t1 = (1000, 20.0) if given.quick else (10_000, 40.0)
shape = (DETUNINGS.size, n)
network = osc.Network.driven(
    np.tile([DRIVE, 0.0], (DETUNINGS.size * n, 1)),
    omega=np.repeat(DETUNINGS, n),
    geometry="torus",
)
fine = np.linspace(0.0, DETUNINGS[-1], 201)
curves = [Agreement("no noise", [], [], fine, beat_frequency(fine, DRIVE))]
print(f"{n} oscillators a row, L = {DRIVE} rad/s; z in standard errors")
print("   D    dw  drift (rad/s)    exact      z  <cos>     exact      z")
for seed, noise in enumerate(NOISES):
    options = {"method": "heun", "diffusion": noise, "save_every": 1000, "seed": seed}
    run = osc.simulate(network, t1=t1, dt=0.01, **options)
    rates = osc.effective_frequencies(run, after=t1 / 2)[0].reshape(shape)
    cosines = np.cos(run.y[0, -1]).reshape(shape)
    drift = np.array([adler_drift(dw, DRIVE, noise) for dw in DETUNINGS])
    moment = np.array([adler_moment(dw, DRIVE, noise).real for dw in DETUNINGS])
    error = rates.std(axis=1) / np.sqrt(n)
    z_drift = (rates.mean(axis=1) - drift) / error
    z_cos = (cosines.mean(axis=1) - moment) / (cosines.std(axis=1) / np.sqrt(n))
    for k, dw in enumerate(DETUNINGS):
        print(f"{noise:4g} {dw:5.2f} {rates[k].mean():13.5f} {drift[k]:9.5f} ", end="")
        print(f"{z_drift[k]:+6.2f} {cosines[k].mean():+.4f}", end=" ")
        print(f"{moment[k]:+9.4f} {z_cos[k]:+6.2f}")
    exact = np.array([adler_drift(dw, DRIVE, noise) for dw in fine])
    name = f"D = {noise:g} rad²/s"
    curves.append(Agreement(name, DETUNINGS, rates.mean(axis=1), fine, exact, error))
labels = {"x_label": "detuning dw (rad/s)", "y_label": "mean frequency (rad/s)"}
given.figure.write_bytes(png(osc.plot(curves, **labels)))
