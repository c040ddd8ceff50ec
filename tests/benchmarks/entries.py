"""What the rows of the benchmark share: their scale, and fixed-step contenders.

Contenders differ in speed by orders of magnitude and so do their numbers of steps;
times are per step. Errors are those of further runs, untimed, that all end at one
time: where a flow contracts, errors at different times cannot be compared.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import oscsim as osc
from tests.benchmarks import engine, problems
from tests.benchmarks.measure import Contender, Missing, attempt, largest_difference

Row = dict[str, Any]
Solver = Callable[..., Any]
Solve = Callable[[int], engine.Run]

OURS, OURS32 = "oscsim float64", "oscsim float32"


class Scale(NamedTuple):
    """How much work: full, or small for a quick look at whether all works."""

    quick: bool
    repeats: int

    def of(self, full: int, quick: int) -> int:
        """Return the size of something."""
        return quick if self.quick else full


class Entry(NamedTuple):
    """A fixed-step contender before it is made.

    ``solve`` takes the number of steps; ``is_turned`` if its states have their axes
    in reverse.
    """

    name: str
    library: str
    family: str
    solve: Solve
    n_steps: int
    dtype: str = "float64"
    is_turned: bool = False


def by(
    solver: Solver, make: Solver, problem: problems.Problem, **options: Any
) -> Solve:
    """Return what solves a problem with a driver, given the number of steps."""
    return lambda n_steps: solver(make, problem, n_steps, **options)


def once(make: Callable[[], Solve]) -> Solve:
    """Make what compiles a single step at its first use, and keep it."""
    kept = cache(make)
    return lambda n_steps: kept()(n_steps)


def ours(
    network: Callable[[], osc.Network], problem: problems.Problem, steps: int
) -> list[Entry]:
    """Return our fixed-step entries in both precisions."""

    def solve(n_steps: int, dtype: str) -> engine.Run:
        return engine.rk4(network(), problem.start, problem.dt, n_steps, dtype)

    return [
        Entry(name, "oscsim", family, partial(solve, dtype=dtype), steps, dtype)
        for name, family, dtype in (
            (OURS, "oscsim", "float64"),
            (OURS32, "oscsim32", "float32"),
        )
    ]


def at_end(
    field: problems.Field, problem: problems.Problem, n_steps: int
) -> np.ndarray:
    """Return the state after some steps, to 1e-12."""
    t1 = n_steps * problem.dt
    return problems.references(field, problem.start, [t1])[t1]


def fixed_step(
    exact: np.ndarray, n_checked: int, dt: float, entries: Iterable[Entry]
) -> list[Contender | Missing]:
    """Make the contenders; ``exact`` is the state after ``n_checked`` steps.

    Every error is that of a run of ``n_checked`` steps.
    """

    def made(entry: Entry) -> Contender:
        run = entry.solve(entry.n_steps)
        is_same = entry.n_steps == n_checked
        checked = run if is_same else entry.solve(n_checked)
        difference = largest_difference(exact)

        def error(state: Any) -> float:
            found = np.asarray(state if is_same else checked())
            return difference(found.T if entry.is_turned else found)

        return Contender(
            entry.name,
            entry.library,
            run,
            entry.n_steps,
            error,
            entry.dtype,
            entry.family,
            extra={"error_time": n_checked * dt},
        )

    return [attempt(e.name, e.library, partial(made, e), e.family) for e in entries]
