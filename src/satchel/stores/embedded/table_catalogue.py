"""Which tables a file holds, as declared when they were made; without it a changed declaration would go unnoticed."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from satchel.kernel.errors import Conflict
from satchel.stores.embedded.documents import decode
from satchel.stores.embedded.table_layout import IndexColumns, Layout, quoted
from satchel.stores.ports.table import IndexSpec, TableMissing, TableSpec

# A colon cannot stand in the name of a declared table.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS "satchel:tables" (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec BLOB NOT NULL)
"""
_BACKFILL_ROWS = 500
_specs = msgspec.json.Decoder(TableSpec)


def make_catalogue(connection: sqlite3.Connection) -> None:
    connection.execute(_SCHEMA)


class Catalogue:
    """The layouts of the tables whose names begin with the prefix, as of one version of the file's schema."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._version = -1
        self._layouts: dict[str, Layout] = {}

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Read what this or another process has created. Costs next to nothing when nothing has changed."""
        version = int(connection.execute("PRAGMA schema_version").fetchone()[0])
        if version == self._version:
            return
        rows: list[tuple[int, str, bytes]] = connection.execute(
            'SELECT number, name, spec FROM "satchel:tables"'
        ).fetchall()
        self._layouts = {
            name.removeprefix(self._prefix): Layout(number, name, _specs.decode(spec))
            for number, name, spec in rows
            if name.startswith(self._prefix)
        }
        self._version = version

    def find(self, table: TableSpec) -> Layout | None:
        return self._layouts.get(table.name)

    def layout(self, table: TableSpec) -> Layout:
        try:
            return self._layouts[table.name]
        except KeyError:
            raise TableMissing(f"Table {table.name} has not been created. Run `satchel tables create`.") from None

    def layouts(self) -> list[Layout]:
        return list(self._layouts.values())

    def missing(self, tables: Iterable[TableSpec]) -> list[str]:
        return [words for table in tables for words in self._missing_of(table)]

    def _missing_of(self, table: TableSpec) -> list[str]:
        layout = self._layouts.get(table.name)
        stored = _bare(table) if layout is None else layout.spec
        _check_unchanged(stored, table)
        words = [f"table {table.name}"] if layout is None else []
        words += [f"index {index.name} of table {table.name}" for index in _new_indexes(stored, table)]
        if table.expiry is not None and stored.expiry is None:
            words.append(f"expiry of table {table.name}")
        if table.stream and not stored.stream:
            words.append(f"stream of table {table.name}")
        return words

    def create(self, connection: sqlite3.Connection, tables: Iterable[TableSpec]) -> None:
        """Make what is missing; runs in a write transaction, so that two processes cannot both do it."""
        # All are compared first, so that a conflict with one is found before any is made.
        lacking = [table for table in tables if self._missing_of(table)]
        for table in lacking:
            self._create(connection, table)
            self.refresh(connection)
        # The transaction may yet be rolled back: look again before the next one relies on it.
        self._version = -1

    def _create(self, connection: sqlite3.Connection, table: TableSpec) -> None:
        stored = self._layouts.get(table.name)
        if stored is None:
            stored = self._create_bare(connection, _bare(table))
        wanted = replace(
            stored.spec,
            indexes=(*stored.spec.indexes, *_new_indexes(stored.spec, table)),
            expiry=stored.spec.expiry or table.expiry,
            stream=stored.spec.stream or table.stream,
        )
        layout = Layout(stored.number, stored.full_name, wanted)
        _extend(connection, stored, layout)
        connection.execute(
            'UPDATE "satchel:tables" SET spec = ? WHERE number = ?', (msgspec.json.encode(wanted), layout.number)
        )

    def _create_bare(self, connection: sqlite3.Connection, table: TableSpec) -> Layout:
        name = self._prefix + table.name
        row = connection.execute(
            'INSERT INTO "satchel:tables" (name, spec) VALUES (?, ?)', (name, msgspec.json.encode(table))
        )
        assert row.lastrowid is not None
        layout = Layout(row.lastrowid, name, table)
        connection.execute(
            f"CREATE TABLE {layout.table} (pk BLOB NOT NULL, sk BLOB NOT NULL, expires REAL, doc BLOB NOT NULL,"
            " PRIMARY KEY (pk, sk))"
        )
        connection.execute(
            f"CREATE INDEX {quoted(f'{layout.number}:{name}:expires')} ON {layout.table} (expires)"
            " WHERE expires IS NOT NULL"
        )
        return layout


def _bare(table: TableSpec) -> TableSpec:
    return replace(table, indexes=(), expiry=None, stream=False)


def _new_indexes(stored: TableSpec, table: TableSpec) -> list[IndexSpec]:
    known = {index.name for index in stored.indexes}
    return [index for index in table.indexes if index.name not in known]


def _check_unchanged(stored: TableSpec, table: TableSpec) -> None:
    if (stored.partition, stored.sort) != (table.partition, table.sort):
        raise Conflict(f"Table {table.name} exists with another key than is declared now. Choose another name.")
    declared = {index.name: index for index in table.indexes}
    for index in stored.indexes:
        wanted = declared.get(index.name, index)
        if (index.partition, index.sort) != (wanted.partition, wanted.sort):
            raise Conflict(f"Index {index.name} of table {table.name} exists with another key. Choose another name.")
    if table.expiry is not None and stored.expiry is not None and table.expiry != stored.expiry:
        raise Conflict(f"Items of table {table.name} expire by {stored.expiry}, not by {table.expiry}.")


def _extend(connection: sqlite3.Connection, old: Layout, new: Layout) -> None:
    """Add the columns, SQL indexes and stream that a table lacks, and fill them from its items."""
    added = new.indexes[len(old.indexes) :]
    for index in added:
        _add_index(connection, new, index)
    if added or new.spec.expiry != old.spec.expiry:
        _fill(connection, new, added)
    if new.spec.stream and not old.spec.stream:
        connection.execute(
            f"CREATE TABLE {new.changes} (position INTEGER PRIMARY KEY AUTOINCREMENT,"
            " at REAL NOT NULL, key BLOB NOT NULL, old BLOB, new BLOB)"
        )


def _add_index(connection: sqlite3.Connection, layout: Layout, index: IndexColumns) -> None:
    for column in index.names:
        connection.execute(f"ALTER TABLE {layout.table} ADD COLUMN {column} BLOB")
    name = quoted(f"{layout.number}:{layout.full_name}:{index.partition}:{index.spec.name}")
    connection.execute(
        f"CREATE INDEX {name} ON {layout.table} ({', '.join((*index.names, 'pk', 'sk'))})"
        f" WHERE {index.partition} IS NOT NULL"
    )


def _fill(connection: sqlite3.Connection, layout: Layout, added: tuple[IndexColumns, ...]) -> None:
    refill = layout.refill(added)
    last = 0
    while rows := connection.execute(layout.rows_after, (last, _BACKFILL_ROWS)).fetchall():
        for last, document in rows:
            item = decode(document)
            connection.execute(refill, (layout.expires(item), *layout.index_row(item, added), last))
