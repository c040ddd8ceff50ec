"""A store as arrays: what every cell lost, chip by chip."""

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oscsim.design.axes import Point, Value
from oscsim.design.store import Store
from oscsim.design.store_file import open_store
from oscsim.design.subject import Known
from oscsim.design.unpriced import StoredReasons
from oscsim.errors import SpecError
from oscsim.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class CellResult:
    """One cell with the results of its chips.

    Attributes
    ----------
    digest : str
        Of the cell.
    subject : str
        Name of the checkpoint.
    point : dict
        Value of every axis.
    values : FloatArray, shape (chips,)
        The metric of each chip, in order of number; failures are NaN.
    chips : IntArray, shape (chips,)
        Their numbers: chips of one number share their random draws in all cells.
    items : FloatArray, shape (items,)
        Number of each item, mean over chips.
    joules : tuple of float, or None
        p10, p50, p90 per token.
    latency_s : float or None
        Per token.
    clipped, zeroed, undriven, unsettled : float
        Shares, mean over chips.
    in_full_scales : bool
        Whether relative numbers are relative to drives in full scales of the
        heads, as on a device in seconds, or to those in model units.
    why_unpriced : str
        Why it has a result and no joules; empty if it has both or neither.
    """

    digest: str
    subject: str
    point: Point
    values: FloatArray
    chips: IntArray
    items: FloatArray
    joules: tuple[float, float, float] | None
    latency_s: float | None
    clipped: float
    zeroed: float
    undriven: float
    unsettled: float
    in_full_scales: bool = False
    why_unpriced: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class SweepTable:
    """Everything that a store holds but the numbers of single items.

    Attributes
    ----------
    name : str
        Of the sweep.
    metric : str
        ``"bits_per_byte"``, ``"hard_accuracy"`` or ``"accuracy"``.
    spec : dict
        The specification.
    versions : dict of str to str
        That wrote it.
    subjects : dict of str to dict
        What each checkpoint is.
    known : dict of str to Known
        Its digital results.
    cells : tuple of CellResult
        In order; cells without any result are left out.
    missing : int
        How many were.
    """

    name: str
    metric: str
    spec: Mapping[str, Any]
    versions: Mapping[str, str]
    subjects: Mapping[str, Mapping[str, Any]]
    known: Mapping[str, Known]
    cells: tuple[CellResult, ...]
    missing: int

    def __repr__(self) -> str:
        models = sum(not about["is_twin"] for about in self.subjects.values())
        return (
            f"<SweepTable {self.name!r}: {self.metric}, {counted(self.cells, 'cell')} "
            f"of {counted(range(models), 'model')}, axes "
            f"{', '.join(self.axes) or 'none'}>"
        )

    def to_xarray(self) -> "xr.Dataset":
        """Return the cells by named dimensions, as `table_dataset` says."""
        from oscsim.design.table_dataset import table_dataset  # noqa: PLC0415

        return table_dataset(self)

    @property
    def is_loss_bits(self) -> bool:
        """Whether more of the metric is worse."""
        return self.metric == "bits_per_byte"

    def loss(self, cell: CellResult) -> FloatArray:
        """Return what each chip loses against its digital model, shape (chips,).

        A share of the digital metric: bits over digital bits less 1, or 1 less
        accuracy over digital accuracy.
        """
        digital = self.known[cell.subject].value
        ratio = cell.values / digital
        lost: FloatArray = ratio - 1 if self.is_loss_bits else 1 - ratio
        return lost

    def d_osc(self, subject: str) -> int | None:
        """Return the components of an oscillator of a checkpoint."""
        found: int | None = self.subjects[subject]["config"].get("d_osc")
        return found

    @cached_property
    def _values(self) -> dict[str, dict[Value, None]]:
        found: dict[str, dict[Value, None]] = {}
        for cell in self.cells:
            for name, value in cell.point.items():
                found.setdefault(name, {})[value] = None
        return found

    def axis(self, name: str) -> list[Value]:
        """Return the values that an axis takes, in order of appearance."""
        return list(self._values.get(name, ()))

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes that take more than one value."""
        return tuple(name for name, values in self._values.items() if len(values) > 1)

    @property
    def single_axes(self) -> tuple[str, ...]:
        """Axes that take one value only."""
        return tuple(name for name, values in self._values.items() if len(values) == 1)

    @cached_property
    def _places(self) -> dict[tuple[str, frozenset[tuple[str, Value]]], CellResult]:
        return {(c.subject, frozenset(c.point.items())): c for c in self.cells}

    def cell(self, subject: str, point: Mapping[str, Value]) -> CellResult | None:
        """Return the cell of a checkpoint at a point, None if it has no result."""
        return self._places.get((subject, frozenset(point.items())))


def paired(
    cells: Sequence[CellResult], numbers: Sequence[FloatArray]
) -> tuple[FloatArray, IntArray]:
    """Return numbers of several cells chip by chip, of the chips that all have.

    Each column is shifted to the mean over all chips of its cell, so that chips
    that not every cell has still count.

    Parameters
    ----------
    cells : sequence of CellResult
        Give the chips' numbers.
    numbers : sequence of FloatArray
        One a chip, for each cell.

    Returns
    -------
    tuple of FloatArray, shape (common chips, cells), and IntArray
        The numbers, and which chips they are of; none if no chip is common.
    """
    common = cells[0].chips
    for cell in cells[1:]:
        common = np.intersect1d(common, cell.chips, assume_unique=True)
    columns = []
    for cell, column in zip(cells, numbers, strict=True):
        kept = column[np.searchsorted(cell.chips, common)]
        shift = column.mean() - kept.mean() if len(kept) < len(column) else 0.0
        columns.append(kept + shift)
    return np.stack(columns, axis=1), common


def counted(things: Sized, word: str) -> str:
    """Return how many there are in words: "1 cell", "1,204 cells"."""
    return f"{len(things):,} {word}{'s' * (len(things) != 1)}"


def read_table(store: Store | str | Path) -> SweepTable:
    """Return what a store holds.

    Parameters
    ----------
    store : Store, str or Path
        An open store, or the file that a sweep wrote.

    Raises
    ------
    SpecError
        If there is no such file, it is no store, is damaged, or holds no result
        yet.
    """
    if not isinstance(store, Store):
        with open_store(store) as opened:
            return read_table(opened)
    found = store.results()
    if found.damaged:
        digest, chip = found.damaged[0]
        raise SpecError(
            f"{store.path} is damaged: {len(found.damaged):,} results are not what was "
            f"written, the first is chip {chip} of cell {digest:.12}; run the sweep "
            "again with this store, which repeats those only"
        )
    number = {digest: k for k, digest in enumerate(found.digests)}
    starts, shares, items = (
        found.starts,
        found.mean_shares().tolist(),
        found.mean_items(),
    )
    subjects = dict(sorted(store.subjects().items(), key=_by_size))
    spec = store.about("spec")
    why = StoredReasons(store.device, spec.get("rung", "device"))
    cells, missing = [], 0
    scaled: dict[tuple[str, Value | None], bool] = {}
    for digest, subject, point in store.cells():
        k = number.get(digest)
        if k is None:
            missing += 1
            continue
        rows = slice(starts[k], starts[k] + found.counts[k])
        clipped, zeroed, undriven, unsettled = shares[k]
        measured = found.numbers[rows]
        joules = _joules(measured)
        has_reason = joules is None and np.isfinite(measured[:, 0]).all()
        kind = (subject, point.get("device"))
        if kind not in scaled:
            scaled[kind] = store.device(digest).get("coupling_max") is not None
        cells.append(
            CellResult(
                digest=digest,
                subject=subject,
                point=point,
                values=measured[:, 0],
                chips=found.chips[rows],
                items=items[k],
                joules=joules,
                latency_s=_number(measured[0, -1])
                if found.chips[rows][0] == 0
                else None,
                clipped=clipped,
                zeroed=zeroed,
                undriven=undriven,
                unsettled=unsettled,
                in_full_scales=scaled[kind],
                why_unpriced=why.of(digest, point, subjects[subject][0]["config"])
                if has_reason
                else "",
            )
        )
    if not cells:
        raise SpecError(f"{store.path} holds no results yet: run the sweep first")
    return SweepTable(
        name=spec["name"],
        metric=next(iter(subjects.values()))[0]["metric"],
        spec=spec,
        versions=store.about("versions"),
        subjects={name: content for name, (content, _) in subjects.items()},
        known={name: known for name, (_, known) in subjects.items()},
        cells=tuple(cells),
        missing=missing,
    )


def _by_size(one: tuple[str, tuple[Mapping[str, Any], Known]]) -> tuple[Any, ...]:
    name, (content, _) = one
    config = content["config"]
    return (content["is_twin"], config.get("p") or 0, config.get("d_osc") or 0, name)


def _joules(measured: FloatArray) -> tuple[float, float, float] | None:
    """Return what the first chip that was priced costs."""
    first = measured[0, 5:8].tolist()
    if math.isnan(first[1]):
        priced = measured[~np.isnan(measured[:, 6]), 5:8]
        if not len(priced):
            return None
        first = priced[0].tolist()
    low, middle, high = first
    return low, middle, high


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
