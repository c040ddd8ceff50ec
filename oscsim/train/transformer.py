"""The baseline of Kuramoto attention as torch modules: rotary, RMS norms, SwiGLU."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.train.kuramoto import SwiGLU


class RotaryAttention(nn.Module):
    """Causal softmax attention whose queries and keys turn with their position."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d = config.d_model
        self.heads = (config.n_heads, d // config.n_heads)
        self.Wq, self.Wk, self.Wv, self.Wo = (
            nn.Linear(d, d, bias=False) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, T, d_model)."""
        query, key, value = (
            w(x).unflatten(-1, self.heads).transpose(1, 2)
            for w in (self.Wq, self.Wk, self.Wv)
        )
        mixed = functional.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True
        )
        return self.Wo(mixed.transpose(1, 2).flatten(-2))


def rotated(x: Tensor) -> Tensor:
    """Turn the pairs (x_j, x_{j + m}) of (B, H, T, 2 m) by t 10000^(-j/m)."""
    m = x.shape[-1] // 2
    rate = 10000.0 ** (-torch.arange(m, dtype=x.dtype) / m)
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * rate
    first, second = x.chunk(2, -1)
    cosine, sine = angle.cos(), angle.sin()
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.cat(turned, -1)


class RotaryBlock(nn.Module):
    """Attention and SwiGLU, each after an RMS norm, each added."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d = config.d_model
        self.norm1 = nn.RMSNorm(d, eps=1e-6)
        self.attn = RotaryAttention(config)
        self.norm2 = nn.RMSNorm(d, eps=1e-6)
        self.ffn = SwiGLU(d, config.d_ff, d)

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, T, d_model)."""
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TransformerModel(nn.Module):
    """A causal language model with rotary positions.

    Parameters
    ----------
    config : TransformerConfig
        Sizes.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embed.weight, std=0.16)
        self.layers = nn.ModuleList(RotaryBlock(config) for _ in range(config.n_layers))
        self.norm = nn.RMSNorm(config.d_model, eps=1e-6)
        self.head = nn.Linear(config.d_model, config.vocab_size)

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits (B, T, vocab_size) of ids (B, T)."""
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
