"""What a fixed-query oscillator attention model is: sizes, switches, tensors."""

import math
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

PositiveInt = Annotated[int, Field(ge=1)]


def _as_tuple(values: object) -> object:
    return tuple(values) if isinstance(values, list) else values


FromList = BeforeValidator(_as_tuple)
"""Lets a strict tuple be given as a list, which is all that JSON has."""

FiniteFloat = Annotated[float, Field(allow_inf_nan=False)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class FixedQueryConfig(BaseModel):
    """Sizes and switches of a fixed-query model or of its softmax twin.

    The state dict alone does not say what a checkpoint means; this does.

    Attributes
    ----------
    attention : {"oscillator", "softmax"}
        The oscillator read-out, or the twin that has no anchors.
    task : {"sva", "bytes", "digits", "ids"}
        ``"sva"`` reads one logit at the verb's position; ``"bytes"`` predicts
        the next byte at every position; ``"digits"`` takes frames of sound
        instead of ids and gives one row of outputs per clip; ``"ids"`` has no
        known evaluation set.
    vocab_size : int
        Number of token ids; 0 for a model of frames.
    n_features : int or None
        Numbers in a frame, which ``proj`` maps to ``d_model`` in place of an
        embedding; None for a model of ids.
    feature_mean, feature_std : tuple of float or None
        What a raw frame is normalised with before it enters: the training
        clips' mean and standard deviation. None: frames are taken as given.
    p : {1, 2, 4}
        Exponent of the read-out ``max(0, 1 + z.r)^p``; 1 is the one that
        hardware offers.
    coupling : {"softplus", "relu", "elu"}
        Function that makes the score a coupling: softplus(s),
        relu(s) + 1e-3 or elu(s) + 1.
    mask_readout : bool
        Whether padded positions are left out of the read-out too. False is
        how the published models were trained; a result then depends on the
        padded length.
    trained_length : int or None
        Padded length seen in training; anchors beyond it were never trained.
    vocabulary : tuple of str or None
        Word of each id; None when the file has ids only.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), "Attention by synchronization",
       arXiv:2606.12059.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    family: Literal["fixed-query"] = "fixed-query"
    attention: Literal["oscillator", "softmax"]
    task: Literal["sva", "bytes", "digits", "ids"] = "ids"
    vocab_size: Annotated[int, Field(ge=0)]
    d_model: PositiveInt
    n_heads: PositiveInt
    n_layers: Annotated[int, Field(ge=1, le=1000)]
    d_ff: PositiveInt
    d_osc: Annotated[int, Field(ge=2, le=64)] | None = None
    max_len: PositiveInt
    n_outputs: PositiveInt
    p: Literal[1, 2, 4] = 1
    coupling: Literal["softplus", "relu", "elu"] = "softplus"
    causal: bool = False
    mask_readout: bool = True
    padding_idx: Annotated[int, Field(ge=0)] | None = 0
    trained_length: PositiveInt | None = None
    vocabulary: tuple[str, ...] | None = None
    n_features: PositiveInt | None = None
    feature_mean: Annotated[tuple[FiniteFloat, ...] | None, FromList] = None
    feature_std: Annotated[tuple[PositiveFloat, ...] | None, FromList] = None

    @model_validator(mode="after")
    def _consistent(self) -> "FixedQueryConfig":
        if self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads = {self.n_heads} does not divide d_model = {self.d_model}"
            )
        if (self.d_osc is None) != (self.attention == "softmax"):
            raise ValueError(
                "d_osc belongs to oscillator attention: give it there and only there"
            )
        if self.vocabulary is not None and len(self.vocabulary) != self.vocab_size:
            raise ValueError(
                f"vocabulary has {len(self.vocabulary)} words, "
                f"vocab_size is {self.vocab_size}"
            )
        words = self.vocabulary or ()
        if len(set(words)) != len(words):
            twice = next(word for word in words if words.count(word) > 1)
            raise ValueError(f"vocabulary holds {twice!r} twice")
        if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
            raise ValueError("vocabulary holds a word that is not valid Unicode")
        self._check_inputs()
        return self

    def _check_inputs(self) -> None:
        """Check that the model takes ids or frames, and only one of them."""
        frames = self.n_features is not None
        if frames != (self.task == "digits"):
            raise ValueError(
                "n_features belongs to task 'digits': give it there and only there"
            )
        if frames != (self.vocab_size == 0):
            raise ValueError(
                f"vocab_size must be {'0 with n_features' if frames else '1 or more'}, "
                f"got {self.vocab_size}"
            )
        if frames and (self.causal or self.padding_idx is not None):
            raise ValueError(
                "a model of frames has causal = false and padding_idx = null, "
                f"got {self.causal} and {self.padding_idx}"
            )
        if frames and self.n_outputs < 2:
            raise ValueError(
                "task 'digits' has one output per digit, at least 2; n_outputs is "
                f"{self.n_outputs}"
            )
        given = (self.feature_mean, self.feature_std)
        sizes = [None if f is None else len(f) for f in given]
        if sizes not in ([None, None], [self.n_features] * 2):
            raise ValueError(
                f"feature_mean and feature_std have {sizes[0]} and {sizes[1]} values, "
                f"n_features is {self.n_features}"
            )

    @property
    def d_head(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads

    @property
    def is_padded(self) -> bool:
        """Whether inputs of several lengths may be filled up to one."""
        return self.padding_idx is not None or self.n_features is not None

    @property
    def filler(self) -> float | int:
        """What fills up an input: not a number in frames, the padding id."""
        return math.nan if self.n_features is not None else self.padding_idx or 0


def tensor_shapes(config: FixedQueryConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor such a model needs.

    The names are those of the published state dicts.
    """
    d, f = config.d_model, config.d_ff
    shapes: dict[str, tuple[int, ...]] = {}
    if config.n_features is None:
        shapes["embedding.weight"] = (config.vocab_size, d)
    else:
        shapes["proj.weight"] = (d, config.n_features)
        shapes["proj.bias"] = (d,)
    shapes["pos_enc.pe"] = (1, config.max_len, d)
    for layer in range(config.n_layers):
        block = f"layers.{layer}"
        for norm in ("norm1", "norm2"):
            shapes[f"{block}.{norm}.weight"] = (d,)
            shapes[f"{block}.{norm}.bias"] = (d,)
        for name in ("W_q", "W_k", "W_v", "W_o"):
            shapes[f"{block}.attn.{name}.weight"] = (d, d)
        shapes[f"{block}.attn.W_o.bias"] = (d,)
        if config.d_osc is not None:
            shapes[f"{block}.attn.anchors"] = (
                config.n_heads,
                config.max_len,
                config.d_osc,
            )
        shapes[f"{block}.ffn.0.weight"] = (f, d)
        shapes[f"{block}.ffn.0.bias"] = (f,)
        shapes[f"{block}.ffn.3.weight"] = (d, f)
        shapes[f"{block}.ffn.3.bias"] = (d,)
    if config.n_features is None:
        shapes |= {"norm.weight": (d,), "norm.bias": (d,)}
    return shapes | {
        "head.weight": (config.n_outputs, d),
        "head.bias": (config.n_outputs,),
    }
