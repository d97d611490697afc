"""The journal of the durable keys: the commands that made them. Without it a restart would empty every room.

A row is one command and the instant at which it happened. A key is recovered by replaying its rows, each at its
instant. Keys are independent of each other here, because commands that belong together are written in one transaction.
A key's rows therefore can be replaced at any time by the few that make the key what it now is: `Put` and `Delete` do so
by nature, and `rewrite` does it for keys whose history has become much longer than what they hold. Both are part of an
ordinary write, so there is no separate compaction that could be interrupted or hold anybody up.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec

from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.embedded.memory_keyspace import CHANGES, Change, Keyspace
from satchel.stores.embedded.sqlite_writer import SqliteWriter
from satchel.stores.ports.ephemeral import Command, Delete, Put, WrongKind

# The commands that change keys. Their names and the names of their fields are what is stored: rename them with care.
_DECODERS: dict[str, msgspec.msgpack.Decoder[Change]] = {
    kind.__name__: msgspec.msgpack.Decoder(kind) for kind in CHANGES
}

# How to make a key what it is at an instant.
Recipe: TypeAlias = Callable[[str, int], Iterable[Change]]

_ENCODE = msgspec.msgpack.Encoder(enc_hook=dict).encode

# A history may grow to twice what was last written whole and a little more: that bounds the file, and makes rewriting
# cost no more, in the long run, than appending did.
_SPARE_BYTES = 4096
_ROW_BYTES = 50


class _Length(NamedTuple):
    """How many bytes a key's rows take, and how many they took when the key was last written whole."""

    now: int = 0
    whole: int = 0


class History:
    """The rows of all durable keys; made by `open`."""

    def __init__(self, writer: SqliteWriter, lengths: dict[str, _Length]) -> None:
        self._writer = writer
        self._lengths = lengths

    @classmethod
    async def open(cls, path: Path, prefixes: tuple[str, ...]) -> tuple["History", Keyspace]:
        """The history in this file, and the keys under these prefixes as it tells them."""
        writer = await SqliteWriter.open(path, _schema)
        try:
            keys, lengths = await writer.run(partial(_replay, path, prefixes))
        except SatchelError:
            await writer.close()
            raise
        return cls(writer, lengths), keys

    def __iter__(self) -> Iterator[str]:
        """The keys that have rows."""
        return iter(self._lengths)

    def __contains__(self, key: str) -> bool:
        return key in self._lengths

    def is_long(self, key: str) -> bool:
        length = self._lengths.get(key, _Length())
        return length.now > 2 * length.whole + _SPARE_BYTES

    async def write(
        self, commands: Sequence[Change], instant: int, *, rewrite: Collection[str], recipe: Recipe
    ) -> None:
        """Replace the rows of some keys by their recipes, then append the commands; returns when that is durable.

        `recipe` is called from another thread: what it reads must not change until this returns.
        """
        step = partial(_write, commands, instant, rewrite, recipe, self._lengths)
        for key, length in (await self._writer.run(step, undoable=True)).items():
            if length.now:
                self._lengths[key] = length
            else:
                self._lengths.pop(key, None)

    async def close(self) -> None:
        await self._writer.close()


def _schema(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS history (place INTEGER PRIMARY KEY, key TEXT NOT NULL, instant INTEGER NOT NULL,"
        " command TEXT NOT NULL, body BLOB NOT NULL)"
    )
    connection.execute("CREATE INDEX IF NOT EXISTS history_by_key ON history (key)")


def _replay(
    path: Path, prefixes: tuple[str, ...], connection: sqlite3.Connection
) -> tuple[Keyspace, dict[str, _Length]]:
    keys = Keyspace()
    lengths: dict[str, _Length] = {}
    rows = connection.execute("SELECT key, instant, command, body FROM history ORDER BY place")
    for key, instant, name, body in cast("Iterable[tuple[str, int, str, bytes]]", rows):
        if not key.startswith(prefixes):
            continue
        try:
            command = cast("Command[Any]", _DECODERS[name].decode(body))
        except (KeyError, msgspec.MsgspecError) as error:
            raise Unavailable(
                f"{path} was written by another version. Run the version that wrote it, or move the file"
                " away, which forgets what it kept."
            ) from error
        # A command is written before it is done, so it may be one that was refused.
        with suppress(WrongKind):
            keys.apply(command, instant)
        lengths[key] = _Length(lengths.get(key, _Length()).now + _ROW_BYTES + len(body))
    return keys, lengths


def _write(
    commands: Sequence[Change],
    instant: int,
    rewrite: Collection[str],
    recipe: Recipe,
    old_lengths: Mapping[str, _Length],
    connection: sqlite3.Connection,
) -> dict[str, _Length]:
    lengths: dict[str, _Length] = {}

    def erase(key: str) -> None:
        connection.execute("DELETE FROM history WHERE key = ?", (key,))
        lengths[key] = _Length()

    def append(command: Change) -> None:
        body = _ENCODE(command)
        row = (command.key, instant, type(command).__name__, body)
        connection.execute("INSERT INTO history (key, instant, command, body) VALUES (?, ?, ?, ?)", row)
        length = lengths[command.key] if command.key in lengths else old_lengths.get(command.key, _Length())
        lengths[command.key] = length._replace(now=length.now + _ROW_BYTES + len(body))

    def is_whole(key: str) -> None:
        lengths[key] = _Length(lengths[key].now, lengths[key].now)

    for key in rewrite:
        erase(key)
        for command in recipe(key, instant):
            append(command)
        is_whole(key)
    for command in commands:
        match command:
            case Delete(key):
                erase(key)
            case Put(key, only_if_absent=False):
                erase(key)
                append(command)
                is_whole(key)
            case _:
                append(command)
    return lengths
