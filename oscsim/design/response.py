"""A quadratic response surface: what scattered points say of every number."""

import itertools
from dataclasses import dataclass

import numpy as np

from oscsim.design.axes import field_of
from oscsim.design.curve import position
from oscsim.design.lines import BETTER
from oscsim.design.table import SweepTable
from oscsim.errors import SpecError
from oscsim.typing import FloatArray

LEAST_R2 = 0.8
"""Share of the variance of points left out that a surface must foretell."""


@dataclass(frozen=True, eq=False)
class ResponseSurface:
    """Loss as a quadratic polynomial of the positions on all axes.

    ``y = c + sum_i b_i u_i + sum_{i <= j} q_ij u_i u_j`` with u in [0, 1], the
    position on an axis between its least and largest value: on the scale on which a
    latin hypercube was drawn, otherwise as `oscsim.design.curve.position`.

    Attributes
    ----------
    axes : tuple of str
        The numbers.
    scales : tuple of FloatArray
        Rising values of each that fix its positions.
    coefficients : FloatArray
        In the order of `terms`.
    r2 : float
        Share of the variance of the loss of points that were left out in turn.
    """

    axes: tuple[str, ...]
    scales: tuple[FloatArray, ...]
    coefficients: FloatArray
    r2: float

    def at_shares(self, shares: FloatArray) -> FloatArray:
        """Return the loss at positions in the box, shape (n, axes) of 0..1."""
        found: FloatArray = terms(shares) @ self.coefficients
        return found


def response_surface(
    table: SweepTable, subject: str, axes: tuple[str, ...]
) -> ResponseSurface:
    """Fit a quadratic surface to the cells of a model by least squares.

    Parameters
    ----------
    table : SweepTable
        The cells.
    subject : str
        Name of the checkpoint.
    axes : tuple of str
        Numeric axes.

    Raises
    ------
    SpecError
        If there are fewer than two axes or too few cells, points leave an axis
        out, or the surface does not foretell the cells that are left out (R2 below .8).
    """
    if len(axes) < 2:
        raise SpecError(f"a response surface needs two axes at least, got {len(axes)}")
    cells = [
        cell
        for cell in table.cells
        if cell.subject == subject and np.isfinite(cell.values).all()
    ]
    n_terms = (len(axes) + 1) * (len(axes) + 2) // 2
    if len(cells) < 2 * n_terms:
        raise SpecError(
            f"a quadratic surface of {len(axes)} axes needs {2 * n_terms} cells at "
            f"least, {subject} has {len(cells)}"
        )
    left_out = [name for name in axes if any(name not in c.point for c in cells)]
    if left_out:
        raise SpecError(
            f"a quadratic surface needs every axis at every point, some of {subject} "
            f"leave out {', '.join(left_out)}"
        )
    values = np.array([[float(c.point[name]) for name in axes] for c in cells])
    scales = tuple(np.unique(column) for column in values.T)
    shares = np.stack(
        [
            _share(v, s, _drawn_scale(table, name))
            for v, s, name in zip(values.T, scales, axes, strict=True)
        ],
        axis=1,
    )
    loss = np.array([table.loss(cell).mean() for cell in cells])
    matrix = terms(shares)
    coefficients, *_ = np.linalg.lstsq(matrix, loss)
    leverage = np.einsum("ij,ji->i", matrix, np.linalg.pinv(matrix))
    missed = (loss - matrix @ coefficients) / np.maximum(1 - leverage, 1e-9)
    spread = float(((loss - loss.mean()) ** 2).sum())
    r2 = 1 - float((missed**2).sum()) / spread if spread > 0 else float("nan")
    if not r2 >= LEAST_R2:
        raise SpecError(
            f"a quadratic surface does not describe the loss of {subject}: R2 {r2:.2f} "
            f"of cells that are left out, {LEAST_R2} is asked"
        )
    return ResponseSurface(axes, scales, coefficients, r2)


def numeric_axes(table: SweepTable) -> tuple[str, ...]:
    """Return the axes with a good end whose every value is a number."""
    return tuple(
        name
        for name in table.axes
        if field_of(name) in BETTER
        and all(
            isinstance(v, int | float) and not isinstance(v, bool)
            for v in table.axis(name)
        )
    )


def terms(shares: FloatArray) -> FloatArray:
    """Return 1, all u, and all products of two, shape (n, terms)."""
    n, k = shares.shape
    pairs = itertools.combinations_with_replacement(range(k), 2)
    products = [shares[:, i] * shares[:, j] for i, j in pairs]
    return np.stack([np.ones(n), *shares.T, *products], axis=1)


def _drawn_scale(table: SweepTable, name: str) -> str | None:
    """Return the scale on which an axis was drawn, None if it is a list."""
    asked = table.spec.get("axes", {}).get(name)
    return asked.get("scale", "linear") if isinstance(asked, dict) else None


def _share(values: FloatArray, scale: FloatArray, drawn: str | None) -> FloatArray:
    if drawn is None:
        where, ends = position(values, scale), position(scale)
    elif drawn == "log":
        where, ends = np.log(values), np.log(scale)
    else:
        where, ends = values, scale
    found: FloatArray = (where - ends[0]) / (ends[-1] - ends[0])
    return found
