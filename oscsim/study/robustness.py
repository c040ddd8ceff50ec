"""Accuracy, or bits per byte, under published perturbations and settling times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.compare import AnyComparison, compare, interval95
from oscsim.bridge.engine import Progress
from oscsim.bridge.infer import Data, infer
from oscsim.bridge.language_compare import student_interval
from oscsim.errors import SpecError
from oscsim.substrate.device import Device, Rung
from oscsim.substrate.perturb import Kind, Perturbation
from oscsim.typing import FloatArray

if TYPE_CHECKING:
    import xarray

SETTLING = "settling"
"""Name of the rows in which the settling time varies."""


class Row(NamedTuple):
    """One cell of the table: accuracies are fractions; or bits per byte.

    Attributes
    ----------
    checkpoint : str
        Name of the model.
    kind : str
        A perturbation, or ``"settling"``.
    value : float
        Strength s, or settling time T in model time units.
    mean, low, high : float
        Mean, smallest and largest value of the metric over redraws.
    """

    checkpoint: str
    kind: str
    value: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Robustness:
    """Accuracy, or bits per byte, of one checkpoint against strength and time.

    Attributes
    ----------
    checkpoint : str
        Name of the model.
    metric : str
        ``"hard_accuracy"``, ``"accuracy"`` where no sentence is hard, or
        ``"bits_per_byte"`` of a language model.
    n_items : int
        Sentences, or bytes, that the metric is taken over.
    digital : float
        The metric of the digital model.
    kinds : tuple of str
        Perturbations.
    strengths : FloatArray, shape (n_strengths,)
        Strength s of each.
    perturbed : FloatArray, shape (n_kinds, n_strengths, redraws)
        The metric under each, one value a redraw.
    times : FloatArray, shape (n_times,)
        Settling times (model time units).
    settled : FloatArray, shape (n_times, redraws)
        The metric when read after that time from random starts.
    unsettled : FloatArray, shape (n_times,)
        Share of oscillators that need longer to come within 0.01 rad.
    seed : int
        Seed of all redraws.
    """

    checkpoint: str
    metric: str
    n_items: int
    digital: float
    kinds: tuple[Kind, ...]
    strengths: FloatArray
    perturbed: FloatArray
    times: FloatArray
    settled: FloatArray
    unsettled: FloatArray
    seed: int

    def rows(self) -> list[Row]:
        """Return the table, perturbations first, in the order asked for."""
        table = [
            self._row(kind, s, values)
            for kind, curve in zip(self.kinds, self.perturbed, strict=True)
            for s, values in zip(self.strengths, curve, strict=True)
        ]
        for time, values in zip(self.times, self.settled, strict=True):
            table.append(self._row(SETTLING, time, values))
        return table

    def ci95(self, kind: Kind) -> list[tuple[float, float] | None]:
        """Return the 95 % interval over redraws at each strength of a kind.

        Raises
        ------
        SpecError
            If the kind was not run.
        """
        if kind not in self.kinds:
            raise SpecError(
                f"{kind!r} was not run: one of {', '.join(self.kinds) or 'none'}"
            )
        is_share = self.metric != "bits_per_byte"
        interval = interval95 if is_share else student_interval
        return [interval(values) for values in self.perturbed[self.kinds.index(kind)]]

    def to_xarray(self) -> "xarray.Dataset":
        """Return both tables with labelled axes kind, strength, time, redraw."""
        import xarray  # noqa: PLC0415  (slow to import, needed here only)

        return xarray.Dataset(
            {
                "perturbed": (("kind", "strength", "redraw"), self.perturbed),
                "settled": (("time", "redraw"), self.settled),
                "unsettled": (("time",), self.unsettled),
            },
            coords={
                "kind": list(self.kinds),
                "strength": self.strengths,
                "time": ("time", self.times, {"units": "model time"}),
                "redraw": np.arange(self.settled.shape[1]),
            },
            attrs={
                "checkpoint": self.checkpoint,
                "metric": self.metric,
                "n_items": self.n_items,
                "digital": self.digital,
                "seed": self.seed,
            },
        )

    def _row(self, kind: str, value: float, values: FloatArray) -> Row:
        return Row(
            self.checkpoint,
            kind,
            float(value),
            float(values.mean()),
            float(values.min()),
            float(values.max()),
        )


def robustness(
    checkpoint: Checkpoint,
    data: Data,
    *,
    strengths: Sequence[float] = (0.05, 0.1, 0.2, 0.5),
    times: Sequence[float] = (0.5, 1, 2, 5, 10, 30),
    kinds: Sequence[Kind] = ("coupling", "state", "frequency"),
    redraws: int = 3,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Robustness:
    """Measure accuracy under published perturbations and against settling time.

    Every perturbation acts alone on the ideal substrate and is redrawn for
    each sentence. For the settling time the oscillators start uniformly at
    random and are read after T, with nothing else wrong. All cells share
    their random numbers, so that neighbouring cells differ by the strength.

    Parameters
    ----------
    checkpoint : Checkpoint
        An oscillator model.
    data : TokenSet, DigitSet or ByteText
        Inputs; bits per byte take the place of accuracy for a language model.
    strengths : sequence of float
        Strengths s of the perturbations, >= 0, dimensionless.
    times : sequence of float
        Settling times T > 0 in model time units.
    kinds : sequence of {"coupling", "state", "frequency"}
        Perturbations.
    redraws : int
        Independent redraws of every cell.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (cells done, cells).

    Returns
    -------
    Robustness

    Raises
    ------
    SpecError
        If nothing is asked for, ``redraws`` or ``seed`` is out of range, a
        kind or a strength is wrong, or the model has no oscillators.
    DeviceError
        If a time is not positive.

    Notes
    -----
    The redraws tell how much of a difference is chance of the perturbation;
    that of the sentences is apart, sqrt(a (1 - a) / n_items) at accuracy a.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, robustness at inference.
    """
    if len(times) + len(kinds) * len(strengths) == 0:
        raise SpecError("nothing to measure: give strengths with kinds, or times")
    if redraws < 1:
        raise SpecError(f"redraws must be at least 1, got {redraws}")
    ideal = Device.load("ideal")
    perturbations = [Perturbation(kind, s) for kind in kinds for s in strengths]
    devices = [ideal.changed(settle_time=float(time)) for time in times]
    total = len(perturbations) + len(devices)
    cells: list[AnyComparison] = []

    def measure(device: Device, rung: Rung, perturbation: Perturbation | None) -> None:
        if progress is not None:
            progress(len(cells), total)
        run = infer(
            checkpoint,
            data,
            device=device,
            rung=rung,
            chips=redraws,
            repeats=1,
            seed=seed,
            perturbation=perturbation,
            n_threads=n_threads,
        )
        if run.interrupted:
            raise KeyboardInterrupt
        cells.append(compare(run))

    for perturbation in perturbations:
        measure(ideal, "device", perturbation)
    for device in devices:
        measure(device, "finite", None)
    if progress is not None:
        progress(total, total)
    shape = (len(kinds), len(strengths), redraws)
    settled = cells[len(perturbations) :]
    return Robustness(
        checkpoint=checkpoint.name,
        metric=cells[0].metric,
        n_items=cells[0].n_items,
        digital=cells[0].digital,
        kinds=tuple(kinds),
        strengths=np.asarray(strengths, np.float64),
        perturbed=_accuracies(cells[: len(perturbations)]).reshape(shape),
        times=np.asarray(times, np.float64),
        settled=_accuracies(settled).reshape(len(times), redraws),
        unsettled=np.array([c.tally.unsettled / c.tally.oscillators for c in settled]),
        seed=seed,
    )


def _accuracies(cells: Sequence[AnyComparison]) -> FloatArray:
    return np.array([cell.per_chip for cell in cells])
