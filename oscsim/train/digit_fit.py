"""Training of a model of spoken digits, reproducible bit for bit."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.arrays import seed_number
from oscsim.bridge.digit_data import DigitSet
from oscsim.models.config import FixedQueryConfig
from oscsim.train.determinism import fix_randomness
from oscsim.train.digits import DigitRecipe
from oscsim.train.divergence import require_converging
from oscsim.train.fixed_query import FrameModel


@dataclass(frozen=True)
class DigitEpoch:
    """Losses (nats) and accuracy (fraction) after one pass over the clips."""

    train_loss: float
    held_out_loss: float
    accuracy: float


def fit_digits(
    config: FixedQueryConfig,
    train: DigitSet,
    held_out: DigitSet,
    *,
    seed: int,
    recipe: DigitRecipe | None = None,
    on_epoch: Callable[[DigitEpoch], None] = lambda _: None,
) -> tuple[FrameModel, list[DigitEpoch]]:
    """Train a model of spoken digits from scratch.

    Parameters
    ----------
    config : FixedQueryConfig
        What to train; one output per digit.
    train, held_out : DigitSet
        Clips; those held out are only measured, never chosen by.
    seed : int
        Sets initialisation, order and dropout.
    recipe : DigitRecipe, optional
        Optimiser and schedule, by default the published one.
    on_epoch : callable
        Called with each `DigitEpoch` as it ends.

    Returns
    -------
    FrameModel
        The weights of the last epoch, in evaluation mode.
    list of DigitEpoch
        One entry an epoch.

    Raises
    ------
    SpecError
        If the seed is not in [0, 2^32).
    EvaluationError
        If the training diverges.

    Notes
    -----
    Runs on one thread with deterministic algorithms: one machine and one
    version of torch give the same bits for a seed. A batch is padded to its
    longest clip, which changes no result.
    """
    recipe = recipe or DigitRecipe()
    fix_randomness(seed_number(seed))
    model = FrameModel(config, recipe.dropout)
    frames, labels, lengths = _tensors(train)
    optimiser = torch.optim.Adam(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimiser, T_max=recipe.epochs
    )
    history, step = [], 0
    for _ in range(recipe.epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(train)).split(recipe.batch):
            outputs = model(frames[rows, : int(lengths[rows].max())])
            loss = functional.cross_entropy(outputs, labels[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimiser.step()
            total += loss.item() * len(rows)
            step += 1
            require_converging(loss.item(), step, recipe.learning_rate, math.inf)
        schedule.step()
        history.append(evaluate(model, held_out, train_loss=total / len(train)))
        require_converging(
            history[-1].held_out_loss, step, recipe.learning_rate, math.inf
        )
        on_epoch(history[-1])
    return model, history


@torch.no_grad()
def evaluate(model: FrameModel, data: DigitSet, *, train_loss: float) -> DigitEpoch:
    """Measure a model on ``data``; leaves it in evaluation mode."""
    model.eval()
    frames, labels, _ = _tensors(data)
    outputs = torch.cat([model(block) for block in frames.split(200)])
    right = outputs.argmax(-1) == labels
    return DigitEpoch(
        train_loss=train_loss,
        held_out_loss=functional.cross_entropy(outputs, labels).item(),
        accuracy=right.double().mean().item(),
    )


def _tensors(data: DigitSet) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.from_numpy(data.inputs).float(),
        torch.from_numpy(data.labels),
        torch.from_numpy(data.lengths),
    )
