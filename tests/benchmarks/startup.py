"""Whole processes: imports, the first call, the help text, peak memory."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.entries import Row, Scale
from tests.benchmarks.measure import LoadWatch, version_of

ROOT = Path(__file__).parents[2]

OURS = """
import numpy as np, oscsim as osc
network = osc.Network.kuramoto(np.ones((8, 8)) - np.eye(8), omega=np.zeros(8))
osc.simulate(network, t1=1.0, dt=0.01, method="rk4", seed=1)
"""
SCIPY = """
import numpy as np
from scipy.integrate import solve_ivp
K = np.ones((8, 8)) - np.eye(8)
def drift(t, x):
    s, c = np.sin(x), np.cos(x)
    return c * (K @ s) - s * (K @ c)
solve_ivp(drift, (0, 1), np.arange(8.0))
"""
JAX = """
import jax, jax.numpy as jnp, diffrax
K = jnp.ones((8, 8)) - jnp.eye(8)
def drift(t, x, args):
    s, c = jnp.sin(x), jnp.cos(x)
    return c * (K @ s) - s * (K @ c)
done = diffrax.diffeqsolve(
    diffrax.ODETerm(drift), diffrax.Tsit5(), 0.0, 1.0, 0.01, jnp.arange(8.0)
)
done.ys.block_until_ready()
"""
TORCH = """
import torch
from torchdiffeq import odeint
K = torch.ones((8, 8)) - torch.eye(8)
def drift(t, x):
    s, c = torch.sin(x), torch.cos(x)
    return c * (K @ s) - s * (K @ c)
odeint(drift, torch.arange(8.0), torch.tensor([0.0, 1.0]))
"""
HELP = "from oscsim.cli import main; main(['--help'])"


MEMORY = """
import json, resource, sys
import numpy as np, oscsim as osc
n, steps, every = json.loads(sys.argv[1])
def peak():
    kilo = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilo
network = osc.Network.kuramoto("all-to-all", omega=np.linspace(-1, 1, n), coupling=1.0)
options = dict(dt=0.01, method="heun", diffusion=0.1, n_trajectories=4, seed=1)
osc.simulate(network, t1=0.02, save_every=1, **options)
before = peak()
path = osc.simulate(network, t1=steps * 0.01, save_every=every or None, **options)
print(json.dumps([peak() - before, path.y.nbytes, 4 * n * (steps + 1) * 8]))
"""


def memory_rows(scale: Scale) -> list[Row]:
    """Measure the growth of peak memory by a run that saves all, or the end only."""
    n, steps = scale.of(2000, 200), scale.of(4000, 200)
    rows = []
    for name, every in (("every step saved", 1), ("only the end saved", 0)):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, json.dumps([n, steps, every])],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        row: Row = {"row": "memory", "contender": name, "library": "oscsim"}
        row["family"] = name
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["failed"])[-1]
            rows.append(row | {"missing": last[:240]})
            continue
        grown, asked, whole = json.loads(done.stdout)
        rows.append(
            row
            | {
                "version": version_of("oscsim"),
                "error": None,
                "wall_per_unit_s": 0.0,
                "cpu_per_unit_s": 0.0,
                "peak_growth_bytes": grown,
                "asked_bytes": asked,
                "trajectory_bytes": whole,
            }
        )
    return rows


def startup_rows(scale: Scale) -> list[Row]:
    """Time whole processes: small runs cold and cached, and ``oscsim --help``."""
    times = scale.of(5, 1)
    watch = LoadWatch()
    with tempfile.TemporaryDirectory() as cold, tempfile.TemporaryDirectory() as warm:
        cases: list[tuple[str, str, str, str | None, int]] = [
            ("first run, nothing cached", "oscsim", OURS, cold, 1),
            ("fill the cache", "oscsim", OURS, warm, 1),
            ("small run, cached", "oscsim", OURS, warm, times),
            ("--help", "oscsim", HELP, warm, times),
            ("the interpreter alone", "python", "pass", None, times),
            ("SciPy, same run", "scipy", SCIPY, None, times),
            ("diffrax, same run", "diffrax", JAX, None, times),
            ("torchdiffeq, same run", "torchdiffeq", TORCH, None, times),
        ]
        rows = [_case(*case) for case in cases]
    load = watch.read()
    return [row | {"load": load} for row in rows if row["contender"] != cases[1][0]]


def _case(
    name: str, library: str, code: str, cache: str | None, times: int
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "row": "startup",
        "contender": name,
        "library": library,
        "version": version_of(library),
        "family": name,
        "units": 1,
        "error": None,
        "wall_s": [],
        "cpu_s": [],
    }
    environment = dict(os.environ)
    if cache is not None:
        environment["OSCSIM_CACHE_DIR"] = cache
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        row["wall_s"].append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        row["cpu_s"].append(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["failed"])[-1]
            keys = ("row", "contender", "library", "family")
            return {k: row[k] for k in keys} | {"missing": last[:240]}
    row["wall_per_unit_s"] = statistics.median(row["wall_s"])
    row["cpu_per_unit_s"] = min(row["cpu_s"])
    return row
