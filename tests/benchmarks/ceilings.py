"""What the machine can do: each kind of work alone, on all processors.

Products, reads, gathers, operations on arrays in the first-level cache, sines and
cosines, normal numbers. Rows of the family "ceiling"; "one processor" says so.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from oscsim._jit import kernel
from oscsim.physics.sincos import sincos
from oscsim.solve.philox import LANES, normal_lanes, uniform_lanes
from oscsim.solve.stream import Stream, stream_words
from tests.benchmarks.measure import Contender

N_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
KIND = "ceiling"
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


@kernel
def _add_often(x, y, n_times):
    for k in range(n_times):
        a = 1e-9 * k
        for i in range(x.shape[0]):
            y[i] += a * x[i]


@kernel
def _turn_often(theta, s, c, n_times):
    for _ in range(n_times):
        sincos(theta, s, c)
        theta[0] = s[0]


@kernel
def _draw_often(words, steps, index, lanes, n_times):
    """Draw two normal numbers per lane n_times; what is kept is their sum."""
    total = 0.0
    for _ in range(n_times):
        for lane in range(index.shape[0]):
            index[lane] += np.uint64(index.shape[0])
        uniform_lanes(words, steps, index, lanes[0], lanes[1])
        normal_lanes(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4])
        total += lanes[2, 0] + lanes[3, 0]
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
            family=KIND,
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
        Contender(how, library, run, units, family=KIND)
        for how, library, run in (
            (f"read {name}, sum", "numba", partial(on_all, _sum_often, parts)),
            (f"read {name}, dgemv", "numpy", multiply),
        )
    ]


def gathers(neighbours: np.ndarray, n_times: int) -> list[Contender]:
    """Return gathers of two arrays over a graph; one unit is one edge."""
    index = neighbours.ravel()
    n = len(neighbours)
    made = []
    for dtype in ("float64", "float32"):
        parts = [
            (part, np.ones(n, dtype), np.ones(n, dtype), n_times)
            for part in np.array_split(index, N_THREADS)
        ]
        run = partial(on_all, _gather_often, parts)
        units = float(n_times * index.size)
        made.append(
            Contender(f"gather {dtype}", "numba", run, units, dtype=dtype, family=KIND)
        )
    return made


def operations(n_times: int) -> Contender:
    """Return a x + y on arrays that stay in the first-level cache, in place.

    Two loads and a store for two operations, as compiled code does them that keeps
    nothing in registers from one statement to the next; one unit is one operation.
    """
    size = 1024
    parts = [(np.ones(size), np.ones(size), n_times) for _ in range(N_THREADS)]
    units = 2.0 * size * n_times * N_THREADS
    run = partial(on_all, _add_often, parts)
    return Contender("a x + y in cache", "numba", run, units, family=KIND)


def angles(n_times: int, n_threads: int = N_THREADS) -> list[Contender]:
    """Return our own sine and cosine alone, in cache; one unit is one angle."""
    size = 1024
    made = []
    for dtype in ("float64", "float32"):
        parts = [
            (*(np.linspace(-3, 3, size, dtype=dtype) for _ in range(3)), n_times)
            for _ in range(n_threads)
        ]
        run = partial(on_all, _turn_often, parts)
        units = float(size * n_times * n_threads)
        name = f"sine and cosine {dtype}"
        made.append(Contender(name, "numba", run, units, dtype=dtype, family=KIND))
    return made


def draws(n_times: int) -> Contender:
    """Return our own normal numbers alone, one processor; one unit is one number."""
    steps, index = np.zeros(LANES, np.uint64), np.arange(LANES, dtype=np.uint64)
    words, lanes = stream_words(Stream(1, 1)), np.zeros((5, LANES))
    run = partial(_draw_often, words, steps, index, lanes, n_times)
    units = 2.0 * LANES * n_times
    return Contender("normal numbers", "numba", run, units, family=KIND)
