"""Digital layers shared by the models: affine maps, norms, activations."""

import numpy as np
from scipy.special import erf, expit

from oscsim.typing import BoolArray, FloatArray

LAYER_NORM_EPS = 1e-5
RMS_NORM_EPS = 1e-6
SOFTPLUS_LINEAR_FROM = 20.0


def linear(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None = None
) -> FloatArray:
    """Return ``x W^T + b`` over the last axis.

    Leading axes are folded into one matrix product, so that the result
    depends on the number of rows only through the product's own shape.
    """
    rows = x.reshape(-1, x.shape[-1]) @ weight.T
    if bias is not None:
        rows += bias
    return rows.reshape(*x.shape[:-1], weight.shape[0])


def layer_norm(x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    """Return ``(x - mean) / sqrt(var + 1e-5) * weight + bias`` (biased variance)."""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    eps = x.dtype.type(LAYER_NORM_EPS)
    normed: FloatArray = centred / np.sqrt(variance + eps) * weight + bias
    return normed


def gelu(x: FloatArray) -> FloatArray:
    """Return the exact GELU ``x (1 + erf(x / sqrt 2)) / 2``."""
    scale = x.dtype.type(np.sqrt(0.5))
    half = x.dtype.type(0.5)
    result: FloatArray = half * x * (1 + erf(x * scale))
    return result


def below_peak(scores: FloatArray) -> FloatArray:
    """Return scores less the largest of the last axis; a row of -inf stays so."""
    peak = np.max(scores, axis=-1, keepdims=True)
    shifted: FloatArray = scores - np.where(np.isfinite(peak), peak, 0)
    return shifted


def softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax over the last axis; a row of -inf gives zeros."""
    shifted = np.exp(below_peak(scores))
    total = np.sum(shifted, axis=-1, keepdims=True)
    return shifted / np.where(total > 0, total, 1)


def mean_over(x: FloatArray, present: BoolArray) -> FloatArray:
    """Return the mean of (batch, time, width) over the positions that exist.

    Positions that do not exist are not read, whatever they hold; an item
    without any gives zeros.
    """
    number = np.maximum(present.sum(axis=1, keepdims=True), 1).astype(x.dtype)
    total = np.sum(x, axis=1, where=present[..., None], initial=0)
    mean: FloatArray = total / number
    return mean


def couple(scores: FloatArray, function: str) -> FloatArray:
    """Turn scores into couplings that are never negative.

    ``softplus``: ln(1 + e^s), taken as s above 20 as the trained modules do;
    ``relu``: max(s, 0) + 1e-3; ``elu``: elu(s) + 1.

    Parameters
    ----------
    scores : FloatArray
        Any shape; dimensionless.
    function : {"softplus", "relu", "elu"}
        The coupling function of the checkpoint.
    """
    if function == "softplus":
        return softplus(scores)
    if function == "relu":
        return np.maximum(scores, 0) + scores.dtype.type(1e-3)
    return np.where(scores > 0, scores, np.expm1(np.minimum(scores, 0))) + 1


def softplus(x: FloatArray) -> FloatArray:
    """Return ``ln(1 + e^x)``, taken as x above 20 as the trained modules do."""
    linear_from = x.dtype.type(SOFTPLUS_LINEAR_FROM)
    soft = np.log1p(np.exp(np.minimum(x, linear_from)))
    return np.where(x > linear_from, x, soft)


def silu(x: FloatArray) -> FloatArray:
    """Return ``x / (1 + e^-x)``."""
    product: FloatArray = x * expit(x)
    return product


def rms_norm(x: FloatArray, weight: FloatArray) -> FloatArray:
    """Return ``x / sqrt(mean(x^2) + 1e-6) * weight``."""
    mean = np.mean(x * x, axis=-1, keepdims=True)
    normed: FloatArray = x / np.sqrt(mean + x.dtype.type(RMS_NORM_EPS)) * weight
    return normed


def causal_softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax of (..., time, time) over positions up to each query."""
    return softmax(without_future(scores))


def without_future(scores: FloatArray) -> FloatArray:
    """Return scores (..., time, time), those after each query -inf."""
    future = np.triu(np.ones(scores.shape[-2:], bool), 1)
    return np.where(future, -np.inf, scores)
