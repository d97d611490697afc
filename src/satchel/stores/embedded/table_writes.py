"""Carries out writes inside a transaction of the writer: everything is decided first, then written.

So a write that is refused has changed nothing, and its neighbours in the same transaction are not affected.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from satchel.stores.embedded import table_changes
from satchel.stores.embedded.documents import decode, encode
from satchel.stores.embedded.table_catalogue import Catalogue
from satchel.stores.embedded.table_layout import Layout
from satchel.stores.ports.table import (
    MAX_ITEM_BYTES,
    MAX_TRANSACTION_BYTES,
    Check,
    ConditionFailed,
    Delete,
    Item,
    ItemTooLarge,
    Put,
    Reason,
    TransactionCancelled,
    Update,
    Write,
)
from satchel.stores.rules import apply_actions, evaluate, item_bytes, same


@dataclass(slots=True)
class Outcome:
    """What a write found and what it leaves. `stored` is what lies there, even if expired; `before` only if alive."""

    layout: Layout
    named: Mapping[str, Any]
    stored: bytes | None
    before: Item | None
    after: Item | None = None
    document: bytes | None = None
    # Whether an expired item goes first, as a change of its own. DynamoDB can only update what is not there then.
    clears: bool = False


def write(connection: sqlite3.Connection, catalogue: Catalogue, asked: Write, now: float) -> Outcome:
    """Carry out one checked write."""
    outcome = _decide(connection, catalogue, asked, now)
    if outcome is None:
        raise ConditionFailed("The stored item is not as expected. Read it again, then decide.")
    _leave(connection, outcome, now)
    return outcome


def write_each(connection: sqlite3.Connection, catalogue: Catalogue, writes: Sequence[Write], now: float) -> None:
    """Carry out checked writes without conditions, one after the other."""
    for asked in writes:
        write(connection, catalogue, asked, now)


def write_all(connection: sqlite3.Connection, catalogue: Catalogue, writes: Sequence[Write], now: float) -> None:
    """Carry out checked writes to different items, all or none."""
    decided = [_decide(connection, catalogue, asked, now) for asked in writes]
    outcomes = [outcome for outcome in decided if outcome is not None]
    if len(outcomes) < len(writes):
        reasons: list[Reason | None] = ["condition" if outcome is None else None for outcome in decided]
        raise TransactionCancelled(reasons)
    _check_total(outcomes)
    for outcome in outcomes:
        _leave(connection, outcome, now)


def _decide(connection: sqlite3.Connection, catalogue: Catalogue, asked: Write, now: float) -> Outcome | None:
    """What the write comes to; None if its condition does not hold."""
    layout = catalogue.layout(asked.table)
    named = asked.item if isinstance(asked, Put) else asked.key
    stored, before = None, None
    # Most writes are puts without condition to tables without stream, which need not know what was there.
    if asked.when is not None or layout.spec.stream or not isinstance(asked, Put):
        stored, before = _current(connection, layout, named, now)
    if asked.when is not None and not evaluate(asked.when, before or {}):
        return None
    match asked:
        case Put(_, item):
            after = dict(item)
        case Update(_, key, actions):
            after = apply_actions(before or key, actions)
            clears = stored is not None and before is None
            return Outcome(layout, named, stored, before, after, encode(after), clears)
        case Delete():
            return Outcome(layout, named, stored, before)
        case Check():
            return Outcome(layout, named, None, None)
    return Outcome(layout, named, stored, before, after, encode(after))


def _current(
    connection: sqlite3.Connection, layout: Layout, named: Mapping[str, Any], now: float
) -> tuple[bytes | None, Item | None]:
    found = connection.execute(layout.current, layout.key(named)).fetchone()
    if found is None:
        return None, None
    document, expires = found
    return document, decode(document) if expires is None or expires > now else None


def _leave(connection: sqlite3.Connection, outcome: Outcome, now: float) -> None:
    layout, stored, document = outcome.layout, outcome.stored, outcome.document
    if document is not None and outcome.after is not None:
        if layout.spec.stream and same(outcome.before, outcome.after):
            return
        _store(connection, layout, outcome.before, outcome.after, document)
    elif stored is not None:
        connection.execute(layout.delete, layout.key(outcome.named))
    else:
        return
    if not layout.spec.stream:
        return
    if outcome.clears:
        table_changes.record(connection, layout, outcome.named, stored, None, now)
        stored = None
    table_changes.record(connection, layout, outcome.named, stored, document, now)


def _store(connection: sqlite3.Connection, layout: Layout, before: Item | None, after: Item, document: bytes) -> None:
    key, expires = layout.key(after), layout.expires(after)
    indexed = layout.index_row(after, layout.indexes)
    # SQLite writes anew every index whose columns a statement names, even with the values that it has: that halves
    # the rate of updates.
    if before is not None and layout.index_row(before, layout.indexes) == indexed:
        connection.execute(layout.renew, (expires, document, *key))
    else:
        connection.execute(layout.put, (*key, expires, document, *indexed))


def _check_total(outcomes: Sequence[Outcome]) -> None:
    # Fewer items than this cannot be too large together, since each one has been checked.
    if len(outcomes) * MAX_ITEM_BYTES <= MAX_TRANSACTION_BYTES:
        return
    if sum(item_bytes(outcome.after) for outcome in outcomes if outcome.after) > MAX_TRANSACTION_BYTES:
        raise ItemTooLarge("The items of a transaction can have at most 4 MB together. Split it.")


def sweep(connection: sqlite3.Connection, layout: Layout, now: float, limit: int) -> int:
    """Take away up to `limit` expired items; how many."""
    rows: list[tuple[bytes, bytes, bytes]] = connection.execute(layout.expired, (now, limit)).fetchall()
    for partition, sort, document in rows:
        connection.execute(layout.delete, (partition, sort))
        if layout.spec.stream:
            table_changes.record(connection, layout, decode(document), document, None, now)
    return len(rows)
