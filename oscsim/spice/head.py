"""A head of fixed-query attention, as the circuits realise it."""

from dataclasses import dataclass

import numpy as np

from oscsim.errors import NetlistError
from oscsim.spice.values import require_names
from oscsim.typing import FloatArray

SMALLEST = 1e-12
"""Conductances below this share of full scale are left out, as SPICE's gmin is."""


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """Queries pulled by fixed anchors: ``h_i = sum_j w_ij r_j``.

    Attributes
    ----------
    weights : FloatArray, shape (queries, anchors)
        w_ij >= 0 in any unit of rate; 0 where there is no coupling.
    anchors : FloatArray, shape (anchors, d)
        r_j of any length but 0: a circuit has unit anchors and conductances
        proportional to ``w_ij |r_j|``.
    start : FloatArray, shape (queries, d)
        Unit vectors at time 0.
    labels : tuple of str
        Names of the queries in the netlist; 0, 1, 2... if empty.
    """

    weights: FloatArray
    anchors: FloatArray
    start: FloatArray
    labels: tuple[str, ...] = ()

    @property
    def d(self) -> int:
        """Number of components."""
        return int(self.anchors.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each query in the netlist."""
        return self.labels or tuple(map(str, range(len(self.weights))))

    @property
    def full_scale(self) -> float:
        """Largest ``sum_j w_ij |r_j|``: a time t here is t times this in a circuit."""
        return float(self._loads().sum(axis=1).max())

    @property
    def conductances(self) -> FloatArray:
        """Conductances in full scales, shape (queries, anchors): rows sum to <= 1."""
        loads = self._loads() / self.full_scale
        return np.where(loads < SMALLEST, 0.0, loads)

    @property
    def directions(self) -> FloatArray:
        """Unit vectors of the anchors, shape (anchors, d)."""
        lengths = np.linalg.norm(self.anchors, axis=1, keepdims=True)
        unit: FloatArray = self.anchors / lengths
        return unit

    @property
    def drives(self) -> FloatArray:
        """h_i in full scales, shape (queries, d); lengths are at most 1."""
        drive: FloatArray = self.weights @ self.anchors / self.full_scale
        return drive

    def check(self) -> None:
        """Refuse what no resistor can do.

        Raises
        ------
        NetlistError
            If shapes do not fit, a value is not finite, a weight is negative, all
            are 0, an anchor is 0, a start is no unit vector, or a label cannot
            stand in a netlist.
        """
        shapes = self.weights.shape, self.anchors.shape, self.start.shape
        if (
            any(len(shape) != 2 for shape in shapes)
            or shapes[2] != (shapes[0][0], shapes[1][1])
            or shapes[0][1] != shapes[1][0]
            or not all(shapes[0])
            or self.d < 2
        ):
            raise NetlistError(
                "a head has weights (queries, anchors), anchors (anchors, d), d >= 2, "
                f"and start (queries, d), got {shapes[0]}, {shapes[1]} and {shapes[2]}"
            )
        for name in ("weights", "anchors", "start"):
            if not np.isfinite(getattr(self, name)).all():
                raise NetlistError(f"{name} must be finite: a value is not a number")
        self._require_values()
        if len(self.names) != len(self.weights):
            raise NetlistError(
                f"{len(self.weights)} labels are needed, got {len(self.names)}"
            )
        require_names(self.names)

    def _require_values(self) -> None:
        least = np.unravel_index(np.argmin(self.weights), self.weights.shape)
        if self.weights[least] < 0:
            i, j = map(int, least)
            raise NetlistError(
                f"weight [{i}, {j}] of query {self.names[i]} is "
                f"{self.weights[least]:.6g}: no resistor has a negative conductance; "
                "turn the anchor round, or use a network of controlled sources"
            )
        if not np.linalg.norm(self.anchors, axis=1).all():
            raise NetlistError("an anchor is 0 and has no direction: leave it out")
        if not self.weights.any():
            raise NetlistError("all weights are 0: nothing would drive a query")
        length = np.linalg.norm(self.start, axis=1)
        if np.abs(length - 1).max() > 1e-6:
            raise NetlistError(
                f"start must be unit vectors, got lengths {length.min():.6g} to "
                f"{length.max():.6g}"
            )

    def _loads(self) -> FloatArray:
        loads: FloatArray = self.weights * np.linalg.norm(self.anchors, axis=1)
        return loads
