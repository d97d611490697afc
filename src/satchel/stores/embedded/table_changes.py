"""The change stream of a table: written in the transaction of the change itself, read in order, trimmed after a day."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from satchel.kernel.errors import Invalid
from satchel.stores.embedded.documents import decode, encode
from satchel.stores.embedded.table_layout import Layout
from satchel.stores.ports.table import PAGE_BYTES, Change, Changes, PositionLost

SHARD = "0"
KEPT_SECONDS = 24 * 3600.0


def record(
    connection: sqlite3.Connection,
    layout: Layout,
    named: Mapping[str, Any],
    old: bytes | None,
    new: bytes | None,
    now: float,
) -> None:
    """Note one change of the item that `named` has the key of."""
    connection.execute(layout.record, (now, encode(layout.spec.key_of(named)), old, new))


def read(connection: sqlite3.Connection, layout: Layout, after: int | None, limit: int) -> Changes:
    """What follows in order, up to the limit or about 1 MB, whichever comes first."""
    if after is not None:
        _check_position(connection, layout, after)
    found: list[Change] = []
    size = 0
    rows = connection.execute(layout.following, (after or 0, limit))
    for position, key, old, new in rows:
        found.append(Change(decode(key), old and decode(old), new and decode(new), str(position)))
        size += len(old or b"") + len(new or b"")
        if size >= PAGE_BYTES:
            break
    rows.close()
    return Changes(found)


def position_from(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Invalid("This is not a position in the stream. Use one that came with a change.")
    return int(text)


def _check_position(connection: sqlite3.Connection, layout: Layout, after: int) -> None:
    """Refuse a position before what is kept, and one ahead of the stream, as after restoring an older file."""
    newest = connection.execute(layout.newest, (layout.changes_name,)).fetchone()
    last = newest[0] if newest else 0
    oldest = connection.execute(layout.oldest, (1,)).fetchone()
    first = oldest[0] if oldest else last + 1
    if not first - 1 <= after <= last:
        raise PositionLost("The stream no longer reaches back to this position. Rebuild from the items themselves.")


def trim(connection: sqlite3.Connection, layout: Layout, now: float, limit: int) -> int:
    """Take away up to `limit` changes past keeping; how many."""
    rows: list[tuple[int, float]] = connection.execute(layout.oldest, (limit,)).fetchall()
    old = [position for position, at in rows if at < now - KEPT_SECONDS]
    if old:
        connection.execute(layout.trim, (old[-1],))
    return len(old)
