"""How the gap to softmax closes with the dimension of the oscillators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student_t

from oscsim.errors import SpecError
from oscsim.study.resample import (
    RESAMPLES,
    interval95,
    moved_columns,
    perplexities,
)
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class ScalingLaw:
    """A fit ``gap = C d_osc^-alpha`` and how sure it is.

    Attributes
    ----------
    dimensions : tuple of int
        d_osc of the models.
    gaps : tuple of float
        Perplexity per byte above the softmax twin, mean over training seeds.
    alpha, amplitude : float
        Exponent, and gap extrapolated to d_osc = 1.
    alpha95, amplitude95 : tuple of float
        2.5 and 97.5 % quantiles over resamples.
    residual : float
        Root mean square of ln(gap) about the line.
    scatter95 : tuple of float
        Student interval of alpha from that scatter alone, with n - 2 degrees of
        freedom: what the dimensions themselves say, whatever made them scatter.
    n_seeds : tuple of int
        Trainings of each dimension; where all have one, the interval knows
        nothing of the spread between trainings.
    dropped : float
        Share of the resamples in which a gap was not positive, so that no power
        law exists; they are not in the intervals.
    """

    dimensions: tuple[int, ...]
    gaps: tuple[float, ...]
    alpha: float
    amplitude: float
    alpha95: tuple[float, float]
    amplitude95: tuple[float, float]
    residual: float
    scatter95: tuple[float, float]
    n_seeds: tuple[int, ...]
    dropped: float

    @property
    def falls(self) -> bool:
        """Whether the gap falls from every dimension to the next."""
        return all(a > b for a, b in zip(self.gaps, self.gaps[1:], strict=False))

    def gap(self, d_osc: float) -> float:
        """Return the fitted gap.

        Raises
        ------
        SpecError
            If ``d_osc`` lies outside the dimensions that were measured: a fit
            does not say what happens there.
        """
        low, high = min(self.dimensions), max(self.dimensions)
        if not low <= d_osc <= high:
            raise SpecError(
                f"the fit was made for d_osc in {low}..{high} and says nothing of "
                f"{d_osc:g}"
            )
        return float(self.amplitude * d_osc**-self.alpha)


def scaling_law(
    oscillator: Mapping[int, FloatArray],
    softmax: FloatArray,
    *,
    moved: Mapping[int, FloatArray] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ScalingLaw:
    """Fit ``gap = C d_osc^-alpha``, a straight line in the logarithms.

    The gap is the difference of perplexities per byte ``2^bits`` on the same
    windows; how they are resampled says `oscsim.study.resample.perplexities`.

    Parameters
    ----------
    oscillator : mapping of int to FloatArray, shape (seeds, windows)
        Bits per byte of every window for each d_osc and training seed.
    softmax : FloatArray, shape (seeds, windows)
        The same of the softmax twin.
    moved : mapping of int to FloatArray, shape (resamples, seeds), optional
        As of `oscsim.study.resample.perplexities`, by d_osc; the softmax twin is not
        moved.
    resamples : int
        Number of bootstrap resamples.
    seed : int
        Of the resampling.

    Returns
    -------
    ScalingLaw

    Raises
    ------
    SpecError
        If there are fewer than three dimensions, the windows differ in number,
        or a mean gap is not positive.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, dimension scaling.
    """
    dimensions = tuple(sorted(oscillator))
    if len(dimensions) < 3:
        raise SpecError(
            f"a power law needs three dimensions at least, got {len(dimensions)}"
        )
    models = [oscillator[d] for d in dimensions]
    found = perplexities(
        [*models, softmax],
        moved=moved_columns(moved, dimensions, softmax),
        resamples=resamples,
        seed=seed,
    )
    gaps, *again = found[:, :-1] - found[:, -1:]
    if (gaps <= 0).any():
        worst = int(np.argmin(gaps))
        raise SpecError(
            f"the oscillator model of d_osc {dimensions[worst]} is not worse than its "
            f"softmax twin (gap {gaps[worst]:.3g}): there is no gap to fit"
        )
    slope, level = power_law(dimensions, gaps)
    fits = np.array(
        [power_law(dimensions, one) for one in again if (one > 0).all()]
    ).reshape(-1, 2)
    residual = np.log(gaps) - level - slope * np.log(dimensions)
    return ScalingLaw(
        dimensions=dimensions,
        gaps=tuple(float(g) for g in gaps),
        alpha=-slope,
        amplitude=float(np.exp(level)),
        alpha95=interval95(-fits[:, 0]),
        amplitude95=interval95(np.exp(fits[:, 1])),
        residual=float(np.sqrt(np.mean(residual**2))),
        scatter95=_student(dimensions, -slope, residual),
        n_seeds=tuple(len(m) for m in models),
        dropped=1 - len(fits) / resamples,
    )


def power_law(dimensions: Sequence[int], gaps: FloatArray) -> tuple[float, float]:
    """Return slope and level of the line through (ln d_osc, ln gap)."""
    slope, level = np.polyfit(np.log(dimensions), np.log(gaps), 1)
    return float(slope), float(level)


def _student(
    dimensions: Sequence[int], alpha: float, residual: FloatArray
) -> tuple[float, float]:
    freedom = len(dimensions) - 2
    x = np.log(dimensions)
    error = np.sqrt((residual**2).sum() / freedom / ((x - x.mean()) ** 2).sum())
    half = float(student_t.ppf(0.975, freedom) * error)
    return alpha - half, alpha + half
