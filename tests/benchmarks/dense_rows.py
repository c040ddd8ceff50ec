"""W1: one dense network, fixed step and with error control."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import oscsim as osc
from tests.benchmarks import ceilings, engine, layouts, peers, peers_adaptive, problems
from tests.benchmarks.entries import Entry, Row, Scale, at_end, by, fixed_step, ours
from tests.benchmarks.measure import (
    Contender,
    Missing,
    alternate,
    attempt,
    largest_difference,
)

TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)


def w1_dense(scale: Scale) -> list[Row]:
    """One dense network: a product of a matrix and a vector per evaluation."""
    n, steps, few = scale.of(1000, 60), scale.of(100, 20), 2
    n_checked = scale.of(20, 5)
    problem = problems.dense(n)
    weight, omega = problem.arrays
    dense, pair = problems.dense_field, problems.paired_field
    rows, turned = layouts.row_pair_field, layouts.transposed_weight(problem)

    def in_place(n_steps: int) -> engine.Run:
        parts = [(layouts.dense_into(weight, omega), problem.start)]
        return peers.numpy_in_place(parts, problem.dt, n_steps)

    forms = (
        ("2 products", dense, problem),
        ("[sin | cos]", pair, problem),
        ("[sin; cos]", rows, turned),
    )
    drivers = (
        ("numpy", "numpy", "numpy", peers.numpy_rk4),
        ("jax fori_loop", "jax", "jax", peers.jax_rk4),
        ("torch loop", "torch", "torch", peers.torch_rk4),
    )
    entries = [
        *ours(lambda: osc.Network.kuramoto(weight, omega=omega), problem, steps),
        Entry("numpy, 2 products, out=", "numpy", "numpy", in_place, steps),
        *(
            Entry(f"{title}, {form}", library, family, by(solver, make, solved), steps)
            for title, library, family, solver in drivers
            for form, make, solved in forms
        ),
        Entry(
            "torchdiffeq rk4, 2 products",
            "torchdiffeq",
            "torch",
            by(peers.torchdiffeq_rk4, dense, problem),
            steps,
        ),
        Entry(
            "numpy, sines of all differences",
            "numpy",
            "naive",
            by(peers.numpy_rk4, problems.pairwise_field, problem),
            few,
        ),
    ]
    exact = at_end(dense(np, weight, omega), problem, n_checked)
    contenders = fixed_step(exact, n_checked, problem.dt, entries)
    contenders.append(_kuramoto(n, few, n_checked))
    size = 8 * n * n
    contenders += ceilings.reads("of the matrix", size, scale.of(20, 2))
    contenders += ceilings.reads("of memory", scale.of(512, 16) * 2**20, 1)
    return alternate("W1", contenders, scale.repeats, size=n)


def _kuramoto(n: int, n_steps: int, n_checked: int) -> Contender | Missing:
    def make() -> Contender:
        problem = problems.uniform(n)
        field = problems.dense_field(np, *problem.arrays)
        exact = at_end(field, problem, n_checked)
        checked = peers.kuramoto_package(problem, n_checked)
        return Contender(
            "kuramoto (odeint)",
            "kuramoto",
            peers.kuramoto_package(problem, n_steps),
            n_steps,
            lambda _state: largest_difference(exact)(checked()),
            family="naive",
            extra={
                "note": "uniform coupling; per output step of the same length",
                "error_time": n_checked * problem.dt,
            },
        )

    return attempt("kuramoto (odeint)", "kuramoto", make, "naive")


def w1_adaptive(scale: Scale) -> list[Row]:
    """The same network with error control, at many tolerances.

    Forms of one method compete: at every error its fastest counts.
    """
    n, t1 = scale.of(1000, 60), 5.0
    problem = problems.dense(n)
    weight, omega = problem.arrays
    field = problems.dense_field
    exact = problems.references(field(np, weight, omega), problem.start, [t1])[t1]
    turned = layouts.transposed_weight(problem)

    def ours() -> Callable[[float], Any]:
        network = osc.Network.kuramoto(weight, omega=omega)
        return engine.adaptive(network, problem.start, t1)

    forms = (
        ("2 products", problems.dense_field, problem),
        ("[sin; cos]", layouts.row_pair_field, turned),
    )
    makers: list[tuple[str, str, str, Callable[[], Callable[[float], Any]]]] = [
        ("oscsim", "oscsim", "", ours),
        *(
            (
                f"{title} {method}",
                library,
                f", {form}",
                partial(solver, make, solved, t1, method),
            )
            for title, library, solver, methods in (
                ("SciPy", "scipy", peers_adaptive.scipy_adaptive, ("DOP853", "RK45")),
                (
                    "diffrax",
                    "diffrax",
                    peers_adaptive.diffrax_adaptive,
                    ("Tsit5", "Dopri8"),
                ),
            )
            for method in methods
            for form, make, solved in forms
        ),
    ]
    count = partial(peers_adaptive.scipy_evaluations, field, problem, t1)
    contenders: list[Contender | Missing] = []
    for family, library, form, maker in makers:
        name = f"{family}{form}"
        try:
            at = maker()
        except Exception as found:
            contenders.append(attempt(name, library, partial(_raise, found), family))
            continue
        contenders += [
            Contender(
                f"{name}, tolerance {tolerance:g}",
                library,
                at(tolerance),
                1,
                largest_difference(exact),
                family=family,
                extra={"tolerance": tolerance}
                | (
                    {"evaluations": count("DOP853", tolerance)}
                    if name == "SciPy DOP853, 2 products"
                    else {}
                ),
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
        at, build = peers_adaptive.jitcode_adaptive(problem, t1)
        build()
        return Contender(
            "JiTCODE DOP853", "jitcode", at(tolerance), 1, error, family="jitcode"
        )

    contenders = [
        attempt("oscsim adaptive", "oscsim", ours, "oscsim"),
        Contender(
            "SciPy DOP853",
            "scipy",
            peers_adaptive.scipy_adaptive(problems.dense_field, problem, t1, "DOP853")(
                tolerance
            ),
            1,
            error,
            family="scipy",
        ),
        attempt("JiTCODE DOP853", "jitcode", compiled, "jitcode"),
    ]
    return alternate(f"W1 adaptive, N = {n}", contenders, scale.repeats)
