"""Fixed-query oscillator attention and its softmax twin as torch modules."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.models.config import FixedQueryConfig

COUPLINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "softplus": functional.softplus,
    "relu": lambda score: functional.relu(score) + 1e-3,
    "elu": lambda score: functional.elu(score) + 1.0,
}


class _Projections(nn.Module):
    """The four matrices every attention of this family has, split in heads."""

    def __init__(self, config: FixedQueryConfig) -> None:
        super().__init__()
        d = config.d_model
        self.config = config
        self.W_q = nn.Linear(d, d, bias=False)
        self.W_k = nn.Linear(d, d, bias=False)
        self.W_v = nn.Linear(d, d, bias=False)
        self.W_o = nn.Linear(d, d)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores (B, H, T, T) and values (B, H, T, d_head)."""
        heads = (self.config.n_heads, self.config.d_head)
        q, k, v = (
            w(x).unflatten(-1, heads).transpose(1, 2)
            for w in (self.W_q, self.W_k, self.W_v)
        )
        return q @ k.mT / math.sqrt(self.config.d_head), v

    def merge(self, attention: Tensor, v: Tensor) -> Tensor:
        """Return the output projection of the attended values (B, T, d_model)."""
        return self.W_o((attention @ v).transpose(1, 2).flatten(-2))


class OscillatorAttention(_Projections):
    """Attention read from oscillators settled in a field of fixed anchors.

    ``h_i = sum_j w_ij r_j``, ``z_i = h_i / max(|h_i|, 1e-8)``,
    ``a_ij = max(0, 1 + z_i.r_j)^p`` divided by its sum over j [1]_. Anchors are
    normalised when they are made, not when they are used.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """

    def __init__(self, config: FixedQueryConfig) -> None:
        super().__init__(config)
        anchors = torch.randn(config.n_heads, config.max_len, config.d_osc)
        self.anchors = nn.Parameter(functional.normalize(anchors, dim=-1))

    def forward(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """Map tokens (B, T, d_model); ``padding`` (B, T) is true where padded."""
        score, v = self.project(x)
        coupling = COUPLINGS[self.config.coupling](score)
        anchors = self.anchors[:, : x.shape[1]]
        keep = torch.ones_like(score[:1, :1])
        if self.config.causal:
            keep = keep.tril()
        read = keep
        if padding is not None:
            keep = keep * ~padding[:, None, None, :]
            read = keep if self.config.mask_readout else read
        z = functional.normalize((coupling * keep) @ anchors, dim=-1, eps=1e-8)
        attention = (1.0 + z @ anchors.mT).clamp_min(0.0) ** self.config.p * read
        attention = attention / attention.sum(-1, keepdim=True).clamp_min(1e-8)
        return self.merge(attention, v)


class SoftmaxAttention(_Projections):
    """Scaled dot-product attention with the same projections."""

    def forward(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """Map tokens (B, T, d_model); ``padding`` (B, T) is true where padded."""
        score, v = self.project(x)
        if self.config.causal:
            future = torch.ones_like(score[0, 0], dtype=torch.bool).triu(1)
            score = score.masked_fill(future, -math.inf)
        if padding is not None:
            score = score.masked_fill(padding[:, None, None, :], -math.inf)
        return self.merge(torch.nan_to_num(score.softmax(-1), nan=0.0), v)


class Block(nn.Module):
    """Attention and feed-forward, each after a normalisation, each added."""

    def __init__(self, config: FixedQueryConfig, dropout: float) -> None:
        super().__init__()
        d, f = config.d_model, config.d_ff
        self.norm1 = nn.LayerNorm(d)
        self.attn = (
            SoftmaxAttention(config)
            if config.attention == "softmax"
            else OscillatorAttention(config)
        )
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(
            nn.Linear(d, f),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(f, d),
            nn.Dropout(dropout),
        )

    def forward(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """Map tokens (B, T, d_model)."""
        x = x + self.attn(self.norm1(x), padding)
        return x + self.ffn(self.norm2(x))


class SinusoidalPositions(nn.Module):
    """Sines on even columns, cosines on odd ones, base 10000, then dropout."""

    pe: Tensor

    def __init__(self, config: FixedQueryConfig, dropout: float) -> None:
        super().__init__()
        column = torch.arange(config.d_model, dtype=torch.float64)
        rate = 10000.0 ** (-(column - column % 2) / config.d_model)
        angle = torch.arange(config.max_len)[:, None] * rate
        pe = torch.where(column % 2 == 0, angle.sin(), angle.cos())
        self.register_buffer("pe", pe[None].float())
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add the positions to tokens (B, T, d_model)."""
        return self.dropout(x + self.pe[:, : x.shape[1]])


class FixedQueryModel(nn.Module):
    """A whole model; its state dict has the published key names.

    Parameters
    ----------
    config : FixedQueryConfig
        Sizes and switches.
    dropout : float
        Probability after the positions and in the feed-forward block while
        training.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """

    def __init__(self, config: FixedQueryConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(
            config.vocab_size, config.d_model, padding_idx=config.padding_idx
        )
        self.pos_enc = SinusoidalPositions(config, dropout)
        self.layers = nn.ModuleList(
            Block(config, dropout) for _ in range(config.n_layers)
        )
        self.norm = nn.LayerNorm(config.d_model)
        self.head = nn.Linear(config.d_model, config.n_outputs)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the raw outputs (B, T, n_outputs) of ids (B, T)."""
        padding = None
        if self.config.padding_idx is not None:
            padding = ids == self.config.padding_idx
        x = self.pos_enc(self.embedding(ids))
        for layer in self.layers:
            x = layer(x, padding)
        return self.head(self.norm(x))


class FrameModel(nn.Module):
    """A model of frames that gives one row of outputs per clip.

    A linear projection stands for the embedding, with dropout before the
    positions are added; the head reads the mean over the existing frames,
    without a final norm [1]_. Key names are the published ones.

    Parameters
    ----------
    config : FixedQueryConfig
        Sizes and switches; has ``n_features``.
    dropout : float
        Probability after the projection and in the feed-forward block while
        training.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, keyword spotting.
    """

    def __init__(self, config: FixedQueryConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.proj = nn.Linear(config.n_features, config.d_model)
        self.dropout = nn.Dropout(dropout)
        self.pos_enc = SinusoidalPositions(config, 0.0)
        self.layers = nn.ModuleList(
            Block(config, dropout) for _ in range(config.n_layers)
        )
        self.head = nn.Linear(config.d_model, config.n_outputs)

    def forward(self, frames: Tensor) -> Tensor:
        """Return outputs (B, n_outputs) of frames (B, T, n_features).

        Frames that are not a number are padding.
        """
        padding = frames.isnan().any(-1)
        frames = frames.masked_fill(padding[..., None], 0.0)
        x = self.pos_enc(self.dropout(self.proj(frames)))
        for layer in self.layers:
            x = layer(x, padding)
        present = (~padding)[..., None].to(x.dtype)
        mean = (x * present).sum(1) / present.sum(1).clamp_min(1.0)
        return self.head(mean)
