"""The same rows and flushes as the embedded table, written out by hand in a plain loop: what SQLite itself can do.

No types, limits, expiry, change stream, errors of our own or other tasks; one caller, who owns the connection.
"""

import itertools
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from satchel.stores.ports.table import Item

# Does some operations, starting from a number, and answers how many.
Step = Callable[[int], int]

GROUP = 32
ALONE = "raw sqlite3"
GROUPED = f"raw sqlite3, {GROUP} a commit"

_TABLE = """
    CREATE TABLE item (
        pk BLOB NOT NULL, sk BLOB NOT NULL, expires REAL, doc BLOB NOT NULL, i0p BLOB, i0s BLOB, PRIMARY KEY (pk, sk)
    )
"""
_SCHEMA = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA cache_size = -16000",
    _TABLE,
    "CREATE INDEX owner ON item (i0p, i0s, pk, sk) WHERE i0p IS NOT NULL",
    "CREATE INDEX expires ON item (expires) WHERE expires IS NOT NULL",
)
_INSERT = "INSERT INTO item (pk, sk, doc, i0p, i0s) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, object]).decode


@contextmanager
def opened(path: Path) -> Generator["RawTable"]:
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=512)
    try:
        for statement in _SCHEMA:
            connection.execute(statement)
        yield RawTable(connection)
    finally:
        connection.close()


class RawTable:
    """The four operations, each as short as it can be."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def load(self, items: list[Item]) -> None:
        self._run("BEGIN")
        for item in items:
            self._insert(item)
        self._run("COMMIT")

    def get(self, key: dict[str, str]) -> object:
        row = self._run("SELECT doc FROM item WHERE pk = ? AND sk = ?", (key["PK"].encode(), key["SK"].encode()))
        return _decode(row.fetchone()[0])

    def query(self, partition: str, prefix: str, limit: int) -> list[object]:
        low = prefix.encode()
        rows = self._run(
            "SELECT doc FROM item WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk LIMIT ?",
            (partition.encode(), low, low[:-1] + bytes([low[-1] + 1]), limit),
        )
        return [_decode(row[0]) for row in rows]

    def insert(self, items: list[Item]) -> None:
        self._run("BEGIN IMMEDIATE")
        for item in items:
            if self._insert(item) != 1:
                raise RuntimeError("a key was there already")
        self._run("COMMIT")

    def update(self, keys: list[dict[str, str]]) -> None:
        self._run("BEGIN IMMEDIATE")
        for key in keys:
            where = (key["PK"].encode(), key["SK"].encode())
            item = _decode(self._run("SELECT doc FROM item WHERE pk = ? AND sk = ?", where).fetchone()[0])
            if item["rev"] != 1:
                raise RuntimeError("the condition does not hold")
            hits = item.get("hits", 0)
            assert isinstance(hits, int)
            item["hits"] = hits + 1
            self._run("UPDATE item SET doc = ? WHERE pk = ? AND sk = ?", (_encode(item), *where))
        self._run("COMMIT")

    def _insert(self, item: Item) -> int:
        sort = item["SK"].encode()
        row = (item["PK"].encode(), sort, _encode(item), item["owner"].encode(), sort)
        return self._run(_INSERT, row).rowcount


def in_groups(write: Callable[[list[int]], None]) -> dict[str, Step]:
    """A write both ways: a commit for each, and one for every 32."""

    def one(number: int) -> int:
        write([number])
        return 1

    def many(number: int) -> int:
        write(list(itertools.islice(itertools.count(number), GROUP)))
        return GROUP

    return {ALONE: one, GROUPED: many}
