"""W3 and W6: many small dense networks, and one large one from many starts."""

import numpy as np

import oscsim as osc
from tests.benchmarks import ceilings, engine, layouts, peers, problems
from tests.benchmarks.entries import (
    OURS32,
    Entry,
    Row,
    Scale,
    at_end,
    by,
    fixed_step,
    once,
    ours,
)
from tests.benchmarks.measure import Contender, alternate, attempt


def w3_batch(scale: Scale) -> list[Row]:
    """Many small dense networks."""
    count, n = scale.of(4096, 32), 32
    steps, few = scale.of(50, 10), scale.of(5, 4)
    problem = problems.batch(count, n)
    weight, omega = problem.arrays
    pair, rows = problems.paired_field, layouts.row_pair_field
    turned = layouts.transposed_weight(problem)
    innermost = layouts.reversed_axes(problem)
    matmul = (("[sin | cos]", pair, problem), ("[sin; cos]", rows, turned))
    entries = [
        *ours(lambda: osc.Network.kuramoto(weight, omega=omega), problem, steps),
        *(
            Entry(f"{title}, {form}", library, family, by(solver, make, solved), few)
            for title, library, family, solver in (
                ("numpy matmul", "numpy", "numpy", peers.numpy_rk4),
                ("jax fori_loop, matmul", "jax", "jax", peers.jax_rk4),
                ("torch loop, bmm", "torch", "torch", peers.torch_rk4),
                ("torchdiffeq rk4, bmm", "torchdiffeq", "torch", peers.torchdiffeq_rk4),
            )
            for form, make, solved in matmul
        ),
        Entry(
            "numpy einsum",
            "numpy",
            "numpy",
            by(peers.numpy_rk4, layouts.einsum_field, problem),
            few,
        ),
        *(
            entry
            for family, dtype in (("jax", "float64"), ("jax32", "float32"))
            for entry in _jax_sums(problem, innermost, few, family, dtype)
        ),
        Entry(
            "torch.compile, bmm",
            "torch",
            "torch",
            once(lambda: peers.torch_compiled_rk4(pair, problem)),
            few,
        ),
        *(
            Entry(f"diffrax Tsit5, {form}", "diffrax", "diffrax", solve, few)
            for form, make in (("matmul", pair), ("sums", layouts.summed_field))
            for solve in [by(peers.diffrax_fixed, make, problem)]
        ),
        Entry(
            "numpy, sines of all differences",
            "numpy",
            "naive",
            by(peers.numpy_rk4, problems.pairwise_field, problem),
            1,
        ),
    ]
    exact = at_end(pair(np, weight, omega), problem, few)
    contenders = fixed_step(exact, few, problem.dt, entries)
    contenders += ceilings.products(scale.of(2048, 256))
    contenders += ceilings.angles(scale.of(20_000, 200))
    return alternate("W3", contenders, scale.repeats, size=n, n_networks=count)


def _jax_sums(
    problem: problems.Problem,
    innermost: problems.Problem,
    n_steps: int,
    family: str,
    dtype: str,
) -> list[Entry]:
    """Return jax with the sums written out, source or network innermost."""
    suffix = "" if dtype == "float64" else ", float32"
    return [
        Entry(
            f"jax fori_loop, {form}{suffix}",
            "jax",
            family,
            by(peers.jax_rk4, make, solved, dtype=dtype),
            n_steps,
            dtype,
            is_turned=solved is innermost,
        )
        for form, make, solved in (
            ("sums", layouts.summed_field, problem),
            ("sums, networks innermost", layouts.innermost_field, innermost),
        )
    ]


def w6_shared(scale: Scale) -> list[Row]:
    """One large dense network, 64 trajectories at once, single precision.

    The error is that of the first two trajectories at the end of the run, which is
    the same for all.
    """
    n, many, steps = scale.of(4096, 128), scale.of(64, 4), scale.of(25, 5)
    problem = problems.shared(n, many)
    weight, omega = problem.arrays
    columns = problems.shared_field
    rows = layouts.trajectory_rows_field
    turned = layouts.transposed_weight(problem)._replace(
        start=np.ascontiguousarray(problem.start.T)
    )
    few = problem._replace(start=problem.start[:, :2])
    exact = at_end(columns(np, weight, omega), few, steps)

    def error(state: np.ndarray) -> float:
        return float(np.abs(np.asarray(state, np.float64)[:, :2] - exact).max())

    def ours32(n_steps: int) -> engine.Run:
        network = osc.Network.kuramoto(weight, omega=omega)
        return engine.rk4(
            network, turned.start, problem.dt, n_steps, "float32", n_trajectories=many
        )

    def in_place(n_steps: int) -> engine.Run:
        single = weight.astype(np.float32), omega.astype(np.float32)
        parts = [(layouts.shared_into(*single, many), problem.start.astype("float32"))]
        return peers.numpy_in_place(parts, problem.dt, n_steps)

    drivers = (
        ("torch loop", "torch", "torch", peers.torch_rk4),
        ("torchdiffeq rk4", "torchdiffeq", "torch", peers.torchdiffeq_rk4),
        ("jax fori_loop", "jax", "jax", peers.jax_rk4),
        ("numpy loop", "numpy", "numpy", peers.numpy_rk4),
    )
    single = "float32"
    entries = [
        Entry(OURS32, "oscsim", "oscsim32", ours32, steps, single, is_turned=True),
        Entry("numpy, out=", "numpy", "numpy", in_place, steps, single),
        *(
            Entry(
                f"{title}, {form}",
                library,
                family,
                by(solver, make, solved, dtype=single),
                steps,
                single,
                is_turned=solved is turned,
            )
            for title, library, family, solver in drivers
            for form, make, solved in (
                ("columns", columns, problem),
                ("rows", rows, turned),
            )
        ),
    ]

    def made(entry: Entry) -> Contender:
        return Contender(
            entry.name,
            entry.library,
            entry.solve(entry.n_steps),
            entry.n_steps,
            lambda state: error(np.asarray(state).T if entry.is_turned else state),
            entry.dtype,
            entry.family,
            extra={"error_time": steps * problem.dt},
        )

    contenders = [
        attempt(e.name, e.library, lambda e=e: made(e), e.family) for e in entries
    ]
    contenders += ceilings.products(scale.of(4096, 256))[1:]
    contenders += ceilings.angles(scale.of(20_000, 200))[1:]
    return alternate("W6", contenders, scale.repeats, size=n, n_trajectories=many)
