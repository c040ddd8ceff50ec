"""The baseline of Kuramoto attention, forward in numpy."""

from collections.abc import Mapping

import numpy as np

from oscsim.models.arithmetic import EXACT, Arithmetic, shares
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.models.layers import below_peak, rms_norm, silu, without_future
from oscsim.typing import FloatArray, IntArray

ROTARY_BASE = 10000.0


def forward(
    weights: Mapping[str, FloatArray],
    config: TransformerConfig,
    ids: IntArray,
    *,
    attention: list[FloatArray] | None = None,
    arithmetic: Arithmetic = EXACT,
) -> FloatArray:
    """Run a rotary, RMS-normed, SwiGLU transformer on a block of token ids.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Tensors named as in `oscsim.models.kuramoto_config.transformer_shapes`.
    config : TransformerConfig
        Sizes.
    ids : IntArray, shape (batch, time)
        Token ids.
    attention : list, optional
        Receives the attention of each layer, (batch, heads, time, time).
    arithmetic : Arithmetic
        The data path; floating point by default.

    Returns
    -------
    FloatArray, shape (batch, time, vocab_size)
    """
    x, linear = weights["embed.weight"][ids], arithmetic.linear
    for layer in range(config.n_layers):
        block = f"layers.{layer}"
        normed = rms_norm(x, weights[f"{block}.norm1.weight"])
        query, key, value = (
            _heads(linear(weights, f"{block}.attn.{w}", normed), config)
            for w in ("Wq", "Wk", "Wv")
        )
        scale = x.dtype.type(1 / np.sqrt(config.d_model // config.n_heads))
        keys = np.swapaxes(rotated(key), -1, -2)
        scores = arithmetic.product(f"{block}.scores", rotated(query), keys) * scale
        affinity = arithmetic.exponential(below_peak(without_future(scores)))
        if attention is not None:
            attention.append(shares(affinity))
        mixed = arithmetic.average(f"{block}.values", affinity, value)
        mixed = np.swapaxes(mixed, 1, 2).reshape(x.shape)
        x = x + linear(weights, f"{block}.attn.Wo", mixed)
        normed = rms_norm(x, weights[f"{block}.norm2.weight"])
        inner = silu(linear(weights, f"{block}.ffn.w_gate", normed))
        inner *= linear(weights, f"{block}.ffn.w_up", normed)
        x = x + linear(weights, f"{block}.ffn.w_down", inner)
    x = rms_norm(x, weights["norm.weight"])
    return linear(weights, "head", x)


def rotated(x: FloatArray) -> FloatArray:
    """Turn the pairs (x_j, x_{j + m}) of (..., time, 2 m) by t 10000^(-j/m)."""
    m = x.shape[-1] // 2
    rate = ROTARY_BASE ** (-np.arange(m, dtype=x.dtype) / m)
    angle = np.arange(x.shape[-2], dtype=x.dtype)[:, None] * rate
    first, second = np.split(x, 2, axis=-1)
    cosine, sine = np.cos(angle), np.sin(angle)
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return np.concatenate(turned, axis=-1)


def _heads(x: FloatArray, config: TransformerConfig) -> FloatArray:
    batch, time, d = x.shape
    split = x.reshape(batch, time, config.n_heads, d // config.n_heads)
    return np.ascontiguousarray(np.swapaxes(split, 1, 2))
