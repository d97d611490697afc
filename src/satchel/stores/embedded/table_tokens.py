"""Idempotency keys of transactions: remembers for ten minutes what was done under a token, so that a retry is safe."""

import sqlite3
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, cast

import msgspec

from satchel.kernel.errors import Invalid
from satchel.stores.embedded.documents import marked
from satchel.stores.ports.table import TableSpec, Write

KEPT_SECONDS = 600.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS "satchel:tokens" (token TEXT PRIMARY KEY, writes BLOB NOT NULL, at REAL NOT NULL)
"""
_encoder = msgspec.msgpack.Encoder(order="deterministic")


def make_tokens(connection: sqlite3.Connection) -> None:
    connection.execute(_SCHEMA)


def fingerprint(writes: Sequence[Write]) -> bytes:
    """Equal for checked writes that mean the same, different for others."""
    return sha256(_encoder.encode([_described(write) for write in writes])).digest()


def _described(part: Any) -> Any:
    if isinstance(part, TableSpec):
        return part.name
    if is_dataclass(part):
        return [type(part).__name__, *(_described(getattr(part, field.name)) for field in fields(part))]
    if isinstance(part, list | tuple):
        return [_described(inner) for inner in cast("Sequence[Any]", part)]
    return marked(part)


def was_done(connection: sqlite3.Connection, token: str, writes: bytes, now: float) -> bool:
    """Whether these writes were done under the token; `Invalid` if others were."""
    found = connection.execute(
        'SELECT writes FROM "satchel:tokens" WHERE token = ? AND at > ?', (token, now - KEPT_SECONDS)
    ).fetchone()
    if found is not None and found[0] != writes:
        raise Invalid("This token was used for another transaction. Choose a new one.")
    return found is not None


def note_done(connection: sqlite3.Connection, token: str, writes: bytes, now: float) -> None:
    connection.execute('INSERT OR REPLACE INTO "satchel:tokens" VALUES (?, ?, ?)', (token, writes, now))


def forget_old(connection: sqlite3.Connection, now: float) -> None:
    connection.execute('DELETE FROM "satchel:tokens" WHERE at <= ?', (now - KEPT_SECONDS,))
