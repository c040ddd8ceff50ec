"""Results of a sweep in one SQLite file, each chip of a cell committed at once."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.design.stored import (
    NUMBERS,
    StoredResults,
    as_results,
    checksum,
    subject_checksum,
    text_checksum,
)
from oscsim.design.subject import Known
from oscsim.design.work import Outcomes, Task
from oscsim.errors import SpecError, StoreError
from oscsim.typing import FloatArray


class Store:
    """A file of results.

    Use `create_or_resume` to write one and `open_store` to read one. Several
    processes may write to one file: each result is one transaction, and the
    first to commit it is kept (all are the same bits).

    Parameters
    ----------
    path : Path
        The file.
    connection : sqlite3.Connection
        Open on it.
    is_shared : bool
        Whether another process had it open to write, or was killed with it.

    Attributes
    ----------
    is_writer : bool
        Whether it may be written to.
    place : tuple of int
        Which file it is, whatever becomes of its name.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, is_shared: bool = False
    ) -> None:
        self.path = path
        self.connection = connection
        self.is_writer = False
        self.is_shared = is_shared
        self.place = self._place()

    def _place(self) -> tuple[int, int] | None:
        """Return which file the path leads to, None if to none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close it, and leave one file: the journal is folded in by the last one.

        A file without a journal beside it can be read from a read-only folder.
        """
        if self.is_writer:
            with suppress(sqlite3.Error):
                self.connection.execute("PRAGMA busy_timeout = 0")
                self.connection.execute("PRAGMA journal_mode = DELETE")
        self.connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def about(self, name: str) -> Any:
        """Return what the store says of itself."""
        row = self._one("SELECT content FROM about WHERE name = ?", name)
        if row is None:
            raise SpecError(f"{self.path} does not say its {name}: it is damaged")
        return json.loads(row[0])

    def has(self, task: Task) -> bool:
        """Return whether a result is there."""
        found = self._one(
            "SELECT 1 FROM results WHERE digest = ? AND chip = ?",
            task.cell.digest,
            task.chip,
        )
        return found is not None

    def save(self, task: Task, found: Outcomes, latency_s: float | None) -> None:
        """Commit one result; one that is there already stays.

        Raises
        ------
        StoreError
            If the file cannot be written, for example because the disk is full:
            everything committed before is kept.
        """
        key = (task.cell.digest, task.chip)
        joules = found.joules or (None, None, None)
        value = None if found.failure else found.value
        shares = (found.clipped, found.zeroed, found.undriven, found.unsettled)
        numbers = (value, *shares, *joules, latency_s)
        measured = np.array(numbers, np.float64).astype("<f8").tobytes()
        items = found.items.astype("<f8").tobytes()
        if self._place() != self.place:
            raise StoreError(
                f"{self.path} was taken away or replaced while it was being written"
            )
        with self._talking("write"), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute(
                f"INSERT OR IGNORE INTO results VALUES ({', '.join('?' * 13)})",
                (*key, *numbers, found.failure, found.seconds),
            )
            self.connection.execute(
                "INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?)",
                (*key, items, checksum(*key, measured, found.failure, items)),
            )

    def results(self) -> StoredResults:
        """Return every result, by cell and chip."""
        with self._talking("read"):
            return as_results(
                self.connection.execute(
                    f"SELECT digest, chip, failure, seconds, {', '.join(NUMBERS)}, "
                    "numbers, checksum FROM results "
                    "LEFT JOIN items USING (digest, chip) ORDER BY digest, chip"
                ).fetchall()
            )

    def n_results(self) -> int:
        """Return how many results are there."""
        return int(self._one("SELECT count(*) FROM results")[0])

    def mean_seconds(self) -> float:
        """Return the mean processor time of the results (s), NaN without any."""
        found = self._one("SELECT avg(seconds) FROM results")[0]
        return float("nan") if found is None else float(found)

    def drop(self, keys: Iterable[tuple[str, int]]) -> None:
        """Take results out, to be run again."""
        rows = list(keys)
        with self._talking("write"), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            for name in ("results", "items"):
                self.connection.executemany(
                    f"DELETE FROM {name} WHERE digest = ? AND chip = ?", rows
                )

    def values(self, digest: str) -> list[tuple[int, float]]:
        """Return (chip, value) of the results of a cell; NaN of a failure."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT chip, value FROM results WHERE digest = ?", (digest,)
            ).fetchall()
        return [(chip, float("nan") if v is None else v) for chip, v in rows]

    def items(self, digest: str) -> FloatArray:
        """Return the numbers of the items of a cell, shape (chips, items)."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT numbers FROM items WHERE digest = ? ORDER BY chip", (digest,)
            ).fetchall()
        if not rows:
            raise SpecError(f"{self.path} has no results of cell {digest:.12}")
        return np.stack([np.frombuffer(row[0], "<f8") for row in rows])

    def cells(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return (digest, subject, point) of every cell, in order."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, number, subject, point, checksum FROM cells "
                "ORDER BY number"
            ).fetchall()
        for *said, kept in rows:
            if text_checksum(*said) != kept:
                raise self._damaged(f"cell {said[0]:.12}")
        points = json.loads(f"[{','.join(row[3] for row in rows)}]")
        return [
            (digest, subject, point)
            for (digest, _, subject, _, _), point in zip(rows, points, strict=True)
        ]

    def device(self, digest: str) -> dict[str, Any]:
        """Return the device of a cell."""
        row = self._one(
            "SELECT device, device_checksum FROM cells WHERE digest = ?", digest
        )
        if row is None:
            raise SpecError(f"{self.path} has no cell {digest:.12}")
        if text_checksum(digest, row[0]) != row[1]:
            raise self._damaged(f"the device of cell {digest:.12}")
        content: dict[str, Any] = json.loads(row[0])
        return content

    def require_devices(self) -> None:
        """Check that the device of every cell is what was written.

        Raises
        ------
        SpecError
            If one is not.
        """
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, device, device_checksum FROM cells"
            )
            for digest, device, kept in rows:
                if text_checksum(digest, device) != kept:
                    raise self._damaged(f"the device of cell {digest:.12}")

    def subjects(self) -> dict[str, tuple[dict[str, Any], Known]]:
        """Return what every checkpoint is and gave digitally, by name."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT name, content, digital, counted, drives, checksum "
                "FROM subjects ORDER BY name"
            ).fetchall()
        found = {}
        for name, content, *arrays, kept in rows:
            if subject_checksum(name, content, *arrays) != kept:
                raise self._damaged(f"checkpoint {name}")
            digital, counted, drives = arrays
            known = Known(
                np.frombuffer(digital, "<f8"),
                np.frombuffer(counted, np.bool_),
                np.frombuffer(drives, "<f8").reshape(-1, 2),
            )
            found[name] = (json.loads(content), known)
        return found

    def _damaged(self, what: str) -> SpecError:
        return SpecError(
            f"{self.path} is damaged: what it says of {what} is not what was written; "
            "run the sweep again with this store, which mends it"
        )

    def _one(self, question: str, *values: object) -> Any:
        with self._talking("read"):
            return self.connection.execute(question, values).fetchone()

    @contextmanager
    def _talking(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot {what} {self.path}: {error}; what was committed before is kept"
            ) from None
