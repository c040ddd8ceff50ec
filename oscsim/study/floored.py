"""Where a family of oscillator models goes as its dimension grows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import f as fisher

from oscsim.errors import SpecError
from oscsim.study.resample import (
    RESAMPLES,
    interval95,
    moved_columns,
    perplexities,
)
from oscsim.typing import FloatArray

LEAST = 1.0
"""No perplexity is smaller."""

ALPHAS = np.geomspace(0.02, 8.0, 1200)
"""Exponents that are tried, half a percent apart."""


class Profile(NamedTuple):
    """How well a given floor fits.

    Attributes
    ----------
    floors : FloatArray, shape (n,)
        P_inf that were held.
    alphas : FloatArray, shape (n,)
        The best exponent for each.
    residuals : FloatArray, shape (n,)
        Root mean square of perplexity about the curve.
    """

    floors: FloatArray
    alphas: FloatArray
    residuals: FloatArray


@dataclass(frozen=True)
class FlooredLaw:
    """A fit ``perplexity = P_inf + C d_osc^-alpha`` and how sure it is.

    Attributes
    ----------
    dimensions : tuple of int
        d_osc of the models.
    perplexity : tuple of float
        Per byte, mean over trainings.
    floor, amplitude, alpha : float
        P_inf, C and alpha.
    floor95, alpha95 : tuple of float
        2.5 and 97.5 % quantiles over resamples.
    residual : float
        Root mean square of perplexity about the curve.
    scatter95 : tuple of float
        Floors that the scatter about the curve does not refute: the sum of squares
        with the floor held exceeds the least by less than ``F(1, n - 3) / (n - 3)``
        of it, at 95 %. It asks the dimensions themselves, whatever made them scatter.
    at_bound : float
        Share of resamples whose best floor is 1, the least a perplexity can be,
        or whose best exponent is the least or the largest tried: in these the
        data do not say where the family goes.
    below_softmax : float
        Share of resamples in which the floor is below the softmax twin.
    profile : Profile
        Fit with the floor held.
    """

    dimensions: tuple[int, ...]
    perplexity: tuple[float, ...]
    floor: float
    amplitude: float
    alpha: float
    floor95: tuple[float, float]
    alpha95: tuple[float, float]
    residual: float
    scatter95: tuple[float, float]
    at_bound: float
    below_softmax: float
    profile: Profile

    @property
    def tells(self) -> bool:
        """Whether neither interval of the floor reaches the bound."""
        return self.at_bound < 0.025 and self.scatter95[0] > LEAST

    def at(self, d_osc: FloatArray) -> FloatArray:
        """Return the fitted perplexity at each d_osc."""
        return np.asarray(self.floor + self.amplitude * d_osc**-self.alpha)


def floored_law(
    oscillator: Mapping[int, FloatArray],
    softmax: FloatArray,
    *,
    moved: Mapping[int, FloatArray] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> FlooredLaw:
    """Fit ``perplexity = P_inf + C d_osc^-alpha`` by least squares.

    For every exponent of a grid floor and amplitude are a straight line in
    ``d_osc^-alpha``; a floor below 1 is held at 1.

    Parameters
    ----------
    oscillator : mapping of int to FloatArray, shape (seeds, windows)
        Bits per byte of every window for each d_osc and training.
    softmax : FloatArray, shape (seeds, windows)
        The same of the softmax twin, with which the floor is compared.
    moved : mapping of int to FloatArray, shape (resamples, seeds), optional
        As of `oscsim.study.resample.perplexities`, by d_osc; the softmax twin is not
        moved.
    resamples : int
        Number of resamples.
    seed : int
        Of the resampling.

    Returns
    -------
    FlooredLaw

    Raises
    ------
    SpecError
        If there are fewer than four dimensions (three numbers are fitted), the
        windows differ in number, or the largest d_osc is not better than the
        smallest.
    """
    dimensions = tuple(sorted(oscillator))
    if len(dimensions) < 4:
        raise SpecError(
            "a power law with a floor has three numbers and needs four dimensions at "
            f"least, got {len(dimensions)}"
        )
    models = [oscillator[d] for d in dimensions]
    found = perplexities(
        [*models, softmax],
        moved=moved_columns(moved, dimensions, softmax),
        resamples=resamples,
        seed=seed,
    )
    measured = found[0, :-1]
    if measured[-1] >= measured[0]:
        raise SpecError(
            f"perplexity does not fall from d_osc {dimensions[0]} "
            f"({measured[0]:.4g}) to {dimensions[-1]} ({measured[-1]:.4g}): there is "
            "nothing to extrapolate"
        )
    fits = _fitted(dimensions, found[:, :-1])
    floor, amplitude, alpha, residual = (float(column[0]) for column in fits)
    floors, alphas = fits.floor[1:], fits.alpha[1:]
    profile = _profile(dimensions, measured, floor)
    bound = (floors <= LEAST) | (alphas <= ALPHAS[0]) | (alphas >= ALPHAS[-1])
    return FlooredLaw(
        dimensions=dimensions,
        perplexity=tuple(float(p) for p in measured),
        floor=floor,
        amplitude=amplitude,
        alpha=alpha,
        floor95=interval95(floors),
        alpha95=interval95(alphas),
        residual=residual,
        scatter95=_not_refuted(profile, len(dimensions) - 3),
        at_bound=float(bound.mean()),
        below_softmax=float((floors < found[1:, -1]).mean()),
        profile=profile,
    )


class _Fits(NamedTuple):
    floor: FloatArray
    amplitude: FloatArray
    alpha: FloatArray
    residual: FloatArray


def _fitted(dimensions: Sequence[int], perplexity: FloatArray) -> _Fits:
    """Return the best fit of every row."""
    n = len(perplexity)
    best = _Fits(*(np.full(n, np.inf) for _ in range(4)))
    mean = perplexity.mean(axis=1)
    for alpha in ALPHAS:
        x = np.asarray(dimensions, float) ** -alpha
        aside = x - x.mean()
        slope = perplexity @ aside / (aside @ aside)
        floor = mean - slope * x.mean()
        low = floor < LEAST
        slope[low] = (perplexity[low] - LEAST) @ x / (x @ x)
        floor[low] = LEAST
        miss = perplexity - floor[:, None] - slope[:, None] * x
        residual = np.sqrt((miss**2).mean(axis=1))
        better = residual < best.residual
        for held, new in zip(
            best, (floor, slope, np.full(n, alpha), residual), strict=True
        ):
            held[better] = new[better]
    return best


def _profile(
    dimensions: Sequence[int], perplexity: FloatArray, best_floor: float
) -> Profile:
    """Return the best fit for floors from 1 to the largest perplexity.

    They lie closer together near the best one, where the interval may end.
    """
    aside = np.concatenate([[0.0], np.geomspace(1e-5, perplexity.max(), 150)])
    floors = np.union1d(best_floor - aside, best_floor + aside)
    floors = np.unique(np.clip(floors, LEAST, perplexity.max()))
    x = np.asarray(dimensions, float) ** -ALPHAS[:, None]
    above = perplexity - floors[:, None]
    slope = above @ x.T / (x**2).sum(axis=1)
    miss = above[:, None, :] - slope[..., None] * x
    residual = np.sqrt((miss**2).mean(axis=-1))
    best = residual.argmin(axis=1)
    return Profile(floors, ALPHAS[best], residual[np.arange(len(floors)), best])


def _not_refuted(profile: Profile, freedom: int) -> tuple[float, float]:
    most = 1 + fisher.ppf(0.95, 1, freedom) / freedom
    kept = profile.residuals <= np.sqrt(most) * profile.residuals.min()
    return float(profile.floors[kept][0]), float(profile.floors[kept][-1])
