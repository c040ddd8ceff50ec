"""Which positions and pairs of a block of inputs exist."""

from dataclasses import dataclass

import numpy as np

from oscsim.models.config import FixedQueryConfig
from oscsim.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Masks:
    """Which positions and pairs of a block exist.

    Attributes
    ----------
    present : BoolArray, shape (batch, time)
        Positions that are not padding.
    live : BoolArray, shape (batch, time)
        Positions that exist in hardware. The published models read padded
        anchors out; then a padded position exists.
    coupled : BoolArray, shape (batch, time, time)
        Pairs (query, anchor) that have a coupling.
    readable : BoolArray, shape (batch, time, time)
        Pairs that enter the read-out.
    """

    present: BoolArray
    live: BoolArray
    coupled: BoolArray
    readable: BoolArray

    @classmethod
    def of(
        cls, config: FixedQueryConfig, inputs: IntArray | FloatArray, items: IntArray
    ) -> "Masks":
        """Derive the masks from ids or frames; items below 0 fill up a block."""
        token: BoolArray
        if config.n_features is not None:
            token = ~np.any(np.isnan(inputs), axis=-1)
        else:
            token = inputs != (-1 if config.padding_idx is None else config.padding_idx)
        kept = token if config.mask_readout else np.ones_like(token)
        n_time = inputs.shape[1]
        order = np.tril(np.ones((n_time, n_time), bool)) | (not config.causal)
        return cls(
            present=token,
            live=kept & (items >= 0)[:, None],
            coupled=order & token[:, None, :],
            readable=order & kept[:, None, :],
        )

    @property
    def connected(self) -> BoolArray:
        """Pairs that exist in hardware, shape (batch, time, time)."""
        return self.readable & self.live[:, :, None]
