"""Families of models whose law is known, windows in common."""

import numpy as np

DIMENSIONS = (2, 4, 8, 16, 32)


def family(
    law, softmax, *, seeds=3, twins=None, windows=400, spread=0.0, noise=0.02, seed=1
):
    """Bits (seeds, windows) of models of perplexity law(d), and of their twin.

    ``seeds`` is a number of trainings, or one by d_osc with that of ``twins``,
    ``spread`` the deviation between them (bits), ``noise`` what a window has of its own
    in every model.
    """
    draw = np.random.default_rng(seed)
    common = draw.normal(0, 0.3, windows)
    common -= common.mean()

    def bits(perplexity, seeds):
        level = np.log2(perplexity) + spread * draw.normal(size=(seeds, 1))
        own = noise * draw.normal(size=(seeds, windows))
        return level + common + own - own.mean(axis=1, keepdims=True)

    each = seeds if isinstance(seeds, dict) else dict.fromkeys(DIMENSIONS, seeds)
    return {d: bits(law(d), each[d]) for d in DIMENSIONS}, bits(softmax, twins or seeds)
