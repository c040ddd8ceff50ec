"""What a command was asked to write and to train, checked before it starts."""

from contextlib import AbstractContextManager
from math import prod
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from oscsim.bridge.checkpoint_config import sentence_of
from oscsim.cli_output import writable
from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.models.families import FAMILIES, ModelConfig, shapes_of

CHECKPOINT_FILES = ("model.safetensors", "config.json", "training.json", "README.md")
"""What a training writes into its folder."""

MOST_SEED = 2**32 - 1
MOST_EPOCHS = 1_000_000
MOST_BYTES = 10**12

_BYTES_PER_WEIGHT = 16
"""A weight, its gradient and two moments, float32."""


def output_folder(out: Path) -> AbstractContextManager[None]:
    """Check that files can be written into a folder.

    Parameters
    ----------
    out : Path
        The folder; made, and removed again if nothing is written.

    Raises
    ------
    SpecError
        If it is a file, or cannot be made or written into when entered.
    """
    if out.exists() and not out.is_dir():
        raise SpecError(f"--out {out} is a file: give a folder")
    return writable(out)


def new_checkpoint(out: Path) -> AbstractContextManager[None]:
    """Check that a checkpoint can be written and replaces none.

    Parameters
    ----------
    out : Path
        Its folder: absent, or without the files of a checkpoint.

    Raises
    ------
    SpecError
        If it holds one of them, is a file, or cannot be made or written into.
    """
    context = output_folder(out)
    if not out.resolve().name:
        raise SpecError(f"--out {out} has no name: give the folder of one checkpoint")
    held = [name for name in CHECKPOINT_FILES if (out / name).exists()]
    if held:
        raise SpecError(
            f"--out {out} holds {held[0]} already: give a new folder, or remove it"
        )
    return context


def checked_config(family: str, **fields: Any) -> ModelConfig:
    """Return the configuration of a model that is to be trained.

    Parameters
    ----------
    family : str
        One of `oscsim.models.families.FAMILIES`.
    **fields
        Of its configuration.

    Raises
    ------
    SpecError
        If fields are wrong or contradict each other, or the model and its
        optimiser do not fit into memory.
    """
    try:
        config = FAMILIES[family].model_validate(fields)
    except ValidationError as error:
        raise SpecError(sentence_of(error)) from None
    n_weights = sum(prod(shape) for shape in shapes_of(config).values())
    require_memory(
        f"training {n_weights:.3g} weights",
        _BYTES_PER_WEIGHT * n_weights,
        "ask for a smaller model",
    )
    return config
