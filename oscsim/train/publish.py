"""Writing a checkpoint folder so that a reader never meets half a file."""

import json
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import nn

from oscsim.errors import SpecError
from oscsim.files import write_whole
from oscsim.train.card import Training, card, index_page
from oscsim.train.digit_card import DigitTraining, digit_card, digit_index
from oscsim.train.language_card import (
    LanguageTraining,
    language_card,
    language_index,
)


def write_checkpoint(
    folder: Path,
    model: nn.Module,
    training: Training | LanguageTraining | DigitTraining,
) -> None:
    """Write ``model.safetensors``, ``config.json``, ``training.json`` and a card.

    Parameters
    ----------
    folder : Path
        Made if it does not exist; its name is the checkpoint's.
    model : torch.nn.Module
        Has a ``config``; written in float32.
    training : Training, LanguageTraining or DigitTraining
        What the card says.
    """
    name = folder.resolve().name
    match training:
        case Training():
            page = card(name, training)
        case DigitTraining():
            page = digit_card(name, model.config, training)
        case LanguageTraining():
            page = language_card(name, model.config, training)
    state = {name: t.contiguous().float() for name, t in model.state_dict().items()}
    weights = safetensors.torch.save(state, metadata={"format": "pt"})
    write_whole(folder / "model.safetensors", weights)
    for name, text in {
        "config.json": model.config.model_dump_json(indent=2) + "\n",
        "training.json": json.dumps(asdict(training), indent=2) + "\n",
        "README.md": page,
    }.items():
        write_whole(folder / name, text.encode())


def write_index(folder: Path) -> Path:
    """Write ``README.md`` with a table of the checkpoints in ``folder``.

    Raises
    ------
    SpecError
        If no folder in it holds a ``training.json``, or one is no record.
    """
    records = {
        path.parent.name: _record(path)
        for path in sorted(folder.glob("*/training.json"), key=_by_number)
    }
    if not records:
        raise SpecError(f"no folder in {folder} holds a training.json")
    page = _index(records)
    readme = folder / "README.md"
    write_whole(readme, page.encode())
    return readme


def _record(path: Path) -> dict[str, Any]:
    """Return a training's record: JSON of which a page can be made."""
    try:
        record: dict[str, Any] = json.loads(
            path.read_text(encoding="utf-8"), parse_constant=_no_number
        )
        _index({path.parent.name: record})
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror or error}") from None
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ):
        raise SpecError(
            f"{path} is no record of a training: remove its folder or train it again"
        ) from None
    return record


def _no_number(constant: str) -> None:
    raise ValueError(constant)


def _index(records: Mapping[str, Mapping[str, Any]]) -> str:
    language = {n: r for n, r in records.items() if r.get("task") == "bytes"}
    digits = {n: r for n, r in records.items() if r.get("task") == "digits"}
    sentences = {n: r for n, r in records.items() if n not in language | digits}
    page = index_page(sentences) if sentences else "# Trained checkpoints\n"
    if digits:
        page += digit_index(digits)
    if language:
        page += language_index(language)
    return page


def _by_number(path: Path) -> list[str | tuple[int]]:
    """Order d2 before d16: digits of the folder's name count as numbers."""
    parts = re.split(r"(\d+)", path.parent.name)
    return [(int(part),) if part.isdigit() else part for part in parts]


def versions() -> dict[str, str]:
    """Return the commit of the sources and the versions that ran them."""
    return {
        "commit": _commit(),
        "Python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
    }


def _commit() -> str:
    try:
        return subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
