"""Fixed-query oscillator attention and its softmax twin, forward in numpy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from oscsim.counts import Counts
from oscsim.models import counting
from oscsim.models.config import FixedQueryConfig
from oscsim.models.layers import (
    couple,
    gelu,
    layer_norm,
    linear,
    mean_over,
    softmax,
)
from oscsim.models.masks import Masks
from oscsim.models.prefix_sums import illegal_pairs, read_in_prefix_sums
from oscsim.substrate.drive import Drive, Settle
from oscsim.typing import FloatArray, IntArray

NORM_FLOOR = 1e-8
READOUT_FLOOR = 1e-8

ReadOut: TypeAlias = Literal["direct", "prefix"]
"""The value sum pair by pair, or for p = 1 in prefix sums."""


def settle_digital(drive: Drive, counts: Counts) -> FloatArray:
    """Return the fixed point ``h / max(|h|, 1e-8)``, ``h_i = sum_j w_ij r_j``.

    This is the state that the model was trained with.
    """
    field_ = np.matmul(drive.coupling, drive.anchors)
    norm = np.sqrt(np.sum(field_ * field_, axis=-1, keepdims=True))
    n_heads, _, d_osc = drive.anchors.shape
    counting.count_drive_sum(counts, n_heads * int(drive.connected.sum()), d_osc)
    counting.count_unit(counts, n_heads * int(drive.live.sum()), d_osc)
    unit: FloatArray = field_ / np.maximum(norm, norm.dtype.type(NORM_FLOOR))
    return unit


@dataclass
class Pass:
    """One forward pass: who settles, what is tallied, what is kept.

    Attributes
    ----------
    settle : Settle
        The one call to the oscillators.
    counts : Counts
        Filled with what the pass executed for existing positions.
    clamped : int
        Pairs whose ``1 + z.r`` was negative: with p = 1 the read-out factors
        into prefix sums only where there are none.
    attention : list of FloatArray or None
        If a list, receives the attention of each layer, shape
        (batch, heads, time, time); the read-out is direct then.
    readout : {"direct", "prefix"}
        How the value sum is done. Both give the same numbers for p = 1 where
        ``clamped`` stays 0; whoever asks for prefix sums checks that.
    """

    settle: Settle = settle_digital
    counts: Counts = field(default_factory=Counts)
    clamped: int = 0
    attention: list[FloatArray] | None = None
    readout: ReadOut = "direct"


def forward(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    inputs: IntArray | FloatArray,
    *,
    positions: IntArray | None = None,
    items: IntArray | None = None,
    run: Pass | None = None,
) -> FloatArray:
    """Run a fixed-query model on a block of token ids or of frames.

    Pre-norm blocks ``x += attn(LN x); x += FFN(LN x)`` after embedding plus
    position, then a final norm and the head [1]_. A model of frames has a
    linear projection for the embedding, and its head reads the mean over the
    existing frames, without a final norm.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Tensors named as in `tensor_shapes`, all of one dtype, in which the
        pass is computed.
    config : FixedQueryConfig
        Sizes and switches.
    inputs : IntArray, shape (batch, time), or FloatArray, (batch, time, n_features)
        Token ids, padded with ``config.padding_idx``; or normalised frames,
        padded with frames that are not a number.
    positions : IntArray, shape (batch,), optional
        Column read by the head. Without it every position is read; not for
        frames.
    items : IntArray, shape (batch,), optional
        Global item numbers for the random draws; default 0, 1, 2...
        A negative number marks a row that only fills up the block.
    run : Pass, optional
        Who settles and what is kept; the digital fixed point by default.

    Returns
    -------
    FloatArray, shape (batch, n_outputs) or (batch, time, n_outputs)
        The former for frames.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """
    run = Pass() if run is None else run
    items = np.arange(len(inputs)) if items is None else items
    masks = Masks.of(config, inputs, items)
    rows = tokens = int(masks.live.sum())
    run.counts.tokens += tokens
    x = _embed(weights, config, inputs, masks, run.counts)
    for layer in range(config.n_layers):
        x = x + _attention(weights, config, layer, x, masks, items, run)
        x = x + _feed_forward(weights, config, layer, x, rows, run)
    if config.n_features is not None:
        rows = int((items >= 0).sum())
        x = mean_over(x, masks.present)
        existing = masks.present & (items >= 0)[:, None]
        counting.count_mean(run.counts, int(existing.sum()), rows, config.d_model)
    else:
        if positions is not None:
            x = x[np.arange(len(x)), positions]
            rows = int((items >= 0).sum())
        x = layer_norm(x, weights["norm.weight"], weights["norm.bias"])
        counting.count_layernorm(run.counts, rows, config.d_model)
    counting.count_linear(
        run.counts, "projection", rows, config.d_model, config.n_outputs, bias=True
    )
    counting.count_token_io(
        run.counts,
        tokens,
        rows * config.n_outputs,
        token_bytes=config.n_features or counting.TOKEN_ID_BYTES,
    )
    return linear(x, weights["head.weight"], weights["head.bias"])


def _embed(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    inputs: IntArray | FloatArray,
    masks: Masks,
    counts: Counts,
) -> FloatArray:
    """Return the residual stream at its start, (batch, time, d_model)."""
    rows, positions = int(masks.live.sum()), weights["pos_enc.pe"][0]
    if config.n_features is None:
        counting.count_embedding(counts, rows, config.d_model)
        x = weights["embedding.weight"][inputs]
    else:
        counting.count_frames(counts, rows, config.n_features, config.d_model)
        dtype = weights["proj.weight"].dtype
        frames = np.where(masks.present[..., None], inputs, 0).astype(dtype, copy=False)
        x = linear(frames, weights["proj.weight"], weights["proj.bias"])
    start: FloatArray = x + positions[: inputs.shape[1]]
    return start


def scores_of(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    x: FloatArray,
) -> FloatArray:
    """Return ``q.k / sqrt(d_head)``, shape (batch, heads, time, time)."""
    query = _heads(linear(x, weights[f"layers.{layer}.attn.W_q.weight"]), config)
    key = _heads(linear(x, weights[f"layers.{layer}.attn.W_k.weight"]), config)
    scale = x.dtype.type(1 / np.sqrt(config.d_head))
    scores: FloatArray = np.matmul(query, np.swapaxes(key, -1, -2)) * scale
    return scores


def couplings_of(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    normed: FloatArray,
    masks: Masks,
) -> FloatArray:
    """Return the couplings ``w_ij``, masked pairs 0, (batch, heads, time, time)."""
    scores = scores_of(weights, config, layer, normed)
    coupling = couple(scores, config.coupling)
    return coupling * masks.coupled[:, None].astype(coupling.dtype)


def _heads(x: FloatArray, config: FixedQueryConfig) -> FloatArray:
    batch, time, _ = x.shape
    split = x.reshape(batch, time, config.n_heads, config.d_head)
    return np.ascontiguousarray(np.swapaxes(split, 1, 2))


def _attention(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    x: FloatArray,
    masks: Masks,
    items: IntArray,
    run: Pass,
) -> FloatArray:
    block = f"layers.{layer}"
    normed = layer_norm(
        x, weights[f"{block}.norm1.weight"], weights[f"{block}.norm1.bias"]
    )
    value = _heads(linear(normed, weights[f"{block}.attn.W_v.weight"]), config)
    factored = run.readout == "prefix" and run.attention is None
    if config.attention == "softmax":
        scores = scores_of(weights, config, layer, normed)
        mixing = softmax(np.where(masks.coupled[:, None], scores, -np.inf))
    else:
        coupling = couplings_of(weights, config, layer, normed, masks)
        anchors = weights[f"{block}.attn.anchors"][:, : x.shape[1]]
        drive = Drive(layer, items, coupling, anchors, masks.connected, masks.live)
        state = run.settle(drive, run.counts).astype(coupling.dtype, copy=False)
        if factored:
            run.clamped += illegal_pairs(state, anchors, masks)
            mixed = read_in_prefix_sums(state, anchors, value, masks, config.causal)
        else:
            mixing = _read_out(config, state, anchors, masks, run)
    if not factored:
        mixed = np.matmul(mixing, value)
    if run.attention is not None:
        run.attention.append(mixing)
    _count_attention(config, masks, run.counts, factored=factored)
    mixed = np.swapaxes(mixed, 1, 2).reshape(x.shape)
    return linear(
        mixed, weights[f"{block}.attn.W_o.weight"], weights[f"{block}.attn.W_o.bias"]
    )


def _read_out(
    config: FixedQueryConfig,
    state: FloatArray,
    anchors: FloatArray,
    masks: Masks,
    run: Pass,
) -> FloatArray:
    similarity = np.matmul(state, np.swapaxes(anchors, -1, -2))
    read = masks.connected[:, None]
    run.clamped += int(np.count_nonzero((similarity < -1) & read))
    affinity = np.maximum(1 + similarity, 0) ** config.p
    affinity *= masks.readable[:, None].astype(affinity.dtype)
    total = np.sum(affinity, axis=-1, keepdims=True)
    mixing: FloatArray = affinity / np.maximum(total, READOUT_FLOOR)
    return mixing


def _feed_forward(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    x: FloatArray,
    rows: int,
    run: Pass,
) -> FloatArray:
    block = f"layers.{layer}"
    normed = layer_norm(
        x, weights[f"{block}.norm2.weight"], weights[f"{block}.norm2.bias"]
    )
    inner = linear(
        normed, weights[f"{block}.ffn.0.weight"], weights[f"{block}.ffn.0.bias"]
    )
    counting.count_layernorm(run.counts, rows, config.d_model)
    counting.count_linear(
        run.counts, "ffn", rows, config.d_model, config.d_ff, bias=True
    )
    counting.count_gelu(run.counts, rows * config.d_ff)
    counting.count_residual(run.counts, rows, config.d_model)
    counting.count_linear(
        run.counts, "ffn", rows, config.d_ff, config.d_model, bias=True
    )
    return linear(
        gelu(inner), weights[f"{block}.ffn.3.weight"], weights[f"{block}.ffn.3.bias"]
    )


def _count_attention(
    config: FixedQueryConfig, masks: Masks, counts: Counts, *, factored: bool
) -> None:
    rows = int(masks.live.sum())
    pairs = config.n_heads * int(masks.connected.sum())
    counting.count_layernorm(counts, rows, config.d_model)
    for bias in (False, False, False, True):
        counting.count_linear(
            counts, "projection", rows, config.d_model, config.d_model, bias=bias
        )
    counting.count_scores(counts, pairs, config.d_head)
    counting.count_cache_write(counts, rows, (1 if factored else 2) * config.d_model)
    counting.count_residual(counts, rows, config.d_model)
    queries = config.n_heads * rows
    if factored and config.d_osc is not None:
        counting.count_coupling(counts, pairs, config.coupling)
        stores = None if config.causal else config.n_heads * len(masks.live)
        counting.count_prefix_update(
            counts, queries, config.d_osc, config.d_head, stores=stores
        )
        counting.count_prefix_read(counts, queries, config.d_osc, config.d_head)
        return
    if config.attention == "softmax":
        counting.count_softmax(counts, pairs, queries, config.d_head)
    elif config.d_osc is not None:
        counting.count_coupling(counts, pairs, config.coupling)
        counting.count_similarity(counts, pairs, config.d_osc, power=config.p)
        counting.count_readout_normalise(counts, pairs, queries, config.d_head)
    counting.count_value_sum(counts, pairs, config.d_head)
