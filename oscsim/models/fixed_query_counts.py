"""What the blocks of a fixed-query model execute, as counts."""

from oscsim.counts import Counts
from oscsim.models import counting
from oscsim.models.config import FixedQueryConfig
from oscsim.models.masks import Masks


def count_feed_forward(config: FixedQueryConfig, rows: int, counts: Counts) -> None:
    """Record a norm, two affine maps with a GELU between, and the residual sum."""
    counting.count_layernorm(counts, rows, config.d_model)
    counting.count_linear(counts, "ffn", rows, config.d_model, config.d_ff, bias=True)
    counting.count_gelu(counts, rows * config.d_ff)
    counting.count_residual(counts, rows, config.d_model)
    counting.count_linear(counts, "ffn", rows, config.d_ff, config.d_model, bias=True)


def count_attention(
    config: FixedQueryConfig, masks: Masks, counts: Counts, *, factored: bool
) -> None:
    """Record one attention block, all but what settles.

    Parameters
    ----------
    config : FixedQueryConfig
        Sizes.
    masks : Masks
        Pairs that exist.
    counts : Counts
        Filled in place.
    factored : bool
        Whether the read-out is done in prefix sums.
    """
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
