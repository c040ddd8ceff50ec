"""The families of models: which configuration, which tensors."""

from typing import TypeAlias

from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    TransformerConfig,
    kuramoto_shapes,
    transformer_shapes,
)

ModelConfig: TypeAlias = FixedQueryConfig | KuramotoConfig | TransformerConfig
"""What a checkpoint is; its ``family`` says which of the three."""

FAMILIES: dict[str, type[FixedQueryConfig | KuramotoConfig | TransformerConfig]] = {
    "fixed-query": FixedQueryConfig,
    "kuramoto": KuramotoConfig,
    "transformer": TransformerConfig,
}


def shapes_of(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor that a model needs."""
    if isinstance(config, KuramotoConfig):
        return kuramoto_shapes(config)
    if isinstance(config, TransformerConfig):
        return transformer_shapes(config)
    return tensor_shapes(config)


def is_language_model(config: ModelConfig) -> bool:
    """Return whether every position predicts the token that follows it."""
    if isinstance(config, FixedQueryConfig):
        return config.causal and config.n_outputs == config.vocab_size > 1
    return True
