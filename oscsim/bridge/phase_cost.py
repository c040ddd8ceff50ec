"""What Kuramoto attention is priced against, and how long it takes."""

import math
from functools import partial

import numpy as np

from oscsim.bridge.language import LanguageRun
from oscsim.counts import Counts
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    TransformerConfig,
    kuramoto_shapes,
    transformer_shapes,
)
from oscsim.models.phase_counting import digital_kuramoto, transformer

DIGITAL_MAP = "same model, digital map"


def phase_rivals(config: KuramotoConfig, windows: int, time: int) -> dict[str, Counts]:
    """Return what the same model done digitally and a transformer would execute.

    Parameters
    ----------
    config : KuramotoConfig
        The model.
    windows, time : int
        Number of windows and tokens in each.
    """
    twin = transformer_twin(config)
    n = parameters(transformer_shapes(twin))
    layers = "layer" if twin.n_layers == 1 else "layers"
    named = (
        f"transformer, {n:,} parameters ({twin.n_layers} {layers}, width "
        f"{twin.d_model}, {twin.n_heads} heads)"
    )
    return {
        DIGITAL_MAP: digital_kuramoto(config, windows, time),
        named: transformer(twin, windows, time),
    }


def transformer_twin(config: KuramotoConfig) -> TransformerConfig:
    """Return the RoPE and SwiGLU transformer of most nearly as many parameters.

    As wide as the model has oscillators (one less if that is odd), with four
    heads if they fit. The number of layers is fitted with the model's
    feed-forward width (8/3 of the width without one), then that width.
    """
    width = max(2, config.n_osc - config.n_osc % 2)
    sized = partial(
        TransformerConfig,
        vocab_size=config.vocab_size,
        d_model=width,
        n_heads=4 if width % 8 == 0 else 1,
        max_len=config.max_len,
    )
    d_ff = config.d_ff or math.ceil(8 * width / 3)
    wanted = parameters(kuramoto_shapes(config))
    one, two = (
        parameters(transformer_shapes(sized(n_layers=n, d_ff=d_ff))) for n in (1, 2)
    )
    layers = max(1, round((wanted - one) / (two - one)) + 1)
    missing = wanted - one - (layers - 1) * (two - one)
    d_ff = max(1, d_ff + round(missing / (3 * width * layers)))
    return sized(n_layers=layers, d_ff=d_ff)


def phase_latency(run: LanguageRun) -> float:
    """Return the time on the substrate per token (s): windows one after another.

    Rows of weights are written one by one, all tokens of a window dwell
    together, the longest dwell counts. Digital layers are not part of it.
    """
    return sum(tally.busy for tally in run.tallies) / run.counts.tokens


def parameters(shapes: dict[str, tuple[int, ...]]) -> int:
    """Return how many numbers tensors of these shapes hold."""
    return sum(int(np.prod(shape)) for shape in shapes.values())
