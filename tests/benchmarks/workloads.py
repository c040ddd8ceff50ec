"""The rows of the benchmark: who competes on what, for how many steps.

Contenders differ in speed by orders of magnitude and so do their numbers of
steps; times are per step, errors at the end of each contender's own run.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ive

import oscsim as osc
from oscsim.physics.driven import settle
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.stream import Stream
from tests.benchmarks import ceilings, engine, peers, problems
from tests.benchmarks.measure import (
    Contender,
    Missing,
    alternate,
    attempt,
    largest_difference,
)

Row = dict[str, Any]
Solver = Callable[..., Any]

OURS, OURS32 = "oscsim float64", "oscsim float32"
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
KAPPA = 8.0
"""|h| / D of the noisy driven vectors, their median."""


class Scale(NamedTuple):
    """How much work: full, or small for a quick look at whether all works."""

    quick: bool
    repeats: int

    def of(self, full: int, quick: int) -> int:
        """Return the size of something."""
        return quick if self.quick else full


class _Entry(NamedTuple):
    """A fixed-step contender before it is made."""

    name: str
    library: str
    family: str
    solver: Solver
    make: Solver | None
    n_steps: int
    dtype: str = "float64"
    problem: problems.Problem | None = None
    options: Mapping[str, Any] = MappingProxyType({})


def _fixed_step(
    row: str,
    problem: problems.Problem,
    reference: problems.Field,
    entries: list[_Entry],
) -> list[Contender | Missing]:
    """Make the contenders, each with its error at its own end time."""
    times = {e.n_steps * problem.dt for e in entries if e.problem is None}
    exact = problems.references(reference, problem.start, times)

    def made(entry: _Entry) -> Contender:
        solved = entry.problem or problem
        run = entry.solver(
            *([] if entry.make is None else [entry.make]),
            solved,
            entry.n_steps,
            **({"dtype": entry.dtype} if entry.dtype != "float64" else {}),
            **entry.options,
        )
        t1 = entry.n_steps * problem.dt
        expected = exact.get(t1) if entry.problem is None else None
        error = None if expected is None else largest_difference(expected)
        return Contender(
            entry.name,
            entry.library,
            run,
            entry.n_steps,
            error,
            entry.dtype,
            entry.family,
        )

    return [attempt(e.name, e.library, partial(made, e), e.family) for e in entries]


def _ours(
    network: Callable[[], osc.Network], problem: problems.Problem, steps: int
) -> list[_Entry]:
    """Return our fixed-step entries in both precisions."""

    def solver(
        _problem: problems.Problem, n_steps: int, dtype: str = "float64"
    ) -> engine.Run:
        return engine.rk4(network(), problem.start, problem.dt, n_steps, dtype)

    return [
        _Entry(OURS, "oscsim", "oscsim", solver, None, steps),
        _Entry(OURS32, "oscsim", "oscsim32", solver, None, steps, "float32"),
    ]


def w1_dense(scale: Scale) -> list[Row]:
    """One dense network: a product of a matrix and a vector per evaluation."""
    n, steps, few = scale.of(1000, 60), scale.of(100, 20), 2
    problem = problems.dense(n)
    weight, omega = problem.arrays
    field, pair = problems.dense_field, problems.paired_field
    entries = [
        *_ours(lambda: osc.Network.kuramoto(weight, omega=omega), problem, steps),
        _Entry("numpy, 2 dgemv", "numpy", "numpy", peers.numpy_rk4, field, steps),
        _Entry("numpy, [sin | cos]", "numpy", "numpy", peers.numpy_rk4, pair, steps),
        _Entry("jax fori_loop", "jax", "jax", peers.jax_rk4, field, steps),
        _Entry("torch loop", "torch", "torch", peers.torch_rk4, field, steps),
        _Entry(
            "torchdiffeq rk4",
            "torchdiffeq",
            "torch",
            peers.torchdiffeq_rk4,
            field,
            steps,
        ),
        _Entry(
            "numpy, sines of all differences",
            "numpy",
            "naive",
            peers.numpy_rk4,
            problems.pairwise_field,
            few,
        ),
    ]
    contenders = _fixed_step("W1", problem, field(np, weight, omega), entries)
    contenders.append(_kuramoto(n, few))
    size = 8 * n * n
    contenders += ceilings.reads("of the matrix", size, scale.of(20, 2))
    contenders += ceilings.reads("of memory", scale.of(512, 16) * 2**20, 1)
    return alternate("W1", contenders, scale.repeats, size=n)


def _kuramoto(n: int, n_steps: int) -> Contender | Missing:
    def make() -> Contender:
        problem = problems.uniform(n)
        t1 = n_steps * problem.dt
        field = problems.dense_field(np, *problem.arrays)
        exact = problems.references(field, problem.start, [t1])[t1]
        run = peers.kuramoto_package(problem, n_steps)
        return Contender(
            "kuramoto (odeint)",
            "kuramoto",
            run,
            n_steps,
            largest_difference(exact),
            family="naive",
            extra={"note": "uniform coupling; per output step of the same length"},
        )

    return attempt("kuramoto (odeint)", "kuramoto", make, "naive")


def w1_adaptive(scale: Scale) -> list[Row]:
    """The same network with error control, at many tolerances."""
    n, t1 = scale.of(1000, 60), 5.0
    problem = problems.dense(n)
    weight, omega = problem.arrays
    field = problems.dense_field
    exact = problems.references(field(np, weight, omega), problem.start, [t1])[t1]

    def ours() -> Callable[[float], Any]:
        network = osc.Network.kuramoto(weight, omega=omega)
        return engine.adaptive(network, problem.start, t1)

    makers: list[tuple[str, str, Callable[[], Callable[[float], Any]]]] = [
        ("oscsim", "oscsim", ours),
        *(
            (
                f"SciPy {method}",
                "scipy",
                partial(peers.scipy_adaptive, field, problem, t1, method),
            )
            for method in ("DOP853", "RK45")
        ),
        (
            "diffrax Tsit5",
            "diffrax",
            lambda: peers.diffrax_adaptive(field, problem, t1),
        ),
    ]
    contenders: list[Contender | Missing] = []
    for name, library, maker in makers:
        try:
            at = maker()
        except Exception as problem_found:
            contenders.append(
                attempt(name, library, partial(_raise, problem_found), name)
            )
            continue
        contenders += [
            Contender(
                f"{name}, tolerance {tolerance:g}",
                library,
                at(tolerance),
                1,
                largest_difference(exact),
                family=name,
                extra={"tolerance": tolerance},
            )
            for tolerance in TOLERANCES
        ]
    return alternate("W1 adaptive", contenders, scale.repeats)


def _raise(error: Exception) -> Contender:
    raise error


def w1_jitcode(scale: Scale) -> list[Row]:
    """A network small enough for a symbolic compiler, JiTCODE against ours."""
    n, t1, tolerance = scale.of(40, 10), 5.0, 1e-9
    problem = problems.dense(n)
    weight, omega = problem.arrays
    exact = problems.references(
        problems.dense_field(np, weight, omega), problem.start, [t1]
    )[t1]
    error = largest_difference(exact)

    def ours() -> Contender:
        network = osc.Network.kuramoto(weight, omega=omega)
        run = engine.adaptive(network, problem.start, t1)(tolerance)
        return Contender("oscsim adaptive", "oscsim", run, 1, error, family="oscsim")

    def compiled() -> Contender:
        at, build = peers.jitcode_adaptive(problem, t1)
        build()
        return Contender(
            "JiTCODE DOP853", "jitcode", at(tolerance), 1, error, family="jitcode"
        )

    contenders = [
        attempt("oscsim adaptive", "oscsim", ours, "oscsim"),
        Contender(
            "SciPy DOP853",
            "scipy",
            peers.scipy_adaptive(problems.dense_field, problem, t1, "DOP853")(
                tolerance
            ),
            1,
            error,
            family="scipy",
        ),
        attempt("JiTCODE DOP853", "jitcode", compiled, "jitcode"),
    ]
    return alternate(f"W1 adaptive, N = {n}", contenders, scale.repeats)


def w2_sparse(scale: Scale) -> list[Row]:
    """A sparse graph: gathers from memory."""
    n, steps, few = scale.of(100_000, 800), scale.of(50, 10), scale.of(10, 4)
    graph = problems.sparse(n)
    matrix = problems.as_csr(graph)
    field, pair = problems.dense_field, problems.paired_field
    gathered = problems.gathered_field
    entries = [
        *_ours(
            lambda: osc.Network.kuramoto(matrix.arrays[0], omega=matrix.arrays[1]),
            graph,
            steps,
        ),
        _Entry("scipy.sparse, 2 products", "scipy", "scipy", _on_csr, field, few),
        _Entry("scipy.sparse, [sin | cos]", "scipy", "scipy", _on_csr, pair, few),
        _Entry("jax fori_loop, gather", "jax", "jax", peers.jax_rk4, gathered, few),
        _Entry("torch loop, CSR", "torch", "torch", _torch_on_csr, pair, few),
        _Entry("torchdiffeq rk4, CSR", "torchdiffeq", "torch", _ode_on_csr, pair, few),
        _Entry(
            "diffrax Tsit5, gather",
            "diffrax",
            "diffrax",
            peers.diffrax_fixed,
            gathered,
            few,
        ),
        _Entry(
            "numpy, a sine per edge",
            "numpy",
            "naive",
            peers.numpy_rk4,
            problems.edge_field,
            few,
        ),
        _Entry("brian2 rk4", "brian2", "brian2", peers.brian2_sparse, None, few),
    ]
    reference = field(np, *matrix.arrays)
    contenders = _fixed_step("W2", graph, reference, entries)
    contenders.append(ceilings.gathers(graph.arrays[0], scale.of(10, 2)))
    return alternate("W2", contenders, scale.repeats, size=n)


def _on_csr(make: Solver, graph: problems.Problem, n_steps: int) -> Any:
    return peers.numpy_rk4(make, problems.as_csr(graph), n_steps)


def _torch_on_csr(make: Solver, graph: problems.Problem, n_steps: int) -> Any:
    return peers.torch_rk4(make, problems.as_csr(graph), n_steps)


def _ode_on_csr(make: Solver, graph: problems.Problem, n_steps: int) -> Any:
    return peers.torchdiffeq_rk4(make, problems.as_csr(graph), n_steps)


def w3_batch(scale: Scale) -> list[Row]:
    """Many small dense networks."""
    count, n = scale.of(4096, 32), 32
    steps, few = scale.of(50, 10), scale.of(5, 4)
    problem = problems.batch(count, n)
    weight, omega = problem.arrays
    pair = problems.paired_field
    entries = [
        *_ours(lambda: osc.Network.kuramoto(weight, omega=omega), problem, steps),
        _Entry("numpy matmul", "numpy", "numpy", peers.numpy_rk4, pair, few),
        _Entry("jax fori_loop", "jax", "jax", peers.jax_rk4, pair, few),
        _Entry(
            "jax fori_loop float32", "jax", "jax32", peers.jax_rk4, pair, few, "float32"
        ),
        _Entry("torch loop, bmm", "torch", "torch", peers.torch_rk4, pair, few),
        _Entry(
            "torchdiffeq rk4, bmm",
            "torchdiffeq",
            "torch",
            peers.torchdiffeq_rk4,
            pair,
            few,
        ),
        _Entry("diffrax Tsit5", "diffrax", "diffrax", peers.diffrax_fixed, pair, few),
        _Entry(
            "numpy, sines of all differences",
            "numpy",
            "naive",
            peers.numpy_rk4,
            problems.pairwise_field,
            1,
        ),
    ]
    contenders = _fixed_step("W3", problem, pair(np, weight, omega), entries)
    contenders += ceilings.products(scale.of(2048, 256))
    return alternate("W3", contenders, scale.repeats, size=n, n_networks=count)


def w4_driven(scale: Scale, d: int) -> list[Row]:
    """Independent unit vectors in constant fields, stepped."""
    n, steps, few = scale.of(65_536, 512), 200, scale.of(max(5, 40 // d), 5)
    problem = problems.driven(n, d)
    field, tidy = problems.driven_field, {"retract": peers.unit_rows}
    entries = [
        *_ours(lambda: osc.Network.driven(problem.arrays[0]), problem, steps),
        _Entry(
            "numpy einsum",
            "numpy",
            "numpy",
            peers.numpy_rk4,
            problems.driven_einsum_field,
            few,
            options=tidy,
        ),
        _Entry("jax fori_loop", "jax", "jax", peers.jax_rk4, field, few, options=tidy),
        _Entry(
            "torch loop", "torch", "torch", peers.torch_rk4, field, few, options=tidy
        ),
        _Entry(
            "torchdiffeq rk4", "torchdiffeq", "torch", peers.torchdiffeq_rk4, field, few
        ),
        _Entry("diffrax Tsit5", "diffrax", "diffrax", peers.diffrax_fixed, field, few),
    ]
    contenders = _exact_driven(problem, entries)
    contenders += ceilings.products(scale.of(2048, 256))
    return alternate(f"W4 d={d}", contenders, scale.repeats, size=n, dimension=d)


def _exact_driven(
    problem: problems.Problem, entries: list[_Entry]
) -> list[Contender | Missing]:
    """Make the contenders of driven vectors, errors against the closed form."""

    def made(entry: _Entry) -> Contender:
        plain = {} if entry.dtype == "float64" else {"dtype": entry.dtype}
        make = [] if entry.make is None else [entry.make]
        run = entry.solver(*make, problem, entry.n_steps, **plain, **entry.options)
        exact = problems.settled(problem, entry.n_steps * problem.dt)
        return Contender(
            entry.name,
            entry.library,
            run,
            entry.n_steps,
            largest_difference(exact),
            entry.dtype,
            entry.family,
        )

    return [attempt(e.name, e.library, partial(made, e), e.family) for e in entries]


def w4_settled(scale: Scale, d: int) -> list[Row]:
    """The same vectors without stepping: closed form, and exact draw with noise."""
    n, steps = scale.of(65_536, 512), 200
    problem = problems.driven(n, d)
    (field,), start, dt = problem
    exact = problems.settled(problem, steps * dt)
    length = np.linalg.norm(field, axis=1)
    diffusion = float(np.median(length)) / KAPPA
    kappa = length / diffusion
    # Mean alignment of the von Mises-Fisher law, a ratio of Bessel functions.
    expected = ive(d / 2, kappa) / ive(d / 2 - 1, kappa)
    numbers = np.arange(n)
    network = osc.Network.driven(field)

    def z_score(state: np.ndarray) -> float:
        along = (np.asarray(state).reshape(n, d) * field).sum(1) / length - expected
        return float(abs(along.mean()) / (along.std() / math.sqrt(n)))

    def draw() -> np.ndarray:
        return sample_driven(field, start, math.inf, diffusion, Stream(7, 9), numbers)

    def stepped_noise() -> np.ndarray:
        path = osc.simulate(
            network,
            t1=steps * dt,
            dt=dt,
            method="euler-maruyama",
            diffusion=diffusion,
            start=start,
            seed=7,
        )
        return path.y[:, -1]

    law = {"error_kind": "|mean alignment - exact| in standard errors"}
    contenders = [
        Contender(
            "200 steps of RK4",
            "oscsim",
            engine.rk4(network, start, dt, steps),
            1,
            largest_difference(exact),
            family="stepped",
        ),
        Contender(
            "closed form",
            "oscsim",
            partial(settle, field, start, steps * dt),
            1,
            largest_difference(exact),
            family="closed",
        ),
        *(
            Contender(
                f"closed form, |h| times {factor:g}",
                "oscsim",
                partial(settle, factor * field, start, steps * dt),
                1,
                family="closed scaled",
                extra={"factor": factor},
            )
            for factor in (1e-6, 1e-3, 1e3)
        ),
        Contender(
            "exact draw with noise",
            "oscsim",
            draw,
            1,
            z_score,
            family="draw",
            extra=law,
        ),
        Contender(
            "200 noisy steps",
            "oscsim",
            stepped_noise,
            1,
            z_score,
            family="stepped noise",
            extra=law | {"note": "transient at t = 4, and a step's bias"},
        ),
    ]
    return alternate(f"W4 settled d={d}", contenders, scale.repeats)


def w5_noise(scale: Scale) -> list[Row]:
    """One noisy mean-field trajectory; batches of 16 beside it."""
    n, many = scale.of(1000, 100), scale.of(16, 3)
    long, middle, short = scale.of(10_000, 20), scale.of(500, 20), 20
    problem = problems.mean_field(n)
    (omega,), start, dt = problem
    make = problems.mean_drift
    ours = partial(engine.noisy, omega, start, dt)
    makers: list[tuple[str, str, str, Callable[[int], peers.NoisyRun], int, int]] = [
        (OURS, "oscsim", "oscsim", ours, long, 1),
        (
            f"oscsim, {many} trajectories",
            "oscsim",
            "oscsim batch",
            lambda k: ours(k, n_trajectories=many),
            middle,
            many,
        ),
        (
            "numpy loop",
            "numpy",
            "numpy",
            lambda k: peers.numpy_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "jax fori_loop",
            "jax",
            "jax",
            lambda k: peers.jax_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "diffrax Euler, unsafe path",
            "diffrax",
            "diffrax",
            lambda k: peers.diffrax_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "diffrax Euler, tree",
            "diffrax",
            "diffrax tree",
            lambda k: peers.diffrax_noisy(make, problem, k, tree=True),
            short,
            1,
        ),
        (
            "torchsde euler",
            "torchsde",
            "torchsde",
            lambda k: peers.torchsde_noisy(_row_means(make), problem, k),
            scale.of(100, 20),
            1,
        ),
        (
            f"torchsde euler, batch of {many}",
            "torchsde",
            "torchsde batch",
            lambda k: peers.torchsde_noisy(_row_means(make), problem, k, many),
            scale.of(100, 20),
            many,
        ),
        (
            "sdeint itoEuler",
            "sdeint",
            "sdeint",
            lambda k: peers.sdeint_noisy(make, problem, k),
            4,
            1,
        ),
        (
            "brian2 euler",
            "brian2",
            "brian2",
            lambda k: peers.brian2_noisy(problem, k),
            scale.of(100, 20),
            1,
        ),
    ]
    contenders = [
        attempt(name, library, partial(_noisy, problem, *entry), entry[2])
        for entry in makers
        for name, library in [entry[:2]]
    ]
    rows = alternate("W5", contenders, scale.repeats, size=n)
    if any(r["family"] == "oscsim" and "missing" not in r for r in rows):
        first, second = (
            ours(20, n_trajectories=many, n_threads=k)(1.0, 0.2) for k in (1, 2)
        )
        rows[0]["same_bits_on_1_and_2_threads"] = bool((first == second).all())
    return rows


def _row_means(make: Solver) -> Solver:
    """Return the mean-field drift for states (trajectories, n)."""

    def batched(xp: Any, omega: Any, coupling: Any) -> problems.Field:
        def drift(x: Any) -> Any:
            s, c = xp.sin(x), xp.cos(x)
            means = s.mean(1)[:, None], c.mean(1)[:, None]
            return omega + coupling * (c * means[0] - s * means[1])

        return drift

    del make
    return batched


def _noisy(
    problem: problems.Problem,
    name: str,
    library: str,
    family: str,
    solver: Callable[[int], peers.NoisyRun],
    n_steps: int,
    n_trajectories: int,
) -> Contender:
    """Make a noisy contender and check its drift and its noise apart.

    Error: without noise after 20 steps against 1e-12 (Euler's own error, equal
    for all). Noise: without coupling the variance is 2 D t exactly.
    """
    coupling, diffusion, n_check = 1.0, 0.2, 4 if library == "sdeint" else 20
    t1 = n_check * problem.dt
    field = problems.mean_drift(np, *problem.arrays, coupling)
    exact = problems.references(field, problem.start, [t1])[t1]
    checked = solver(n_check)
    drifted = np.asarray(checked(coupling, 0.0)).reshape(-1, exact.size)
    spread = np.asarray(checked(0.0, diffusion)).reshape(-1, exact.size)
    spread = spread - problem.start - problem.arrays[0] * t1
    ratio = float((spread**2).mean() / (2 * diffusion * t1))
    run = partial(solver(n_steps), coupling, diffusion)
    error = float(np.abs(drifted - exact).max())
    return Contender(
        name,
        library,
        run,
        n_steps * n_trajectories,
        lambda _state: error,
        family=family,
        extra={
            "error_kind": f"without noise, {n_check} steps",
            "noise_variance_ratio": ratio,
            "noise_variance_se": math.sqrt(2 / spread.size),
        },
    )


def w6_shared(scale: Scale) -> list[Row]:
    """One large dense network, 64 trajectories at once, single precision."""
    n, many, steps = scale.of(4096, 128), scale.of(64, 4), scale.of(25, 5)
    problem = problems.shared(n, many)
    weight, omega = problem.arrays
    field = problems.shared_field
    few = problem._replace(start=problem.start[:, :2])
    t1 = steps * problem.dt
    exact = problems.references(field(np, weight, omega), few.start, [t1])[t1]

    def error(state: Any) -> float:
        return float(np.abs(np.asarray(state, np.float64)[:, :2] - exact).max())

    def ours() -> Contender:
        network = osc.Network.kuramoto(weight, omega=omega)
        start = np.ascontiguousarray(problem.start.T)
        run = engine.rk4(
            network, start, problem.dt, steps, "float32", n_trajectories=many
        )
        return Contender(
            OURS32,
            "oscsim",
            run,
            steps,
            lambda state: error(state.T),
            "float32",
            "oscsim32",
        )

    contenders = [attempt(OURS32, "oscsim", ours, "oscsim32")]
    for name, library, solver in (
        ("torch loop", "torch", peers.torch_rk4),
        ("torchdiffeq rk4", "torchdiffeq", peers.torchdiffeq_rk4),
        ("jax fori_loop", "jax", peers.jax_rk4),
        ("numpy loop", "numpy", peers.numpy_rk4),
    ):
        family = "torch" if library == "torchdiffeq" else library

        def peer(name=name, library=library, solver=solver, family=family):
            run = solver(field, problem, steps, dtype="float32")
            return Contender(name, library, run, steps, error, "float32", family)

        contenders.append(attempt(name, library, peer, family))
    contenders += ceilings.products(scale.of(4096, 256))[1:]
    return alternate("W6", contenders, scale.repeats, size=n, n_trajectories=many)


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
                "numpy einsum",
                "numpy",
                peers.numpy_rk4(
                    problems.driven_einsum_field, problem, few, peers.unit_rows
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
