"""Kuramoto attention language models as torch modules."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.phase_pull import FIELD_FLOOR

UNIT_RADIUS = math.log(math.e - 1)
"""Raw radius whose softplus is 1."""

EMBEDDING_DEVIATION = 0.5
"""Standard deviation of the initial phases (rad)."""


def lift(theta: Tensor) -> Tensor:
    """Return psi = (cos theta, sin theta), shape (..., 2 k)."""
    return torch.cat([theta.cos(), theta.sin()], -1)


def bounded(kind: str, raw_r: Tensor, x: Tensor) -> Tensor:
    """Return an update held within its radius r = softplus(raw_r).

    See `oscsim.models.kuramoto_config.KuramotoConfig` for the three kinds.
    """
    r = functional.softplus(raw_r)
    if kind == "coord":
        return r * torch.tanh(x)
    if kind == "unit":
        return r * torch.tanh(x / r)
    n = x.pow(2).mean(-1, keepdim=True).add(1e-12).sqrt()
    return r * (torch.tanh(n) / n) * x


def flowed(across: Tensor, along: Tensor, dwell: Tensor) -> Tensor:
    """Return the angle turned by in a frozen field, from Im and Re of conj(z) G.

    See `oscsim.substrate.phase_pull.flowed`.
    """
    size = (across.square() + along.square() + FIELD_FLOOR).sqrt()
    reach = torch.tanh(0.5 * dwell * size) / size
    return 2 * torch.atan2(across * reach, 1 + along * reach)


class SwiGLU(nn.Module):
    """``w_down (silu(w_gate x) * w_up x)``, without biases."""

    def __init__(self, n_in: int, n_hidden: int, n_out: int) -> None:
        super().__init__()
        self.w_gate = nn.Linear(n_in, n_hidden, bias=False)
        self.w_up = nn.Linear(n_in, n_hidden, bias=False)
        self.w_down = nn.Linear(n_hidden, n_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., n_in) to (..., n_out)."""
        return self.w_down(functional.silu(self.w_gate(x)) * self.w_up(x))


class KuramotoAttention(nn.Module):
    """Bounded Kuramoto update of every token's phases by its causal context.

    ``s_tu = tau / sqrt(k) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj +
    omega_j (t - u))``, A its causal softmax, ``a_tj = sum_u A_tu
    sin(theta_uj - theta_tj)``, ``theta += bound(v(theta) a)`` [1]_.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        k = config.n_osc
        self.config = config
        if config.gates:
            self.Wq = _small(nn.Linear(2 * k, k, bias=False))
            if not config.share_metric:
                self.Wk = _small(nn.Linear(2 * k, k, bias=False))
        self.Wv = _small(nn.Linear(2 * k, k, bias=False))
        self.bv = nn.Parameter(torch.ones(k))
        if config.value == "linear":
            self.Wval = nn.Linear(2 * k, 2 * k, bias=False)
        if config.omega == "learned":
            m = k // config.n_heads
            rates = 10000.0 ** (-torch.arange(m) / m)
            self.omega = nn.Parameter(rates.repeat(config.n_heads))
        self.log_tau = nn.Parameter(torch.zeros(config.n_heads))
        self.raw_r = nn.Parameter(torch.full((k,), UNIT_RADIUS))

    def forward(self, theta: Tensor) -> Tensor:
        """Return the update of phases (B, T, k)."""
        psi = lift(theta)
        query, key = self._phasors(theta, psi)
        values = self.Wval(psi) if self.config.value == "linear" else psi
        query = query * self.log_tau.exp()[:, None, None]
        mixed = functional.scaled_dot_product_attention(
            query,
            key,
            self._split(*values.chunk(2, -1)),
            is_causal=True,
            scale=1 / math.sqrt(self.config.n_osc // self.config.n_heads),
        )
        real, imaginary = (
            part.transpose(1, 2).flatten(-2) for part in mixed.chunk(2, -1)
        )
        cosine, sine = psi.chunk(2, -1)
        strength = self.Wv(psi) + self.bv
        pull = cosine * imaginary - sine * real
        if self.config.update == "flow":
            along = cosine * real + sine * imaginary
            dwell = strength
            if self.config.bound == "coord":
                dwell = strength * functional.softplus(self.raw_r)
            return flowed(pull, along, dwell)
        return bounded(self.config.bound, self.raw_r, strength * pull)

    def _phasors(self, theta: Tensor, psi: Tensor) -> tuple[Tensor, Tensor]:
        """Gated phasors turned by omega t, (B, H, T, 2 k / H) each."""
        turned = theta
        if self.config.omega == "learned":
            time = torch.arange(theta.shape[1], dtype=theta.dtype)
            turned = theta + time[:, None] * self.omega
        cosine, sine = turned.cos(), turned.sin()
        if not self.config.gates:
            phasor = self._split(cosine, sine)
            return phasor, phasor
        gate_q = _gate(self.Wq(psi))
        gate_k = gate_q if self.config.share_metric else _gate(self.Wk(psi))
        return (
            self._split(gate_q * cosine, gate_q * sine),
            self._split(gate_k * cosine, gate_k * sine),
        )

    def _split(self, real: Tensor, imaginary: Tensor) -> Tensor:
        heads = (self.config.n_heads, self.config.n_osc // self.config.n_heads)
        both = [part.unflatten(-1, heads) for part in (real, imaginary)]
        return torch.cat(both, -1).transpose(1, 2)


class BoundedFeedForward(SwiGLU):
    """A SwiGLU block on angles, or on their (cos, sin), with a bounded output."""

    def __init__(self, config: KuramotoConfig, n_hidden: int) -> None:
        k = config.n_osc
        super().__init__(2 * k if config.ffn == "lift" else k, n_hidden, k)
        self.config = config
        self.raw_r = nn.Parameter(torch.full((k,), UNIT_RADIUS))

    def forward(self, theta: Tensor) -> Tensor:
        """Return the update of phases (B, T, k)."""
        x = lift(theta) if self.config.ffn == "lift" else theta
        return bounded(self.config.bound, self.raw_r, super().forward(x))


class KuramotoLayer(nn.Module):
    """One Kuramoto update, one feed-forward update, phases wrapped if trained so."""

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        self.attn = KuramotoAttention(config)
        self.ffn = None
        if config.d_ff is not None:
            self.ffn = BoundedFeedForward(config, config.d_ff)
        self.wrapped = config.phase_convention == "wrapped"

    def forward(self, theta: Tensor) -> Tensor:
        """Map phases (B, T, k)."""
        theta = theta + self.attn(theta)
        if self.ffn is not None:
            theta = theta + self.ffn(theta)
        if self.wrapped:
            theta = theta - 2 * math.pi * torch.round(theta / (2 * math.pi)).detach()
        return theta


class PhaseReadout(nn.Module):
    """``logit_v = tau / sqrt(k) sum_j cos(theta_j - phi_vj) + b_v``."""

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        phi = torch.empty(config.vocab_size, config.n_osc)
        self.phi = nn.Parameter(phi.uniform_(-math.pi, math.pi))
        self.log_tau = nn.Parameter(torch.tensor(math.log(2.0)))
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, theta: Tensor) -> Tensor:
        """Return logits (B, T, vocab_size) of phases (B, T, k)."""
        gain = self.log_tau.exp() / math.sqrt(theta.shape[-1])
        return functional.linear(lift(theta), lift(self.phi) * gain, self.bias)


class KuramotoModel(nn.Module):
    """A language model whose hidden state is a vector of phases per token [1]_.

    Parameters
    ----------
    config : KuramotoConfig
        Sizes and switches.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.n_osc)
        nn.init.normal_(self.embed.weight, std=EMBEDDING_DEVIATION)
        self.layers = nn.ModuleList(
            KuramotoLayer(config) for _ in range(config.n_layers)
        )
        self.readout = PhaseReadout(config)

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits (B, T, vocab_size) of ids (B, T)."""
        theta = self.embed(ids)
        for layer in self.layers:
            theta = layer(theta)
        return self.readout(theta)


def _gate(x: Tensor) -> Tensor:
    gate = functional.softplus(x)
    return gate / gate.mean(-1, keepdim=True)


def _small(linear: nn.Linear) -> nn.Linear:
    nn.init.normal_(linear.weight, std=0.02)
    return linear
