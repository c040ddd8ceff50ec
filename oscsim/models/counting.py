"""What each digital building block of an attention model does, as counts.

Rows are token positions, or (head, query) pairs inside a head; pairs are
(head, query, anchor) triples that exist, causal and padding masks applied. The
data path is 8 bits wide: one byte for a weight, a key, a value or an anchor.
"""

from oscsim.counts import Counts
from oscsim.errors import SpecError

COUPLING_FUNCTIONS = ("softplus", "relu", "elu")
READOUT_POWERS = (1, 2, 4)
STATE_BYTES = 2
TOKEN_ID_BYTES = 2


def count_linear(
    counts: Counts,
    phase: str,
    rows: int,
    n_in: int,
    n_out: int,
    *,
    bias: bool = False,
    reuse: float = 1.0,
) -> None:
    """Record ``y = W x + b`` for ``rows`` vectors.

    ``rows n_in n_out`` multiply-accumulates, ``rows n_out`` additions with a
    bias, and each weight read once per row divided by ``reuse``.

    Parameters
    ----------
    counts : Counts
        Filled in place.
    phase : str
        Phase of the computation, one of `oscsim.counts.PHASES`.
    rows, n_in, n_out : int
        Number of vectors and the shape (n_out, n_in) of the matrix.
    bias : bool
        Whether a bias is read and added.
    reuse : float
        Rows served by one read of a weight from the on-chip memory. 1 is
        what decoding one token at a time does and is the worst case; a tile
        of R tokens kept in the array gives R.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1.
    """
    counts.add(phase, "mac", rows * n_in * n_out)
    weights = n_in * n_out
    if bias:
        counts.add(phase, "add", rows * n_out)
        weights += n_out
    counts.add(phase, "weight_read_byte", bytes_read(rows * weights, reuse))


def count_embedding(
    counts: Counts, rows: int, d_model: int, *, reuse: float = 1.0
) -> None:
    """Record one embedding row and one position row per token, and their sum.

    Table rows are data, not weights of a product: ``reuse`` applies to the
    position row only, which a tile of sequences shares.
    """
    counts.add("memory", "weight_read_byte", rows * d_model)
    counts.add("memory", "weight_read_byte", bytes_read(rows * d_model, reuse))
    counts.add("projection", "add", rows * d_model)


def count_frames(
    counts: Counts, rows: int, n_features: int, d_model: int, *, reuse: float = 1.0
) -> None:
    """Record the projection of frames in place of an embedding, and positions.

    ``rows n_features d_model`` macs and the bias, then one position row read
    and added per frame.
    """
    count_linear(
        counts, "projection", rows, n_features, d_model, bias=True, reuse=reuse
    )
    counts.add("memory", "weight_read_byte", bytes_read(rows * d_model, reuse))
    counts.add("projection", "add", rows * d_model)


def count_mean(counts: Counts, rows: int, items: int, d_model: int) -> None:
    """Record the mean over the rows of each item: additions, then ``x / n``."""
    counts.add("projection", "add", rows * d_model)
    counts.add("projection", "recip", items)
    counts.add("projection", "mul", items * d_model)


def count_residual(counts: Counts, rows: int, d_model: int) -> None:
    """Record the sum of a block's output and its input: ``rows d_model`` adds."""
    counts.add("projection", "add", rows * d_model)


def count_layernorm(
    counts: Counts, rows: int, d_model: int, *, reuse: float = 1.0
) -> None:
    """Record ``(x - mean) / sqrt(var + eps) * g + b`` over vectors of d_model.

    Per row: d adds (mean), d adds (centring), d macs (variance), one
    reciprocal square root, d multiplications by it, d macs (gain and bias),
    two multiplications by 1/d.
    """
    counts.add("projection", "add", rows * 2 * d_model)
    counts.add("projection", "mac", rows * 2 * d_model)
    counts.add("projection", "mul", rows * (d_model + 2))
    counts.add("projection", "rsqrt", rows)
    counts.add("projection", "weight_read_byte", bytes_read(rows * 2 * d_model, reuse))


def count_gelu(counts: Counts, number: int) -> None:
    """Record ``number`` evaluations of GELU."""
    counts.add("ffn", "gelu", number)


def count_cache_write(counts: Counts, rows: int, width: int) -> None:
    """Record that ``width`` bytes of key and value are stored per token."""
    counts.add("memory", "sram_write_byte", rows * width)


def count_scores(
    counts: Counts, pairs: int, d_head: int, *, reuse: float = 1.0
) -> None:
    """Record ``q.k / sqrt(d_head)`` for every pair, reading one key per pair.

    The factor 1/sqrt(d_head) is folded into W_q and costs nothing.
    ``reuse`` is the number of queries served by one read of a key.
    """
    counts.add("weights", "mac", pairs * d_head)
    counts.add("weights", "sram_read_byte", bytes_read(pairs * d_head, reuse))


def count_coupling(counts: Counts, pairs: int, function: str) -> None:
    """Record one evaluation of the coupling function per pair.

    Raises
    ------
    SpecError
        If ``function`` is not softplus, relu or elu.
    """
    if function not in COUPLING_FUNCTIONS:
        raise SpecError(
            f"unknown coupling function {function!r}: "
            f"one of {', '.join(COUPLING_FUNCTIONS)}"
        )
    counts.add("weights", f"coupling_{function}", pairs)


def count_softmax(counts: Counts, pairs: int, rows: int, d_head: int) -> None:
    """Record a softmax over the pairs of each row.

    Per pair: comparison for the maximum, its subtraction, the exponential,
    the sum. Per row: one reciprocal, and one multiplication per component
    of the mixed value (cheaper than one per pair for T > d_head).
    """
    counts.add("weights", "compare", pairs)
    counts.add("weights", "add", pairs)
    counts.add("weights", "exp", pairs)
    _count_normalise(counts, pairs, rows, d_head)


def count_drive_sum(
    counts: Counts, pairs: int, d_osc: int, *, reuse: float = 1.0
) -> None:
    """Record ``h_i = sum_j w_ij r_j`` done digitally, anchors read per pair."""
    counts.add("load", "mac", pairs * d_osc)
    counts.add("load", "sram_read_byte", bytes_read(pairs * d_osc, reuse))


def count_unit(counts: Counts, rows: int, d_osc: int) -> None:
    """Record ``h / |h|``: what a settled oscillator computes.

    Per row: d multiplications and d additions for the norm, one reciprocal
    square root, d multiplications by it.
    """
    counts.add("settle", "mul", rows * 2 * d_osc)
    counts.add("settle", "add", rows * d_osc)
    counts.add("settle", "rsqrt", rows)


def count_similarity(
    counts: Counts, pairs: int, d_osc: int, *, power: int = 1, reuse: float = 1.0
) -> None:
    """Record ``max(0, 1 + z_i.r_j)^p`` for every pair, anchors read per pair.

    Per pair: d_osc macs, one addition, one comparison, log2(p)
    multiplications.

    Raises
    ------
    SpecError
        If ``power`` is not 1, 2 or 4.
    """
    if power not in READOUT_POWERS:
        raise SpecError(f"the read-out exponent p must be 1, 2 or 4, got {power}")
    counts.add("similarity", "mac", pairs * d_osc)
    counts.add("similarity", "sram_read_byte", bytes_read(pairs * d_osc, reuse))
    counts.add("similarity", "add", pairs)
    counts.add("similarity", "compare", pairs)
    counts.add("similarity", "mul", pairs * READOUT_POWERS.index(power))


def count_readout_normalise(counts: Counts, pairs: int, rows: int, d_head: int) -> None:
    """Record ``a_ij / sum_l a_il``: a sum per pair, a reciprocal per row.

    The reciprocal multiplies the mixed value (d_head components per row),
    as in `count_softmax`.
    """
    _count_normalise(counts, pairs, rows, d_head)


def count_value_sum(
    counts: Counts, pairs: int, d_head: int, *, reuse: float = 1.0
) -> None:
    """Record ``sum_j a_ij v_j``, reading one value vector per pair.

    ``reuse`` is the number of queries served by one read of a value.
    """
    counts.add("value", "mac", pairs * d_head)
    counts.add("value", "sram_read_byte", bytes_read(pairs * d_head, reuse))


def count_prefix_update(
    counts: Counts,
    rows: int,
    d_osc: int,
    d_head: int,
    *,
    stores: int | None = None,
    reuse: float = 1.0,
) -> None:
    """Record the running sums of a factored p = 1 read-out, once per anchor.

    ``S_rv += r_j v_j^T`` (d_osc d_head macs), ``S_v += v_j`` (d_head
    additions). ``S_r = sum_j r_j`` depends on no input: it is a stored table
    that `count_prefix_read` reads. The anchor is read once.

    Parameters
    ----------
    counts : Counts
        Filled in place.
    rows : int
        (head, anchor) pairs.
    d_osc, d_head : int
        Sizes.
    stores : int, optional
        How often the sums, two bytes an element, are read and stored. Causal
        models need them after every anchor (the default); others accumulate
        in place and store them once per head and item.
    reuse : float
        Uses of one byte read, as in `count_linear`.
    """
    stores = rows if stores is None else stores
    state = (d_osc + 1) * d_head * STATE_BYTES
    counts.add("value", "mac", rows * d_osc * d_head)
    counts.add("value", "add", rows * d_head)
    moved = stores * state
    counts.add("value", "sram_read_byte", bytes_read(moved + rows * d_osc, reuse))
    counts.add("value", "sram_write_byte", bytes_read(moved, reuse))


def count_prefix_read(
    counts: Counts, rows: int, d_osc: int, d_head: int, *, reuse: float = 1.0
) -> None:
    """Record ``(S_v + z.S_rv) / (n + z.S_r)`` for every (head, query).

    d_osc (d_head + 1) macs, one reciprocal and d_head multiplications, and
    one read of the state, divided by ``reuse``. Equal to the direct read-out
    for p = 1 if no ``1 + z.r_j`` is negative.
    """
    state = ((d_osc + 1) * d_head + d_osc) * STATE_BYTES
    counts.add("similarity", "mac", rows * d_osc)
    counts.add("similarity", "add", rows)
    counts.add("value", "mac", rows * d_osc * d_head)
    counts.add("value", "add", rows * d_head)
    counts.add("value", "sram_read_byte", bytes_read(rows * state, reuse))
    counts.add("normalise", "recip", rows)
    counts.add("normalise", "mul", rows * d_head)


def count_token_io(
    counts: Counts, tokens: int, outputs: int, *, token_bytes: int = TOKEN_ID_BYTES
) -> None:
    """Record the bytes that cross the chip's boundary for a whole model.

    A token id of two bytes per position in, or ``token_bytes`` (a frame: one
    byte a feature), two bytes per output number out.
    """
    n_bytes = tokens * token_bytes + outputs * STATE_BYTES
    counts.add("memory", "token_io_byte", n_bytes)


def _count_normalise(counts: Counts, pairs: int, rows: int, d_head: int) -> None:
    counts.add("normalise", "add", pairs)
    counts.add("normalise", "recip", rows)
    counts.add("normalise", "mul", rows * d_head)


def bytes_read(n_bytes: float, reuse: float) -> float:
    """Return the bytes that are read from memory if each is used ``reuse`` times.

    Raises
    ------
    SpecError
        If ``reuse`` is below 1.
    """
    if not reuse >= 1:
        raise SpecError(f"reuse must be >= 1 (uses per read), got {reuse}")
    return n_bytes / reuse
