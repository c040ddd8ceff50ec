"""The published subject-verb agreement recipe, reproducible bit for bit."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.arrays import seed_number
from oscsim.bridge.datasets import SVA_VOCABULARY, TokenSet
from oscsim.errors import SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.train.determinism import fix_randomness
from oscsim.train.divergence import require_converging
from oscsim.train.fixed_query import FixedQueryModel


@dataclass(frozen=True)
class Recipe:
    """How a model is trained: config G of the published experiment [1]_.

    AdamW, learning rate falling to zero along a half cosine over all steps,
    gradient norm clipped, binary cross-entropy at the verb, last epoch kept.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, subject-verb agreement.
    """

    epochs: int = 20
    batch: int = 64
    learning_rate: float = 5e-4
    weight_decay: float = 1e-4
    clip: float = 1.0
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise SpecError(f"epochs must be at least 1, got {self.epochs}")


@dataclass(frozen=True)
class Epoch:
    """Losses (nats) and accuracies (fractions) after one pass over the data."""

    train_loss: float
    validation_loss: float
    accuracy: float
    hard_accuracy: float


def sva_config(kind: str) -> FixedQueryConfig:
    """Return config G: the smallest published model, or its softmax twin.

    Parameters
    ----------
    kind : {"osc", "softmax"}
        Which attention.

    Raises
    ------
    SpecError
        If ``kind`` is something else.
    """
    if kind not in ("osc", "softmax"):
        raise SpecError(f"kind must be 'osc' or 'softmax', got {kind!r}")
    return FixedQueryConfig(
        attention="oscillator" if kind == "osc" else "softmax",
        task="sva",
        vocab_size=len(SVA_VOCABULARY),
        d_model=32,
        n_heads=1,
        n_layers=1,
        d_ff=64,
        d_osc=2 if kind == "osc" else None,
        max_len=50,
        n_outputs=1,
        mask_readout=True,
        trained_length=9,
        vocabulary=SVA_VOCABULARY,
    )


def fit(
    config: FixedQueryConfig,
    train: TokenSet,
    validation: TokenSet,
    *,
    seed: int,
    recipe: Recipe | None = None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> tuple[FixedQueryModel, list[Epoch]]:
    """Train a model from scratch.

    Parameters
    ----------
    config : FixedQueryConfig
        What to train; one output row.
    train, validation : TokenSet
        Sentences; validation is only measured, never chosen by.
    seed : int
        Sets initialisation, order and dropout.
    recipe : Recipe, optional
        Optimiser and schedule, by default the published one.
    on_epoch : callable
        Called with each `Epoch` as it ends.

    Returns
    -------
    FixedQueryModel
        The weights of the last epoch, in evaluation mode.
    list of Epoch
        One entry an epoch.

    Raises
    ------
    SpecError
        If the seed is not in [0, 2^32).
    EvaluationError
        If the training diverges.

    Notes
    -----
    Runs on one thread with deterministic algorithms, so that one machine and
    one version of torch give the same bits for a seed.
    """
    recipe = recipe or Recipe()
    fix_randomness(seed_number(seed))
    model = FixedQueryModel(config, recipe.dropout)
    ids, positions, labels = _tensors(train)
    n_batches = -(-len(train) // recipe.batch)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimiser, T_max=recipe.epochs * n_batches
    )
    history, step = [], 0
    for _ in range(recipe.epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(train)).split(recipe.batch):
            logits = verb_logits(model, ids[rows], positions[rows])
            loss = functional.binary_cross_entropy_with_logits(logits, labels[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimiser.step()
            schedule.step()
            total += loss.item() * len(rows)
            step += 1
            require_converging(loss.item(), step, recipe.learning_rate, math.inf)
        history.append(evaluate(model, validation, train_loss=total / len(train)))
        require_converging(
            history[-1].validation_loss, step, recipe.learning_rate, math.inf
        )
        on_epoch(history[-1])
    return model, history


def verb_logits(model: FixedQueryModel, ids: Tensor, positions: Tensor) -> Tensor:
    """Return the logit at each row's verb, shape (B,); above 0 means agrees."""
    return model(ids)[torch.arange(len(ids)), positions, 0]


@torch.no_grad()
def evaluate(model: FixedQueryModel, data: TokenSet, *, train_loss: float) -> Epoch:
    """Measure a model on ``data``; leaves it in evaluation mode."""
    model.eval()
    ids, positions, labels = _tensors(data)
    logits = torch.cat(
        [
            verb_logits(model, *block)
            for block in zip(ids.split(500), positions.split(500), strict=True)
        ]
    )
    right = (logits > 0) == (labels > 0)
    loss = functional.binary_cross_entropy_with_logits(logits, labels)
    hard = torch.from_numpy(data.hard)
    return Epoch(
        train_loss=train_loss,
        validation_loss=loss.item(),
        accuracy=right.double().mean().item(),
        hard_accuracy=right[hard].double().mean().item(),
    )


def _tensors(data: TokenSet) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.from_numpy(data.ids).long(),
        torch.from_numpy(data.positions).long(),
        torch.from_numpy(data.labels).float(),
    )
