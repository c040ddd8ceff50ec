"""Next-byte training of any causal model, resumable and the same bits again."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.arrays import seed_number
from oscsim.bridge.byte_text import ByteArray, Windows, windows
from oscsim.errors import SpecError
from oscsim.train.determinism import fix_randomness
from oscsim.train.divergence import MOST_BITS, require_converging
from oscsim.train.language_state import Moving, restore_state, save_state

EVALUATED = 64
"""Windows in a batch when measuring."""

MOST_STEPS = 2**32
"""Updates that a recipe may ask for."""


_MAY_BE_ZERO = ("final", "weight_decay")


@dataclass(frozen=True)
class LanguageRecipe:
    """One budget for all contenders.

    AdamW; the learning rate rises linearly for ``warmup`` steps and falls along
    a half cosine to ``final`` of its peak; windows are drawn uniformly, the same
    ones for the same seed whatever the model.

    Attributes
    ----------
    steps, batch, context : int
        Updates, windows per update, bytes per window.
    learning_rate, final, weight_decay, clip : float
        Peak rate, last rate over peak, decoupled decay, largest gradient norm.
    warmup : int
        Steps.
    points : int
        How often validation is measured.
    """

    steps: int
    batch: int
    context: int
    learning_rate: float
    warmup: int = 100
    final: float = 0.02
    weight_decay: float = 0.01
    clip: float = 1.0
    points: int = 20

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "context", "warmup", "points"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.steps > MOST_STEPS:
            raise SpecError(f"steps must be at most {MOST_STEPS}, got {self.steps}")
        for name in ("learning_rate", "clip", "final", "weight_decay"):
            value = getattr(self, name)
            is_positive = value > 0 or (value == 0 and name in _MAY_BE_ZERO)
            if not (is_positive and math.isfinite(value)):
                least = "0 or above" if name in _MAY_BE_ZERO else "above 0"
                raise SpecError(f"{name} must be finite and {least}, got {value:g}")

    @property
    def tokens(self) -> int:
        """Bytes seen in all."""
        return self.steps * self.batch * self.context

    def rate(self, step: int) -> float:
        """Return the learning rate of one step."""
        cosine = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        rise = min(1.0, (step + 1) / self.warmup)
        return self.learning_rate * rise * (self.final + (1 - self.final) * cosine)


@dataclass(frozen=True)
class Point:
    """What was measured on the way.

    Attributes
    ----------
    step, tokens : int
        Updates and bytes so far.
    train_bpc : float
        Bits per byte, mean over the updates since the last point.
    validation_bpc : float
        Bits per byte on the first windows of the validation split.
    """

    step: int
    tokens: int
    train_bpc: float
    validation_bpc: float


def fit_language(
    make_model: Callable[[], nn.Module],
    train: ByteArray,
    validation: ByteArray,
    recipe: LanguageRecipe,
    *,
    seed: int,
    identity: Mapping[str, Any] | None = None,
    state: Path | None = None,
    on_point: Callable[[Point], None] = lambda _: None,
) -> tuple[nn.Module, list[Point]]:
    """Train a causal model to predict the next byte.

    Parameters
    ----------
    make_model : callable
        Builds the model; called after the seed is set.
    train, validation : ByteArray
        Text; validation is only measured, never chosen by.
    recipe : LanguageRecipe
        Budget and optimiser.
    seed : int
        Sets initialisation and the windows, in [0, 2^32).
    identity : mapping, optional
        What ``make_model`` makes, in plain values as of JSON. It is kept in
        ``state``, and a run of another is not gone on with.
    state : Path, optional
        File that holds the run at its last point; a run that finds it goes on
        from there and ends with the same bits.
    on_point : callable
        Called with each `Point`.

    Returns
    -------
    nn.Module
        The model after the last step, in evaluation mode.
    list of Point
        The measured curve.

    Raises
    ------
    SpecError
        If the seed is out of range, or ``state`` is damaged or of another run.
    EvaluationError
        If the training diverges; ``state`` stays as it was at its last point.

    Notes
    -----
    One thread and deterministic algorithms: one machine and one version of
    torch give the same bits for a seed.
    """
    fix_randomness(seed_number(seed))
    model = make_model()
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=recipe.weight_decay,
    )
    draw = np.random.default_rng(seed)
    run = {"recipe": asdict(recipe), "seed": seed, "identity": dict(identity or {})}
    moving = Moving(model, optimiser, draw)
    history: list[Point] = []
    if state is not None and state.exists():
        history = [Point(**point) for point in restore_state(state, run, moving)]
    first = history[-1].step if history else 0
    ends = set(np.linspace(0, recipe.steps, recipe.points + 1).astype(int)[1:])
    seen = []
    model.train()
    for step in range(first, recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate(step)
        loss = nats(model, *_drawn(train, recipe, draw))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()
        seen.append(loss.item() / math.log(2))
        require_converging(seen[-1], step + 1, recipe.learning_rate, math.inf)
        if step + 1 in ends:
            tokens = (step + 1) * recipe.batch * recipe.context
            measured = bits_per_byte(
                model, windows(validation[: 64 * 1024], recipe.context)
            )
            require_converging(measured, step + 1, recipe.learning_rate, MOST_BITS)
            history.append(Point(step + 1, tokens, float(np.mean(seen)), measured))
            seen = []
            if state is not None:
                save_state(state, run, moving, [asdict(point) for point in history])
            on_point(history[-1])
            model.train()
    model.eval()
    return model, history


def nats(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy (nats) of the bytes that follow."""
    return functional.cross_entropy(model(ids).flatten(0, 1), targets.flatten())


@torch.no_grad()
def bits_per_byte(model: nn.Module, data: Windows) -> float:
    """Measure a model on windows; leaves it in evaluation mode."""
    model.eval()
    total = 0.0
    for ids, targets in _batches(data):
        total += nats(model, ids, targets).item() * targets.numel()
    return total / data.targets.size / math.log(2)


def _batches(data: Windows) -> Iterator[tuple[Tensor, Tensor]]:
    for rows in range(0, len(data.ids), EVALUATED):
        part = slice(rows, rows + EVALUATED)
        yield torch.from_numpy(data.ids[part]), torch.from_numpy(data.targets[part])


def _drawn(
    train: ByteArray, recipe: LanguageRecipe, draw: np.random.Generator
) -> tuple[Tensor, Tensor]:
    first = draw.integers(0, len(train) - recipe.context, recipe.batch)
    taken = train[first[:, None] + np.arange(recipe.context + 1)].astype(np.int64)
    text = torch.from_numpy(taken)
    return text[:, :-1], text[:, 1:]
