"""The results of a store as columns, each row with its checksum."""

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from oscsim.typing import FloatArray, IntArray

NUMBERS = (
    "value",
    "clipped",
    "zeroed",
    "undriven",
    "unsettled",
    "joules_p10",
    "joules_p50",
    "joules_p90",
    "latency",
)
"""Columns of a row that are numbers; what is missing is NaN."""


def checksum(digest: str, chip: int, numbers: bytes, failure: str, items: bytes) -> int:
    """Return the CRC-32 of everything that a result says, and of what it is one.

    Parameters
    ----------
    digest : str
        Of the cell.
    chip : int
        Number of the chip.
    numbers : bytes
        Those of `NUMBERS` as float64, least byte first.
    failure : str
        Why there is no value.
    items : bytes
        Numbers of the items.
    """
    return zlib.crc32(items, zlib.crc32(numbers, text_checksum(digest, chip, failure)))


def text_checksum(*parts: object) -> int:
    """Return the CRC-32 of the parts as texts, with spaces between."""
    return zlib.crc32(" ".join(map(str, parts)).encode())


def subject_checksum(name: str, content: str, *arrays: bytes) -> int:
    """Return the CRC-32 of everything that is kept of a checkpoint."""
    found = text_checksum(name, content)
    for array in arrays:
        found = zlib.crc32(array, found)
    return found


class StoredResults(NamedTuple):
    """Chips of cells as they are kept, by cell and chip.

    Attributes
    ----------
    digests : list of str
        Of every cell that has a result.
    counts : IntArray, shape (cells,)
        Chips of each, which stand one after the other.
    chips : IntArray, shape (n,)
        Number of the static draw.
    failures : list of str
        Why there is no value; empty where there is one.
    seconds : FloatArray, shape (n,)
        What it took.
    numbers : FloatArray, shape (n, 9)
        In the order of `NUMBERS`; NaN where there is none.
    items : list of bytes
        Numbers of the items, mean over repeats, as float64.
    damaged : list of (str, int)
        Digest and chip of rows that are not what was written.
    """

    digests: list[str]
    counts: IntArray
    chips: IntArray
    failures: list[str]
    seconds: FloatArray
    numbers: FloatArray
    items: list[bytes]
    damaged: list[tuple[str, int]]

    @property
    def values(self) -> FloatArray:
        """The metric of each chip, shape (n,); NaN of a failure."""
        return self.numbers[:, 0]

    @property
    def starts(self) -> IntArray:
        """Number of the first chip of each cell, shape (cells,)."""
        starts: IntArray = np.cumsum(self.counts) - self.counts
        return starts

    def mean_shares(self) -> FloatArray:
        """Return clipped, zeroed, undriven, unsettled of every cell, (cells, 4)."""
        sums = np.add.reduceat(self.numbers[:, 1:5], self.starts, axis=0)
        means: FloatArray = sums / self.counts[:, None]
        return means

    def mean_items(self) -> list[FloatArray]:
        """Return the numbers of the items of every cell, mean over its chips."""
        of_cell: list[FloatArray] = [np.empty(0)] * len(self.digests)
        starts = self.starts
        sizes = np.array([len(self.items[k]) for k in starts])
        for size in np.unique(sizes):
            cells = np.flatnonzero(sizes == size)
            blobs: list[bytes] = []
            for cell in cells:
                blobs += self.items[starts[cell] : starts[cell] + self.counts[cell]]
            rows = np.frombuffer(b"".join(blobs), "<f8").reshape(len(blobs), -1)
            counts = self.counts[cells]
            sums = np.add.reduceat(rows, np.cumsum(counts) - counts, axis=0)
            for cell, mean in zip(cells, sums / counts[:, None], strict=True):
                of_cell[cell] = mean
        return of_cell


def as_results(rows: Sequence[Sequence[Any]]) -> StoredResults:
    """Return rows as columns, and which are damaged.

    Parameters
    ----------
    rows : sequence of (digest, chip, failure, seconds, *numbers, items, checksum)
        By digest and chip.
    """
    if not rows:
        none = np.empty(0, np.int64)
        numbers = np.empty((0, len(NUMBERS)))
        return StoredResults([], none, none, [], np.empty(0), numbers, [], [])
    columns = list(zip(*rows, strict=True))
    digest, chip, failure, seconds = columns[:4]
    *measured, items, kept = columns[4:]
    numbers = np.stack([np.array(one, np.float64) for one in measured], axis=1)
    whole = numbers.astype("<f8").tobytes()
    width = len(whole) // len(rows)
    damaged = [
        (digest[k], chip[k])
        for k, blob in enumerate(items)
        if not isinstance(blob, bytes)
        or kept[k]
        != checksum(
            digest[k], chip[k], whole[width * k : width * (k + 1)], failure[k], blob
        )
    ]
    first = [k for k in range(len(rows)) if k == 0 or digest[k] != digest[k - 1]]
    return StoredResults(
        digests=[digest[k] for k in first],
        counts=np.diff([*first, len(rows)]),
        chips=np.array(chip),
        failures=list(failure),
        seconds=np.array(seconds, np.float64),
        numbers=numbers,
        items=list(items),
        damaged=damaged,
    )
