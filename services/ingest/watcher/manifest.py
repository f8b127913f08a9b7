"""What was published of each file, on the watcher's own disk: `<state_dir>/<vault_id>.sqlite3`.

Written after the log acknowledged, in one transaction per batch, so after a crash the manifest is at most behind:
then files are published again, which nobody notices but the log. It can always be rebuilt from the log, so a
damaged file is thrown away; without fsync per transaction (WAL, synchronous=NORMAL) a power cut costs at most that.
Blocking. Threads take turns: a survey that was cancelled goes on in its thread until it notices, even while the file is
closed, and then gets Unavailable. Reads nothing but its own file.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from services.ingest.watcher.files import Change, Known
from shared.errors import Unavailable

_Row = tuple[str, bytes, int, int | None, str | None, str | None, bytes, Change, str | None, int, float]

_VERSION = 1
"""Layout of the file; another one is thrown away and rebuilt."""

_SCHEMA = """
CREATE TABLE files (
    path TEXT PRIMARY KEY, disk_path BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER, inode TEXT,
    content_hash TEXT, page_id BLOB NOT NULL, change TEXT NOT NULL, reason TEXT, published INTEGER NOT NULL,
    at_s REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX files_by_page ON files (page_id);
CREATE INDEX files_removed ON files (at_s) WHERE change = 'removed';
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

_COLUMNS = "path, disk_path, size, mtime_ns, inode, content_hash, page_id, change, reason, published, at_s"


_TO_COMPARE = "(change <> 'removed' OR published = 0)"


class Manifest:
    """The published state of one vault. A context manager; every method raises Unavailable when the disk fails."""

    def __init__(self, file: Path) -> None:
        """Open the file, or make it anew when it is missing, damaged or of another version."""
        self._file = file
        self._turn = threading.RLock()
        self.damaged = False
        """True once SQLite found the file damaged: `clear` it and rebuild it from the log."""
        self._connection = self._open()

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        with self._turn:
            self._connection.close()

    def clear(self) -> None:
        """Forget everything, by a new file: the old one may be damaged."""
        with self._turn:
            self._connection.close()
            self._remove()
            self._connection = self._open()
            self.damaged = False

    def fact(self, name: str) -> str | None:
        """Return a remembered fact, such as the identity of the log."""
        with self._errors():
            row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def get(self, path: str) -> Known | None:
        """Return the row of one file, removed ones too."""
        return next(iter(self._rows("WHERE path = ?", path)), None)

    def below(self, folder: str) -> list[Known]:
        """Return the files below a folder, in the order of their paths; empty: the whole vault.

        Without removed ones, unless the log that had their tombstone is gone.
        """
        if not folder:
            return self._rows(f"WHERE {_TO_COMPARE} ORDER BY path")
        # "0" is the character after "/": the half-open range of all that begins with `folder/`.
        return self._rows(f"WHERE path > ? AND path < ? AND {_TO_COMPARE} ORDER BY path", folder + "/", folder + "0")

    def removed_since(self, at_s: float) -> list[Known]:
        """Return the files removed at or after a time."""
        return self._rows("WHERE change = 'removed' AND at_s >= ?", at_s)

    def holders(self, page_id: UUID) -> list[str]:
        """Return the paths whose rows bear a page's id."""
        with self._errors():
            found = self._connection.execute("SELECT path FROM files WHERE page_id = ?", (page_id.bytes,)).fetchall()
        return [str(path) for (path,) in found]

    def count(self) -> int:
        """Return the number of files that are not removed."""
        with self._errors():
            return int(self._connection.execute("SELECT count(*) FROM files WHERE change <> 'removed'").fetchone()[0])

    def apply(self, rows: Iterable[Known], forget: Iterable[str] = (), facts: Iterable[tuple[str, str]] = ()) -> None:
        """Drop the rows of `forget`, replace `rows`, and keep facts: all or nothing.

        A page has one row: other rows with the id of a row that is put are dropped; of two in `rows` the later stays.
        """
        with self._errors(), self._connection as transaction:
            transaction.executemany("DELETE FROM files WHERE path = ?", ((path,) for path in forget))
            for row in rows:
                transaction.execute("DELETE FROM files WHERE page_id = ?", (row.page_id.bytes,))
                transaction.execute(f"REPLACE INTO files VALUES ({'?,' * 10}?)", _to_row(row))
            transaction.executemany("REPLACE INTO facts VALUES (?, ?)", facts)

    def unpublish(self) -> None:
        """Mark every file to be published again, keeping the pages' ids."""
        with self._errors(), self._connection as transaction:
            transaction.execute("UPDATE files SET published = 0")

    def forget_removed(self, before_s: float) -> None:
        """Drop the rows of files that were removed before a time."""
        with self._errors(), self._connection as transaction:
            transaction.execute("DELETE FROM files WHERE change = 'removed' AND at_s < ?", (before_s,))

    def _rows(self, where: str, *values: object) -> list[Known]:
        with self._errors():
            return [_from_row(row) for row in self._connection.execute(f"SELECT {_COLUMNS} FROM files {where}", values)]

    def _open(self) -> sqlite3.Connection:
        with self._errors():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            try:
                return _connect(self._file)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and not self._file.exists():
                    raise
            self._remove()
            return _connect(self._file)

    @contextmanager
    def _errors(self) -> Generator[None]:
        """Wait for the turn, and wrap what SQLite and the file system say."""
        try:
            with self._turn:
                yield
        except (sqlite3.Error, OSError) as error:
            self.damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
            advice = "free disk space or check the state folder"
            raise Unavailable(f"the watcher's manifest {self._file} can't be used: {error}; {advice}") from error

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self._file.with_name(self._file.name + ending).unlink(missing_ok=True)


def _connect(file: Path) -> sqlite3.Connection:
    """Open and check; raises DatabaseError for a file that is no database, is damaged, or is of another version."""
    connection = sqlite3.connect(file, check_same_thread=False, timeout=5)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        elif version != _VERSION or connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("damaged, or of another version")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _to_row(known: Known) -> tuple[object, ...]:
    disk_path = known.disk_path.encode("utf-8", "surrogateescape")
    inode = None if known.inode is None else str(known.inode)  # unsigned 64 bits do not fit SQLite's integers
    return (known.path, disk_path, known.size, known.mtime_ns, inode, known.content_hash, known.page_id.bytes,
            known.change, known.reason, known.published, known.at_s)  # fmt: skip


def _from_row(row: _Row) -> Known:
    path, disk_path, size, mtime_ns, inode, content_hash, page, change, reason, published, at_s = row
    return Known(
        path,
        disk_path.decode("utf-8", "surrogateescape"),
        size,
        mtime_ns,
        None if inode is None else int(inode),
        content_hash,
        UUID(bytes=page),
        change,
        reason,
        bool(published),
        at_s,
    )
