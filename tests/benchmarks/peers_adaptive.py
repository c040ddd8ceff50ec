"""Drivers of the other libraries with error control; each takes the tolerance."""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import chdir
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tests.benchmarks.peers import Make, Run, jax_and_numpy, jax_field
from tests.benchmarks.problems import Problem


def diffrax_adaptive(
    make: Make, problem: Problem, t1: float, method: str
) -> Callable[[float], Run]:
    """A diffrax solver with error control; the result takes the tolerance."""
    import diffrax

    jax, _ = jax_and_numpy()
    drift, start = jax_field(make, problem, "float64")

    @jax.jit
    def solve(x: Any, tolerance: Any) -> Any:
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _t, y, _a: drift(y)),
            getattr(diffrax, method)(),
            0.0,
            t1,
            None,
            x,
            stepsize_controller=control,
            max_steps=100_000,
        ).ys[-1]

    return lambda tolerance: lambda: np.asarray(solve(start, tolerance))


def scipy_adaptive(
    make: Make, problem: Problem, t1: float, method: str
) -> Callable[[float], Run]:
    """``solve_ivp`` with a numpy field; the result takes the tolerance."""
    drift = make(np, *problem.arrays)

    def solve(tolerance: float) -> np.ndarray:
        done = solve_ivp(
            lambda _t, x: drift(x),
            (0.0, t1),
            problem.start,
            method=method,
            rtol=tolerance,
            atol=tolerance,
            t_eval=[t1],
        )
        return done.y[:, -1]

    return lambda tolerance: lambda: solve(tolerance)


def scipy_evaluations(
    make: Make, problem: Problem, t1: float, method: str, tolerance: float
) -> int:
    """Return how often ``solve_ivp`` evaluates the field."""
    drift = make(np, *problem.arrays)
    done = solve_ivp(
        lambda _t, x: drift(x),
        (0.0, t1),
        problem.start,
        method=method,
        rtol=tolerance,
        atol=tolerance,
    )
    return int(done.nfev)


def jitcode_adaptive(
    problem: Problem, t1: float
) -> tuple[Callable[[float], Run], Callable[[], None]]:
    """JiTCODE's DOP853 on compiled C; also returns what builds it."""
    from jitcode import jitcode, y
    from symengine import sin

    weight, omega = problem.arrays
    n = len(omega)

    def equations() -> Iterable[Any]:
        for i in range(n):
            yield float(omega[i]) + sum(
                float(weight[i, j]) * sin(y(j) - y(i)) for j in range(n) if j != i
            )

    ode = jitcode(equations, n=n, verbose=False)

    def build() -> None:
        # Its setuptools call looks for packages in the current folder.
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            ode.generate_f_C(simplify=False)
            ode.compile_C()

    def at(tolerance: float) -> Run:
        def run() -> np.ndarray:
            ode.set_integrator("dop853", rtol=tolerance, atol=tolerance)
            ode.set_initial_value(problem.start, 0.0)
            return np.asarray(ode.integrate(t1))

        return run

    return at, build
