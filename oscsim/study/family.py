"""Trained byte models of several d_osc, and softmax twins, on the same windows."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from oscsim.bridge.byte_text import SLICE
from oscsim.bridge.checkpoint import Checkpoint, load_checkpoint
from oscsim.bridge.engine import Engine, digital_pass
from oscsim.bridge.language import (
    LANGUAGE_BLOCK,
    as_text,
    bits_of,
    context_of,
    require_bytes,
)
from oscsim.bridge.passes import Block
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Member:
    """One trained model and its bits per byte of every window.

    Attributes
    ----------
    name : str
        The checkpoint's.
    d_osc : int or None
        Components of an oscillator; None for a softmax twin.
    p : int
        Exponent of the read-out.
    width : int
        d_model.
    seed, tokens : int
        Seed of the training, and bytes it saw.
    parameters : int
        Trained numbers.
    bits : FloatArray, shape (windows,)
        Of the digital model.
    """

    name: str
    d_osc: int | None
    p: int
    width: int
    seed: int
    tokens: int
    parameters: int
    bits: FloatArray


def measure(
    paths: Iterable[str | Path],
    data: ByteText | str | Path | None = None,
    *,
    windows: int | None = None,
    n_threads: int | None = None,
) -> list[Member]:
    """Run trained byte models digitally, all on the same windows.

    Parameters
    ----------
    paths : iterable of path
        Checkpoint folders with a ``training.json``.
    data : ByteText or path, optional
        Text; the bundled validation slice by default.
    windows : int, optional
        How many windows of the trained context; all 256 KiB of the bundled text,
        64 windows of another.
    n_threads : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    list of Member
        In the order of ``paths``.

    Raises
    ------
    SpecError
        If there is no checkpoint, one is no fixed-query model or says nothing
        of its training, two are the same training, or they differ in context
        or in the bytes they saw: then they do not compare.
    DataError
        As `oscsim.bridge.language.as_text`.
    """
    found = [(load_checkpoint(path), _training(Path(path))) for path in paths]
    if not found:
        raise SpecError("nothing to compare: got 0 checkpoints")
    first, budget = found[0]
    if data is None and windows is None:
        windows = SLICE // context_of(first)
    text = as_text(data, first, windows)
    seen: dict[tuple[int | None, int, int, int], str] = {}
    for checkpoint, training in found:
        config = checkpoint.fixed_query
        require_bytes(checkpoint, text)
        if context_of(checkpoint) != context_of(first):
            raise SpecError(
                f"{checkpoint.name} reads {context_of(checkpoint)} bytes and "
                f"{first.name} {context_of(first)}: only models of one context compare"
            )
        if training["tokens"] != budget["tokens"]:
            raise SpecError(
                f"{checkpoint.name} saw {training['tokens']:,} bytes and {first.name} "
                f"{budget['tokens']:,}: only models of one budget compare"
            )
        key = (config.d_osc, config.p, config.d_model, training["seed"])
        if key in seen:
            raise SpecError(
                f"{checkpoint.name} and {seen[key]} are one training: d_osc, p, width "
                f"and seed are {key}; give each once"
            )
        seen[key] = checkpoint.name
    return [
        Member(
            name=checkpoint.name,
            d_osc=checkpoint.d_osc,
            p=checkpoint.fixed_query.p,
            width=checkpoint.fixed_query.d_model,
            seed=training["seed"],
            tokens=training["tokens"],
            parameters=training["parameters"],
            bits=bits_per_window(checkpoint, text, n_threads),
        )
        for checkpoint, training in found
    ]


def bits_per_window(
    checkpoint: Checkpoint, data: ByteText, n_threads: int | None = None
) -> FloatArray:
    """Return the digital model's bits per byte of every window, shape (windows,)."""
    engine = Engine(checkpoint, data.ids, None, n_threads, block=LANGUAGE_BLOCK)

    def score(block: Block, logits: FloatArray) -> FloatArray:
        bits: FloatArray = bits_of(logits, data.targets[block.rows]).mean(axis=-1)
        return bits

    with engine.running():
        kept = engine.run(partial(digital_pass, engine.config), score)
    return np.ascontiguousarray(kept.logits)


def _training(path: Path) -> dict[str, int]:
    """Return what ``training.json`` says of seed, tokens and size."""
    file = path / "training.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {name: int(content[name]) for name in ("seed", "tokens", "parameters")}
    except (OSError, ValueError, KeyError, TypeError):
        raise SpecError(
            f"{file} does not say seed, tokens and parameters of the training: give a "
            "folder that python -m oscsim.train bytes wrote"
        ) from None
