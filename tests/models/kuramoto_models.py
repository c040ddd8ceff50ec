"""Small random Kuramoto attention models."""

import numpy as np

from oscsim.models.kuramoto_config import KuramotoConfig, kuramoto_shapes

V, T, K = 11, 6, 6


def model(seed=0, **changes):
    """A configuration and random weights, dwells of both signs and about 1."""
    fields = {"vocab_size": V, "n_osc": K, "n_layers": 3, "d_ff": 7, "max_len": 8}
    config = KuramotoConfig(**(fields | changes))
    draw = np.random.default_rng(seed)
    weights = {
        name: draw.normal(0, 0.5, shape)
        for name, shape in kuramoto_shapes(config).items()
    }
    return config, weights


def tokens(n=5, time=T, seed=1):
    """Random token ids, shape (n, time)."""
    return np.random.default_rng(seed).integers(0, V, (n, time))
