"""Tables in one SQLite file: the table store for those who run Satchel on one machine with nothing else installed.

Small reads run on the event loop itself, because handing them to a thread costs several times what they do; larger
ones run in reader threads, all writes in the one writer.
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.stores import rules
from satchel.stores.embedded import table_changes, table_reads, table_tokens, table_writes
from satchel.stores.embedded.sqlite_writer import SqliteWriter, connect, translated
from satchel.stores.embedded.table_bulk import LateRows, SqliteBulk
from satchel.stores.embedded.table_catalogue import Catalogue, make_catalogue
from satchel.stores.embedded.table_layout import Layout
from satchel.stores.ports.expressions import Action, Condition, Value
from satchel.stores.ports.table import (
    Changes,
    Delete,
    Eq,
    Item,
    Key,
    KeyValue,
    Page,
    PositionLost,
    Put,
    Range,
    Shard,
    StartsWith,
    TableMissing,
    TableSpec,
    Update,
    Write,
)
from satchel.stores.ports.whole_stores import Scanned

T = TypeVar("T")
P = ParamSpec("P")

READERS = 2
# A reader of the log hardly ever waits for a lock. When it does, the whole loop waits with it.
BUSY_SECONDS_ON_LOOP = 0.25
LARGEST_PAGE_ON_LOOP = 100
MOST_KEYS_ON_LOOP = 25
# After so many reads on the loop, other tasks get to run.
READS_PER_TURN = 64
SLOW_READ_SECONDS = 0.05
# Bounds how long one step of sweeping or of a batch holds up other writes.
ROWS_PER_STEP = 200

log = logging.getLogger(__name__)


class SqliteTables:
    """`Tables` in an SQLite file; made by `open`."""

    def __init__(self, path: Path, writer: SqliteWriter, writable: Catalogue, clock: Clock, prefix: str) -> None:
        self._path = path
        self._clock = clock
        self._prefix = prefix
        self._writer = writer
        # One for each side, since they belong to different threads: what the writer sees may yet be rolled back.
        self._writable = writable
        self._readable = Catalogue(prefix)
        self._late_rows = LateRows()
        self._reader = connect(path, read_only=True, busy_seconds=BUSY_SECONDS_ON_LOOP)
        self._reads = 0
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix=f"reader of {path.name}")
        self._of_thread = threading.local()
        self._opened = [self._reader]
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, clock: Clock, prefix: str = "") -> "SqliteTables":
        """Open or make the file. `Unavailable` says what to do if it cannot be used."""
        catalogue = Catalogue(prefix)
        writer = await SqliteWriter.open(path, _make_schema, at_start=catalogue.refresh)
        try:
            return cls(path, writer, catalogue, clock, prefix)
        except sqlite3.Error as error:
            await writer.close()
            raise translated(error, path) from error

    @property
    def bulk(self) -> SqliteBulk:
        return SqliteBulk(self._writer, self._writable, self._clock, self._late_rows)

    async def create(self, *tables: TableSpec) -> None:
        rules.check_tables(tables, self._prefix)
        await self._writer.run(lambda connection: self._writable.create(connection, tables))

    async def missing(self, *tables: TableSpec) -> list[str]:
        rules.check_tables(tables, self._prefix)
        self._refresh()
        return self._readable.missing(tables)

    async def get(self, table: TableSpec, key: Key, *, may_lag: bool = False) -> Item | None:
        del may_lag  # what was committed is read at once
        checked = rules.check_key(table, key)
        await self._late_rows.settle(table, (checked[table.partition.name],))
        return await self._read_here(table_reads.get, self._layout(table), checked, self._clock())

    async def get_many(self, table: TableSpec, keys: Sequence[Key], *, may_lag: bool = False) -> list[Item | None]:
        del may_lag
        checked = [rules.check_key(table, key) for key in keys]
        await self._late_rows.settle(table, (key[table.partition.name] for key in checked))
        read = self._read_here if len(checked) <= MOST_KEYS_ON_LOOP else self._read_aside
        return await read(table_reads.get_all, self._layout(table), checked, self._clock())

    async def query(
        self,
        table: TableSpec,
        partition: KeyValue,
        sort: Eq | StartsWith | Range | None = None,
        *,
        index: str | None = None,
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
        may_lag: bool = False,
    ) -> Page:
        del may_lag
        asked = rules.check_query(table, partition, sort, index=index, limit=limit)
        after = None if cursor is None else rules.decode_cursor(asked, cursor)
        read = self._read_here if limit <= LARGEST_PAGE_ON_LOOP else self._read_aside
        await self._late_rows.settle(table, (partition,) if index is None else None)
        layout = self._layout(table, index)
        return await read(table_reads.query, layout, asked, after, descending=descending, now=self._clock())

    async def scan(self, table: TableSpec, after: Key | None = None, *, limit: int = 100) -> Scanned:
        rules.check_limit(limit)
        await self._late_rows.settle(table)
        return await self._read_aside(table_reads.scan, self._layout(table), after, limit, self._clock())

    async def put(self, table: TableSpec, item: Mapping[str, Value], *, when: Condition | None = None) -> None:
        await self._write(Put(table, rules.check_item(table, item), _checked(table, when)))

    async def update(
        self, table: TableSpec, key: Key, actions: Sequence[Action], *, when: Condition | None = None
    ) -> Item:
        asked = Update(table, rules.check_key(table, key), rules.check_actions(table, actions), _checked(table, when))
        after = (await self._write(asked)).after
        assert after is not None
        return after

    async def delete(self, table: TableSpec, key: Key, *, when: Condition | None = None) -> Item | None:
        return (await self._write(Delete(table, rules.check_key(table, key), _checked(table, when)))).before

    async def write_many(
        self, table: TableSpec, *, put: Sequence[Mapping[str, Value]] = (), delete: Sequence[Key] = ()
    ) -> None:
        items, keys = rules.check_batch(table, put, delete)
        writes = [*(Put(table, item) for item in items), *(Delete(table, key) for key in keys)]
        for start in range(0, len(writes), ROWS_PER_STEP):
            await self._write_together(table_writes.write_each, writes[start : start + ROWS_PER_STEP])

    async def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        checked = rules.check_transaction(writes, token)
        if token is None:
            return await self._write_together(table_writes.write_all, checked)
        fingerprint = table_tokens.fingerprint(checked)

        def once(connection: sqlite3.Connection) -> None:
            now = self._clock()
            if not table_tokens.was_done(connection, token, fingerprint, now):
                table_writes.write_all(connection, self._writable, checked, now)
                table_tokens.note_done(connection, token, fingerprint, now)

        return await self._writer.run(once)

    async def shards(self, table: TableSpec) -> list[Shard]:
        self._streamed(table)
        return [Shard(table_changes.SHARD)]

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        rules.check_limit(limit)
        position = table_changes.position_from(after)
        layout = self._streamed(table)
        if shard != table_changes.SHARD:
            raise PositionLost("There is no such part of the stream. Rebuild from the items themselves.")
        read = self._read_here if limit <= LARGEST_PAGE_ON_LOOP else self._read_aside
        return await read(table_changes.read, layout, position, limit)

    async def sweep(self) -> int:
        self._refresh()
        gone = 0
        for layout in self._readable.layouts():
            if layout.spec.expiry is not None:
                gone += await self._in_steps(table_writes.sweep, layout)
            if layout.spec.stream:
                gone += await self._in_steps(table_changes.trim, layout)
        await self._writer.run(lambda connection: table_tokens.forget_old(connection, self._clock()))
        return gone

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._opened:
            connection.close()
        # Last, so that closing it can fold the log back into the file.
        await self._writer.close()

    async def _write(self, asked: Write) -> table_writes.Outcome:
        return await self._writer.run(
            lambda connection: table_writes.write(connection, self._writable, asked, self._clock())
        )

    async def _write_together(
        self, write: Callable[[sqlite3.Connection, Catalogue, Sequence[Write], float], None], writes: Sequence[Write]
    ) -> None:
        await self._writer.run(lambda connection: write(connection, self._writable, writes, self._clock()))

    async def _in_steps(self, step: Callable[[sqlite3.Connection, Layout, float, int], int], layout: Layout) -> int:
        """Repeat a step that does a bounded part of the work, so that other writes come between."""
        total = 0
        while done := await self._writer.run(lambda connection: step(connection, layout, self._clock(), ROWS_PER_STEP)):
            total += done
        return total

    def _layout(self, table: TableSpec, index: str | None = None) -> Layout:
        layout = self._readable.find(table)
        if layout is None or (index is not None and layout.index(index) is None):
            # Perhaps made since we last looked, here or by another process.
            self._refresh()
            layout = self._readable.layout(table)
            if index is not None and layout.index(index) is None:
                raise TableMissing(
                    f"Index {index} of table {table.name} has not been created. Run `satchel tables create`."
                )
        return layout

    def _refresh(self) -> None:
        self._check_open()
        try:
            self._readable.refresh(self._reader)
        except sqlite3.Error as error:
            raise translated(error, self._path) from error

    def _streamed(self, table: TableSpec) -> Layout:
        self._refresh()
        layout = self._readable.layout(table)
        if not layout.spec.stream:
            raise TableMissing(f"Table {table.name} has no stream. Run `satchel tables create`.")
        return layout

    async def _read_here(
        self, read: Callable[Concatenate[sqlite3.Connection, P], T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Read on the event loop: for reads that are faster than a handover to a thread."""
        self._check_open()
        self._reads += 1
        if self._reads % READS_PER_TURN == 0:
            await asyncio.sleep(0)
        started = time.perf_counter()
        try:
            return read(self._reader, *arguments, **named)
        except sqlite3.Error as error:
            raise translated(error, self._path) from error
        finally:
            seconds = time.perf_counter() - started
            if seconds > SLOW_READ_SECONDS:
                log.warning("A read of %s held up the server for %.0f ms.", self._path, seconds * 1000)

    async def _read_aside(
        self, read: Callable[Concatenate[sqlite3.Connection, P], T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Read in a thread: for reads that would block the event loop."""
        self._check_open()

        def in_thread() -> T:
            connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
            if connection is None:
                connection = self._of_thread.connection = connect(self._path, read_only=True)
                self._opened.append(connection)
            return read(connection, *arguments, **named)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, in_thread)
        except sqlite3.Error as error:
            raise translated(error, self._path) from error

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The store is closed.")


def _make_schema(connection: sqlite3.Connection) -> None:
    make_catalogue(connection)
    table_tokens.make_tokens(connection)


def _checked(table: TableSpec, when: Condition | None) -> Condition | None:
    return None if when is None else rules.check_condition(table, when)
