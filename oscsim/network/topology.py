"""Regular and random graphs, as sparse weights."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from oscsim.arrays import real_number, seed_number, shown, whole_number
from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.typing import IntArray

# What building takes at its peak, measured, in bytes.
_PER_WEIGHT, _PER_LINK_OF_LATTICE, _PER_WEIGHT_OF_ALL = 41, 125, 24
_PER_NODE_OF_GRAPH, _PER_EDGE_OF_GRAPH = 600, 400

_MOST_AXES = 64
"""Of a NumPy array."""


def ring(n: int, neighbours: int = 1, *, directed: bool = False) -> csr_array:
    """Return a ring in which every oscillator hears its nearest ones.

    Parameters
    ----------
    n : int
        Oscillators, at least 2.
    neighbours : int
        How many on each side, 1 .. n // 2.
    directed : bool
        Hear only the ``neighbours`` predecessors i - 1, i - 2, ...

    Returns
    -------
    csr_array, shape (n, n)
        Weights 1; every pair once, however small the ring.

    Raises
    ------
    SpecError
        If a number is out of range, or the graph would not fit into memory.
    """
    n = whole_number("n", n, 2)
    neighbours = whole_number("neighbours", neighbours, 1, n // 2)
    per_row = neighbours if directed else 2 * neighbours
    _require_room("a ring", n, _PER_WEIGHT * n * per_row)
    steps = np.arange(1, neighbours + 1)
    offsets = -steps if directed else np.unique(np.concatenate([-steps, steps]) % n)
    target = np.repeat(np.arange(n), offsets.size)
    return _unweighted(n, target, (target + np.tile(offsets, n)) % n)


def lattice(shape: Sequence[int], *, periodic: bool = False) -> csr_array:
    """Return a rectangular lattice of nearest neighbours in any dimension.

    Parameters
    ----------
    shape : sequence of int
        Sides, e.g. (8, 8); oscillators are numbered with the last index fastest.
    periodic : bool
        Join opposite faces. A side of 2 keeps one link, a side of 1 has none.

    Returns
    -------
    csr_array, shape (n, n)
        Weights 1, n the product of the sides.

    Raises
    ------
    SpecError
        If a side is not a whole number of at least 1, there is none, or the
        lattice would not fit into memory.
    """
    given: Any = shape
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise SpecError(
            f"shape must be the sides of the lattice, e.g. (8, 8), got {shown(given)}"
        )
    sides = tuple(whole_number("a side of the lattice", side, 1) for side in shape)
    if not 1 <= len(sides) <= _MOST_AXES:
        raise SpecError(
            f"a lattice needs at least one side and at most {_MOST_AXES}, got "
            f"{len(sides)}"
        )
    n = math.prod(sides)
    _require_room("a lattice", n, _PER_LINK_OF_LATTICE * n * len(sides))
    number = np.arange(n).reshape(sides)
    pairs = []
    for axis, side in enumerate(sides):
        ahead = np.roll(number, -1, axis)
        keep = np.arange(side) < (side if periodic and side > 2 else side - 1)
        pairs.append((np.compress(keep, number, axis), np.compress(keep, ahead, axis)))
    one = np.concatenate([a.ravel() for a, _ in pairs])
    other = np.concatenate([b.ravel() for _, b in pairs])
    both = np.concatenate([one, other]), np.concatenate([other, one])
    return _unweighted(number.size, *both)


def all_to_all(n: int) -> csr_array:
    """Return the weights 1/n between all pairs, as stored numbers.

    The text ``"all-to-all"`` given to a network means the same in O(n) memory
    and time; this is for networks that are changed afterwards.

    Parameters
    ----------
    n : int
        Oscillators, at least 1.

    Returns
    -------
    csr_array, shape (n, n)

    Raises
    ------
    SpecError
        If ``n`` is out of range or the weights would not fit into memory.
    """
    n = whole_number("n", n, 1)
    n_bytes = _PER_WEIGHT_OF_ALL * n * (n - 1)
    require_memory(
        f"a matrix of the weights between {shown(n)} oscillators",
        n_bytes,
        "use the topology 'all-to-all'",
    )
    others = np.arange(n - 1, dtype=np.int32)
    sources = others + (others >= np.arange(n, dtype=np.int32)[:, None])
    rows = np.arange(n + 1, dtype=np.int64) * (n - 1)
    weights = np.full(n * (n - 1), 1.0 / n)
    return csr_array((weights, sources.ravel(), rows), shape=(n, n))


def small_world(
    n: int, neighbours: int = 2, *, rewire: float = 0.1, seed: int = 0
) -> csr_array:
    """Return a ring whose links are moved at random (Watts-Strogatz).

    Parameters
    ----------
    n : int
        Oscillators, at least 3.
    neighbours : int
        How many on each side before rewiring, 1 .. (n - 1) // 2.
    rewire : float
        Probability to move a link, in [0, 1].
    seed : int
        Same seed, same graph, for one version of networkx.

    Returns
    -------
    csr_array, shape (n, n)
        Symmetric weights 1.

    Raises
    ------
    SpecError
        If a number is out of range, or the graph would not fit into memory.

    References
    ----------
    .. [1] Watts & Strogatz (1998), Nature 393, 440, figure 1.
    """
    n = whole_number("n", n, 3)
    neighbours = whole_number("neighbours", neighbours, 1, (n - 1) // 2)
    seed = seed_number(seed)
    rewire = real_number("rewire", rewire)
    if not 0.0 <= rewire <= 1.0:
        raise SpecError(f"rewire must be a probability in [0, 1], got {rewire}")
    _require_graph("a small world", n, n * neighbours)
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return _of_graph(nx.watts_strogatz_graph(n, 2 * neighbours, rewire, seed=seed))


def random_regular(n: int, degree: int, *, seed: int = 0) -> csr_array:
    """Return a random graph in which everyone has the same number of links.

    Above half of all links the missing ones are drawn: the complement of a
    regular graph is regular, and as random.

    Parameters
    ----------
    n : int
        Oscillators.
    degree : int
        Links of each, 1 .. n - 1; ``n * degree`` must be even.
    seed : int
        Same seed, same graph, for one version of networkx.

    Returns
    -------
    csr_array, shape (n, n)
        Symmetric weights 1.

    Raises
    ------
    SpecError
        If a number is out of range, or the graph would not fit into memory.

    References
    ----------
    .. [1] Steger & Wormald (1999), Combin. Probab. Comput. 8, 377.
    """
    n = whole_number("n", n, 2)
    degree = whole_number("degree", degree, 1, n - 1)
    seed = seed_number(seed)
    if n * degree % 2:
        raise SpecError(
            f"n * degree counts both ends of every link and must be even, got "
            f"{shown(n)} * {shown(degree)}"
        )
    missing = n - 1 - degree
    _require_graph("a random regular graph", n, n * min(degree, missing) // 2)
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    if degree <= missing:
        return _of_graph(nx.random_regular_graph(degree, n, seed=seed))
    _require_room("a random regular graph", n, 2 * _PER_WEIGHT * n * n)
    absent = _of_graph(nx.random_regular_graph(missing, n, seed=seed)).toarray()
    np.fill_diagonal(absent, 1.0)
    return csr_array(1.0 - absent)


def scale_free(n: int, links: int = 2, *, seed: int = 0) -> csr_array:
    """Return a graph grown by preferential attachment (Barabasi-Albert).

    Parameters
    ----------
    n : int
        Oscillators.
    links : int
        Links of each new oscillator, 1 .. n - 1.
    seed : int
        Same seed, same graph, for one version of networkx.

    Returns
    -------
    csr_array, shape (n, n)
        Symmetric weights 1.

    Raises
    ------
    SpecError
        If a number is out of range, or the graph would not fit into memory.

    References
    ----------
    .. [1] Barabasi & Albert (1999), Science 286, 509.
    """
    n = whole_number("n", n, 2)
    links = whole_number("links", links, 1, n - 1)
    seed = seed_number(seed)
    _require_graph("a scale-free graph", n, links * (n - links))
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return _of_graph(nx.barabasi_albert_graph(n, links, seed=seed))


def _of_graph(graph: Any) -> csr_array:
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=np.float64)


def _unweighted(n: int, target: IntArray, source: IntArray) -> csr_array:
    weights = csr_array((np.ones(target.size), (target, source)), shape=(n, n))
    weights.sort_indices()
    return weights


def _require_room(what: str, n: int, n_bytes: int) -> None:
    require_memory(f"{what} of {shown(n)} oscillators", n_bytes, "fewer of them")


def _require_graph(what: str, n: int, n_edges: int) -> None:
    n_bytes = _PER_NODE_OF_GRAPH * n + _PER_EDGE_OF_GRAPH * n_edges
    _require_room(what, n, n_bytes)
