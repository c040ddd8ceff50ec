"""Windows of a file of bytes, with the checksum of the whole file."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from oscsim.arrays import whole_number
from oscsim.bridge.byte_text import ENWIK8_LENGTH, ENWIK8_MD5, SPLITS, windows
from oscsim.bundled import data_folder
from oscsim.errors import DataError
from oscsim.typing import IntArray

DEFAULT_WINDOWS = 64
BYTES = 256


@dataclass(frozen=True, eq=False)
class ByteText:
    """Text as windows of bytes; every byte is predicted from its own window.

    Attributes
    ----------
    ids : IntArray, shape (n, context)
        Bytes that a model reads.
    targets : IntArray, shape (n, context)
        Byte after each of them.
    path : str
        The file.
    first : int
        Byte of the file at which the first window begins.
    n_bytes : int
        Length of the file.
    md5, sha256 : str
        Digests of the whole file.
    """

    ids: IntArray
    targets: IntArray
    path: str
    first: int
    n_bytes: int
    md5: str
    sha256: str

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def context(self) -> int:
        """Bytes of a window."""
        return int(self.ids.shape[1])

    @property
    def label(self) -> str:
        """Which bytes of which file, in words."""
        last = self.first + self.targets.size
        return (
            f"{self.path}, bytes {self.first:,} to {last:,} of {self.n_bytes:,}, "
            f"MD5 {self.md5}"
        )


def bundled_text() -> Path:
    """Return the bundled slice of enwik8's validation split.

    Raises
    ------
    DataError
        If it is not there.
    """
    path = data_folder("datasets") / "enwik8" / "validation.bin"
    if not path.is_file():
        raise DataError("no text is bundled here: give the data (--data)")
    return path


def calibration_bytes(n: int) -> IntArray | None:
    """Return the first bytes of the bundled training text, None without it."""
    path = data_folder("datasets") / "enwik8" / "train.bin"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return np.frombuffer(file.read(n), np.uint8).astype(np.int64)


def read_bytes(
    path: str | Path, context: int, n_windows: int | None = None
) -> ByteText:
    """Read windows of bytes that follow each other.

    The complete enwik8 (100,000,000 bytes) is read from its validation split,
    every other file from its first byte.

    Parameters
    ----------
    path : str or Path
        Any file.
    context : int
        Bytes of a window.
    n_windows : int, optional
        How many; 64 by default, or as many as there are.

    Returns
    -------
    ByteText

    Raises
    ------
    DataError
        If the file is missing or holds fewer windows than asked for; or if it
        has the length of enwik8 and another checksum, or its name and another
        length.
    SpecError
        If ``n_windows`` is not a whole number from 1.
    """
    source = Path(path)
    if n_windows is not None:
        n_windows = whole_number("windows", n_windows, 1)
    if not str(path):
        raise DataError("the name of the data file is empty: give a file of bytes")
    if source.exists() and not source.is_file():
        raise DataError(f"{source} is not a regular file: give a file of bytes")
    try:
        with source.open("rb") as file:
            md5, sha256, n_bytes = _digests(file)
            first = _first_byte(source, n_bytes, md5)
            file.seek(first)
            n = DEFAULT_WINDOWS if n_windows is None else n_windows
            text = np.frombuffer(file.read(min(n * context + 1, n_bytes)), np.uint8)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"there is no data file {source}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read: {error}") from None
    if len(text) <= context:
        raise DataError(
            f"{source} has {n_bytes:,} bytes: one window of {context} and the byte "
            f"after it need {context + 1}"
        )
    found = windows(text, context)
    if n_windows is not None and len(found.ids) < n_windows:
        raise DataError(
            f"{source} holds {len(found.ids)} windows of {context} bytes, "
            f"{n_windows} were asked for"
        )
    return ByteText(*found, str(source), first, n_bytes, md5, sha256)


def _digests(file: BinaryIO) -> tuple[str, str, int]:
    md5, sha256, n_bytes = hashlib.md5(usedforsecurity=False), hashlib.sha256(), 0
    while piece := file.read(1 << 20):
        md5.update(piece)
        sha256.update(piece)
        n_bytes += len(piece)
    return md5.hexdigest(), sha256.hexdigest(), n_bytes


def _first_byte(source: Path, n_bytes: int, md5: str) -> int:
    """Return where to begin; refuse what only looks like enwik8."""
    if n_bytes == ENWIK8_LENGTH:
        if md5 != ENWIK8_MD5:
            raise DataError(
                f"{source} has the length of enwik8 and is not it: its MD5 is {md5}, "
                f"enwik8's is {ENWIK8_MD5}"
            )
        return int(SPLITS["validation"].start)
    if source.stem.lower() == "enwik8":
        raise DataError(
            f"{source} is not enwik8: it has {n_bytes:,} bytes (MD5 {md5}), enwik8 has "
            f"{ENWIK8_LENGTH:,}"
        )
    return 0
