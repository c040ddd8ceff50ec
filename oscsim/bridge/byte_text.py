"""Bytes of text for language models: enwik8's splits, windows, checksums."""

import hashlib
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from oscsim.errors import DataError
from oscsim.typing import IntArray

ByteArray = npt.NDArray[np.uint8]
Split = Literal["train", "validation", "test"]

ENWIK8_LENGTH = 100_000_000
ENWIK8_MD5 = "a1fa5ffddb56f4953e226637dabbb36a"

SPLITS: dict[str, slice] = {
    "train": slice(0, 90_000_000),
    "validation": slice(90_000_000, 95_000_000),
    "test": slice(95_000_000, 100_000_000),
}
"""Bytes of enwik8 that are trained on, looked at while training, and neither."""

SLICE = 256 * 1024
"""Bytes from the start of validation and test that are bundled and scored."""


class Windows(NamedTuple):
    """Inputs and what follows each of them.

    Attributes
    ----------
    ids : IntArray, shape (n, context)
        Bytes the model reads.
    targets : IntArray, shape (n, context)
        Byte after each of them.
    """

    ids: IntArray
    targets: IntArray


def windows(data: ByteArray, context: int) -> Windows:
    """Cut bytes into windows that follow each other.

    Every byte but the first is predicted once, from the bytes before it in its
    own window; a remainder shorter than a window is left out. All models of one
    context are so scored on the same bytes.

    Parameters
    ----------
    data : ByteArray, shape (m,)
        Text.
    context : int
        Bytes a window holds.

    Raises
    ------
    DataError
        If there is not one whole window and the byte after it.
    """
    n = (len(data) - 1) // context
    if n < 1:
        raise DataError(
            f"{len(data)} bytes do not hold one window of {context} and the byte "
            f"after it: give at least {context + 1}"
        )
    used = np.asarray(data[: n * context + 1], dtype=np.int64)
    return Windows(used[:-1].reshape(n, context), used[1:].reshape(n, context))


def read_enwik8(path: str | Path, split: Split) -> ByteArray:
    """Return one split of the complete enwik8, checked by length and MD5.

    Parameters
    ----------
    path : str or Path
        The uncompressed file.
    split : {"train", "validation", "test"}
        First 90 million bytes, the next five, the last five.

    Raises
    ------
    DataError
        If the file is missing, of another length or of another checksum.
    """
    source = Path(path)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror}") from None
    if len(data) != ENWIK8_LENGTH:
        raise DataError(
            f"{source} is not enwik8: it has {len(data):,} bytes, enwik8 has "
            f"{ENWIK8_LENGTH:,}"
        )
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if digest != ENWIK8_MD5:
        raise DataError(
            f"{source} is not enwik8: its MD5 is {digest}, enwik8's is {ENWIK8_MD5}"
        )
    return np.frombuffer(data, np.uint8)[SPLITS[split]]
