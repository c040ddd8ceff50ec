"""Regular and random graphs, as sparse weights."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from oscsim.errors import SpecError
from oscsim.typing import IntArray

_BYTES_PER_WEIGHT = 8 + 4


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
        If a number is out of range.
    """
    _require_whole("n", n, 2)
    _require_whole("neighbours", neighbours, 1, n // 2)
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
        If a side is not a whole number of at least 1, or there is none.
    """
    sides = tuple(shape)
    if not sides:
        raise SpecError("a lattice needs at least one side, got shape ()")
    for side in sides:
        _require_whole("a side of the lattice", side, 1)
    number = np.arange(np.prod(sides, dtype=np.int64)).reshape(sides)
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
    _require_whole("n", n, 1)
    needed = n * (n - 1) * _BYTES_PER_WEIGHT
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > present:
        raise SpecError(
            f"{n} oscillators have {n * (n - 1)} weights, {needed / 1e9:.3g} GB on a "
            f"machine with {present / 1e9:.3g} GB: use the topology 'all-to-all'"
        )
    dense = np.full((n, n), 1.0 / n)
    np.fill_diagonal(dense, 0.0)
    return csr_array(dense)


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
        If a number is out of range.

    References
    ----------
    .. [1] Watts & Strogatz (1998), Nature 393, 440, figure 1.
    """
    _require_whole("n", n, 3)
    _require_whole("neighbours", neighbours, 1, (n - 1) // 2)
    _require_seed(seed)
    if not 0.0 <= rewire <= 1.0:
        raise SpecError(f"rewire must be a probability in [0, 1], got {rewire}")
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return _of_graph(nx.watts_strogatz_graph(n, 2 * neighbours, rewire, seed=seed))


def random_regular(n: int, degree: int, *, seed: int = 0) -> csr_array:
    """Return a random graph in which everyone has the same number of links.

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
        If a number is out of range.

    References
    ----------
    .. [1] Steger & Wormald (1999), Combin. Probab. Comput. 8, 377.
    """
    _require_whole("n", n, 2)
    _require_whole("degree", degree, 1, n - 1)
    _require_seed(seed)
    if n * degree % 2:
        raise SpecError(
            f"n * degree counts both ends of every link and must be even, got "
            f"{n} * {degree}"
        )
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return _of_graph(nx.random_regular_graph(degree, n, seed=seed))


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
        If a number is out of range.

    References
    ----------
    .. [1] Barabasi & Albert (1999), Science 286, 509.
    """
    _require_whole("n", n, 2)
    _require_whole("links", links, 1, n - 1)
    _require_seed(seed)
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return _of_graph(nx.barabasi_albert_graph(n, links, seed=seed))


def _of_graph(graph: Any) -> csr_array:
    import networkx as nx  # noqa: PLC0415 - slow to import, for random graphs only

    return nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=np.float64)


def _unweighted(n: int, target: IntArray, source: IntArray) -> csr_array:
    weights = csr_array((np.ones(target.size), (target, source)), shape=(n, n))
    weights.sort_indices()
    return weights


def _require_whole(name: str, value: float, low: int, high: int | None = None) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        allowed = f">= {low}" if high is None else f"in {low}..{high}"
        raise SpecError(f"{name} must be a whole number {allowed}, got {value!r}")


def _require_seed(seed: int) -> None:
    _require_whole("seed", seed, 0, 2**32 - 1)
