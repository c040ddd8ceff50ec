"""How the gap to softmax closes with the dimension of the oscillators."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import FloatArray, IntArray

RESAMPLES = 2000
PUBLISHED_TINYSTORIES = (0.599, 3.582)
PUBLISHED_WIKITEXT2 = (0.420, 15.17)
"""Published (alpha, C) in perplexity per word, d_osc 2..32: other data, other units."""


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
        2.5 and 97.5 % quantiles over resampled training seeds and windows.
    residual : float
        Root mean square of ln(gap) about the line.
    n_seeds : tuple of int
        Training seeds of each dimension; where there is one, the interval knows
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
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ScalingLaw:
    """Fit ``gap = C d_osc^-alpha``, a straight line in the logarithms.

    The gap is the difference of perplexities per byte ``2^bits`` on the same
    windows. Training seeds are resampled for every dimension and for the twin,
    windows once for all models, since all read the same.

    Parameters
    ----------
    oscillator : mapping of int to FloatArray, shape (seeds, windows)
        Bits per byte of every window for each d_osc and training seed.
    softmax : FloatArray, shape (seeds, windows)
        The same of the softmax twin.
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
    n_windows = softmax.shape[1]
    for d in dimensions:
        if oscillator[d].shape[1] != n_windows:
            raise SpecError(
                f"d_osc {d} was measured on {oscillator[d].shape[1]} windows, the "
                f"softmax twin on {n_windows}: use the same"
            )
    everything = np.arange(n_windows)
    models = [oscillator[d] for d in dimensions]
    gaps = _gaps(models, softmax, everything)
    if (gaps <= 0).any():
        worst = int(np.argmin(gaps))
        raise SpecError(
            f"the oscillator model of d_osc {dimensions[worst]} is not worse than its "
            f"softmax twin (gap {gaps[worst]:.3g}): there is no gap to fit"
        )
    slope, level = _line(dimensions, gaps)
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(resamples):
        windows = np.asarray(draw.integers(0, n_windows, n_windows))
        again = _gaps(
            [m[draw.integers(0, len(m), len(m))] for m in models],
            softmax[draw.integers(0, len(softmax), len(softmax))],
            windows,
        )
        if (again > 0).all():
            found.append(_line(dimensions, again))
    fits = np.array(found).reshape(-1, 2)
    residual = np.log(gaps) - level - slope * np.log(dimensions)
    return ScalingLaw(
        dimensions=dimensions,
        gaps=tuple(float(g) for g in gaps),
        alpha=-slope,
        amplitude=float(np.exp(level)),
        alpha95=_interval(-fits[:, 0]),
        amplitude95=_interval(np.exp(fits[:, 1])),
        residual=float(np.sqrt(np.mean(residual**2))),
        n_seeds=tuple(len(m) for m in models),
        dropped=1 - len(fits) / resamples,
    )


def _gaps(
    models: list[FloatArray], softmax: FloatArray, windows: IntArray
) -> FloatArray:
    """Return the gaps of mean perplexities over seeds, shape (dimensions,)."""
    floor = _perplexity(softmax, windows)
    return np.array([_perplexity(model, windows) - floor for model in models])


def _perplexity(bits: FloatArray, windows: IntArray) -> float:
    return float(np.mean(2.0 ** bits[:, windows].mean(axis=1)))


def _line(dimensions: tuple[int, ...], gaps: FloatArray) -> tuple[float, float]:
    slope, level = np.polyfit(np.log(dimensions), np.log(gaps), 1)
    return float(slope), float(level)


def _interval(values: FloatArray) -> tuple[float, float]:
    if not len(values):
        return (np.nan, np.nan)
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
