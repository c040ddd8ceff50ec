"""The file of a stopped training: what it holds, and whose it is."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from oscsim.errors import SpecError
from oscsim.files import write_whole

_PARTS = ("recipe", "seed", "model", "optimiser", "draw", "history")


class Moving(NamedTuple):
    """What changes while a model is trained."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    draw: np.random.Generator


def save_state(
    path: Path,
    run: Mapping[str, Any],
    moving: Moving,
    history: Sequence[Mapping[str, Any]],
) -> None:
    """Write a training at its last point.

    Parameters
    ----------
    path : Path
        The file; replaced as a whole.
    run : mapping
        What the run is: ``recipe``, ``seed`` and ``identity``, plain values.
    moving : Moving
        Model, optimiser and the generator of windows.
    history : sequence of mapping
        The points so far, as fields.
    """
    content: dict[str, Any] = {
        **run,
        "model": moving.model.state_dict(),
        "optimiser": moving.optimiser.state_dict(),
        "draw": moving.draw.bit_generator.state,
        "history": [dict(point) for point in history],
    }
    held = BytesIO()
    torch.save(content, held)
    write_whole(path, held.getvalue())


def restore_state(
    path: Path, run: Mapping[str, Any], moving: Moving
) -> list[dict[str, Any]]:
    """Read a training into ``moving`` and return its points.

    Parameters
    ----------
    path : Path
        What `save_state` wrote.
    run : mapping
        What this run is; the file must say the same.
    moving : Moving
        As it was made; changed in place.

    Raises
    ------
    SpecError
        If the file is damaged, of another kind or of another run, or does not
        say which model it is of.
    """
    content = _content(path)
    _require_same(path, content, run)
    try:
        moving.model.load_state_dict(content["model"])
        moving.optimiser.load_state_dict(content["optimiser"])
        moving.draw.bit_generator.state = content["draw"]
        history = [dict(point) for point in content["history"]]
        if not 0 < history[-1]["step"] <= run["recipe"]["steps"]:
            raise ValueError
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError):
        raise _foreign(path) from None
    return history


def _content(path: Path) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception:  # what a damaged file raises is torch's and pickle's to choose
        raise _foreign(path) from None
    if not isinstance(content, dict) or not all(part in content for part in _PARTS):
        raise _foreign(path)
    return content


def _require_same(
    path: Path, content: Mapping[str, Any], run: Mapping[str, Any]
) -> None:
    if "identity" not in content:
        raise SpecError(
            f"{path} is of an earlier version and does not say which model it holds: "
            "remove it to train from the start"
        )
    for part, what in (
        ("identity", "model"),
        ("recipe", "recipe"),
        ("seed", "seed"),
    ):
        found, asked = content[part], run[part]
        if found != asked:
            raise SpecError(
                f"{path} holds a run of another {what}{_difference(found, asked)}: "
                "remove it, or go on with what it says"
            )


def _difference(found: Any, asked: Any) -> str:
    """Return the first field that differs, or the two values."""
    if not isinstance(asked, Mapping):
        return f" ({found!r:.60}, asked for was {asked!r:.60})"
    if not isinstance(found, Mapping):
        return ""
    for name in (*asked, *found):
        there, here = found.get(name), asked.get(name)
        if there != here:
            return f" ({name} {there!r:.60}, asked for was {here!r:.60})"
    return ""


def _foreign(path: Path) -> SpecError:
    return SpecError(
        f"{path} is no state of this training, or is damaged: remove it to train "
        "from the start"
    )
