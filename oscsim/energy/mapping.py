"""Attention heads and queries on an array of a given size."""

import math
from dataclasses import dataclass

from oscsim.energy.baselines import LARGEST
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.work import oscillators_for


@dataclass(frozen=True)
class Attention:
    """What a model asks of an array.

    Attributes
    ----------
    n_layers, n_heads : int
        Attention layers, one after the other, and heads of each.
    d_osc : int
        Components of an oscillator.
    context : int
        Tokens that a query sees at most: anchors of an oscillator.
    causal : bool
        Whether a query sees only earlier tokens and itself.
    d_head : int
        Width of one head.
    """

    n_layers: int
    n_heads: int
    d_osc: int
    context: int
    causal: bool
    d_head: int

    def __post_init__(self) -> None:
        for name in ("n_layers", "n_heads", "context", "d_head"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.context > LARGEST:
            raise SpecError(f"context must be at most {LARGEST:,}, got {self.context}")
        if self.d_osc < 2:
            raise SpecError(f"d_osc must be at least 2, got {self.d_osc}")


@dataclass(frozen=True)
class Mapping:
    """One sweep of a model over an array: a prefill, or one decoding step.

    In every layer each head goes to a tile, which holds its anchors; each of the
    head's queries goes to an oscillator of that tile. Heads beyond the tiles and
    queries beyond the oscillators wait for the next pass.

    Attributes
    ----------
    device : Device
        The array.
    model : Attention
        What is mapped.
    batch : int
        Sequences at a time. Anchors do not depend on the sequence, so the
        sequences share them.
    is_decoding : bool
        Whether each sequence has one query, its newest token; otherwise one for
        each of its tokens.
    """

    device: Device
    model: Attention
    batch: int
    is_decoding: bool

    @property
    def tokens(self) -> int:
        """Tokens that a sweep advances by."""
        return self.batch * self._queries

    @property
    def tiles(self) -> int:
        """Tiles that exist; one for each head of each layer, if unlimited."""
        held = self.model.n_layers * self.model.n_heads
        return held if self.device.tiles is None else self.device.tiles

    @property
    def oscillators(self) -> int:
        """Oscillators of a tile; one for each query of a head, if unlimited."""
        return oscillators_for(self.device, self.tokens)

    @property
    def head_rounds(self) -> int:
        """Passes of a layer that its heads need: ``ceil(H / tiles)``."""
        return math.ceil(self.model.n_heads / self.tiles)

    @property
    def query_rounds(self) -> int:
        """Passes of a head that its queries need: ``ceil(queries / oscillators)``."""
        return math.ceil(self.tokens / self.oscillators)

    @property
    def passes(self) -> int:
        """Times of settling, one after the other, in a sweep."""
        return self.model.n_layers * self.head_rounds * self.query_rounds

    @property
    def rows(self) -> int:
        """Rows of couplings written in a sweep: one per layer, head and query."""
        return self.model.n_layers * self.model.n_heads * self.tokens

    @property
    def row_lengths(self) -> tuple[int, ...]:
        """Couplings of the rows of one sequence and head, in the order of queries."""
        longest = self.model.context
        if self.is_decoding:
            return (longest,)
        if self.model.causal:
            return tuple(range(1, longest + 1))
        return (longest,) * longest

    @property
    def pairs(self) -> int:
        """Couplings written in a sweep: each is rewritten for every query."""
        held = self.model.n_layers * self.model.n_heads * self.batch
        return held * sum(self.row_lengths)

    @property
    def writes_per_token(self) -> float:
        """Couplings written per token."""
        return self.pairs / self.tokens

    @property
    def anchor_loads(self) -> int:
        """Times in a sweep that a tile is given another head's anchors.

        0 if every head of every layer has a tile; otherwise each head's anchors
        are written once a sweep.
        """
        held = self.model.n_layers * self.model.n_heads
        return 0 if self.tiles >= held else held

    @property
    def anchor_words(self) -> int:
        """Anchor words written in a sweep: one per anchor, or per component of it.

        ``anchor_loads`` times the context; 0 if every head has a tile, which is
        then given its anchors once and for all.
        """
        is_phase = self.device.has_phase(self.model.d_osc)
        return (
            self.anchor_loads
            * self.model.context
            * (1 if is_phase else self.model.d_osc)
        )

    @property
    def rewrites(self) -> float:
        """Times in a sweep that one coupling is written, on the average."""
        n_tiles = min(self.tiles, self.model.n_layers * self.model.n_heads)
        used = min(self.oscillators, self.tokens)
        return self.rows / (n_tiles * used)

    @property
    def oscillator_use(self) -> float:
        """Share of the array's oscillators that settle in a pass, on the average.

        While one layer runs, tiles that hold other layers are idle.
        """
        slots = self.passes * self.tiles * self.oscillators
        return self.rows / slots

    @property
    def coupler_use(self) -> float:
        """Share of a settling oscillator's couplers that carry a coupling."""
        couplers = self.device.couplers_per_oscillator or self.model.context
        return sum(self.row_lengths) / (len(self.row_lengths) * couplers)

    @property
    def unlimited(self) -> tuple[str, ...]:
        """What the device does not state and is taken as unlimited."""
        names = ["oscillators", "couplers_per_oscillator", "tiles"]
        if self.device.query_slots == 1:
            names.remove("oscillators")
        return tuple(n for n in names if getattr(self.device, n) is None)

    @property
    def _queries(self) -> int:
        return 1 if self.is_decoding else self.model.context


def map_attention(
    device: Device, model: Attention, *, batch: int = 1, is_decoding: bool = False
) -> Mapping:
    """Map a model's heads and queries onto an array, or say why they do not fit.

    Parameters
    ----------
    device : Device
        ``oscillators``, ``couplers_per_oscillator`` and ``tiles`` bound the
        array; what is absent is unlimited.
    model : Attention
        What is mapped.
    batch : int
        Sequences at a time.
    is_decoding : bool
        One token a sequence, against a context that is full; needs a causal
        model. Otherwise all tokens of a context (prefill).

    Returns
    -------
    Mapping

    Raises
    ------
    DeviceError
        If a query has more anchors than an oscillator has couplers, or d_osc is
        more than the device's oscillators have.
    SpecError
        If ``batch`` is below 1, or a model that is not causal is decoded.

    Notes
    -----
    The sum over anchors happens in one oscillator: a query cannot be split over
    several. Queries and heads can wait, so too few oscillators or tiles take more
    passes, never an error.
    """
    if batch < 1:
        raise SpecError(f"batch must be at least 1, got {batch}")
    if is_decoding and not model.causal:
        raise SpecError(
            "a model that is not causal cannot be decoded token by token: every new "
            "token changes all others; use is_decoding = False"
        )
    device.require_d_osc(model.d_osc)
    couplers = device.couplers_per_oscillator
    if couplers is not None and model.context > couplers:
        raise DeviceError(
            f"a context of {model.context} tokens does not fit device {device.name}: "
            f"an oscillator sees couplers_per_oscillator = {couplers} anchors and a "
            f"query cannot be split; use a context of at most {couplers}, or a device "
            f"with at least {model.context}"
        )
    return Mapping(device, model, batch, is_decoding)
