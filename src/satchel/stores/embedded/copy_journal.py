"""What a copy of stores has done so far, in an SQLite file, so that one that was broken off goes on."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from satchel.kernel.errors import Unavailable
from satchel.stores.copies.objects_copy import CopiedObject
from satchel.stores.ports.table import Key

_COMMITTED_EVERY = 200
_TABLES = """
CREATE TABLE IF NOT EXISTS objects (
    key TEXT PRIMARY KEY, etag TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, run INTEGER NOT NULL,
    checked INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unchecked ON objects (key) WHERE checked = 0;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""


class CopyJournal:
    """Remembers places in tables and objects, for the stores in which its copy has left a mark; made by `opened`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._changes = 0
        self._run = 0

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Generator["CopyJournal"]:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            connection = sqlite3.connect(path)
            connection.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(f"The progress of the copy cannot be kept in {path}: {error}.") from error
        try:
            yield cls(connection)
        finally:
            connection.commit()
            connection.close()

    def clear(self) -> None:
        """Forget everything, and be ready to go on from here."""
        self._connection.executescript("DELETE FROM objects; DELETE FROM facts;")
        self.note_fact("run", "0")

    def begin_run(self) -> None:
        self._run = int(self.fact("run") or "0") + 1
        self.note_fact("run", str(self._run))

    def fact(self, name: str) -> str | None:
        found = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else found[0]

    def note_fact(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
        self._connection.commit()

    def place_of(self, table: str) -> Key | None:
        name = f"place:{table}"
        found = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else msgspec.msgpack.decode(found[0])

    def note_place(self, table: str, after: Key | None) -> None:
        name = f"place:{table}"
        if after is None:
            self._connection.execute("DELETE FROM facts WHERE name = ?", (name,))
        else:
            value = msgspec.msgpack.encode(after)
            self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
        self._connection.commit()

    def object(self, key: str) -> CopiedObject | None:
        statement = "SELECT key, etag, size, sha256 FROM objects WHERE key = ?"
        found = self._connection.execute(statement, (key,)).fetchone()
        return None if found is None else CopiedObject(*found)

    def note_object(self, copied: CopiedObject) -> None:
        row = (copied.key, copied.etag, copied.size_bytes, copied.sha256, self._run)
        self._connection.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, 0)", row)
        self._changed()

    def note_seen(self, key: str) -> None:
        self._connection.execute("UPDATE objects SET run = ? WHERE key = ?", (self._run, key))
        self._changed()

    def unseen(self) -> list[str]:
        """What was copied in earlier runs, and is not in the source any more."""
        rows = self._connection.execute("SELECT key FROM objects WHERE run < ?", (self._run,))
        return [key for (key,) in rows]

    def forget(self, key: str) -> None:
        self._connection.execute("DELETE FROM objects WHERE key = ?", (key,))
        self._changed()

    def unchecked(self, limit: int) -> list[CopiedObject]:
        statement = "SELECT key, etag, size, sha256 FROM objects WHERE checked = 0 ORDER BY key LIMIT ?"
        return [CopiedObject(*row) for row in self._connection.execute(statement, (limit,))]

    def note_checked(self, key: str) -> None:
        self._connection.execute("UPDATE objects SET checked = 1 WHERE key = ?", (key,))
        self._changed()

    def totals(self) -> tuple[int, int]:
        """How many objects there are, and their bytes."""
        count, size_bytes = self._connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM objects").fetchone()
        return count, size_bytes

    def _changed(self) -> None:
        self._changes += 1
        if self._changes % _COMMITTED_EVERY == 0:
            self._connection.commit()


def snapshot(path: Path, target: Path) -> None:
    """Copy an SQLite file as it is at one moment, while a server writes into it."""
    target.unlink(missing_ok=True)
    try:
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        source, copy = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30), sqlite3.connect(target)
        try:
            source.backup(copy, pages=-1)
        finally:
            copy.close()
            source.close()
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(f"The database {path} cannot be copied: {error}.") from error
