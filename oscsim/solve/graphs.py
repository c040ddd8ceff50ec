"""Topologies as they are named in a file."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.sparse import coo_array

from oscsim.arrays import shown
from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.network import topology
from oscsim.typing import FloatArray

Count = Annotated[int, Field(ge=1)]
Word = Annotated[int, Field(ge=0, lt=2**32)]
Weighted: TypeAlias = tuple[Any, int]
"""What `Network.kuramoto` takes as topology, and the number of oscillators."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AllToAll(_Table):
    """Everyone with everyone, weights 1/n."""

    kind: Literal["all-to-all"]
    n: Count

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        return "all-to-all", self.n


class Ring(_Table):
    """See `oscsim.network.topology.ring`."""

    kind: Literal["ring"]
    n: Count
    neighbours: Count = 1
    directed: bool = False

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        found = topology.ring(self.n, self.neighbours, directed=self.directed)
        return found, self.n


class Lattice(_Table):
    """See `oscsim.network.topology.lattice`."""

    kind: Literal["lattice"]
    shape: list[Count]
    periodic: bool = False

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        found = topology.lattice(self.shape, periodic=self.periodic)
        return found, found.shape[0]


class SmallWorld(_Table):
    """See `oscsim.network.topology.small_world`."""

    kind: Literal["small-world"]
    n: Count
    neighbours: Count = 2
    rewire: float = 0.1
    seed: Word = 0

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        found = topology.small_world(
            self.n, self.neighbours, rewire=self.rewire, seed=self.seed
        )
        return found, self.n


class RandomRegular(_Table):
    """See `oscsim.network.topology.random_regular`."""

    kind: Literal["random-regular"]
    n: Count
    degree: Count
    seed: Word = 0

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        return topology.random_regular(self.n, self.degree, seed=self.seed), self.n


class ScaleFree(_Table):
    """See `oscsim.network.topology.scale_free`."""

    kind: Literal["scale-free"]
    n: Count
    links: Count = 2
    seed: Word = 0

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        return topology.scale_free(self.n, self.links, seed=self.seed), self.n


class Edges(_Table):
    """Numbered oscillators and their edges: source, target and weight (or 1).

    Given in ``edges``, or in a text file ``file`` with one edge a line.
    """

    kind: Literal["edges"]
    n: Count
    edges: list[list[Annotated[float, Field(allow_inf_nan=False)]]] | None = None
    file: str | None = None
    directed: bool = False

    def weights(self, folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        if (self.edges is None) == (self.file is None):
            raise SpecError("topology 'edges' needs either edges or file, not both")
        if self.file is None:
            rows, where = [list(map(float, row)) for row in self.edges or []], "edges"
        else:
            rows, where = _read_rows(folder / self.file), self.file
        n_bytes = 100 * len(rows) + 8 * self.n
        require_memory(
            f"a network of {shown(self.n)} oscillators", n_bytes, "fewer of them"
        )
        return self._matrix(self._checked(rows, where)), self.n

    def _checked(self, rows: list[list[float]], where: str) -> FloatArray:
        """Return source, target and weight of every edge, the first fault named."""
        for number, row in enumerate(rows):
            if len(row) not in (2, 3):
                raise SpecError(
                    f"edge {number} of {where} must be source, target[, weight], "
                    f"got {row}"
                )
        edges = np.array([row if len(row) == 3 else [*row, 1.0] for row in rows])
        edges = edges.reshape(-1, 3)
        nodes = edges[:, :2]
        outside = (nodes < 0) | (nodes >= self.n) | (nodes != np.floor(nodes))
        if outside.any():
            number = int(outside.any(axis=1).argmax())
            source, target = nodes[number]
            raise SpecError(
                f"edge {number} of {where} joins {source:.17g} and {target:.17g}: "
                f"oscillators are numbered 0..{self.n - 1}"
            )
        loops = nodes[:, 0] == nodes[:, 1]
        if loops.any():
            number = int(loops.argmax())
            raise SpecError(
                f"edge {number} of {where} joins {nodes[number, 0]:.17g} to itself: "
                "remove it"
            )
        return edges

    def _matrix(self, edges: FloatArray) -> Any:
        source, target = edges[:, :2].astype(np.int64).T
        values = edges[:, 2]
        if not self.directed:
            source, target = (
                np.concatenate([source, target]),
                np.concatenate([target, source]),
            )
            values = np.concatenate([values, values])
        order = np.lexsort((source, target))
        source, target, values = source[order], target[order], values[order]
        again = (np.diff(source) == 0) & (np.diff(target) == 0)
        if again.any():
            j, i = (int(ends[again.argmax()]) for ends in (source, target))
            count = np.count_nonzero((source == j) & (target == i))
            raise SpecError(
                f"there are {count} edges from {j} to {i}: give their sum once"
            )
        return coo_array((values, (target, source)), shape=(self.n, self.n)).tocsr()


class Matrix(_Table):
    """All weights, ``weights[i][j]`` from j to i."""

    kind: Literal["matrix"]
    matrix: list[list[float]]

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        if len({len(row) for row in self.matrix} | {len(self.matrix)}) != 1:
            raise SpecError(
                "a matrix must be square, got rows of "
                f"{shown([len(row) for row in self.matrix])} for {len(self.matrix)} "
                "rows"
            )
        return np.array(self.matrix, dtype=np.float64), len(self.matrix)


Graph: TypeAlias = Annotated[
    AllToAll | Ring | Lattice | SmallWorld | RandomRegular | ScaleFree | Edges | Matrix,
    Field(discriminator="kind"),
]


def _read_rows(path: Path) -> list[list[float]]:
    """Read lines of numbers; ``#`` begins a comment."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SpecError(f"there is no file of edges {path}") from None
    except (OSError, ValueError) as error:
        raise SpecError(f"file of edges {path} cannot be read: {error}") from None
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = [math.nan]
        if not all(map(math.isfinite, row)):
            raise SpecError(
                f"line {number} of {path} must hold source, target[, weight] as "
                f"finite numbers, got {shown(line.strip())}"
            )
        if row:
            rows.append(row)
    return rows
