"""A byte model trained under a bar and measured on both splits."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from oscsim.bridge.byte_text import SLICE, read_enwik8, windows
from oscsim.train.divergence import MOST_BITS, require_converging
from oscsim.train.language import (
    LanguageRecipe,
    Point,
    bits_per_byte,
    fit_language,
)
from oscsim.train.progress import training_progress


class Fitted(NamedTuple):
    """A trained model and what it scores.

    Attributes
    ----------
    model : torch.nn.Module
        After the last step.
    history : tuple of Point
        The measured curve.
    parameters : int
        Trained numbers.
    validation_bpc, test_bpc : float
        Bits per byte on the first 256 KiB of the two splits.
    """

    model: nn.Module
    history: tuple[Point, ...]
    parameters: int
    validation_bpc: float
    test_bpc: float


def fitted(
    name: str,
    enwik8: Path,
    make_model: Callable[[], nn.Module],
    recipe: LanguageRecipe,
    seed: int,
    identity: Mapping[str, Any],
    state: Path,
) -> Fitted:
    """Train a byte model under a bar and measure it.

    Parameters
    ----------
    name : str
        What the bar says.
    enwik8 : Path
        The complete text.
    make_model, recipe, seed, identity, state
        As in `oscsim.train.language.fit_language`.

    Raises
    ------
    DataError
        If the file is not enwik8.
    EvaluationError
        If the training diverges.
    """
    train, validation, test = (
        read_enwik8(enwik8, split) for split in ("train", "validation", "test")
    )
    with training_progress() as progress:
        task = progress.add_task(name, total=recipe.steps, note="")

        def advance(point: Point) -> None:
            note = f"{point.validation_bpc:.4f} bits per byte"
            progress.update(task, completed=point.step, note=note)

        model, history = fit_language(
            make_model,
            train,
            validation,
            recipe,
            seed=seed,
            identity=identity,
            state=state,
            on_point=advance,
        )
    scores = [
        bits_per_byte(model, windows(text[: SLICE + 1], recipe.context))
        for text in (validation, test)
    ]
    for bits in scores:
        require_converging(bits, recipe.steps, recipe.learning_rate, MOST_BITS)
    parameters = sum(p.numel() for p in model.parameters())
    return Fitted(model, tuple(history), parameters, *scores)
