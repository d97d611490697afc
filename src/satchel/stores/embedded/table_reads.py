"""Reads a table through any connection to its file."""

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from satchel.stores.embedded.documents import decode
from satchel.stores.embedded.key_order import after_prefix, ordered, restored
from satchel.stores.embedded.table_layout import Layout, Selection
from satchel.stores.ports.table import PAGE_BYTES, Eq, IndexSpec, Item, Key, KeyValue, Page, Range, StartsWith
from satchel.stores.ports.whole_stores import Scanned
from satchel.stores.rules import Query, encode_cursor, item_bytes, project
from satchel.stores.rules.queries import SortCondition

Position: TypeAlias = dict[str, KeyValue]
_Bound: TypeAlias = tuple[str, bytes]


def get(connection: sqlite3.Connection, layout: Layout, key: Item, now: float) -> Item | None:
    found = connection.execute(layout.get, (*layout.key(key), now)).fetchone()
    return None if found is None else decode(found[0])


def get_all(connection: sqlite3.Connection, layout: Layout, keys: list[Item], now: float) -> list[Item | None]:
    return [get(connection, layout, key, now) for key in keys]


def scan(connection: sqlite3.Connection, layout: Layout, after: Key | None, limit: int, now: float) -> Scanned:
    """See `satchel.stores.ports.whole_stores`. No key is empty, so all come after the empty one."""
    place = (b"", b"") if after is None else layout.key(after)
    items: list[Item] = []
    size = 0
    rows = connection.execute(layout.scan, (*place, now, limit))
    try:
        for (document,) in rows:
            items.append(decode(document))
            size += len(document)
            if len(items) == limit or size >= PAGE_BYTES:
                return Scanned(items, layout.spec.key_of(items[-1]))
        return Scanned(items, None)
    finally:
        rows.close()


def query(
    connection: sqlite3.Connection,
    layout: Layout,
    asked: Query,
    after: Position | None,
    *,
    descending: bool,
    now: float,
) -> Page:
    bounds = _bounds(asked.sort)
    place: list[bytes] = []
    if after is not None:
        # A position lies within the bounds, so it stands in for the one that has been passed.
        passed = "<" if descending else ">"
        bounds = [bound for bound in bounds if not bound[0].startswith(passed)]
        place = _place(layout, asked.index, after)
    keys_only = asked.index is not None and asked.index.carries == "keys"
    operators = tuple(operator for operator, _ in bounds)
    name = None if asked.index is None else asked.index.name
    statement = layout.select(Selection(name, operators, bool(place), descending, keys_only))
    parameters = (ordered(asked.partition), *(value for _, value in bounds), *place, now, asked.limit + 1)
    rows = connection.execute(statement, parameters)
    try:
        return _page(asked, rows, partial(_of_keys, asked) if keys_only else _of_document(asked))
    finally:
        rows.close()


def _bounds(sort: SortCondition | None) -> list[_Bound]:
    match sort:
        case None:
            return []
        case Eq(value):
            # Both ends, since a position can take the place of one; an index may hold many items of one sort key.
            return [(">=", ordered(value)), ("<=", ordered(value))]
        case StartsWith(prefix):
            low = ordered(prefix)
            high = after_prefix(low)
            return [(">=", low)] if high is None else [(">=", low), ("<", high)]
        case Range(low, high, low_inclusive, high_inclusive):
            bounds: list[_Bound] = []
            if low is not None:
                bounds.append((">=" if low_inclusive else ">", ordered(low)))
            if high is not None:
                bounds.append(("<=" if high_inclusive else "<", ordered(high)))
            return bounds


def _place(layout: Layout, index: IndexSpec | None, position: Position) -> list[bytes]:
    """The position in the columns by which rows are ordered within a partition."""
    key = layout.key(position)
    if index is None:
        return [key[1]]
    return [*key] if index.sort is None else [ordered(position[index.sort.name]), *key]


def _page(asked: Query, rows: sqlite3.Cursor, read: Callable[[Any], tuple[Item, int]]) -> Page:
    """The rows as items, up to the limit or about 1 MB, whichever comes first."""
    items: list[Item] = []
    size = 0
    limit = asked.limit
    for row in rows:
        if len(items) == limit or size >= PAGE_BYTES:
            return Page(items, encode_cursor(asked, items[-1]))
        item, bytes_read = read(row)
        items.append(item)
        size += bytes_read
    return Page(items, None)


def _of_document(asked: Query) -> Callable[[Any], tuple[Item, int]]:
    if asked.index is None or asked.index.carries == "everything":
        return lambda row: (decode(row[0]), len(row[0]))

    def carried(row: Any) -> tuple[Item, int]:
        item = project(asked, decode(row[0]))
        return item, item_bytes(item)

    return carried


def _of_keys(asked: Query, row: Any) -> tuple[Item, int]:
    """An item out of the index alone, without reading its document."""
    table, index = asked.table, asked.index
    assert index is not None
    attributes = [part for part in (index.partition, index.sort, table.partition, table.sort) if part is not None]
    # A table without sort key still has the column, at the end.
    item: Item = {part.name: restored(part.kind, value) for part, value in zip(attributes, row, strict=False)}
    return item, sum(map(len, row))
