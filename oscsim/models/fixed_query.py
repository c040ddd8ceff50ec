"""Fixed-query oscillator attention and its softmax twin, forward in numpy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.models import counting
from oscsim.models.arithmetic import EXACT, Arithmetic, shares
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query_counts import count_attention, count_feed_forward
from oscsim.models.layers import below_peak, couple, gelu, layer_norm, mean_over
from oscsim.models.masks import Masks
from oscsim.models.prefix_sums import illegal_pairs, read_in_prefix_sums
from oscsim.substrate.drive import Drive, Settle
from oscsim.typing import FloatArray, IntArray

NORM_FLOOR = 1e-8

ReadOut: TypeAlias = Literal["direct", "prefix"]
"""The value sum pair by pair, or for p = 1 in prefix sums."""


def settle_digital(
    drive: Drive, counts: Counts, arithmetic: Arithmetic = EXACT
) -> FloatArray:
    """Return the fixed point ``h / max(|h|, 1e-8)``, ``h_i = sum_j w_ij r_j``.

    This is the state that the model was trained with.
    """
    field_ = arithmetic.weighted_sum(
        f"layers.{drive.layer}.drive", drive.coupling, drive.anchors
    )
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
    arithmetic : Arithmetic
        The data path of the digital layers, floating point by default; that of
        the oscillators is the settle's own.

    Raises
    ------
    SpecError
        If prefix sums are asked of another data path than floating point.
    """

    settle: Settle = settle_digital
    counts: Counts = field(default_factory=Counts)
    clamped: int = 0
    attention: list[FloatArray] | None = None
    readout: ReadOut = "direct"
    arithmetic: Arithmetic = EXACT

    def __post_init__(self) -> None:
        if self.readout == "prefix" and self.arithmetic is not EXACT:
            raise SpecError(
                "prefix sums are kept in floating point, got readout = 'prefix' with "
                "another arithmetic: use 'direct'"
            )


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
    x = _embed(weights, config, inputs, masks, run)
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
    return run.arithmetic.linear(weights, "head", x)


def _embed(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    inputs: IntArray | FloatArray,
    masks: Masks,
    run: Pass,
) -> FloatArray:
    """Return the residual stream at its start, (batch, time, d_model)."""
    rows, positions = int(masks.live.sum()), weights["pos_enc.pe"][0]
    if config.n_features is None:
        counting.count_embedding(run.counts, rows, config.d_model)
        x = weights["embedding.weight"][inputs]
    else:
        counting.count_frames(run.counts, rows, config.n_features, config.d_model)
        dtype = weights["proj.weight"].dtype
        frames = np.where(masks.present[..., None], inputs, 0).astype(dtype, copy=False)
        x = run.arithmetic.linear(weights, "proj", frames)
    start: FloatArray = x + positions[: inputs.shape[1]]
    return start


def scores_of(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    x: FloatArray,
    arithmetic: Arithmetic = EXACT,
) -> FloatArray:
    """Return ``q.k / sqrt(d_head)``, shape (batch, heads, time, time)."""
    block = f"layers.{layer}"
    query, key = (
        _heads(arithmetic.linear(weights, f"{block}.attn.{name}", x), config)
        for name in ("W_q", "W_k")
    )
    scale = x.dtype.type(1 / np.sqrt(config.d_head))
    return scale * arithmetic.product(
        f"{block}.scores", query, np.swapaxes(key, -1, -2)
    )


def couplings_of(
    weights: Mapping[str, FloatArray],
    config: FixedQueryConfig,
    layer: int,
    normed: FloatArray,
    masks: Masks,
    arithmetic: Arithmetic = EXACT,
) -> FloatArray:
    """Return the couplings ``w_ij``, masked pairs 0, (batch, heads, time, time)."""
    scores = scores_of(weights, config, layer, normed, arithmetic)
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
    data_path = run.arithmetic
    value = _heads(data_path.linear(weights, f"{block}.attn.W_v", normed), config)
    factored = run.readout == "prefix" and run.attention is None
    if config.attention == "softmax":
        scores = scores_of(weights, config, layer, normed, data_path)
        scores = np.where(masks.coupled[:, None], scores, -np.inf)
        affinity = data_path.exponential(below_peak(scores))
    else:
        coupling = couplings_of(weights, config, layer, normed, masks, data_path)
        anchors = weights[f"{block}.attn.anchors"][:, : x.shape[1]]
        drive = Drive(layer, items, coupling, anchors, masks.connected, masks.live)
        state = run.settle(drive, run.counts).astype(coupling.dtype, copy=False)
        if factored:
            run.clamped += illegal_pairs(state, anchors, masks)
            mixed = read_in_prefix_sums(state, anchors, value, masks, config.causal)
        else:
            affinity = affinity_of(config, layer, state, anchors, masks, run)
    if not factored:
        mixed = data_path.average(f"{block}.values", affinity, value)
    if run.attention is not None:
        run.attention.append(shares(affinity))
    count_attention(config, masks, run.counts, factored=factored)
    mixed = np.swapaxes(mixed, 1, 2).reshape(x.shape)
    return data_path.linear(weights, f"{block}.attn.W_o", mixed)


def affinity_of(
    config: FixedQueryConfig,
    layer: int,
    state: FloatArray,
    anchors: FloatArray,
    masks: Masks,
    run: Pass,
) -> FloatArray:
    """Return ``max(0, 1 + z_i.r_j)^p`` of the pairs that are read out.

    Parameters
    ----------
    config : FixedQueryConfig
        Gives p.
    layer : int
        Number of the attention layer.
    state : FloatArray, shape (batch, heads, queries, d_osc)
        Where the oscillators are.
    anchors : FloatArray, shape (heads, anchors, d_osc)
        Anchors as trained.
    masks : Masks
        Which pairs are read.
    run : Pass
        Its ``clamped`` grows by the pairs at which the clamp acted.

    Returns
    -------
    FloatArray, shape (batch, heads, queries, anchors)
        Not normalised.
    """
    similarity = run.arithmetic.product(
        f"layers.{layer}.similarity", state, np.swapaxes(anchors, -1, -2)
    )
    read = masks.connected[:, None]
    run.clamped += int(np.count_nonzero((similarity < -1) & read))
    affinity: FloatArray = np.maximum(1 + similarity, 0) ** config.p
    affinity *= masks.readable[:, None].astype(affinity.dtype)
    return affinity


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
    inner = run.arithmetic.linear(weights, f"{block}.ffn.0", normed)
    count_feed_forward(config, rows, run.counts)
    return run.arithmetic.linear(weights, f"{block}.ffn.3", gelu(inner))
