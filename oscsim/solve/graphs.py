"""Topologies as they are named in a file."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.sparse import coo_array

from oscsim.errors import SpecError
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
        found = np.array([self._edge(k, row, where) for k, row in enumerate(rows)])
        return self._matrix(found.reshape(-1, 3)), self.n

    def _edge(self, number: int, row: list[float], where: str) -> list[float]:
        name = f"edge {number} of {where}"
        if len(row) not in (2, 3):
            raise SpecError(f"{name} must be source, target[, weight], got {row}")
        if any(node not in range(self.n) for node in row[:2]):
            raise SpecError(
                f"{name} joins {row[0]:g} and {row[1]:g}: oscillators are numbered "
                f"0..{self.n - 1}"
            )
        if row[0] == row[1]:
            raise SpecError(f"{name} joins {row[0]:g} to itself: remove it")
        return row if len(row) == 3 else [*row, 1.0]

    def _matrix(self, edges: FloatArray) -> Any:
        source, target = edges[:, :2].astype(np.int64).T
        values = edges[:, 2]
        pairs = np.stack([target, source])
        if not self.directed:
            pairs = np.concatenate([pairs, pairs[::-1]], axis=1)
            values = np.concatenate([values, values])
        seen, counts = np.unique(pairs, axis=1, return_counts=True)
        if np.any(counts > 1):
            i, j = seen[:, counts.argmax()]
            raise SpecError(
                f"there are {counts.max()} edges from {j} to {i}: give their sum once"
            )
        return coo_array((values, tuple(pairs)), shape=(self.n, self.n)).tocsr()


class Matrix(_Table):
    """All weights, ``weights[i][j]`` from j to i."""

    kind: Literal["matrix"]
    matrix: list[list[float]]

    def weights(self, _folder: Path) -> Weighted:
        """Return the topology and the number of oscillators."""
        if len({len(row) for row in self.matrix} | {len(self.matrix)}) != 1:
            raise SpecError(
                "a matrix must be square, got rows of "
                f"{[len(row) for row in self.matrix]} for {len(self.matrix)} rows"
            )
        return np.array(self.matrix, dtype=np.float64), len(self.matrix)


Graph: TypeAlias = Annotated[
    AllToAll | Ring | Lattice | SmallWorld | RandomRegular | ScaleFree | Edges | Matrix,
    Field(discriminator="kind"),
]


def _read_rows(path: Path) -> list[list[float]]:
    """Read lines of numbers; ``#`` begins a comment."""
    try:
        text = path.read_text(encoding="utf-8")
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
            row = [float("nan")]
        if not np.isfinite(row).all():
            raise SpecError(
                f"line {number} of {path} must hold source, target[, weight] as "
                f"finite numbers, got {line.strip()!r}"
            )
        if row:
            rows.append(row)
    return rows
