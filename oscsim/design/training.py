"""What a checkpoint says of its training: which seed, and what all seeds share."""

import json
from pathlib import Path
from typing import Any

SHARED = ("tokens", "recipe")
"""What trainings of one model have in common; the seed is what differs."""


def training_of(path: Path) -> dict[str, Any] | None:
    """Return seed, tokens and recipe of a training, None where nothing says the seed.

    Parameters
    ----------
    path : Path
        Checkpoint folder or file; ``training.json`` lies in it or beside it.
    """
    folder = path if path.is_dir() else path.parent
    try:
        content = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        found = {"seed": int(content["seed"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found | {name: content[name] for name in SHARED if name in content}
