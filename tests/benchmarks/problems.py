"""The systems that are solved: arrays, fields in any array library, references.

A field is written once against the functions that numpy, jax.numpy and torch
share, so that all libraries do the same arithmetic.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.integrate import solve_ivp

State = Any
Field = Callable[[State], State]


class Problem(NamedTuple):
    """One initial-value problem.

    Attributes
    ----------
    arrays : tuple of arrays
        Arguments of the field, in its order.
    start : FloatArray
        State at time 0.
    dt : float
        Step of the fixed-step contenders (s).
    """

    arrays: tuple[Any, ...]
    start: np.ndarray
    dt: float


def dense(n: int) -> Problem:
    """W1: one network, coupling of every pair drawn, sum over j about 2."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0, 4 / n, (n, n))
    np.fill_diagonal(weight, 0)
    omega = rng.normal(0, 1, n)
    return Problem((weight, omega), rng.uniform(-np.pi, np.pi, n), 0.01)


def uniform(n: int) -> Problem:
    """W1 for a library that knows one coupling only: K_ij = 2/n."""
    _, start, dt = dense(n)
    weight = np.full((n, n), 2.0 / n)
    np.fill_diagonal(weight, 0)
    return Problem((weight, dense(n).arrays[1]), start, dt)


def sparse(n: int, degree: int = 8) -> Problem:
    """W2: an undirected graph of constant degree, as neighbours and weights.

    The union of degree/2 random cycles; arrays are neighbours (n, degree),
    weights of the same shape, natural frequencies.
    """
    rng = np.random.default_rng(1)
    columns = []
    for _ in range(degree // 2):
        order = rng.permutation(n)
        after, before = np.empty(n, np.int32), np.empty(n, np.int32)
        after[order], before[order] = np.roll(order, -1), np.roll(order, 1)
        columns += [after, before]
    neighbours = np.stack(columns, 1)
    weight = rng.uniform(0.25, 0.75, (n, degree))
    omega = rng.normal(0, 1, n)
    start = rng.uniform(-np.pi, np.pi, n)
    return Problem((neighbours, weight, omega), start, 0.01)


def as_csr(problem: Problem) -> Problem:
    """Return a sparse problem with its graph as a SciPy matrix."""
    neighbours, weight, omega = problem.arrays
    n, degree = neighbours.shape
    matrix = scipy.sparse.csr_array(
        (weight.ravel(), neighbours.ravel(), np.arange(0, n * degree + 1, degree)),
        shape=(n, n),
    )
    return problem._replace(arrays=(matrix, omega))


def batch(n_networks: int, n: int) -> Problem:
    """W3: independent dense networks of the same size."""
    rng = np.random.default_rng(2)
    weight = rng.uniform(0, 4 / n, (n_networks, n, n))
    weight *= 1 - np.eye(n)
    omega = rng.normal(0, 1, (n_networks, n))
    start = rng.uniform(-np.pi, np.pi, (n_networks, n))
    return Problem((weight, omega), start, 0.01)


def driven(n: int, d: int) -> Problem:
    """W4: unit vectors, each in its own constant field."""
    rng = np.random.default_rng(3)
    field = rng.normal(0, 1, (n, d))
    start = rng.normal(0, 1, (n, d))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    return Problem((field,), start, 0.02)


def mean_field(n: int) -> Problem:
    """W5: natural frequencies of oscillators that all see their mean."""
    rng = np.random.default_rng(4)
    omega = rng.normal(0, 0.5, n)
    return Problem((omega,), rng.uniform(-np.pi, np.pi, n), 0.01)


def shared(n: int, n_trajectories: int) -> Problem:
    """W6: one dense network, many starts; states are columns (n, trajectories)."""
    rng = np.random.default_rng(5)
    weight = rng.uniform(-2 / np.sqrt(n), 2 / np.sqrt(n), (n, n))
    np.fill_diagonal(weight, 0)
    omega = rng.normal(0, 1, n)
    start = rng.uniform(-np.pi, np.pi, (n, n_trajectories))
    return Problem((weight, omega), start, 0.02)


def dense_field(xp: Any, weight: Any, omega: Any) -> Field:
    """Sines and cosines once per oscillator, two products with the matrix."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        return omega + c * (weight @ s) - s * (weight @ c)

    return drift


def paired_field(xp: Any, weight: Any, omega: Any) -> Field:
    """The same with one product with [sin | cos]; also for batches of networks."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        both = weight @ xp.stack((s, c), -1)
        return omega + c * both[..., 0] - s * both[..., 1]

    return drift


def pairwise_field(xp: Any, weight: Any, omega: Any) -> Field:
    """The definition: a sine of every difference; also for batches."""

    def drift(x: State) -> State:
        return omega + (weight * xp.sin(x[..., None, :] - x[..., :, None])).sum(-1)

    return drift


def gathered_field(xp: Any, neighbours: Any, weight: Any, omega: Any) -> Field:
    """A graph of constant degree by gathering the neighbours."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        sines = (weight * s[neighbours]).sum(-1)
        cosines = (weight * c[neighbours]).sum(-1)
        return omega + c * sines - s * cosines

    return drift


def edge_field(xp: Any, neighbours: Any, weight: Any, omega: Any) -> Field:
    """The definition on a graph of constant degree: a sine per edge."""

    def drift(x: State) -> State:
        return omega + (weight * xp.sin(x[neighbours] - x[:, None])).sum(-1)

    return drift


def driven_field(xp: Any, field: Any) -> Field:
    """(I - z z^T) h of every row."""

    def drift(z: State) -> State:
        return field - z * (z * field).sum(1)[:, None]

    return drift


def driven_einsum_field(xp: Any, field: Any) -> Field:
    """The same without a temporary for the product: faster in numpy."""

    def drift(z: State) -> State:
        return field - z * xp.einsum("bd,bd->b", z, field)[:, None]

    return drift


def shared_field(xp: Any, weight: Any, omega: Any) -> Field:
    """All trajectories in one product with [sin | cos]."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        both = weight @ xp.concatenate((s, c), 1)
        n = x.shape[1]
        return omega[:, None] + c * both[:, :n] - s * both[:, n:]

    return drift


def mean_drift(xp: Any, omega: Any, coupling: Any) -> Field:
    """All-to-all coupling / n through the two means."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        return omega + coupling * (c * s.mean() - s * c.mean())

    return drift


def references(
    field: Field, start: np.ndarray, times: Iterable[float]
) -> dict[float, np.ndarray]:
    """Return the states at some times by DOP853 with tolerance 1e-12.

    The integration restarts at each time: no interpolation.
    """
    states: dict[float, np.ndarray] = {}
    now, y = 0.0, start.ravel()
    for t in sorted(set(times)):
        done = solve_ivp(
            lambda _t, x: np.asarray(field(x.reshape(start.shape))).ravel(),
            (now, t),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-12,
        )
        now, y = t, done.y[:, -1]
        states[t] = y.reshape(start.shape)
    return states


@cache
def _quad_settled(n: int, d: int, t: float) -> np.ndarray:
    (field,), start, _ = driven(n, d)
    h, z = field.astype(np.longdouble), start.astype(np.longdouble)
    length = np.sqrt((h * h).sum(1, keepdims=True))
    target = h / length
    cos = (z * target).sum(1, keepdims=True)
    across = z - cos * target
    sin = np.sqrt((across * across).sum(1, keepdims=True))
    half = np.arctan2(sin, cos) / 2  # whatever the last digit of |z|
    angle = 2 * np.arctan(np.tan(half) * np.exp(-length * np.longdouble(t)))
    settled = np.cos(angle) * target + np.sin(angle) * across / sin
    return np.asarray(settled, dtype=np.float64)


def settled(problem: Problem, t: float) -> np.ndarray:
    """Return the exact states of a driven problem in extended precision.

    tan(phi/2) = tan(phi_0/2) exp(-|h| t), phi the angle to the field.
    """
    n, d = problem.start.shape
    return _quad_settled(n, d, t)
