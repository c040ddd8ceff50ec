"""W2: a sparse graph, gathers from memory."""

import numpy as np

import oscsim as osc
from tests.benchmarks import ceilings, layouts, peers, problems
from tests.benchmarks.entries import Entry, Row, Scale, at_end, by, fixed_step, ours
from tests.benchmarks.measure import alternate


def w2_sparse(scale: Scale) -> list[Row]:
    """100,000 oscillators with 8 neighbours each."""
    n, steps, few = scale.of(100_000, 800), scale.of(50, 10), scale.of(10, 4)
    graph = problems.sparse(n)
    matrix = problems.as_csr(graph)
    dense, pair = problems.dense_field, problems.paired_field
    jax_forms = (
        ("BCSR", layouts.jax_sparse_field("BCSR")),
        ("BCOO", layouts.jax_sparse_field("BCOO")),
        ("segment_sum", layouts.jax_segment_field),
        ("gather", problems.gathered_field),
        ("paired gather", layouts.paired_gather_field),
    )
    entries = [
        *ours(
            lambda: osc.Network.kuramoto(matrix.arrays[0], omega=matrix.arrays[1]),
            graph,
            steps,
        ),
        *(
            Entry(
                f"scipy.sparse, {form}{'' if dtype == 'float64' else ', float32'}",
                "scipy",
                family,
                by(peers.numpy_rk4, make, matrix, dtype=dtype),
                few,
                dtype,
            )
            for family, dtype in (("scipy", "float64"), ("scipy32", "float32"))
            for form, make in (("2 products", dense), ("[sin | cos]", pair))
        ),
        *(
            Entry(f"jax fori_loop, {form}", "jax", "jax", solve, few)
            for form, make in jax_forms
            for solve in [by(peers.jax_rk4, make, graph)]
        ),
        Entry(
            "torch loop, CSR, [sin | cos]",
            "torch",
            "torch",
            by(peers.torch_rk4, pair, matrix),
            few,
        ),
        Entry(
            "torch loop, CSR, 2 products",
            "torch",
            "torch",
            by(peers.torch_rk4, dense, matrix),
            few,
        ),
        Entry(
            "torchdiffeq rk4, CSR",
            "torchdiffeq",
            "torch",
            by(peers.torchdiffeq_rk4, pair, matrix),
            few,
        ),
        *(
            Entry(f"diffrax Tsit5, {form}", "diffrax", "diffrax", solve, few)
            for form, make in jax_forms[:1] + jax_forms[-1:]
            for solve in [by(peers.diffrax_fixed, make, graph)]
        ),
        Entry(
            "numpy, a sine per edge",
            "numpy",
            "naive",
            by(peers.numpy_rk4, problems.edge_field, graph),
            few,
        ),
        Entry(
            "brian2 rk4",
            "brian2",
            "brian2",
            lambda n_steps: peers.brian2_sparse(graph, n_steps),
            few,
        ),
    ]
    exact = at_end(dense(np, *matrix.arrays), graph, few)
    contenders = fixed_step(exact, few, graph.dt, entries)
    contenders += ceilings.gathers(graph.arrays[0], scale.of(10, 2))
    return alternate("W2", contenders, scale.repeats, size=n)
