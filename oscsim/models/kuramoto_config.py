"""What a Kuramoto attention model and its transformer twin are: sizes, switches."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

PositiveInt = Annotated[int, Field(ge=1)]
Layers = Annotated[int, Field(ge=1, le=1000)]


class KuramotoConfig(BaseModel):
    """Sizes and switches of a Kuramoto attention language model [1]_.

    Attributes
    ----------
    n_osc : int
        Oscillators (phases) per token, k.
    n_heads : int
        Attention matrices per layer, each over n_osc / n_heads phases; the
        published model has one.
    bound : {"coord", "norm", "unit"}
        How an update x is bounded: ``r_j tanh(x_j)`` (what a single oscillator
        can do), ``r tanh(n) / n x`` with ``n = |x| / sqrt(k)``, or
        ``r_j tanh(x_j / r_j)``.
    value : {"raw", "linear"}
        What is averaged: the phases themselves, or a learned linear map of
        (cos, sin) as in an ablation, which is no Kuramoto coupling.
    gates : bool
        Whether the metric depends on the tokens.
    ffn : {"raw", "lift", "off"}
        The feed-forward block reads angles, (cos, sin) of them, or is absent.
    omega : {"learned", "zero"}
        Whether relative time turns the phases in the score.
    share_metric : bool
        Whether queries and keys have one gate.
    phase_convention : {"wrapped", "unwrapped"}
        Whether the model was trained with its phases taken modulo 2 pi after
        each layer; a physical phase has no winding number.
    update : {"map", "flow"}
        The value update that the model was trained with: the published step
        ``bound(v a)``, or what an oscillator does that dwells in its frozen field,
        sign(v) G, for the time |v| r_j (|v| for the bound ``unit``); the second
        runs on hardware as trained. The published models are maps.
    self_term : {"frozen", "co-rotating"}
        In the physical flow, whether a token's own value is latched while it
        moves or turns with it.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    family: Literal["kuramoto"] = "kuramoto"
    task: Literal["bytes", "ids"] = "ids"
    vocab_size: PositiveInt
    n_osc: PositiveInt
    n_layers: Layers
    n_heads: PositiveInt = 1
    d_ff: PositiveInt | None = None
    max_len: PositiveInt
    bound: Literal["coord", "norm", "unit"] = "coord"
    value: Literal["raw", "linear"] = "raw"
    gates: bool = True
    ffn: Literal["raw", "lift", "off"] = "raw"
    omega: Literal["learned", "zero"] = "learned"
    share_metric: bool = False
    phase_convention: Literal["wrapped", "unwrapped"] = "wrapped"
    update: Literal["map", "flow"] = "map"
    self_term: Literal["frozen", "co-rotating"] = "frozen"

    @model_validator(mode="after")
    def _consistent(self) -> "KuramotoConfig":
        if self.n_osc % self.n_heads:
            raise ValueError(
                f"n_heads = {self.n_heads} does not divide n_osc = {self.n_osc}"
            )
        if (self.d_ff is None) != (self.ffn == "off"):
            raise ValueError(
                "d_ff belongs to a feed-forward block: give it unless ffn is 'off'"
            )
        if self.update == "flow" and self.bound == "norm":
            raise ValueError(
                "a flow has no bound over all oscillators of a token: update 'flow' "
                "needs bound 'coord' or 'unit'"
            )
        if self.update == "flow" and self.value != "raw":
            raise ValueError(
                "a flow is pulled by phases: update 'flow' needs value 'raw'"
            )
        if self.share_metric and not self.gates:
            raise ValueError("share_metric needs gates: there is no metric without")
        return self


class TransformerConfig(BaseModel):
    """Sizes of the baseline: pre-norm RMS, rotary positions, SwiGLU.

    Attributes
    ----------
    d_model, n_heads, n_layers, d_ff, max_len : int
        Widths and depth; ``max_len`` is the context seen in training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    family: Literal["transformer"] = "transformer"
    task: Literal["bytes", "ids"] = "ids"
    vocab_size: PositiveInt
    d_model: PositiveInt
    n_layers: Layers
    n_heads: PositiveInt
    d_ff: PositiveInt
    max_len: PositiveInt

    @model_validator(mode="after")
    def _consistent(self) -> "TransformerConfig":
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model = {self.d_model} must be a multiple of twice "
                f"n_heads = {self.n_heads}: rotations act on pairs"
            )
        return self


def kuramoto_shapes(config: KuramotoConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor of a Kuramoto model."""
    k, v = config.n_osc, config.vocab_size
    shapes: dict[str, tuple[int, ...]] = {"embed.weight": (v, k)}
    for layer in range(config.n_layers):
        attn = f"layers.{layer}.attn"
        if config.gates:
            shapes[f"{attn}.Wq.weight"] = (k, 2 * k)
            if not config.share_metric:
                shapes[f"{attn}.Wk.weight"] = (k, 2 * k)
        shapes[f"{attn}.Wv.weight"] = (k, 2 * k)
        shapes[f"{attn}.bv"] = (k,)
        if config.value == "linear":
            shapes[f"{attn}.Wval.weight"] = (2 * k, 2 * k)
        if config.omega == "learned":
            shapes[f"{attn}.omega"] = (k,)
        shapes[f"{attn}.log_tau"] = (config.n_heads,)
        shapes[f"{attn}.raw_r"] = (k,)
        if config.d_ff is not None:
            ffn, width = f"layers.{layer}.ffn", k * (2 if config.ffn == "lift" else 1)
            shapes[f"{ffn}.w_gate.weight"] = (config.d_ff, width)
            shapes[f"{ffn}.w_up.weight"] = (config.d_ff, width)
            shapes[f"{ffn}.w_down.weight"] = (k, config.d_ff)
            shapes[f"{ffn}.raw_r"] = (k,)
    return shapes | {
        "readout.phi": (v, k),
        "readout.log_tau": (),
        "readout.bias": (v,),
    }


def transformer_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor of the baseline."""
    d, f = config.d_model, config.d_ff
    shapes: dict[str, tuple[int, ...]] = {"embed.weight": (config.vocab_size, d)}
    for layer in range(config.n_layers):
        block = f"layers.{layer}"
        shapes |= {f"{block}.{norm}.weight": (d,) for norm in ("norm1", "norm2")}
        shapes |= {f"{block}.attn.{w}.weight": (d, d) for w in ("Wq", "Wk", "Wv", "Wo")}
        shapes[f"{block}.ffn.w_gate.weight"] = (f, d)
        shapes[f"{block}.ffn.w_up.weight"] = (f, d)
        shapes[f"{block}.ffn.w_down.weight"] = (d, f)
    return shapes | {
        "norm.weight": (d,),
        "head.weight": (config.vocab_size, d),
        "head.bias": (config.vocab_size,),
    }
