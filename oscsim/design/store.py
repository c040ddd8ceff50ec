"""Results of a sweep in one SQLite file, each chip of a cell committed at once."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oscsim.design.cells import Cell
from oscsim.design.subject import Known
from oscsim.design.work import Outcomes, Task
from oscsim.errors import SpecError, StoreError
from oscsim.typing import FloatArray

FORMAT = 1
APPLICATION = 0x4F535343
"""Marks the file as a store (``application_id`` of SQLite)."""

BUSY_SECONDS = 60.0

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE subjects (
    name TEXT PRIMARY KEY, content TEXT NOT NULL, digital BLOB NOT NULL,
    counted BLOB NOT NULL, drives BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE cells (
    digest TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, subject TEXT NOT NULL,
    point TEXT NOT NULL, device TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE results (
    digest TEXT NOT NULL, chip INTEGER NOT NULL, value REAL,
    clipped REAL NOT NULL, zeroed REAL NOT NULL, undriven REAL NOT NULL,
    unsettled REAL NOT NULL, joules_p10 REAL, joules_p50 REAL, joules_p90 REAL,
    latency REAL, failure TEXT NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (digest, chip)
) WITHOUT ROWID;
CREATE TABLE items (
    digest TEXT NOT NULL, chip INTEGER NOT NULL, numbers BLOB NOT NULL,
    PRIMARY KEY (digest, chip)
) WITHOUT ROWID;
"""


class StoredResult(NamedTuple):
    """One chip of one cell as it is kept.

    Attributes
    ----------
    digest : str
        Of the cell.
    chip : int
        Number of the static draw.
    value : float
        The metric; NaN if it failed.
    clipped, zeroed, undriven, unsettled : float
        As in `oscsim.design.work.Outcomes`.
    joules : tuple of float, or None
        p10, p50, p90 per token.
    failure : str
        Why there is no value.
    seconds : float
        What it took.
    """

    digest: str
    chip: int
    value: float
    clipped: float
    zeroed: float
    undriven: float
    unsettled: float
    joules: tuple[float, float, float] | None
    failure: str
    seconds: float


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
    is_writer : bool
        Whether it was opened to write.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, is_writer: bool = False
    ) -> None:
        self.path = path
        self.connection = connection
        self.is_writer = is_writer

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

    def done(self) -> set[tuple[str, int]]:
        """Return (digest, chip) of every result."""
        with self._talking("read"):
            rows = self.connection.execute("SELECT digest, chip FROM results")
            return {(digest, chip) for digest, chip in rows}

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
        rest = (latency_s, found.failure, found.seconds)
        if not self.path.exists():
            raise StoreError(f"{self.path} was taken away while it was being written")
        with self._talking("write"), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute(
                f"INSERT OR IGNORE INTO results VALUES ({', '.join('?' * 13)})",
                (*key, value, *shares, *joules, *rest),
            )
            self.connection.execute(
                "INSERT OR IGNORE INTO items VALUES (?, ?, ?)",
                (*key, found.items.astype("<f8").tobytes()),
            )

    def results(self) -> Iterator[StoredResult]:
        """Yield every result, by cell and chip."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, chip, value, clipped, zeroed, undriven, unsettled, "
                "joules_p10, joules_p50, joules_p90, failure, seconds "
                "FROM results ORDER BY digest, chip"
            )
            for row in rows:
                joules = None if row[8] is None else (row[7], row[8], row[9])
                value = float("nan") if row[2] is None else row[2]
                yield StoredResult(
                    row[0],
                    row[1],
                    value,
                    row[3],
                    row[4],
                    row[5],
                    row[6],
                    joules,
                    row[10],
                    row[11],
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

    def mean_items(self) -> dict[str, FloatArray]:
        """Return the numbers of the items of every cell, mean over its chips."""
        sums: dict[str, FloatArray] = {}
        numbers: dict[str, int] = {}
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, numbers FROM items ORDER BY digest, chip"
            )
            for digest, blob in rows:
                one = np.frombuffer(blob, "<f8")
                sums[digest] = one if digest not in sums else sums[digest] + one
                numbers[digest] = numbers.get(digest, 0) + 1
        return {digest: total / numbers[digest] for digest, total in sums.items()}

    def cells(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return (digest, subject, point) of every cell, in order."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, subject, point FROM cells ORDER BY number"
            ).fetchall()
        return [(digest, subject, json.loads(point)) for digest, subject, point in rows]

    def latencies(self) -> dict[str, float]:
        """Return the seconds per token of every cell that has them."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT digest, latency FROM results "
                "WHERE chip = 0 AND latency IS NOT NULL"
            ).fetchall()
        return dict(rows)

    def device(self, digest: str) -> dict[str, Any]:
        """Return the device of a cell."""
        row = self._one("SELECT device FROM cells WHERE digest = ?", digest)
        if row is None:
            raise SpecError(f"{self.path} has no cell {digest:.12}")
        content: dict[str, Any] = json.loads(row[0])
        return content

    def subjects(self) -> dict[str, tuple[dict[str, Any], Known]]:
        """Return what every checkpoint is and gave digitally, by name."""
        with self._talking("read"):
            rows = self.connection.execute(
                "SELECT name, content, digital, counted, drives FROM subjects "
                "ORDER BY name"
            ).fetchall()
        return {
            name: (
                json.loads(content),
                Known(
                    np.frombuffer(digital, "<f8"),
                    np.frombuffer(counted, np.bool_),
                    np.frombuffer(drives, "<f8").reshape(-1, 2),
                ),
            )
            for name, content, digital, counted, drives in rows
        }

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


def create_or_resume(
    path: Path,
    *,
    spec: Mapping[str, Any],
    versions: Mapping[str, str],
    cells: Iterable[Cell],
    described: Sequence[tuple[str, Mapping[str, Any], Known]],
) -> Store:
    """Open the store of a sweep, making it if it is not there.

    Parameters
    ----------
    path : Path
        The file; its folder is made if needed.
    spec : mapping
        The specification, without paths: a store serves one only.
    versions : mapping of str to str
        Of the libraries that determine results.
    cells : iterable of Cell
        All cells.
    described : sequence of (str, mapping, Known)
        Name of every checkpoint, what it is, and its digital results.

    Raises
    ------
    SpecError
        If the file is no store, of another sweep or another version, or cannot
        be written.
    """
    if str(path) == ":memory:":
        raise SpecError("a store is a file, got :memory:, which nothing would keep")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise SpecError(
            f"cannot write {path}: {reason}; choose another folder"
        ) from None
    store = Store(path, connection)
    try:
        if _is_empty(store):
            _create(store, spec, versions, cells, described)
        _require_store(store)
        _require_same(store, spec, versions)
        _require_writable(store)
        store.is_writer = True
    except BaseException:
        store.close()
        raise
    return store


def open_store(path: str | Path) -> Store:
    """Open a store to read it.

    Raises
    ------
    SpecError
        If there is no such file, it is no store, or its format is another.
    """
    path = Path(path)
    if not path.is_file():
        raise SpecError(f"there is no store {path}")
    address = path.resolve().as_uri()
    try:
        connection = sqlite3.connect(f"{address}?mode=ro", uri=True)
        if not _can_read(connection) and not _journal(path).exists():
            # a folder that cannot be written, and no process that writes the file
            connection.close()
            connection = sqlite3.connect(f"{address}?immutable=1", uri=True)
    except sqlite3.Error as error:
        raise SpecError(f"{path} cannot be read: {error}") from None
    store = Store(path, connection)
    try:
        _require_store(store)
    except BaseException:
        store.close()
        raise
    return store


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _can_read(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        return False
    except sqlite3.Error:
        return True
    return True


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)


def _is_empty(store: Store) -> bool:
    """Return whether a database has nothing in it, not even a mark of another use.

    A file that was being made when its process was killed is such a one.
    """
    try:
        tables = store.connection.execute("SELECT count(*) FROM sqlite_schema")
        marked = store.connection.execute("PRAGMA application_id")
        return bool(tables.fetchone()[0] == 0 and marked.fetchone()[0] == 0)
    except sqlite3.Error as error:
        raise _not_a_store(store, error) from None


def _create(
    store: Store,
    spec: Mapping[str, Any],
    versions: Mapping[str, str],
    cells: Iterable[Cell],
    described: Sequence[tuple[str, Mapping[str, Any], Known]],
) -> None:
    """Write everything but results in one transaction: all of it or nothing."""
    connection = store.connection
    try:
        connection.execute("BEGIN IMMEDIATE")
        if not _is_empty(store):
            # another process made it while this one waited
            connection.execute("ROLLBACK")
            return
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        about = {"spec": spec, "versions": dict(versions)}
        connection.executemany(
            "INSERT INTO about VALUES (?, ?)",
            [(name, _text(content)) for name, content in about.items()],
        )
        connection.executemany(
            "INSERT INTO subjects VALUES (?, ?, ?, ?, ?)",
            [_subject_row(*one) for one in described],
        )
        connection.executemany(
            "INSERT INTO cells VALUES (?, ?, ?, ?, ?)", map(_cell_row, cells)
        )
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise SpecError(
            f"cannot write {store.path}: {error}; choose another folder"
        ) from None


def _subject_row(
    name: str, content: Mapping[str, Any], known: Known
) -> tuple[object, ...]:
    return (
        name,
        _text(content),
        known.digital.astype("<f8").tobytes(),
        known.counted.tobytes(),
        known.drive_quantiles.astype("<f8").tobytes(),
    )


def _cell_row(cell: Cell) -> tuple[object, ...]:
    device = cell.setting.device.model_dump_json(exclude={"provenance"})
    return (cell.digest, cell.number, cell.subject, _text(cell.point), device)


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True)


def _require_store(store: Store) -> None:
    """Check that the file is a store that this version can read."""
    try:
        connection = store.connection
        marked = connection.execute("PRAGMA application_id").fetchone()[0]
        written = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise _not_a_store(store, error) from None
    if marked != APPLICATION:
        raise SpecError(f"{store.path} is no store of a sweep: give another file")
    if written != FORMAT:
        raise SpecError(
            f"{store.path} has format {written} and this version reads format "
            f"{FORMAT}: use the version that wrote it"
        )


def _not_a_store(store: Store, error: sqlite3.Error) -> SpecError:
    """Return what to say: the file cannot be read, or is something else."""
    if isinstance(error, sqlite3.OperationalError):
        return SpecError(f"{store.path} cannot be read: {error}")
    return SpecError(f"{store.path} is no store of a sweep: {error}")


def _require_same(
    store: Store, spec: Mapping[str, Any], versions: Mapping[str, str]
) -> None:
    """Check that a store is of this sweep and these versions."""
    written = store.about("versions")
    changed = [
        f"{name} {written.get(name)} -> {now}"
        for name, now in versions.items()
        if written.get(name) != now
    ]
    if changed:
        raise SpecError(
            f"{store.path} was written by other versions ({', '.join(changed)}), whose "
            "results do not mix with these: use a new store"
        )
    stored, asked = store.about("spec"), json.loads(_text(spec))
    if stored != asked:
        names = sorted(
            name
            for name in stored.keys() | asked.keys()
            if stored.get(name) != asked.get(name)
        )
        raise SpecError(
            f"{store.path} is the store of another sweep: {', '.join(names)} differ; "
            "use a new store"
        )


def _require_writable(store: Store) -> None:
    try:
        store.connection.execute("BEGIN IMMEDIATE")
        store.connection.execute("ROLLBACK")
        store.connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.Error as error:
        raise SpecError(
            f"cannot write {store.path}: {error}; choose another folder"
        ) from None
