"""What a model would do between the cells of a full grid, by interpolation."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from oscsim.design.axes import Value, field_of
from oscsim.design.curve import Better, position
from oscsim.design.lines import BETTER
from oscsim.design.reading import Reading
from oscsim.design.replicates import half_width
from oscsim.design.table import CellResult, SweepTable
from oscsim.errors import SpecError
from oscsim.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Prediction:
    """What is interpolated at one point.

    Attributes
    ----------
    metric : float
        Mean over chips.
    loss : float
        Share of the digital metric that is lost.
    half_width : float
        Half the 95 % interval of the metric over chips, interpolated too; NaN
        of one chip. It does not hold the error of the interpolation.
    joules : tuple of float, or None
        p10, p50, p90 per token.
    latency_s : float or None
        Per token.
    """

    metric: float
    loss: float
    half_width: float
    joules: tuple[float, float, float] | None
    latency_s: float | None


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The cells of one model as a full grid, read between neighbours.

    The metric follows from the loss, which `oscsim.design.reading.Reading` reads:
    by its logarithm where small and positive, else straight, with the chords of the
    rules on all edges. Everything else is linear in each number's
    `oscsim.design.curve.position`, in all numbers at once (multilinear). Nothing is
    smoothed or made monotone, and stored cells come back as they are.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    chosen : dict of str to value
        Axes that are not all numbers, such as ``device``, and their value here.
    axes : tuple of str
        Numeric axes with more than one value.
    values : tuple of FloatArray
        Rising values of each.
    better : tuple of {"smaller", "larger"} or None
        Which of them lose less; None of an axis without a good end.
    digital : float
        Metric of the digital model.
    is_loss_bits : bool
        Whether more of the metric is worse.
    cells : IntArray, shape (n_1, ..)
        Number of the cell in the table.
    metric, half_width : FloatArray, shape (n_1, ..)
        Mean over chips, and half its 95 % interval.
    joules : FloatArray, shape (n_1, .., 3), or None
        Per token; None if a cell has no price.
    latency_s : FloatArray, shape (n_1, ..), or None
        Per token; None if a cell has none.
    """

    subject: str
    chosen: Mapping[str, Value]
    axes: tuple[str, ...]
    values: tuple[FloatArray, ...]
    better: tuple[Better | None, ...]
    digital: float
    is_loss_bits: bool
    cells: IntArray
    metric: FloatArray
    half_width: FloatArray
    joules: FloatArray | None
    latency_s: FloatArray | None

    def at(self, numbers: Mapping[str, float]) -> Prediction:
        """Return what is interpolated at a point.

        Parameters
        ----------
        numbers : mapping of str to float
            Value of every axis.

        Raises
        ------
        SpecError
            If an axis is missing, or a value lies outside what was run: nothing is
            extrapolated.
        """
        where = np.array([self._position(n, numbers) for n in range(len(self.axes))])
        metric = self._stored_metric(numbers)
        if metric is None:
            loss = self._reading.at(np.array([[float(numbers[n]) for n in self.axes]]))
            metric = float(self._metric_of(loss)[0])
        joules = self.joules
        return Prediction(
            metric=metric,
            loss=float(self._loss_of(np.array(metric))),
            half_width=self._between(self.half_width, where),
            joules=None
            if joules is None
            else (
                self._between(joules[..., 0], where),
                self._between(joules[..., 1], where),
                self._between(joules[..., 2], where),
            ),
            latency_s=None
            if self.latency_s is None
            else self._between(self.latency_s, where),
        )

    @cached_property
    def left_out(self) -> tuple[float, float] | None:
        """Median and largest miss of the metric at stored cells left out.

        Each inner cell is read from its two neighbours along one axis, for every
        axis. The gaps are wider than those in use, so that a prediction tends to
        miss by less. None without an inner cell.
        """
        misses = abs(self.digital) * np.abs(self._reading.left_out())
        if not len(misses):
            return None
        return float(np.median(misses)), float(misses.max())

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self.values, self.better, self._loss_of(self.metric))

    def _loss_of(self, metric: FloatArray) -> FloatArray:
        ratio = metric / self.digital
        return ratio - 1 if self.is_loss_bits else 1 - ratio

    def _metric_of(self, loss: FloatArray) -> FloatArray:
        return self.digital * (1 + loss if self.is_loss_bits else 1 - loss)

    def _stored_metric(self, numbers: Mapping[str, float]) -> float | None:
        """Return the metric of a stored cell as it is, None between cells."""
        place = []
        for name, values in zip(self.axes, self.values, strict=True):
            found = np.flatnonzero(values == numbers[name])
            if not len(found):
                return None
            place.append(int(found[0]))
        return float(self.metric[tuple(place)])

    def _position(self, axis: int, numbers: Mapping[str, float]) -> float:
        name, values = self.axes[axis], self.values[axis]
        if name not in numbers:
            raise SpecError(f"a prediction needs {', '.join(self.axes)}, got no {name}")
        value = float(numbers[name])
        if not values[0] <= value <= values[-1]:
            raise SpecError(
                f"{name} = {value:g} lies outside the values that were run, "
                f"{values[0]:g} to {values[-1]:g}: nothing is predicted there"
            )
        return float(position(np.array([value]), values)[0])

    def _between(self, grid: FloatArray, where: FloatArray) -> float:
        if not self.axes:
            return float(grid)
        found = RegularGridInterpolator([position(v) for v in self.values], grid)
        return float(found(where)[0])


def split_axes(table: SweepTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the axes that are numbers throughout, and the others, that vary.

    An axis with a value that is no number, such as ``"none"`` among bits, is one
    of the others: its values are chosen, not slid along.
    """
    numeric: list[str] = []
    others: list[str] = []
    for name in table.axes:
        is_numeric = all(
            isinstance(v, int | float) and not isinstance(v, bool)
            for v in table.axis(name)
        )
        (numeric if is_numeric else others).append(name)
    return tuple(numeric), tuple(others)


def surrogates(table: SweepTable) -> tuple[tuple[Surrogate, ...], dict[str, str]]:
    """Return the grids of a sweep, and why some models have none.

    Parameters
    ----------
    table : SweepTable
        The cells.

    Returns
    -------
    surrogates : tuple of Surrogate
        By model and by value of the axes that are no numbers.
    why_not : dict of str to str
        Reason by name of the model, and its chosen values if there are any.
    """
    numeric, others = split_axes(table)
    values = tuple(np.array(sorted(map(float, table.axis(n)))) for n in numeric)
    done: list[Surrogate] = []
    why_not: dict[str, str] = {}
    for subject, content in table.subjects.items():
        if content["is_twin"]:
            continue
        for chosen in _choices(table, others):
            found = _numbers(table, subject, chosen, numeric, values)
            if isinstance(found, str):
                said = ", ".join(f"{n} {v}" for n, v in chosen.items())
                why_not[f"{subject}, {said}" if said else subject] = found
            else:
                done.append(_surrogate(table, subject, chosen, numeric, values, found))
    return tuple(done), why_not


def _choices(table: SweepTable, others: tuple[str, ...]) -> Iterator[dict[str, Value]]:
    """Yield the values of axes that stand together in a cell, in the axes' order."""
    values = [table.axis(name) for name in others]
    place = [{v: k for k, v in enumerate(known)} for known in values]
    together = {
        tuple(of[c.point[n]] for n, of in zip(others, place, strict=True))
        for c in table.cells
        if all(name in c.point for name in others)
    }
    for at in sorted(together):
        yield {n: v[k] for n, v, k in zip(others, values, at, strict=True)}


def _numbers(
    table: SweepTable,
    subject: str,
    chosen: Mapping[str, Value],
    axes: tuple[str, ...],
    values: tuple[FloatArray, ...],
) -> IntArray | str:
    """Return the number of the cell at each place of a grid, or what is missing."""
    shape = tuple(len(v) for v in values)
    size = math.prod(shape)
    kept = [
        (number, cell)
        for number, cell in enumerate(table.cells)
        if cell.subject == subject
        and np.isfinite(cell.values).all()
        and all(cell.point.get(n) == v for n, v in chosen.items())
        and all(name in cell.point for name in axes)
    ]
    if len(kept) > size:
        some = sorted(
            name
            for name in table.single_axes
            if any(name not in cell.point for _, cell in kept)
        )
        return (
            f"{len(kept):,} cells have a value, {', '.join(axes) or 'these choices'} "
            f"{size:,} combinations: only some of the points give {', '.join(some)}"
        )
    if len(kept) < size:
        return f"{len(kept):,} cells have a value, a full grid has {size:,}"
    places = np.full(shape, -1)
    for number, cell in kept:
        at = tuple(
            int(np.searchsorted(v, float(cell.point[name])))
            for v, name in zip(values, axes, strict=True)
        )
        places[at] = number
    if (places < 0).any():
        there = int((places >= 0).sum())
        return f"{there:,} of {size:,} combinations of a full grid have a value"
    return places


def _surrogate(
    table: SweepTable,
    subject: str,
    chosen: Mapping[str, Value],
    axes: tuple[str, ...],
    values: tuple[FloatArray, ...],
    places: IntArray,
) -> Surrogate:
    cells: list[CellResult] = [table.cells[number] for number in places.ravel()]
    shape = places.shape
    joules = [cell.joules for cell in cells]
    latencies = [cell.latency_s for cell in cells]
    return Surrogate(
        subject=subject,
        chosen=chosen,
        axes=axes,
        values=values,
        better=tuple(BETTER.get(field_of(name)) for name in axes),
        digital=table.known[subject].value,
        is_loss_bits=table.is_loss_bits,
        cells=places,
        metric=np.array([c.values.mean() for c in cells]).reshape(shape),
        half_width=np.array([half_width(c.values) for c in cells]).reshape(shape),
        joules=None
        if None in joules
        else np.array(joules, np.float64).reshape(*shape, 3),
        latency_s=None
        if None in latencies
        else np.array(latencies, np.float64).reshape(shape),
    )
