"""The keys of a folder of objects in order, because a folder sharded by hashes cannot list by prefix.

A key is entered, durably, before its object appears, and removed after it is gone. So an object is never missing
here, and a key without an object is harmless: listing looks at the files themselves. A lost index is rebuilt from them.
"""

import os
import sqlite3
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from satchel.kernel.errors import OutOfSpace, Unavailable

_COMPLETE = 1
_ADD = "INSERT OR IGNORE INTO keys VALUES (?)"
_REMOVE = "DELETE FROM keys WHERE key = ?"


@contextmanager
def index_errors(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise OutOfSpace("The disk that holds the objects is full. Free some space and try again.") from error
        raise Unavailable(f"The index {path} cannot be used: {error}. If it is damaged, delete it.") from error


class _Batch:
    """Changes that become durable with one flush."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, bytes]] = []
        self.committed = False
        self.error: sqlite3.Error | None = None


class KeyIndex:
    """Keys as UTF-8, so that SQLite's order of bytes is the contract's. Calls block; threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._queueing = threading.Lock()
        self._batch = _Batch()
        with index_errors(path):
            try:
                self._writer = _connect(path)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                    raise
                _remove_database(path)
                self._writer = _connect(path)
            self._reader = _connect(path)

    @property
    def complete(self) -> bool:
        """Whether all that was stored before this index was made is in it."""
        with index_errors(self._path), self._reading:
            return self._reader.execute("PRAGMA user_version").fetchone()[0] == _COMPLETE

    def declare_complete(self) -> None:
        with index_errors(self._path), self._writing:
            self._writer.execute(f"PRAGMA user_version = {_COMPLETE}")

    def add(self, key: str) -> None:
        """Returns once the key is durable in the index."""
        raw = key.encode()
        with index_errors(self._path):
            with self._reading:
                known = self._reader.execute("SELECT 1 FROM keys WHERE key = ?", (raw,)).fetchone()
            if known is None:
                self._change([(_ADD, raw)])

    def add_many(self, keys: Iterable[str]) -> None:
        with index_errors(self._path):
            self._change([(_ADD, key.encode()) for key in keys])

    def remove(self, keys: Iterable[str]) -> None:
        with index_errors(self._path):
            self._change([(_REMOVE, key.encode()) for key in keys])

    def after(self, prefix: str, after: str, limit: int) -> list[str]:
        """Up to `limit` keys that start with `prefix` and sort after `after`."""
        low, start = prefix.encode(), after.encode()
        query = "SELECT key FROM keys WHERE key >= ? AND key > ?"
        parameters: list[bytes | int] = [low, start]
        if (high := _next_prefix(low)) is not None:
            query += " AND key < ?"
            parameters.append(high)
        with index_errors(self._path), self._reading:
            rows = self._reader.execute(f"{query} ORDER BY key LIMIT ?", [*parameters, limit]).fetchall()
        return [raw.decode() for (raw,) in rows]

    def close(self) -> None:
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    def _change(self, changes: list[tuple[str, bytes]]) -> None:
        """Group commit: the first in the queue commits for all who queued meanwhile, so that many puts share one flush.

        If the commit fails, it fails for all of them: a retry could remove a key that is in use again.
        """
        with self._queueing:
            batch = self._batch
            batch.changes += changes
        with self._writing:
            if batch.error is not None:
                raise batch.error
            if batch.committed:
                return
            with self._queueing:
                self._batch = _Batch()
            try:
                with self._writer:
                    for statement, key in batch.changes:
                        self._writer.execute(statement, (key,))
            except sqlite3.Error as error:
                batch.error = error
                raise
            batch.committed = True


def _connect(path: Path) -> sqlite3.Connection:
    # Names of objects concern nobody else on the machine. SQLite gives its other files the mode of this one.
    # Never open a database that is in use: closing it would release SQLite's locks, which belong to the process, and
    # another process would delete the journal under this one.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)
    connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS keys (key BLOB PRIMARY KEY) WITHOUT ROWID")
    return connection


def _remove_database(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _next_prefix(prefix: bytes) -> bytes | None:
    """The first bytes that sort after everything with this prefix; UTF-8 never holds 0xff, so it exists."""
    return prefix[:-1] + bytes([prefix[-1] + 1]) if prefix else None
