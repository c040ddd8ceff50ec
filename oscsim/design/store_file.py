"""Making, opening and checking the file of a sweep's results."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from oscsim.design.cells import Cell
from oscsim.design.store import Store
from oscsim.design.stored import subject_checksum, text_checksum
from oscsim.design.subject import Known
from oscsim.errors import SpecError

FORMAT = 3
APPLICATION = 0x4F535343
"""Marks the file as a store (``application_id`` of SQLite)."""

BUSY_SECONDS = 60.0

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE subjects (
    name TEXT PRIMARY KEY, content TEXT NOT NULL, digital BLOB NOT NULL,
    counted BLOB NOT NULL, drives BLOB NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE cells (
    digest TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, subject TEXT NOT NULL,
    point TEXT NOT NULL, device TEXT NOT NULL, checksum INTEGER NOT NULL,
    device_checksum INTEGER NOT NULL
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
    checksum INTEGER NOT NULL, PRIMARY KEY (digest, chip)
) WITHOUT ROWID;
"""


def create_or_resume(
    path: Path,
    *,
    spec: Mapping[str, Any],
    versions: Mapping[str, str],
    cells: Sequence[Cell],
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
    cells : sequence of Cell
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
        is_shared = _journal(path).exists()
        connection = _connect(path)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise SpecError(
            f"cannot write {path}: {reason}; choose another folder"
        ) from None
    store = Store(path, connection, is_shared=is_shared)
    try:
        if _is_empty(store):
            _create(store, spec, versions, cells, described)
        _require_store(store)
        _require_same(store, spec, versions)
        _require_writable(store)
        _mend(store, cells, described)
        _require_cells(store, cells)
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
        _describe(connection, cells, described)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise SpecError(
            f"cannot write {store.path}: {error}; choose another folder"
        ) from None


def _describe(
    connection: sqlite3.Connection,
    cells: Iterable[Cell],
    described: Sequence[tuple[str, Mapping[str, Any], Known]],
) -> None:
    """Write what the checkpoints and cells are, over whatever is said of them."""
    connection.executemany(
        f"INSERT OR REPLACE INTO subjects VALUES ({', '.join('?' * 6)})",
        [_subject_row(*one) for one in described],
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * 7)})",
        map(_cell_row, cells),
    )


def _mend(
    store: Store,
    cells: Iterable[Cell],
    described: Sequence[tuple[str, Mapping[str, Any], Known]],
) -> None:
    """Write again what is said of checkpoints and cells, if any of it is damaged."""
    try:
        store.cells()
        store.require_devices()
        store.subjects()
    except (SpecError, json.JSONDecodeError):
        with store.connection:
            store.connection.execute("BEGIN IMMEDIATE")
            store.connection.execute("DELETE FROM cells")
            store.connection.execute("DELETE FROM subjects")
            _describe(store.connection, cells, described)


def _require_cells(store: Store, cells: Sequence[Cell]) -> None:
    """Check that the cells are those of this sweep: a spec only names its devices."""
    stored = {digest for digest, _, _ in store.cells()}
    changed = sum(cell.digest not in stored for cell in cells)
    if changed or len(stored) != len(cells):
        raise SpecError(
            f"{store.path} is the store of another sweep: {changed:,} of "
            f"{len(cells):,} cells are not in it, so a device file or what runs it has "
            "changed under the same name; use a new store"
        )


def _subject_row(
    name: str, content: Mapping[str, Any], known: Known
) -> tuple[object, ...]:
    text = _text(content)
    arrays = (
        known.digital.astype("<f8").tobytes(),
        known.counted.tobytes(),
        known.drive_quantiles.astype("<f8").tobytes(),
    )
    return (name, text, *arrays, subject_checksum(name, text, *arrays))


def _cell_row(cell: Cell) -> tuple[object, ...]:
    device = cell.setting.device.model_dump_json(exclude={"provenance"})
    said = (cell.digest, cell.number, cell.subject, _text(cell.point))
    sums = (text_checksum(*said), text_checksum(cell.digest, device))
    return (*said, device, *sums)


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
