"""What the machine can do: products, reads and gathers, on all processors."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from oscsim._jit import kernel
from tests.benchmarks.measure import Contender

N_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
_POOL = ThreadPoolExecutor(N_THREADS)


@kernel
def _sum_often(x, n_times):
    """Read ``x`` n_times; what is added depends on the pass, so none is saved."""
    total = 0.0
    for k in range(n_times):
        part = 0.0
        for i in range(x.shape[0]):
            part += x[i]
        total += part * k
        x[0] = total * 1e-300
    return total


@kernel
def _gather_often(index, s, c, n_times):
    total = 0.0
    for k in range(n_times):
        part = 0.0
        for i in range(index.shape[0]):
            j = np.uint64(index[i])
            part += s[j] + c[j]
        total += part * k
        s[0] = total * 1e-300
    return total


def on_all(work: Callable[..., object], parts: list[tuple]) -> None:
    """Run one part per thread; the kernels release the interpreter."""
    list(_POOL.map(lambda part: work(*part), parts))


def products(size: int) -> list[Contender]:
    """Return dgemm and sgemm of square matrices; one unit is one operation."""
    rng = np.random.default_rng(0)
    a = rng.random((size, size))
    single = a.astype(np.float32)
    return [
        Contender(
            f"{name}gemm",
            "numpy",
            partial(np.matmul, m, m),
            2.0 * size**3,
            dtype=t,
            family="ceiling",
        )
        for name, m, t in (("d", a, "float64"), ("s", single, "float32"))
    ]


def reads(name: str, n_bytes: int, n_times: int) -> list[Contender]:
    """Return reads of an array; one unit is one byte.

    Both a plain sum and the product of a matrix and a vector: the faster is
    the ceiling.
    """
    n = int(np.sqrt(n_bytes / 8))
    matrix, vector = np.ones((n, n)), np.ones(n)
    parts = [
        (part.copy(), n_times) for part in np.array_split(matrix.ravel(), N_THREADS)
    ]

    def multiply() -> None:
        for _ in range(n_times):
            matrix @ vector

    units = float(n_times * n * n * 8)
    return [
        Contender(how, library, run, units, family="ceiling")
        for how, library, run in (
            (f"read {name}, sum", "numba", partial(on_all, _sum_often, parts)),
            (f"read {name}, dgemv", "numpy", multiply),
        )
    ]


def gathers(neighbours: np.ndarray, n_times: int) -> Contender:
    """Return the gather of two arrays over a graph; one unit is one edge."""
    index = neighbours.ravel()
    n = len(neighbours)
    parts = [
        (part, np.ones(n), np.ones(n), n_times)
        for part in np.array_split(index, N_THREADS)
    ]
    run = partial(on_all, _gather_often, parts)
    return Contender(
        "gather", "numba", run, float(n_times * index.size), family="ceiling"
    )
