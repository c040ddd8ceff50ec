"""Perplexities of models that read the same windows, resampled."""

from collections.abc import Mapping, Sequence

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import FloatArray

RESAMPLES = 2000


def perplexities(
    models: Sequence[FloatArray],
    *,
    moved: Sequence[FloatArray] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> FloatArray:
    """Return perplexities per byte of the data and of every resample.

    A model's perplexity is the mean over its trainings of ``2^bits``, bits its
    mean over windows. Windows are resampled once for all models, since all read
    the same. Training seeds are too few to resample: their variance s^2 is
    pooled over the models that have several, with nu degrees of freedom, and a
    model of n trainings moves by ``s sqrt(nu / chi2_nu) N(0, 1 / n)`` bits, the
    chi-squared number shared by all, which gives Student intervals.

    Parameters
    ----------
    models : sequence of FloatArray, shape (seeds, windows)
        Bits per byte of every window, for each training of a model.
    moved : sequence of FloatArray, shape (resamples, seeds), optional
        Bits that each resample adds to each training, for what neither windows
        nor trainings say, such as chips; nothing by default.
    resamples : int
        Number of resamples.
    seed : int
        Of the resampling.

    Returns
    -------
    FloatArray, shape (1 + resamples, models)
        The data themselves first.

    Raises
    ------
    SpecError
        If the models were measured on different numbers of windows.

    Notes
    -----
    Where no model has two trainings, the resamples know nothing of the spread
    between trainings. That it is equal for all models is assumed.
    """
    n = models[0].shape[1]
    for model in models:
        if model.shape[1] != n:
            raise SpecError(
                f"one model was measured on {model.shape[1]} windows, another on "
                f"{n} windows: use the same"
            )
    trainings = np.array([len(model) for model in models])
    first = np.concatenate([[0], np.cumsum(trainings)[:-1]])
    bits = np.concatenate(models)
    shifts = None if moved is None else np.concatenate(moved, axis=1)
    spread, freedom = _pooled(models)
    draw = np.random.default_rng(seed)
    found = np.empty((1 + resamples, len(models)))
    found[0] = np.add.reduceat(2.0 ** bits.mean(axis=1), first) / trainings
    for row in range(1, 1 + resamples):
        counts = np.bincount(draw.integers(0, n, n), minlength=n)
        again = bits @ counts / n
        if shifts is not None:
            again += shifts[row - 1]
        found[row] = np.add.reduceat(2.0**again, first) / trainings
        if freedom:
            scale = spread * np.sqrt(freedom / draw.chisquare(freedom))
            shift = scale * draw.normal(size=len(models)) / np.sqrt(trainings)
            found[row] *= 2.0**shift
    return found


def moved_columns(
    moved: Mapping[int, FloatArray] | None,
    dimensions: Sequence[int],
    other: FloatArray,
) -> list[FloatArray] | None:
    """Return what moves a family's models in order, and nothing for the last one.

    Parameters
    ----------
    moved : mapping of int to FloatArray, shape (resamples, seeds), or None
        By d_osc.
    dimensions : sequence of int
        Order of the models.
    other : FloatArray, shape (seeds, windows)
        The model after them.
    """
    if moved is None:
        return None
    order = [moved[d] for d in dimensions]
    return [*order, np.zeros((len(order[0]), len(other)))]


def _pooled(models: Sequence[FloatArray]) -> tuple[float, int]:
    """Return the deviation between trainings (bits) and its degrees of freedom."""
    freedom = sum(len(model) - 1 for model in models)
    if not freedom:
        return 0.0, 0
    means = [model.mean(axis=1) for model in models]
    squares = sum(float(((m - m.mean()) ** 2).sum()) for m in means)
    return float(np.sqrt(squares / freedom)), freedom


def interval95(values: FloatArray) -> tuple[float, float]:
    """Return the 2.5 and 97.5 % quantiles, nan of nothing.

    Quantiles are values that occurred, so that an infinite one, which stands
    for *beyond what was measured*, stays so.
    """
    if not len(values):
        return (np.nan, np.nan)
    low, high = np.quantile(values, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)
