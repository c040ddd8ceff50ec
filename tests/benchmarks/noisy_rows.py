"""W5: a noisy mean field."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.benchmarks import ceilings, engine, peers_noisy, problems
from tests.benchmarks.entries import OURS, Row, Scale, Solver
from tests.benchmarks.measure import Contender, alternate, attempt


def w5_noise(scale: Scale) -> list[Row]:
    """One noisy mean-field trajectory; batches of 16 beside it."""
    n, many = scale.of(1000, 100), scale.of(16, 3)
    long, middle, short = scale.of(10_000, 20), scale.of(500, 20), 20
    problem = problems.mean_field(n)
    (omega,), start, dt = problem
    make = problems.mean_drift
    ours = partial(engine.noisy, omega, start, dt)
    makers: list[
        tuple[str, str, str, Callable[[int], peers_noisy.NoisyRun], int, int]
    ] = [
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
            lambda k: peers_noisy.numpy_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "numpy loop, out=",
            "numpy",
            "numpy",
            lambda k: peers_noisy.numpy_noisy_in_place(problem, k),
            middle,
            1,
        ),
        (
            "jax fori_loop",
            "jax",
            "jax",
            lambda k: peers_noisy.jax_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "jax scan, all normals before",
            "jax",
            "jax",
            lambda k: peers_noisy.jax_noisy(make, problem, k, at_once=True),
            middle,
            1,
        ),
        (
            "diffrax Euler, unsafe path",
            "diffrax",
            "diffrax",
            lambda k: peers_noisy.diffrax_noisy(make, problem, k),
            middle,
            1,
        ),
        (
            "diffrax Euler, tree",
            "diffrax",
            "diffrax tree",
            lambda k: peers_noisy.diffrax_noisy(make, problem, k, tree=True),
            short,
            1,
        ),
        (
            "torchsde euler",
            "torchsde",
            "torchsde",
            lambda k: peers_noisy.torchsde_noisy(_row_means(make), problem, k),
            scale.of(100, 20),
            1,
        ),
        (
            "torchsde euler, lean",
            "torchsde",
            "torchsde",
            lambda k: peers_noisy.torchsde_noisy(
                _row_means(make), problem, k, lean=True
            ),
            scale.of(100, 20),
            1,
        ),
        (
            f"torchsde euler, batch of {many}",
            "torchsde",
            "torchsde batch",
            lambda k: peers_noisy.torchsde_noisy(_row_means(make), problem, k, many),
            scale.of(100, 20),
            many,
        ),
        (
            "sdeint itoEuler",
            "sdeint",
            "sdeint",
            lambda k: peers_noisy.sdeint_noisy(make, problem, k),
            4,
            1,
        ),
        (
            "brian2 euler",
            "brian2",
            "brian2",
            lambda k: peers_noisy.brian2_noisy(problem, k),
            scale.of(100, 20),
            1,
        ),
    ]
    contenders = [
        attempt(name, library, partial(_noisy, problem, *entry), entry[2])
        for entry in makers
        for name, library in [entry[:2]]
    ]
    contenders += ceilings.angles(scale.of(20_000, 200), n_threads=1)[:1]
    contenders.append(ceilings.draws(scale.of(50_000, 500)))
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
    solver: Callable[[int], peers_noisy.NoisyRun],
    n_steps: int,
    n_trajectories: int,
) -> Contender:
    """Make a noisy contender and check its drift and its noise apart.

    Error: without noise after 20 steps against 1e-12 (Euler's own error, equal
    for all). Noise: without coupling the variance is 2 D t exactly.
    """
    coupling, diffusion, n_check = 1.0, 0.2, 20
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
            "error_time": t1,
            "noise_variance_ratio": ratio,
            "noise_variance_se": math.sqrt(2 / spread.size),
        },
    )
