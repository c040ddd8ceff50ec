"""What a Kuramoto attention model and its transformer twin do, as counts.

A window is a sequence of ``time`` tokens that is read whole; a row is a token;
a pair is (head, query, earlier or own token). One byte holds a weight, a phase,
or a component of a key. ``reuse`` is how often one byte read from on-chip memory
is used, as in `oscsim.models.counting`; rows of the embedding are data and are
read once each.
"""

from oscsim.counts import Counts
from oscsim.models.counting import (
    bytes_read,
    count_cache_write,
    count_linear,
    count_residual,
    count_scores,
    count_softmax,
    count_token_io,
    count_value_sum,
)
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig


def causal_pairs(time: int) -> int:
    """Return the number of pairs (t, u <= t) of one window: T (T + 1) / 2."""
    return time * (time + 1) // 2


def digital_kuramoto(
    config: KuramotoConfig, windows: int, time: int, *, reuse: float = 1.0
) -> Counts:
    """Count a Kuramoto attention model done digitally, as trained.

    Parameters
    ----------
    config : KuramotoConfig
        Sizes and switches.
    windows, time : int
        Number of windows and tokens in each.
    reuse : float
        Uses of one byte read from on-chip memory.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being ``windows time``.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1.
    """
    counts = Counts()
    count_body(counts, config, windows, time, reuse=reuse)
    kind = config.bound if config.update == "map" else "flow"
    for _ in range(config.n_layers):
        count_map(
            counts, windows, time, config.n_heads, config.n_osc, kind, reuse=reuse
        )
    return counts


def count_body(
    counts: Counts,
    config: KuramotoConfig,
    windows: int,
    time: int,
    *,
    reuse: float = 1.0,
) -> None:
    """Record everything but the value update: what stays digital on a chip.

    Embedding, (cos, sin) of the phases, gates, scores, softmax, the strength
    v, the feed-forward blocks and the logits.
    """
    rows, k = windows * time, config.n_osc
    counts.tokens += rows
    counts.add("memory", "weight_read_byte", rows * k)
    for _ in range(config.n_layers):
        _count_metric(counts, config, windows, time, reuse)
        count_linear(counts, "projection", rows, 2 * k, k, bias=True, reuse=reuse)
        if config.value == "linear":
            count_linear(counts, "projection", rows, 2 * k, 2 * k, reuse=reuse)
        if config.d_ff is not None:
            _count_feed_forward(counts, config, rows, reuse)
    counts.add("projection", "sincos", rows * k)
    n_out = config.vocab_size
    count_linear(counts, "projection", rows, 2 * k, n_out, bias=True, reuse=reuse)
    count_token_io(counts, rows, rows * config.vocab_size)


def count_map(
    counts: Counts,
    windows: int,
    time: int,
    heads: int,
    k: int,
    kind: str,
    *,
    reuse: float = 1.0,
) -> None:
    """Record the value update done digitally: ``G = A z``, ``theta += bound(v a)``.

    ``kind`` is the bound, or ``"flow"``: per phase three products and two sums
    more for Re(conj(z) G) and |G|^2, a root, a product for the dwell, and a tanh,
    a reciprocal, two products and an arc tangent, priced as a tanh.

    Per pair the 2 k / heads products of G; per phase two products and a sum
    for the torque, one product with v, the bound, one sum. ``coord``: tanh and
    a product; ``unit``: one product more; ``norm``: a product for n and two
    for the scale, and per row a root, a tanh and a reciprocal.
    """
    rows, pairs = windows * time, windows * causal_pairs(time)
    count_value_sum(counts, heads * pairs, 2 * k // heads, reuse=reuse)
    counts.add("value", "mul", 2 * rows * k)
    counts.add("value", "mac", rows * k)
    if kind == "flow":
        counts.add("value", "mul", 6 * rows * k)
        counts.add("value", "mac", 2 * rows * k)
        counts.add("value", "rsqrt", rows * k)
        counts.add("value", "recip", rows * k)
        counts.add("value", "tanh", 2 * rows * k)
        return
    _count_bound(counts, "value", rows, k, kind)


def transformer(
    config: TransformerConfig, windows: int, time: int, *, reuse: float = 1.0
) -> Counts:
    """Count the RoPE and SwiGLU transformer on the same windows.

    Parameters
    ----------
    config : TransformerConfig
        Sizes.
    windows, time : int
        Number of windows and tokens in each.
    reuse : float
        Uses of one byte read from on-chip memory.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being ``windows time``.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1.
    """
    rows, heads = windows * time, config.n_heads
    width = config.d_model // heads
    pairs = heads * windows * causal_pairs(time)
    counts = transformer_body(config, windows, time, reuse=reuse)
    for _ in range(config.n_layers):
        count_cache_write(counts, rows, 2 * config.d_model)
        count_scores(counts, pairs, width, reuse=reuse)
        count_softmax(counts, pairs, heads * rows, width)
        count_value_sum(counts, pairs, width, reuse=reuse)
    return counts


def transformer_body(
    config: TransformerConfig, windows: int, time: int, *, reuse: float = 1.0
) -> Counts:
    """Count everything of a transformer but the attention stage and its cache.

    Rotations are four products and two sums per pair of components, of queries
    and of keys, from a table of sines; norms are root-mean-square.

    Parameters
    ----------
    config, windows, time, reuse
        As in `transformer`.
    """
    rows, d = windows * time, config.d_model
    counts = Counts(tokens=rows)
    counts.add("memory", "weight_read_byte", rows * d)
    for _ in range(config.n_layers):
        for _ in range(4):
            count_linear(counts, "projection", rows, d, d, reuse=reuse)
        counts.add("projection", "mul", 4 * rows * d)
        counts.add("projection", "add", 2 * rows * d)
        counts.add("memory", "sram_read_byte", bytes_read(rows * d, reuse))
        _count_swiglu(counts, rows, d, config.d_ff, d, reuse)
        for _ in range(2):
            _count_rms_norm(counts, rows, d, reuse)
            count_residual(counts, rows, d)
    _count_rms_norm(counts, rows, d, reuse)
    n_out = config.vocab_size
    count_linear(counts, "projection", rows, d, n_out, bias=True, reuse=reuse)
    count_token_io(counts, rows, rows * n_out)
    return counts


def _count_metric(
    counts: Counts, config: KuramotoConfig, windows: int, time: int, reuse: float
) -> None:
    """Record psi, the gated and turned phasors, their products and the softmax.

    A score is two products of size k over the phasors; tau / sqrt(k) is folded
    into the query's gate.
    """
    rows, k, heads = windows * time, config.n_osc, config.n_heads
    pairs = heads * windows * causal_pairs(time)
    counts.add("projection", "sincos", rows * k)
    if config.omega == "learned":
        counts.add("projection", "mac", rows * k)
        counts.add("projection", "sincos", rows * k)
    if config.gates:
        gates = 1 if config.share_metric else 2
        for _ in range(gates):
            count_linear(counts, "projection", rows, 2 * k, k, reuse=reuse)
        counts.add("weights", "coupling_softplus", gates * rows * k)
        counts.add("projection", "add", gates * rows * k)
        counts.add("projection", "recip", gates * rows)
        counts.add("projection", "mul", gates * rows * 3 * k)
    count_cache_write(counts, rows, 3 * k)
    count_scores(counts, pairs, 2 * k // heads, reuse=reuse)
    count_softmax(counts, pairs, heads * rows, 2 * k // heads)


def _count_feed_forward(
    counts: Counts, config: KuramotoConfig, rows: int, reuse: float
) -> None:
    k, d_ff = config.n_osc, config.d_ff or 0
    width = k
    if config.ffn == "lift":
        width = 2 * k
        counts.add("ffn", "sincos", rows * k)
    _count_swiglu(counts, rows, width, d_ff, k, reuse)
    _count_bound(counts, "ffn", rows, k, config.bound)


def _count_swiglu(
    counts: Counts, rows: int, n_in: int, n_hidden: int, n_out: int, reuse: float
) -> None:
    count_linear(counts, "ffn", rows, n_in, n_hidden, reuse=reuse)
    count_linear(counts, "ffn", rows, n_in, n_hidden, reuse=reuse)
    count_linear(counts, "ffn", rows, n_hidden, n_out, reuse=reuse)
    counts.add("ffn", "silu", rows * n_hidden)
    counts.add("ffn", "mul", rows * n_hidden)


def _count_bound(counts: Counts, phase: str, rows: int, k: int, bound: str) -> None:
    if bound == "norm":
        counts.add(phase, "mac", rows * k)
        for action in ("rsqrt", "tanh", "recip"):
            counts.add(phase, action, rows)
        counts.add(phase, "mul", 2 * rows * k)
    else:
        counts.add(phase, "tanh", rows * k)
        counts.add(phase, "mul", rows * k * (2 if bound == "unit" else 1))
    counts.add(phase, "add", rows * k)


def _count_rms_norm(counts: Counts, rows: int, d: int, reuse: float) -> None:
    counts.add("projection", "mac", rows * d)
    counts.add("projection", "rsqrt", rows)
    counts.add("projection", "mul", rows * 2 * d)
    counts.add("projection", "weight_read_byte", bytes_read(rows * d, reuse))
