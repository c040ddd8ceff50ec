"""Bytes that a model keeps on chip, beside the memories that price their reads."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from oscsim.energy.baselines import Shape, count_body
from oscsim.energy.window_shape import WindowShape
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    kuramoto_shapes,
    transformer_shapes,
)

WEIGHTS_BYTES = 2**20
"""The memory that a byte of a weight is priced as read from: 1 MB."""
CACHE_BYTES = 2**15
"""The memory that keys, values, anchors and norms are priced as read from: 32 KB."""


class Stored(NamedTuple):
    """Bytes that a model needs at hand to read one sequence.

    Attributes
    ----------
    weights : int
        Its weights, a byte each.
    cache : int
        Keys, values, anchors and norms of one sequence, a byte each.
    """

    weights: int
    cache: int

    @property
    def memory_bytes(self) -> int:
        """Bytes of the memories that are priced, or that it needs if these are more."""
        return max(self.weights, WEIGHTS_BYTES) + max(self.cache, CACHE_BYTES)

    @property
    def notes(self) -> tuple[str, ...]:
        """What does not fit the memory that prices it; empty if all fits."""
        parts = (
            ("weights", self.weights, WEIGHTS_BYTES),
            ("keys, values and anchors of a sequence", self.cache, CACHE_BYTES),
        )
        return tuple(
            f"{what}: {-(-has // 1024):,} KB, but reads are priced as of a memory of "
            f"{size // 1024:,} KB, as no price of a larger one is known here: the "
            "true price is higher"
            for what, has, size in parts
            if has > size
        )


def stored(shape: Shape | WindowShape, *, has_anchors: bool = True) -> Stored:
    """Return the bytes of a model's weights and of the cache of its longest item.

    Fixed-query attention of L layers, H heads, width d and T positions keeps
    ``L T (2 d + H (d_osc + 1))`` bytes: keys, values, anchors and their norms.
    Kuramoto attention keeps ``3 k`` bytes for a token and layer, its transformer
    ``2 d``.

    Parameters
    ----------
    shape : Shape or WindowShape
        The model.
    has_anchors : bool
        Whether it is an oscillator model; a softmax model has no anchors.

    Notes
    -----
    Of one sequence: a batch keeps as many caches. Of the embedding and the
    positions of fixed-query attention one row each is counted, as a shape does not
    know the size of its vocabulary.
    """
    if isinstance(shape, WindowShape):
        config, a_token = shape.config, 2 * shape.d_model
        if isinstance(config, KuramotoConfig):
            shapes, a_token = kuramoto_shapes(config), 3 * config.n_osc
        else:
            shapes = transformer_shapes(config)
        numbers = sum(int(np.prod(one)) for one in shapes.values())
        return Stored(numbers, shape.n_layers * shape.time * a_token)
    one = replace(shape, lengths=[1], head_rows=None, is_decoding=False)
    weights = count_body(one, 1.0).total("weight_read_byte")
    anchors = shape.n_heads * (shape.d_osc + 1) if has_anchors else 0
    a_token = 2 * shape.d_model + anchors
    return Stored(int(weights), shape.n_layers * max(shape.lengths) * a_token)
