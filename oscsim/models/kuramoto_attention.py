"""Kuramoto attention, forward in numpy: a language model whose state is phases."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from oscsim.counts import Counts
from oscsim.models import phase_counting as counting
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.models.layers import causal_softmax, linear, silu, softplus
from oscsim.substrate.phase_pull import (
    Pull,
    Read,
    Update,
    bounded,
    trained_turn,
    wrap,
)
from oscsim.typing import ComplexArray, FloatArray, IntArray


def map_update(pull: Pull, counts: Counts) -> FloatArray:
    """Return ``theta + bound(v a)``, ``a = Im(conj(z) G)``, or its flow: as trained.

    For raw values ``a_tj = sum_u A_tu sin(theta_uj - theta_tj)``, a Kuramoto
    coupling [1]_.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """
    _, heads, time, _ = pull.attention.shape
    windows = int(np.count_nonzero(pull.items >= 0))
    kind = pull.bound if pull.trained == "map" else "flow"
    counting.count_map(counts, windows, time, heads, len(pull.radius), kind)
    turn = trained_turn(pull, pull.theta, pull.field, pull.strength)
    moved: FloatArray = pull.theta + turn
    return moved


def read_exactly(
    layer: int, items: IntArray, theta: FloatArray, counts: Counts
) -> FloatArray:
    """Return the phases themselves: the digital score stage."""
    return theta


@dataclass
class PhasePass:
    """One forward pass: who updates and reads phases, and what is kept.

    Attributes
    ----------
    update : Update
        The value update; the trained map by default.
    read : Read
        Phases as the score stage sees them.
    counts : Counts
        Filled with what the pass executed for real windows.
    attention, phases, order : list or None
        If a list, receives per layer A (batch, heads, time, time), the phases
        after it (batch, time, k), and |G| (batch, time, k).
    """

    update: Update = map_update
    read: Read = read_exactly
    counts: Counts = field(default_factory=Counts)
    attention: list[FloatArray] | None = None
    phases: list[FloatArray] | None = None
    order: list[FloatArray] | None = None


def lift(theta: FloatArray) -> FloatArray:
    """Return psi = (cos theta, sin theta), shape (..., 2 k)."""
    return np.concatenate([np.cos(theta), np.sin(theta)], axis=-1)


def forward(
    weights: Mapping[str, FloatArray],
    config: KuramotoConfig,
    ids: IntArray,
    *,
    items: IntArray | None = None,
    run: PhasePass | None = None,
) -> FloatArray:
    """Run a Kuramoto attention model on a block of token ids.

    Per layer ``theta += bound(v a)``, then ``theta += bound(FFN(theta))``,
    phases wrapped if the model was trained so; logits
    ``tau / sqrt(k) sum_j cos(theta_j - phi_vj) + b_v`` [1]_.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Tensors named as in `oscsim.models.kuramoto_config.kuramoto_shapes`,
        of one dtype, in which the pass is computed.
    config : KuramotoConfig
        Sizes and switches.
    ids : IntArray, shape (batch, time)
        Token ids.
    items : IntArray, shape (batch,), optional
        Global window numbers for random draws, below 0 for fillers that are
        not counted; default 0, 1, 2...
    run : PhasePass, optional
        Who updates and reads; digital by default.

    Returns
    -------
    FloatArray, shape (batch, time, vocab_size)

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """
    run = PhasePass() if run is None else run
    items = np.arange(len(ids)) if items is None else items
    theta = weights["embed.weight"][ids]
    windows = int(np.count_nonzero(items >= 0))
    counting.count_body(run.counts, config, windows, ids.shape[1])
    for layer in range(config.n_layers):
        theta = _layer(weights, config, layer, theta, items, run)
        if run.phases is not None:
            run.phases.append(theta)
    gain = np.exp(weights["readout.log_tau"]) / np.sqrt(config.n_osc)
    gain = theta.dtype.type(gain)
    return linear(
        lift(theta), lift(weights["readout.phi"]) * gain, weights["readout.bias"]
    )


def _layer(
    weights: Mapping[str, FloatArray],
    config: KuramotoConfig,
    layer: int,
    theta: FloatArray,
    items: IntArray,
    run: PhasePass,
) -> FloatArray:
    attn = f"layers.{layer}.attn"
    psi = lift(theta)
    seen = run.read(layer, items, theta, run.counts)
    attention = attention_of(weights, config, layer, seen)
    values = psi
    if config.value == "linear":
        values = linear(psi, weights[f"{attn}.Wval.weight"])
    field_ = _mixed(attention, values)
    if run.attention is not None:
        run.attention.append(attention)
    if run.order is not None:
        run.order.append(np.abs(field_))
    theta = run.update(
        Pull(
            layer=layer,
            items=items,
            theta=theta,
            attention=attention,
            field=field_,
            strength=linear(psi, weights[f"{attn}.Wv.weight"], weights[f"{attn}.bv"]),
            radius=softplus(weights[f"{attn}.raw_r"]),
            bound=config.bound,
            trained=config.update,
        ),
        run.counts,
    )
    if config.ffn != "off":
        theta = theta + _feed_forward(weights, config, layer, theta)
    return wrap(theta) if config.phase_convention == "wrapped" else theta


def attention_of(
    weights: Mapping[str, FloatArray],
    config: KuramotoConfig,
    layer: int,
    theta: FloatArray,
) -> FloatArray:
    """Return A, the causal softmax of the gated phase similarity.

    ``s_tu = tau / sqrt(k) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj +
    omega_j (t - u))``: two products of size k of rotated gated phasors.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Tensors of the model.
    config : KuramotoConfig
        Sizes and switches.
    layer : int
        Number of the layer.
    theta : FloatArray, shape (batch, time, k)
        Phases as the score stage reads them (rad).

    Returns
    -------
    FloatArray, shape (batch, heads, time, time)
    """
    attn, psi = f"layers.{layer}.attn", lift(theta)
    turned = theta
    if config.omega == "learned":
        time = np.arange(theta.shape[1], dtype=theta.dtype)
        turned = theta + time[:, None] * weights[f"{attn}.omega"]
    cosine, sine = np.cos(turned), np.sin(turned)
    query = key = _split(cosine, sine, config.n_heads)
    if config.gates:
        gate = _gate(linear(psi, weights[f"{attn}.Wq.weight"]))
        query = key = _split(gate * cosine, gate * sine, config.n_heads)
    if config.gates and not config.share_metric:
        gate = _gate(linear(psi, weights[f"{attn}.Wk.weight"]))
        key = _split(gate * cosine, gate * sine, config.n_heads)
    tau = np.exp(weights[f"{attn}.log_tau"])[:, None, None]
    scale = theta.dtype.type(1 / np.sqrt(config.n_osc // config.n_heads))
    return causal_softmax(np.matmul(query, np.swapaxes(key, -1, -2)) * (tau * scale))


def _mixed(attention: FloatArray, values: FloatArray) -> ComplexArray:
    """Return ``sum_u A_tu value_u`` as complex numbers, (batch, time, k)."""
    heads = attention.shape[1]
    real, imaginary = np.split(values, 2, axis=-1)
    mixed = np.matmul(attention, _split(real, imaginary, heads))
    batch, _, time, width = mixed.shape
    joined = np.swapaxes(mixed, 1, 2)
    shape = (batch, time, heads * width // 2)
    mixed_field: ComplexArray = (
        joined[..., : width // 2] + 1j * joined[..., width // 2 :]
    )
    return mixed_field.reshape(shape)


def _split(real: FloatArray, imaginary: FloatArray, heads: int) -> FloatArray:
    """Return (batch, heads, time, 2 k / heads) from two (batch, time, k)."""
    batch, time, k = real.shape
    shape = (batch, time, heads, k // heads)
    both = np.concatenate([real.reshape(shape), imaginary.reshape(shape)], axis=-1)
    return np.ascontiguousarray(np.swapaxes(both, 1, 2))


def _gate(x: FloatArray) -> FloatArray:
    gate = softplus(x)
    normed: FloatArray = gate / np.mean(gate, axis=-1, keepdims=True)
    return normed


def _feed_forward(
    weights: Mapping[str, FloatArray],
    config: KuramotoConfig,
    layer: int,
    theta: FloatArray,
) -> FloatArray:
    ffn = f"layers.{layer}.ffn"
    x = lift(theta) if config.ffn == "lift" else theta
    inner = silu(linear(x, weights[f"{ffn}.w_gate.weight"]))
    inner *= linear(x, weights[f"{ffn}.w_up.weight"])
    out = linear(inner, weights[f"{ffn}.w_down.weight"])
    return bounded(config.bound, softplus(weights[f"{ffn}.raw_r"]), out)
