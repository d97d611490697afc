"""Writes that depend on each other, as one step of the writer. Only a store with one writer can offer this.

Rows, index columns and the change stream are made as for single writes. Only the read before a write is left out
where the outcome shows what was there.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import TypeVar

from msgspec import Struct

from satchel.kernel.clock import Clock
from satchel.stores import rules
from satchel.stores.embedded import table_reads, table_writes
from satchel.stores.embedded.sqlite_writer import SqliteWriter
from satchel.stores.embedded.table_catalogue import Catalogue
from satchel.stores.embedded.table_layout import Layout
from satchel.stores.embedded.table_rows import NewRows, as_item
from satchel.stores.ports import bulk
from satchel.stores.ports.expressions import Value, attr
from satchel.stores.ports.table import (
    ConditionFailed,
    Delete,
    Eq,
    Item,
    Key,
    KeyValue,
    Page,
    Put,
    Range,
    StartsWith,
    TableSpec,
)

T = TypeVar("T")


class LateRows:
    """Who writes which rows later than it answers for them."""

    def __init__(self) -> None:
        self._writers: dict[str, list[tuple[tuple[str, ...], bulk.Settle]]] = {}

    def announce(self, table: TableSpec, partitions: tuple[str, ...], settle: bulk.Settle) -> None:
        self._writers.setdefault(table.name, []).append((partitions, settle))

    async def settle(self, table: TableSpec, partitions: Iterable[KeyValue] | None = None) -> None:
        """Wait until rows of these partitions are written; None stands for all of them."""
        if (writers := self._writers.get(table.name)) is None:
            return
        read = None if partitions is None else [part for part in partitions if isinstance(part, str)]
        for beginnings, settle in writers:
            if read is None or any(part.startswith(beginnings) for part in read):
                await settle()


class SqliteBulk:
    """`BulkWrites` by the writer of an SQLite file."""

    def __init__(self, writer: SqliteWriter, catalogue: Catalogue, clock: Clock, late_rows: LateRows) -> None:
        self._writer = writer
        self._catalogue = catalogue
        self._clock = clock
        self._late_rows = late_rows
        # A table that was changed since has another layout.
        self._rows_of = lru_cache(maxsize=16)(NewRows)

    async def in_one_step(self, step: Callable[[bulk.Step], T]) -> T:
        def run(connection: sqlite3.Connection) -> T:
            return step(_Step(connection, self._catalogue, self._rows_of, self._clock()))

        return await self._writer.run(run, undoable=True)

    def before_reads(self, table: TableSpec, partitions: tuple[str, ...], settle: bulk.Settle) -> None:
        self._late_rows.announce(table, partitions, settle)


class _Step:
    """One step, at one moment."""

    def __init__(
        self, connection: sqlite3.Connection, catalogue: Catalogue, rows_of: Callable[[Layout], NewRows], now: float
    ) -> None:
        self._connection = connection
        self._catalogue = catalogue
        self._rows_of = rows_of
        self._now = now

    def get(self, table: TableSpec, key: Key) -> Item | None:
        layout = self._catalogue.layout(table)
        return table_reads.get(self._connection, layout, rules.check_key(table, key), self._now)

    def query(
        self,
        table: TableSpec,
        partition: KeyValue,
        sort: Eq | StartsWith | Range | None = None,
        *,
        index: str | None = None,
        limit: int = 1000,
        cursor: str | None = None,
    ) -> Page:
        asked = rules.check_query(table, partition, sort, index=index, limit=limit)
        after = None if cursor is None else rules.decode_cursor(asked, cursor)
        layout = self._catalogue.layout(table)
        return table_reads.query(self._connection, layout, asked, after, descending=False, now=self._now)

    def insert_new(self, table: TableSpec, items: Sequence[Mapping[str, Value] | Struct]) -> list[bool]:
        if not items:
            return []
        layout = self._catalogue.layout(table)
        new = self._rows_of(layout)
        rows = [new.make(item) for item in items]
        stored = new.insert(self._connection, rows, self._now)
        if layout.spec.stream:
            new.record(self._connection, compress(items, stored), compress(rows, stored), self._now)
        return [self._insert(table, item) if each is None else each for item, each in zip(items, stored, strict=True)]

    def _insert(self, table: TableSpec, item: Mapping[str, Value] | Struct) -> bool:
        absent = Put(table, rules.check_item(table, as_item(item)), attr(table.partition.name).absent())
        try:
            table_writes.write(self._connection, self._catalogue, absent, self._now)
        except ConditionFailed:
            return False
        return True

    def put(self, table: TableSpec, item: Mapping[str, Value]) -> None:
        asked = Put(table, rules.check_item(table, item))
        table_writes.write(self._connection, self._catalogue, asked, self._now)

    def put_all(self, table: TableSpec, items: Sequence[Mapping[str, Value]]) -> None:
        layout = self._catalogue.layout(table)
        if layout.spec.stream or layout.indexes:
            # Their changes and index rows depend on what was there.
            for item in items:
                self.put(table, item)
            return
        new = self._rows_of(layout)
        new.replace(self._connection, [new.make(item) for item in items])

    def delete(self, table: TableSpec, key: Key) -> None:
        asked = Delete(table, rules.check_key(table, key))
        table_writes.write(self._connection, self._catalogue, asked, self._now)
