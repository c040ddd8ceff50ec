"""What the rivals of the substrate would execute on the same shapes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from oscsim.counts import Counts, is_whole
from oscsim.errors import SpecError
from oscsim.models import counting

LARGEST = 2**20
"""Largest context, head count or width that is counted."""
LARGEST_SIZES = {"n_layers": 1024, "d_ff": 4 * LARGEST}
Coupling = Literal["softplus", "relu", "elu"]
Power = Literal[1, 2, 4]


@dataclass(frozen=True)
class Shape:
    """The shapes of a whole attention model and of the items it is run on.

    Attributes
    ----------
    n_layers, n_heads, d_model, d_ff : int
        Sizes; n_heads divides d_model.
    d_osc : int
        Components of an oscillator; the softmax rival ignores it.
    lengths : sequence of int
        Number of existing positions of each item.
    causal : bool
        Whether a query sees only earlier positions and itself.
    coupling : {"softplus", "relu", "elu"}
        Coupling function.
    n_outputs : int
        Numbers that the head gives per row.
    power : {1, 2, 4}
        Read-out exponent p.
    head_rows : int or None
        Rows that the final norm and the head see; None for every position.
    n_features : int or None
        Numbers in a frame, for a model of frames: projected in place of an
        embedding, and averaged for a head without a final norm.
    is_decoding : bool
        Whether only the last position of each item is computed, against anchors,
        keys and values of all its positions; otherwise all of them are (prefill).
    """

    n_layers: int
    n_heads: int
    d_model: int
    d_ff: int
    d_osc: int
    lengths: Sequence[int]
    causal: bool
    coupling: Coupling
    n_outputs: int
    power: Power = 1
    head_rows: int | None = None
    n_features: int | None = None
    is_decoding: bool = False

    def __post_init__(self) -> None:
        names = ("n_layers", "n_heads", "d_model", "d_ff", "d_osc", "n_outputs")
        for name in names:
            _require_size(name, getattr(self, name))
        for name in ("head_rows", "n_features"):
            if getattr(self, name) is not None:
                _require_size(name, getattr(self, name), 2**62)
        for name, known in (("coupling", Coupling), ("power", Power)):
            if getattr(self, name) not in get_args(known):
                raise SpecError(
                    f"{name} must be one of {', '.join(map(str, get_args(known)))}, "
                    f"got {getattr(self, name)!r}"
                )
        if self.d_model % self.n_heads:
            raise SpecError(
                f"n_heads = {self.n_heads} does not divide d_model = {self.d_model}"
            )
        if not self.lengths or min(self.lengths) < 1:
            raise SpecError(
                "lengths must name at least one item of at least one position, "
                f"got {list(self.lengths)}"
            )
        for length in set(self.lengths):
            _require_size("a length", length)
        if self.is_decoding and not self.causal:
            raise SpecError("only a causal model is decoded, got causal = False")

    @cached_property
    def rows(self) -> int:
        """Positions that are computed, over all items."""
        return len(self.lengths) if self.is_decoding else sum(self.lengths)

    @property
    def d_head(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads

    @cached_property
    def pairs(self) -> int:
        """(head, query, anchor) triples of one layer over all items.

        ``H sum T^2``, or ``H sum T (T + 1) / 2`` if causal; ``H sum T`` if one
        position is decoded.
        """
        if self.is_decoding:
            return self.n_heads * sum(self.lengths)
        return self.n_heads * sum(pairs_of(n, self.causal) for n in self.lengths)


def digital_softmax(shape: Shape, *, reuse: float = 1.0) -> Counts:
    """Count the softmax twin of a model (rival A).

    Parameters
    ----------
    shape : Shape
        The model; ``d_osc``, ``coupling`` and ``power`` play no part.
    reuse : float
        Uses of one byte read from on-chip memory; 1 is the worst case
        (decoding). The same number must price the substrate's digital part.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being the positions.
    """
    counts = count_body(shape, reuse)
    for _ in range(shape.n_layers):
        count_scored(counts, shape, reuse, cached=2)
        heads = shape.n_heads * shape.rows
        counting.count_softmax(counts, shape.pairs, heads, shape.d_head)
        counting.count_value_sum(counts, shape.pairs, shape.d_head, reuse=reuse)
    return counts


def digital_oscillator(shape: Shape, *, reuse: float = 1.0) -> Counts:
    """Count the same oscillator model done digitally, unfactored (rival B).

    ``h = sum w r``, ``z = h/|h|`` and the direct read-out instead of the
    oscillators: no integration in time, the settled state is a formula.

    Parameters
    ----------
    shape : Shape
        The model.
    reuse : float
        As in `digital_softmax`.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being the positions.
    """
    counts = count_body(shape, reuse)
    for _ in range(shape.n_layers):
        count_scored(counts, shape, reuse, cached=2)
        _state(counts, shape, reuse)
        count_direct(counts, shape, reuse)
    return counts


def digital_oscillator_factored(shape: Shape, *, reuse: float = 1.0) -> Counts:
    """Count it done digitally with the read-out in prefix sums (rival B2).

    With p = 1 the read-out is affine in the anchors, so the value sum becomes
    ``(S_v + z.S_rv) / (n + z.S_r)``: the substrate's real rival.

    Parameters
    ----------
    shape : Shape
        The model; ``power`` must be 1.
    reuse : float
        As in `digital_softmax`.

    Returns
    -------
    Counts
        Of the whole model, ``tokens`` being the positions.

    Raises
    ------
    SpecError
        If ``power`` is not 1: the read-out does not factor.

    Notes
    -----
    Valid if no ``1 + z.r_j`` is negative, so that the clamp never acts;
    ``|r_j| <= 1`` is enough. A shape does not know its anchors: check them.
    """
    if shape.power != 1:
        raise SpecError(
            f"the read-out factors into prefix sums for p = 1 only, got {shape.power}"
        )
    counts = count_body(shape, reuse)
    for _ in range(shape.n_layers):
        count_scored(counts, shape, reuse, cached=1)
        _state(counts, shape, reuse)
        count_factored(counts, shape, reuse)
    return counts


def pairs_of(length: int, causal: bool) -> int:
    """Return the number of (query, anchor) pairs of one head and item."""
    return length * (length + 1) // 2 if causal else length * length


def count_body(shape: Shape, reuse: float) -> Counts:
    """Count everything but the attention stage, which all variants share."""
    counts = Counts(tokens=shape.rows)
    rows, d, d_ff = shape.rows, shape.d_model, shape.d_ff
    if shape.n_features is None:
        counting.count_embedding(counts, rows, d, reuse=reuse)
    else:
        counting.count_frames(counts, rows, shape.n_features, d, reuse=reuse)
    for _ in range(shape.n_layers):
        for bias in (False, False, False, True):
            counting.count_linear(
                counts, "projection", rows, d, d, bias=bias, reuse=reuse
            )
        counting.count_linear(counts, "ffn", rows, d, d_ff, bias=True, reuse=reuse)
        counting.count_gelu(counts, rows * d_ff)
        counting.count_linear(counts, "ffn", rows, d_ff, d, bias=True, reuse=reuse)
        for _ in range(2):
            counting.count_layernorm(counts, rows, d, reuse=reuse)
            counting.count_residual(counts, rows, d)
    read = shape.rows if shape.head_rows is None else shape.head_rows
    if shape.n_features is None:
        counting.count_layernorm(counts, read, d, reuse=reuse)
    else:
        counting.count_mean(counts, rows, read, d)
    counting.count_linear(
        counts, "projection", read, d, shape.n_outputs, bias=True, reuse=reuse
    )
    counting.count_token_io(
        counts,
        rows,
        read * shape.n_outputs,
        token_bytes=shape.n_features or counting.TOKEN_ID_BYTES,
    )
    return counts


def count_scored(counts: Counts, shape: Shape, reuse: float, *, cached: int) -> None:
    """Record the scores of a layer and ``cached`` vectors stored per token."""
    counting.count_cache_write(counts, shape.rows, cached * shape.d_model)
    counting.count_scores(counts, shape.pairs, shape.d_head, reuse=reuse)


def count_direct(counts: Counts, shape: Shape, reuse: float) -> None:
    """Record the read-out of one layer pair by pair, and its values."""
    heads = shape.n_heads * shape.rows
    counting.count_similarity(
        counts, shape.pairs, shape.d_osc, power=shape.power, reuse=reuse
    )
    counting.count_readout_normalise(counts, shape.pairs, heads, shape.d_head)
    counting.count_value_sum(counts, shape.pairs, shape.d_head, reuse=reuse)


def count_factored(counts: Counts, shape: Shape, reuse: float) -> None:
    """Record the read-out of one layer in prefix sums."""
    heads, d = shape.n_heads * shape.rows, shape.d_osc
    stores = None if shape.causal else shape.n_heads * len(shape.lengths)
    counting.count_prefix_update(
        counts, heads, d, shape.d_head, stores=stores, reuse=reuse
    )
    counting.count_prefix_read(counts, heads, d, shape.d_head, reuse=reuse)


def _require_size(name: str, size: int, largest: int | None = None) -> None:
    most = LARGEST_SIZES.get(name, LARGEST) if largest is None else largest
    if not is_whole(size):
        raise SpecError(f"{name} must be a whole number, got {size!r}")
    if size < 1:
        raise SpecError(f"{name} must be at least 1, got {_short(size)}")
    if size > most:
        raise SpecError(f"{name} must be at most {most:,}, got {_short(size)}")


def _short(size: int) -> str:
    """Return a number, or how long it is: thousands of digits are no message."""
    # str of a very long int is refused by Python itself
    if size.bit_length() > 256:
        return (
            f"a number of about {int(size.bit_length() * math.log10(2)) + 1:,} digits"
        )
    return f"{size:,}"


def _state(counts: Counts, shape: Shape, reuse: float) -> None:
    counting.count_coupling(counts, shape.pairs, shape.coupling)
    counting.count_drive_sum(counts, shape.pairs, shape.d_osc, reuse=reuse)
    counting.count_unit(counts, shape.n_heads * shape.rows, shape.d_osc)
