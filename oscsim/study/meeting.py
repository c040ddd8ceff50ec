"""The dimension at which a family of oscillator models equals another model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oscsim.errors import SpecError
from oscsim.study.resample import (
    RESAMPLES,
    interval95,
    moved_columns,
    perplexities,
)
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class Meeting:
    """Where the curve of a family crosses the level of another model.

    Attributes
    ----------
    dimensions : tuple of int
        d_osc of the family.
    d_osc : float
        Where they are equal; 0 if the smallest d_osc is already as good, inf if
        none is.
    d_osc95 : tuple of float
        2.5 and 97.5 % quantiles over resamples, 0 and inf as above.
    """

    dimensions: tuple[int, ...]
    d_osc: float
    d_osc95: tuple[float, float]

    def __str__(self) -> str:
        """Return the dimension and its interval in words."""
        said = [_said(d, self.dimensions) for d in (self.d_osc, *self.d_osc95)]
        return f"{said[0]} [{said[1]}, {said[2]}]"


def meeting(
    oscillator: Mapping[int, FloatArray],
    other: FloatArray,
    *,
    moved: Mapping[int, FloatArray] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Meeting:
    """Find the d_osc at which a family has the bits per byte of another model.

    Between neighbours bits are interpolated linearly in ln d_osc; of several
    crossings the one at the smallest d_osc counts.

    Parameters
    ----------
    oscillator : mapping of int to FloatArray, shape (seeds, windows)
        Bits per byte of every window for each d_osc and training.
    other : FloatArray, shape (seeds, windows)
        The same of the other model, on the same windows.
    moved : mapping of int to FloatArray, shape (resamples, seeds), optional
        As of `oscsim.study.resample.perplexities`, by d_osc; the other model is not
        moved.
    resamples : int
        Number of resamples.
    seed : int
        Of the resampling.

    Returns
    -------
    Meeting

    Raises
    ------
    SpecError
        If there are fewer than two dimensions, or the windows differ in number.
    """
    dimensions = tuple(sorted(oscillator))
    if len(dimensions) < 2:
        raise SpecError(
            f"a crossing lies between two dimensions at least, got {len(dimensions)}"
        )
    models = [oscillator[d] for d in dimensions]
    found = perplexities(
        [*models, other],
        moved=moved_columns(moved, dimensions, other),
        resamples=resamples,
        seed=seed,
    )
    bits = np.log2(found)
    where = np.array([_crossing(dimensions, row[:-1] - row[-1]) for row in bits])
    return Meeting(dimensions, float(where[0]), interval95(where[1:]))


def _crossing(dimensions: Sequence[int], above: FloatArray) -> float:
    """Return where bits above the other model first reach 0."""
    reached = np.flatnonzero(above <= 0)
    if not len(reached):
        return np.inf
    k = int(reached[0])
    if k == 0:
        return 0.0
    share = above[k - 1] / (above[k - 1] - above[k])
    low, high = np.log(dimensions[k - 1]), np.log(dimensions[k])
    return float(np.exp(low + share * (high - low)))


def _said(d_osc: float, dimensions: Sequence[int]) -> str:
    if d_osc == 0:
        return f"< {dimensions[0]}"
    if np.isinf(d_osc):
        return f"> {dimensions[-1]}"
    return f"{d_osc:.1f}"
