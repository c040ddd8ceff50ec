"""Sizes of a language model that reads whole windows, as closed-form counts need."""

from dataclasses import dataclass

from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.models.phase_counting import causal_pairs


@dataclass(frozen=True)
class WindowShape:
    """Kuramoto attention or a rotary transformer on windows of one length.

    Its properties are named as the fields of `oscsim.energy.baselines.Shape`.

    Attributes
    ----------
    config : KuramotoConfig or TransformerConfig
        Sizes of the model.
    windows, time : int
        Number of windows and tokens in each.
    """

    config: KuramotoConfig | TransformerConfig
    windows: int
    time: int

    def __post_init__(self) -> None:
        for name in ("windows", "time"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return self.config.n_layers

    @property
    def n_heads(self) -> int:
        """Number of heads."""
        return self.config.n_heads

    @property
    def d_model(self) -> int:
        """Width, or oscillators of a token."""
        if isinstance(self.config, KuramotoConfig):
            return self.config.n_osc
        return self.config.d_model

    @property
    def d_ff(self) -> int | None:
        """Width of the feed-forward block; None without one."""
        return self.config.d_ff

    @property
    def d_head(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads

    @property
    def n_outputs(self) -> int:
        """Logits of every position."""
        return self.config.vocab_size

    @property
    def causal(self) -> bool:
        """Whether a token sees only earlier ones and itself: always."""
        return True

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of each window."""
        return (self.time,) * self.windows

    @property
    def rows(self) -> int:
        """Tokens over all windows."""
        return self.windows * self.time

    @property
    def pairs(self) -> int:
        """(head, token, earlier or own token) of one layer over all windows."""
        return self.n_heads * self.windows * causal_pairs(self.time)
