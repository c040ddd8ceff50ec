"""Clips of spoken digits as frames, checked as they are read."""

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from oscsim.bundled import data_folder
from oscsim.errors import DataError
from oscsim.models.config import FixedQueryConfig
from oscsim.typing import BoolArray, FloatArray, IntArray

Split: TypeAlias = Literal["training", "held out", "all"]


@dataclass(frozen=True, eq=False)
class DigitSet:
    """Clips as normalised frames, with the digit spoken in each.

    Attributes
    ----------
    inputs : FloatArray, shape (n, T, n_features)
        Frames, then frames that are not a number up to the longest clip.
    lengths : IntArray, shape (n,)
        Frames of each clip.
    labels : IntArray, shape (n,)
        The digit.
    sha256 : str
        Digest of the file's bytes.
    path : str
        Where the clips come from.
    """

    inputs: FloatArray
    lengths: IntArray
    labels: IntArray
    sha256: str
    path: str

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def positions(self) -> None:
        """No column is read: the head reads the mean over a clip's frames."""
        return

    @property
    def hard(self) -> BoolArray:
        """No clip is set apart as hard."""
        return np.zeros(len(self), np.bool_)

    @property
    def noun(self) -> str:
        """What one item is called."""
        return "clip"


def bundled_digits() -> Path:
    """Return the bundled clips of spoken digits."""
    return data_folder("datasets") / "digits" / "digits.npz"


def read_digits(
    path: str | Path, config: FixedQueryConfig, split: Split = "held out"
) -> DigitSet:
    """Read clips of spoken digits and normalise them for a checkpoint.

    Parameters
    ----------
    path : str or Path
        An ``.npz`` archive with ``frames`` (total, n_features), ``lengths``
        (n,) and ``digits`` (n,), the clips one after the other; and, to tell
        them apart, ``held_out`` (n,), boolean.
    config : FixedQueryConfig
        Gives the number of features, their mean and standard deviation, and
        the longest input.
    split : {"held out", "training", "all"}
        Which clips. Without ``held_out`` in the file every clip is held out.

    Returns
    -------
    DigitSet
        In the order of the file; every feature less ``feature_mean``, over
        ``feature_std``, in float64.

    Raises
    ------
    DataError
        If the file is missing or not such an archive; if arrays do not fit
        each other or the checkpoint, hold other than finite numbers or other
        than digits; if a clip is empty or longer than ``config.max_len``; if
        no clip is in the split; or if the checkpoint takes no frames.
    """
    if config.n_features is None:
        raise DataError(
            f"the checkpoint takes token ids (task {config.task!r}), not frames of "
            "sound: clips of digits are for task 'digits'"
        )
    arrays, digest = _load(Path(path))
    lengths, digits, wanted = _clips(arrays, config, split, str(path))
    ends = np.cumsum(lengths)
    frames = arrays["frames"].astype(np.float64)
    if config.feature_mean is not None and config.feature_std is not None:
        frames = (frames - config.feature_mean) / config.feature_std
    longest = int(lengths[wanted].max())
    inputs = np.full((len(wanted), longest, config.n_features), np.nan)
    for row, clip in enumerate(wanted):
        inputs[row, : lengths[clip]] = frames[ends[clip] - lengths[clip] : ends[clip]]
    return DigitSet(inputs, lengths[wanted], digits[wanted], digest, str(path))


def checked_frames(
    inputs: IntArray | FloatArray, config: FixedQueryConfig
) -> FloatArray:
    """Return normalised frames as float64 after checking shape and padding.

    Parameters
    ----------
    inputs : FloatArray, shape (batch, time, n_features)
        Frames; those at the end of a clip that are not a number are padding.
    config : FixedQueryConfig
        Of a model of frames.

    Raises
    ------
    DataError
        If the shape is another, a value is infinite, or a frame that exists
        has a value that is not a number or follows one that does not exist.
    """
    try:
        frames = np.asarray(inputs, np.float64)
    except (ValueError, TypeError):
        raise DataError("inputs must be an array of numbers") from None
    if frames.ndim != 3 or 0 in frames.shape or frames.shape[2] != config.n_features:
        raise DataError(
            f"inputs must be frames of shape (batch, time, {config.n_features}), at "
            f"least one of each; got shape {frames.shape}"
        )
    if frames.shape[1] > config.max_len:
        raise DataError(
            f"inputs have {frames.shape[1]} frames, the checkpoint holds "
            f"{config.max_len}"
        )
    missing = np.isnan(frames)
    padded: BoolArray = np.all(missing, axis=-1)
    broken: BoolArray = np.any(missing, axis=-1) & ~padded
    broken |= np.any(np.isinf(frames), axis=-1)
    broken[:, 1:] |= padded[:, :-1] & ~padded[:, 1:]
    if broken.any():
        clip, frame = (int(k) for k in np.argwhere(broken)[0])
        raise DataError(
            f"inputs[{clip}, {frame}] must hold finite numbers, or nothing but NaN "
            "from there on, which is padding"
        )
    return frames


def _load(path: Path) -> tuple[dict[str, Any], str]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no data file {path}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is not an .npz archive of arrays: {error}") from None
    except (zlib.error, NotImplementedError, TypeError, MemoryError) as error:
        raise DataError(f"{path} is a damaged .npz archive: {error}") from None
    missing = [n for n in ("frames", "lengths", "digits") if n not in arrays]
    if missing:
        raise DataError(f"{path} holds no {', '.join(missing)}")
    return arrays, hashlib.sha256(data).hexdigest()


def _clips(
    arrays: dict[str, Any], config: FixedQueryConfig, split: Split, source: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Return lengths and digits of all clips, and the numbers of those wanted."""
    frames = arrays["frames"]
    if frames.ndim != 2 or frames.shape[1] != config.n_features:
        raise DataError(
            f"{source}: frames have shape {frames.shape}, the checkpoint takes "
            f"(total, {config.n_features})"
        )
    if frames.dtype.kind != "f" or not np.isfinite(frames).all():
        raise DataError(f"{source}: frames must be finite floating-point numbers")
    lengths = _whole(arrays["lengths"], "lengths", 1, config.max_len, source)
    digits = _whole(arrays["digits"], "digits", 0, config.n_outputs - 1, source)
    n_clips = len(lengths)
    held_out = arrays.get("held_out", np.ones(n_clips, np.bool_))
    if len(digits) != n_clips or held_out.shape != (n_clips,):
        raise DataError(
            f"{source}: {n_clips} lengths, {len(digits)} digits and held_out of shape "
            f"{held_out.shape}: one of each per clip is needed"
        )
    if held_out.dtype != np.bool_:
        raise DataError(f"{source}: held_out must be true or false per clip")
    if lengths.sum() != len(frames):
        raise DataError(
            f"{source}: lengths add up to {lengths.sum()}, there are {len(frames)} "
            "frames"
        )
    chosen = {"held out": held_out, "training": ~held_out}.get(split)
    wanted = np.arange(n_clips) if chosen is None else np.flatnonzero(chosen)
    if not len(wanted):
        raise DataError(f"{source} has no clips of the {split} set")
    return lengths, digits, wanted


def _whole(values: Any, name: str, low: int, high: int, source: str) -> IntArray:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise DataError(
            f"{source}: {name} must be one whole number per clip, got "
            f"{values.dtype} of shape {values.shape}"
        )
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        raise DataError(
            f"{source}: {name}[{wrong[0]}] = {values[wrong[0]]} is not in {low}..{high}"
        )
    whole: IntArray = values.astype(np.int64)
    return whole
