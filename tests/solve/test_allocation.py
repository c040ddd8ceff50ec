import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from numba.core.runtime import rtsys
from oscsim.network.spec import Network
from oscsim.solve.steppers import METHODS, integrate

net = Network.driven(np.ones((3, {d})), geometry="{geometry}")
y = np.full(net.state_shape, {d} ** -0.5).ravel()
words = np.zeros(4, np.uint64)


def run(n_steps):
    saved = np.empty((2, y.size))
    deviation = np.full(y.size, 1e-3)
    integrate(
        METHODS["heun"], net.params(), 1e-3, n_steps, n_steps, deviation, words,
        y.copy(), saved,
    )

run(1)
for n_steps in (1, 1000):
    before = rtsys.get_allocation_stats().alloc
    run(n_steps)
    print(rtsys.get_allocation_stats().alloc - before)
"""


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="counts compiled allocations"
)
@pytest.mark.parametrize(("geometry", "d"), [("torus", 2), ("sphere", 3)])
def test_the_step_loop_allocates_nothing(geometry, d):
    program = PROGRAM.format(geometry=geometry, d=d)
    if geometry == "torus":
        program = program.replace("2 ** -0.5", "0.1")
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
