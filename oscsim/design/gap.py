"""How the gap to softmax closes with d_osc at one value of a hardware number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oscsim.design.replicates import resampled, widening
from oscsim.design.table import CellResult, paired
from oscsim.study.resample import RESAMPLES, interval95, perplexities
from oscsim.study.scaling import ScalingLaw
from oscsim.study.scaling_study import FamilyLaws, family_laws
from oscsim.typing import BoolArray, FloatArray

LEAST_DIMENSIONS = 3
"""Open dimensions that a law of two numbers needs."""


class Gap(NamedTuple):
    """Perplexity per byte above the softmax twin, of one d_osc.

    Attributes
    ----------
    value : float
        Mean over trainings.
    low, high : float
        2.5 and 97.5 % quantiles over resamples of windows, and of chips and trainings
        where there are several.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GapAt:
    """The gap of a family at one value of a number, and its law.

    Attributes
    ----------
    gaps : dict of int to Gap
        By d_osc.
    laws : FamilyLaws
        What `oscsim.study.scaling_study` fits, whether or not it means anything.
    why_no_law : str
        Why there is no ``gap = C d_osc^-alpha`` here; empty where there is one, and
        its ``holds`` says whether the gaps follow it within their errors.
    sources : tuple of str
        What the intervals are over: windows; chips, trainings where there are several.
    """

    gaps: Mapping[int, Gap]
    laws: FamilyLaws
    why_no_law: str
    sources: tuple[str, ...]

    @property
    def law(self) -> ScalingLaw | None:
        """The law of the gap, None where the gap does not fall as one."""
        return None if self.why_no_law else self.laws.law

    @property
    def meets(self) -> str:
        """Where the family has the bits of its softmax twin, with the interval."""
        return str(next(iter(self.laws.meetings.values())))

    @property
    def largest_miss(self) -> float:
        """Largest of the fitted over the measured gaps less 1; NaN without a law."""
        law = self.law
        if law is None:
            return float("nan")
        fitted = [law.gap(d) for d in law.dimensions]
        return float(np.abs(np.divide(fitted, law.gaps) - 1).max())


def gap_at(
    cells: Mapping[int, Sequence[CellResult]],
    twins: Sequence[FloatArray],
    counted: BoolArray,
    *,
    p: int = 0,
    has_floor: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GapAt:
    """Fit ``gap = C d_osc^-alpha`` to the cells of a family at one point.

    The gap is the perplexity per byte ``2^bits`` above the softmax twin on the same
    windows, both means over trainings; the twin has no oscillators, so that no
    hardware number moves it. Fits and resamples of windows and trainings are those
    of `oscsim.study.scaling_study.family_laws`; chips, which share their draws, are
    resampled for all models at once, their deviation stretched by
    `oscsim.design.replicates.widening`.

    Parameters
    ----------
    cells : mapping of int to sequence of CellResult
        One cell a training by rising d_osc, two dimensions at least.
    twins : sequence of FloatArray, shape (items,)
        Bits per byte of every window of each training of the twin, at least one.
    counted : BoolArray, shape (items,)
        Windows that count.
    p : int
        Exponent of the read-out, a name only.
    has_floor : bool
        Whether to fit ``P_inf + C d_osc^-alpha`` to the perplexity too.
    resamples, seed : int
        Of the intervals.

    Returns
    -------
    GapAt
        Without a law where fewer than three dimensions below the first that has no
        gap are there, where the gap is larger again beyond its least (the 95 %
        interval of the difference is above 0, shared among the larger d_osc), or
        where the interval of alpha
        reaches 0. Nothing is said of dimensions that were not fitted.

    Raises
    ------
    SpecError
        If the models were not measured on the same windows.
    """
    family = {d: np.stack([c.items[counted] for c in own]) for d, own in cells.items()}
    softmax = np.stack([bits[counted] for bits in twins])
    moved, n_chips = _moved(cells, resamples)
    laws = family_laws(
        p,
        family,
        {0: softmax},
        0,
        moved=moved,
        has_floor=has_floor,
        resamples=resamples,
        seed=seed,
    )
    still = np.zeros((resamples, len(softmax)))
    found = perplexities(
        [*family.values(), softmax],
        moved=[*moved.values(), still],
        resamples=resamples,
        seed=seed,
    )
    gaps = found[:, :-1] - found[:, -1:]
    return GapAt(
        gaps={
            d: Gap(float(gaps[0, k]), *interval95(gaps[1:, k]))
            for k, d in enumerate(family)
        },
        laws=laws,
        why_no_law=_why_no_law(tuple(family), gaps, laws),
        sources=(
            "windows",
            *(["chips"] if n_chips > 1 else []),
            *(["trainings"] if _has_several([*family.values(), softmax]) else []),
        ),
    )


def _moved(
    cells: Mapping[int, Sequence[CellResult]], resamples: int
) -> tuple[dict[int, FloatArray], int]:
    """Return what each resample of chips adds to each training (bits), and chips."""
    every = [cell for own in cells.values() for cell in own]
    chips, common = paired(every, [cell.values for cell in every])
    n = len(common)
    shifts = np.zeros((resamples, len(every)))
    if n > 1:
        aside = chips - chips.mean(axis=0)
        shifts = widening(n) * aside[resampled(n, resamples)].mean(axis=1)
    ends = np.cumsum([len(own) for own in cells.values()])[:-1]
    return dict(zip(cells, np.split(shifts, ends, axis=1), strict=True)), n


def _has_several(models: Sequence[FloatArray]) -> bool:
    return any(len(trainings) > 1 for trainings in models)


def _why_no_law(dimensions: tuple[int, ...], gaps: FloatArray, laws: FamilyLaws) -> str:
    """Return why a falling power does not describe the gaps; empty where it may."""
    measured, again = gaps[0], gaps[1:]
    least = int(np.argmin(measured))
    larger = range(len(dimensions) - 1, least, -1)
    for k in larger:
        rise = again[:, k] - again[:, least]
        # Of several chances to seem to rise each gets its share.
        if np.quantile(rise, 0.025 / len(larger)) > 0:
            return (
                f"the gap rises from d_osc {dimensions[least]} "
                f"({measured[least]:.3g}) to {dimensions[k]} ({measured[k]:.3g})"
            )
    law = laws.law
    if law is None:
        closed = np.flatnonzero(measured <= 0)
        n = int(closed[0]) if len(closed) else len(measured)
        return (
            f"{n} d_osc {'is' if n == 1 else 'are'} worse than softmax below the first "
            f"that is not, a law needs {LEAST_DIMENSIONS}"
        )
    low, high = law.alpha95
    if not low > 0:
        return (
            f"the gap does not fall with d_osc beyond its interval: alpha "
            f"{law.alpha:.2f} [{low:.2f}, {high:.2f}]"
        )
    return ""
