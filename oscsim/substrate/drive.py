"""What a model asks of its oscillators: the one seam between the two."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from oscsim.counts import Counts
from oscsim.typing import BoolArray, FloatArray, IntArray


class Drive(NamedTuple):
    """The couplings of one attention layer for a block of items.

    Attributes
    ----------
    layer : int
        Number of the attention layer.
    items : IntArray, shape (batch,)
        Global numbers of the items; random draws depend on these, never on
        the position in a batch.
    coupling : FloatArray, shape (batch, heads, queries, anchors)
        Couplings w_ij >= 0 in model units; pairs that are masked hold 0.
    anchors : FloatArray, shape (heads, anchors, d_osc)
        Anchors r_j as trained; their norms need not be 1.
    connected : BoolArray, shape (batch, queries, anchors)
        Pairs that exist in hardware. A padded position has none.
    live : BoolArray, shape (batch, queries)
        Queries that exist in hardware.
    """

    layer: int
    items: IntArray
    coupling: FloatArray
    anchors: FloatArray
    connected: BoolArray
    live: BoolArray


Settle: TypeAlias = Callable[[Drive, Counts], FloatArray]
"""Return the states, shape (batch, heads, queries, d_osc), and tally the work."""
