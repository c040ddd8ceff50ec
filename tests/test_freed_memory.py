"""Freed memory stays in the process: arrays of one size fault their pages once."""

import platform
import subprocess
import sys

import pytest

LOOP = """
import resource, sys
import numpy as np
from oscsim.freed_memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
np.empty(2_000_000)[:] = 1.0
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(200):
    arrays = [np.empty(125_000 + 512 * k) for k in range(2)]
    for array in arrays:
        array[:] = 1.0
    del array, arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(what):
    """Page faults of 200 rounds of two arrays of 1 MB in a process of their own."""
    environment = {"MALLOC_MMAP_THRESHOLD_": "131072"} if what == "fixed" else {}
    done = subprocess.run(
        [sys.executable, "-c", LOOP, what],
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator of glibc")
def test_arrays_fault_their_pages_once():
    pages = 2 * 1_000_000 // 4096
    assert faults("keep") < 5 * pages
    assert faults("fixed") > 100 * pages
