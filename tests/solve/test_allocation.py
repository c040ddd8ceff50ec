import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from numba.core.runtime import rtsys
from scipy import sparse
from oscsim.network.spec import Network
from oscsim.solve.steppers import METHODS, integrate

ring = np.roll(np.eye(6), 1, axis=1)
net = {network}
n = net.n_osc
d = {d}
params = net.params(n_copies={copies})
n_state = {copies} * n * d
y = np.full((1, n_state), 0.1 if d == 1 else d ** -0.5)


def run(n_steps):
    integrate(
        METHODS["heun"], params, 1e-3, 0, n_steps, n_steps, n_steps, {copies},
        np.zeros((1, 3), int), np.full((1, n), 1e-3),
        np.zeros(({copies}, 4), np.uint64), y.copy(),
        np.zeros((1, 0)),
        np.empty(({copies}, 2, n, d)), np.empty(({copies}, 0)),
        np.full((1, {copies}, 2), -1),
    )

run(1)
for n_steps in (1, 1000):
    before = rtsys.get_allocation_stats().alloc
    run(n_steps)
    print(rtsys.get_allocation_stats().alloc - before)
"""

NETWORKS = {
    "driven torus": ("Network.driven(np.ones((3, 2)), geometry='torus')", 1, 1),
    "driven sphere": ("Network.driven(np.ones((3, 3)))", 3, 1),
    "dense": ("Network.kuramoto(ring, lag=0.1)", 1, 1),
    "lag per edge": ("Network.kuramoto(ring, lag=0.1 * ring)", 1, 1),
    "sparse sphere": ("Network.lohe(sparse.csr_array(ring), d=3)", 3, 1),
    "all-to-all": ("Network.kuramoto('all-to-all', n=5)", 1, 1),
    "ensemble": ("Network.kuramoto(ring)", 1, 4),
    "harmonics": ("Network.kuramoto(ring, harmonics=np.ones((3, 2)))", 1, 1),
}


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="counts compiled allocations"
)
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_step_loop_allocates_nothing(kind):
    network, d, copies = NETWORKS[kind]
    program = PROGRAM.format(network=network, d=d, copies=copies)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    one, thousand = (int(line) for line in done.stdout.split())
    assert one > 0
    assert thousand == one
