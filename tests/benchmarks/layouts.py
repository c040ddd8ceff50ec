"""Other arrangements of the same systems, which some libraries run faster.

Each function returns the problem with its arrays arranged anew; the field of that
arrangement stands beside it. ``*_into`` fields are for numpy alone and write into
an array that they are given.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.problems import Field, Problem, State

FieldInto = Callable[[np.ndarray, np.ndarray], None]


def reversed_axes(problem: Problem) -> Problem:
    """Return real arrays and start with their axes in reverse, contiguous.

    Driven vectors become (d, n), batches of networks (source, target, network).
    """
    arrays = (np.ascontiguousarray(a.T) for a in problem.arrays)
    return Problem(tuple(arrays), np.ascontiguousarray(problem.start.T), problem.dt)


def transposed_weight(problem: Problem) -> Problem:
    """Return the problem with weight[..., source, target]."""
    weight, omega = problem.arrays
    turned = np.ascontiguousarray(np.swapaxes(weight, -1, -2))
    return problem._replace(arrays=(turned, omega))


def row_pair_field(xp: Any, weight: Any, omega: Any) -> Field:
    """[sin; cos] as two rows times weight[..., source, target]."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        both = xp.stack((s, c), -2) @ weight
        return omega + c * both[..., 0, :] - s * both[..., 1, :]

    return drift


def summed_field(xp: Any, weight: Any, omega: Any) -> Field:
    """Sums over the source written out, which a compiler can fuse."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        sines = (weight * s[..., None, :]).sum(-1)
        cosines = (weight * c[..., None, :]).sum(-1)
        return omega + c * sines - s * cosines

    return drift


def einsum_field(xp: Any, weight: Any, omega: Any) -> Field:
    """The two products as ``einsum``."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        sines = xp.einsum("...ij,...j->...i", weight, s)
        cosines = xp.einsum("...ij,...j->...i", weight, c)
        return omega + c * sines - s * cosines

    return drift


def innermost_field(xp: Any, weight: Any, omega: Any) -> Field:
    """Networks along the last axis: weight[source, target, network]."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        sines, cosines = (weight * s[:, None]).sum(0), (weight * c[:, None]).sum(0)
        return omega + c * sines - s * cosines

    return drift


def trajectory_rows_field(xp: Any, weight: Any, omega: Any) -> Field:
    """Trajectories as rows (trajectories, n), weight[source, target]."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        both = xp.concatenate((s, c), 0) @ weight
        m = x.shape[0]
        return omega + c * both[:m] - s * both[m:]

    return drift


def columns_field(xp: Any, field: Any) -> Field:
    """(I - z z^T) h of every column of (d, n)."""

    def drift(z: State) -> State:
        return field - z * (z * field).sum(0)

    return drift


def columns_einsum_field(xp: Any, field: Any) -> Field:
    """The same without a temporary for the product."""

    def drift(z: State) -> State:
        return field - z * xp.einsum("db,db->b", z, field)

    return drift


def unit_columns(z: Any) -> Any:
    """Divide columns by their lengths."""
    return z / (z * z).sum(0) ** 0.5


def paired_gather_field(xp: Any, neighbours: Any, weight: Any, omega: Any) -> Field:
    """A graph of constant degree, sine and cosine of a neighbour side by side."""

    def drift(x: State) -> State:
        s, c = xp.sin(x), xp.cos(x)
        both = xp.einsum("ik,ikc->ic", weight, xp.stack((s, c), -1)[neighbours])
        return omega + c * both[:, 0] - s * both[:, 1]

    return drift


def jax_segment_field(jnp: Any, neighbours: Any, weight: Any, omega: Any) -> Field:
    """The same graph as a list of edges, by jax's ``segment_sum``."""
    import jax

    n, degree = neighbours.shape
    source, target = neighbours.ravel(), jnp.repeat(jnp.arange(n), degree)

    def summed(values: Any) -> Any:
        edges = weight.ravel() * values[source]
        return jax.ops.segment_sum(edges, target, n, indices_are_sorted=True)

    def drift(x: State) -> State:
        s, c = jnp.sin(x), jnp.cos(x)
        return omega + c * summed(s) - s * summed(c)

    return drift


def jax_sparse_field(kind: str) -> Callable[..., Field]:
    """The same graph as one of jax's sparse matrices, times [sin | cos]."""

    def make(jnp: Any, neighbours: Any, weight: Any, omega: Any) -> Field:
        from jax.experimental import sparse

        n, degree = neighbours.shape
        values, source = weight.ravel(), neighbours.ravel()
        if kind == "BCSR":
            begins = jnp.arange(0, n * degree + 1, degree, dtype=source.dtype)
            matrix: Any = sparse.BCSR((values, source, begins), shape=(n, n))
        else:
            target = jnp.repeat(jnp.arange(n, dtype=source.dtype), degree)
            places = jnp.stack((target, source), 1)
            matrix = sparse.BCOO((values, places), shape=(n, n), indices_sorted=True)

        def drift(x: State) -> State:
            s, c = jnp.sin(x), jnp.cos(x)
            both = matrix @ jnp.stack((s, c), 1)
            return omega + c * both[:, 0] - s * both[:, 1]

        return drift

    return make


def dense_into(weight: np.ndarray, omega: np.ndarray) -> FieldInto:
    """Two products of the matrix with a vector, no temporary."""
    s, c, by_sine, by_cosine = (np.empty_like(omega) for _ in range(4))

    def drift(x: np.ndarray, out: np.ndarray) -> None:
        np.sin(x, out=s)
        np.cos(x, out=c)
        np.dot(weight, s, out=by_sine)
        np.dot(weight, c, out=by_cosine)
        np.multiply(c, by_sine, out=out)
        np.multiply(s, by_cosine, out=s)
        np.subtract(out, s, out=out)
        np.add(out, omega, out=out)

    return drift


def shared_into(weight: np.ndarray, omega: np.ndarray, m: int) -> FieldInto:
    """All m trajectories (columns) in one product, no temporary."""
    angles = np.empty((len(omega), 2 * m), weight.dtype)
    products = np.empty_like(angles)
    s, c = angles[:, :m], angles[:, m:]

    def drift(x: np.ndarray, out: np.ndarray) -> None:
        np.sin(x, out=s)
        np.cos(x, out=c)
        np.matmul(weight, angles, out=products)
        np.multiply(c, products[:, :m], out=out)
        np.multiply(s, products[:, m:], out=s)
        np.subtract(out, s, out=out)
        np.add(out, omega[:, None], out=out)

    return drift


def columns_into(field: np.ndarray) -> FieldInto:
    """Driven vectors as columns (d, n), no temporary."""
    along = np.empty(field.shape[1], field.dtype)

    def drift(z: np.ndarray, out: np.ndarray) -> None:
        np.einsum("db,db->b", z, field, out=along)
        np.multiply(z, along, out=out)
        np.subtract(field, out, out=out)

    return drift


def unit_columns_into(z: np.ndarray) -> None:
    """Divide columns by their lengths, in place."""
    lengths = np.einsum("db,db->b", z, z)
    np.sqrt(lengths, out=lengths)
    np.divide(z, lengths, out=z)
