"""Cost against size: edges of a sparse graph, components of unit vectors."""

from functools import partial

import numpy as np

import oscsim as osc
from oscsim.physics.driven import settle
from tests.benchmarks import engine, layouts, peers, problems
from tests.benchmarks.entries import OURS, OURS32, Row, Scale
from tests.benchmarks.measure import Contender, alternate


def growth(scale: Scale) -> list[Row]:
    """Cost against size: edges of a sparse graph, components of unit vectors."""
    rows: list[Row] = []
    largest = scale.of(6, 3)
    for n in (10**k for k in range(2, largest + 1)):
        graph = problems.sparse(n)
        matrix = problems.as_csr(graph)
        steps = int(np.clip(4_000_000 // n, 2, 1000))
        peer_steps = max(2, steps // 20)
        network = osc.Network.kuramoto(matrix.arrays[0], omega=matrix.arrays[1])
        edges = 8.0 * n
        contenders = [
            Contender(
                name,
                "oscsim",
                engine.rk4(network, graph.start, graph.dt, steps, dtype),
                4 * steps * edges,
                dtype=dtype,
                family=f"{dtype} N",
                extra={"size": n, "unit": "edge and evaluation"},
            )
            for name, dtype in ((OURS, "float64"), (OURS32, "float32"))
        ]
        contenders.append(
            Contender(
                "scipy.sparse, 2 products",
                "scipy",
                peers.numpy_rk4(problems.dense_field, matrix, peer_steps),
                4 * peer_steps * edges,
                family="scipy N",
                extra={"size": n, "unit": "edge and evaluation"},
            )
        )
        rows += alternate("growth N", contenders, scale.repeats)
    for d in (2, 4, 8, 16, 32, 64)[: scale.of(6, 3)]:
        n, steps = scale.of(16_384, 256), 50
        problem = problems.driven(n, d)
        network = osc.Network.driven(problem.arrays[0])
        extra = {"size": d, "unit": "component and step"}
        few = max(2, 40 // d)
        turned = layouts.reversed_axes(problem)
        contenders = [
            Contender(
                OURS,
                "oscsim",
                engine.rk4(network, problem.start, problem.dt, steps),
                float(n * d * steps),
                family="float64 d",
                extra=extra,
            ),
            Contender(
                "numpy einsum, (d, n)",
                "numpy",
                peers.numpy_rk4(
                    layouts.columns_einsum_field, turned, few, layouts.unit_columns
                ),
                float(n * d * few),
                family="numpy d",
                extra=extra,
            ),
            Contender(
                "closed form",
                "oscsim",
                partial(settle, problem.arrays[0], problem.start, 4.0),
                float(n * d),
                family="closed d",
                extra={"size": d, "unit": "component"},
            ),
        ]
        rows += alternate("growth d", contenders, scale.repeats)
    return rows
