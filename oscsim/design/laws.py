"""Power laws of the loss in what a hardware number does to the oscillators."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from oscsim.design.replicates import RESAMPLES, Interval, about, half_widths, resampled
from oscsim.errors import SpecError
from oscsim.physics.stationary import alignment
from oscsim.study.scaling import MOST_CHI2, MOST_ERRORS
from oscsim.typing import FloatArray

LARGEST = 300.0
"""Largest logarithm of a loss that a search may pass through."""

FLOOR = 0.3
"""Least standard error that a point is given, in median ones."""

INEXACT = 0.05
"""What a law may miss a point by, as a share of it: laws describe, roughly."""


LEAST_POINTS = 4
"""Of a law: through three with two parameters almost anything passes."""

LEAST_CHIPS = 8
"""Of a law that holds."""


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """A fit ``y = C x^b``, and how well it holds.

    Attributes
    ----------
    amplitude, exponent : Interval
        C and b with 95 % intervals over chips.
    x, y : FloatArray, shape (n,)
        What was fitted: mean over chips.
    r2 : float
        Share of the variance of y that the law explains.
    chi2 : float
        Sum of squared residuals over squared standard errors of y, per degree
        of freedom: about 1 for a law that holds, far above where the scatter over
        chips does not explain the misfit. NaN where chips do not differ.
    misses : FloatArray, shape (n,)
        Residuals in standard errors of y over chips.
    chips : int
        How many made the standard errors.
    """

    amplitude: Interval
    exponent: Interval
    x: FloatArray
    y: FloatArray
    r2: float
    chi2: float
    misses: FloatArray
    chips: int

    @property
    def holds(self) -> bool:
        """Whether scatter over chips explains every residual.

        With 8 chips at least, chi2 up to 3, and no residual of more than 2
        standard errors: fewer chips cannot tell.
        """
        return (
            self.chips >= LEAST_CHIPS
            and self.chi2 <= MOST_CHI2
            and bool((np.abs(self.misses) <= MOST_ERRORS).all())
        )

    def largest_miss(self, losses: FloatArray, below: float = 0.1) -> float:
        """Return the largest residual as a share of the whole loss.

        Of the points whose loss is at most ``below``, and above its own 95 % Student
        interval: of a loss that may be none, a share says nothing. NaN if there is no
        such point.

        Parameters
        ----------
        losses : FloatArray, shape (chips, n)
            Whole loss at the points fitted; y is what of it is beyond the best value.
        below : float
            Largest loss that counts.
        """
        whole = losses.mean(axis=0)
        kept = (whole > np.array(half_widths(list(losses.T)))) & (whole <= below)
        kept &= whole > 0
        if not kept.any():
            return float("nan")
        fitted = self.amplitude.value * self.x[kept] ** self.exponent.value
        return float((np.abs(fitted - self.y[kept]) / whole[kept]).max())

    def at(self, x: float) -> float:
        """Return the fitted y.

        Raises
        ------
        SpecError
            If ``x`` lies outside what was fitted: a fit says nothing there.
        """
        if not self.x.min() <= x <= self.x.max():
            raise SpecError(
                f"the law was fitted for x from {self.x.min():.3g} to "
                f"{self.x.max():.3g} and says nothing of {x:.3g}"
            )
        return float(self.amplitude.value * x**self.exponent.value)


def power_law(
    x: FloatArray,
    replicates: FloatArray,
    *,
    exponent: float = 1.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PowerLaw:
    """Fit ``y = C x^b`` by least squares to the mean over chips.

    Each point counts by its standard error over chips, floored at `FLOOR` of the
    median one, and `INEXACT` of the law there, in quadrature; resamples estimate
    the former anew. Without the latter the large losses, whose scatter is the
    smallest share of them, would decide alone, where a law describes only roughly.

    Parameters
    ----------
    x : FloatArray, shape (n,)
        Positive.
    replicates : FloatArray, shape (chips, n)
        y of every chip; may be negative by chance, its mean not everywhere.
    exponent : float
        Where the search starts.
    resamples, seed : int
        Of the bootstrap over chips.

    Returns
    -------
    PowerLaw

    Raises
    ------
    SpecError
        If there are fewer than four points or two chips, an x is not positive,
        or no y is.
    """
    x = np.asarray(x, np.float64)
    if len(np.unique(x)) < LEAST_POINTS:
        raise SpecError(
            f"a power law needs four points at least, got {len(np.unique(x))}"
        )
    if not (x > 0).all():
        raise SpecError(f"a power law needs x > 0, got {x.min():.3g}")
    mean = replicates.mean(axis=0)
    if not (mean > 0).any():
        raise SpecError("nothing is lost anywhere: there is no law to fit")
    n = len(replicates)
    rows = resampled(n, resamples, seed)
    best = _start(x, mean, exponent)
    for _ in range(2):
        best = _fit(x, mean, _weights(replicates, _law(best, x)), best)
    near = _law(best, x)
    drawn = (replicates[row] for row in rows)
    again = np.array([_fit(x, r.mean(axis=0), _weights(r, near), best) for r in drawn])
    residual = mean - _law(best, x)
    misses = residual / _errors(replicates)
    spread = float(((mean - mean.mean()) ** 2).sum())
    freedom = len(x) - 2
    return PowerLaw(
        amplitude=_exp(about(best[0], again[:, 0], n)),
        exponent=about(best[1], again[:, 1], n),
        x=x,
        y=mean,
        r2=1 - float((residual**2).sum()) / spread if spread > 0 else float("nan"),
        chi2=float((misses**2).sum() / freedom)
        if np.ptp(replicates, axis=0).any()
        else float("nan"),
        misses=misses,
        chips=n,
    )


def _errors(replicates: FloatArray) -> FloatArray:
    """Return floored standard errors, which a resample estimates anew."""
    error = replicates.std(axis=0, ddof=1) / np.sqrt(len(replicates))
    floor = FLOOR * np.median(error)
    errors: FloatArray = np.maximum(error, floor) if floor > 0 else 0 * error + 1
    return errors


def _weights(replicates: FloatArray, law: FloatArray) -> FloatArray:
    """Return one over what each point may be missed by, near a law."""
    weights: FloatArray = 1 / np.hypot(_errors(replicates), INEXACT * law)
    return weights


def _law(parameters: FloatArray, x: FloatArray) -> FloatArray:
    exponent = parameters[0] + parameters[1] * np.log(x)
    y: FloatArray = np.exp(np.minimum(exponent, LARGEST))
    return y


def _start(x: FloatArray, y: FloatArray, exponent: float) -> FloatArray:
    """Return ln C and b of the line through the positive points' logarithms."""
    good = y > 0
    if good.sum() < 2:
        return np.array([np.log(y[good] / x[good] ** exponent)[0], exponent])
    slope, level = np.polyfit(np.log(x[good]), np.log(y[good]), 1)
    return np.array([level, slope])


def _fit(
    x: FloatArray, y: FloatArray, weight: FloatArray, start: FloatArray
) -> FloatArray:
    logs = np.log(x)

    def miss(parameters: FloatArray) -> FloatArray:
        found: FloatArray = (_law(parameters, x) - y) * weight
        return found

    def slopes(parameters: FloatArray) -> FloatArray:
        by_level = _law(parameters, x) * weight
        found: FloatArray = np.stack([by_level, by_level * logs], axis=1)
        return found

    found: FloatArray = least_squares(miss, start, slopes, method="lm", xtol=1e-9).x
    return found


def _exp(found: Interval) -> Interval:
    with np.errstate(over="ignore"):
        return Interval(*(float(np.exp(part)) for part in found))


def lost_alignment(d_osc: int, drives: FloatArray, diffusion: float) -> float:
    """Return 1 - mean alignment of settled oscillators with their drives.

    ``1 - E_h A_d(|h| / D)``, ``A_d(k) = I_{d/2}(k) / I_{d/2 - 1}(k)``, the mean
    cosine of the von Mises-Fisher law [1]_, over the drives of a model.

    Parameters
    ----------
    d_osc : int
        Components of an oscillator.
    drives : FloatArray, shape (n,)
        |h| of oscillators, or quantiles at equal steps.
    diffusion : float
        D in the same unit, >= 0.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, chapter 9.
    """
    if diffusion == 0:
        return 0.0
    return 1.0 - float(alignment(d_osc, np.asarray(drives) / diffusion).mean())
