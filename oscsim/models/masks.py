"""Which positions and pairs of a block exist."""

from dataclasses import dataclass

import numpy as np

from oscsim.models.config import FixedQueryConfig
from oscsim.typing import BoolArray, IntArray


@dataclass(frozen=True)
class Masks:
    """Which positions and pairs of a block exist.

    Attributes
    ----------
    live : BoolArray, shape (batch, time)
        Positions that exist in hardware. The published models read padded
        anchors out; then a padded position exists.
    coupled : BoolArray, shape (batch, time, time)
        Pairs (query, anchor) that have a coupling.
    readable : BoolArray, shape (batch, time, time)
        Pairs that enter the read-out.
    """

    live: BoolArray
    coupled: BoolArray
    readable: BoolArray

    @classmethod
    def of(cls, config: FixedQueryConfig, ids: IntArray, items: IntArray) -> "Masks":
        """Derive the masks from the token ids; items below 0 fill up a block."""
        token = ids != (-1 if config.padding_idx is None else config.padding_idx)
        kept = token if config.mask_readout else np.ones_like(token)
        n_time = ids.shape[1]
        order = np.tril(np.ones((n_time, n_time), bool)) | (not config.causal)
        return cls(
            live=kept & (items >= 0)[:, None],
            coupled=order & token[:, None, :],
            readable=order & kept[:, None, :],
        )

    @property
    def connected(self) -> BoolArray:
        """Pairs that exist in hardware, shape (batch, time, time)."""
        return self.readable & self.live[:, :, None]
