"""Rows for many items at once: the same rows as single writes make, in fewer steps.

Nearly every item that is written in bulk is flat, of texts and numbers, with keys of text. For these the rules come to
a few comparisons, and for records, whose types say so, to fewer still; every other goes the long way.
"""
# ruff: noqa: S608

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from satchel.stores import rules
from satchel.stores.embedded.documents import encode
from satchel.stores.embedded.table_layout import Layout
from satchel.stores.ports.expressions import Value
from satchel.stores.ports.table import MAX_SORT_KEY_BYTES, KeyKind

Row = tuple[Any, ...]

# One statement for many rows costs a quarter less than one for each. What is left over goes by fewer.
ROWS_AT_ONCE = 32
_SIZES = (ROWS_AT_ONCE, 8, 1)
MOST_FORMS = 256
_DOCUMENT = 3
_PLAIN = frozenset[type]({str, int})

_encode = msgspec.msgpack.Encoder().encode


class NewRows:
    """Makes and stores new rows of one table."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        spec = layout.spec
        self._insert = _Statement(f"INSERT OR IGNORE INTO {layout.table}", layout.columns)
        self._replace = _Statement(
            f"INSERT INTO {layout.table}",
            layout.columns,
            " ON CONFLICT (pk, sk) DO UPDATE SET expires = excluded.expires, doc = excluded.doc",
        )
        self._record = _Statement(f"INSERT INTO {layout.changes}", ["at", "key", "new"])
        self._newest = f"SELECT max(rowid) FROM {layout.table}"
        self._found = f"SELECT rowid, expires FROM {layout.table} WHERE pk = ? AND sk = ?"
        owners = (spec, *spec.indexes)
        keys = [part for owner in owners for part in (owner.partition, owner.sort) if part is not None]
        has_plain_keys = spec.sort is not None and all(part.kind is KeyKind.TEXT for part in keys)
        self._keys = [part.name for part in keys] if has_plain_keys else None
        self._keys_of: Callable[[Mapping[str, Any]], tuple[str, ...]] = itemgetter(*(part.name for part in keys))
        self._forms_of_records: dict[type[Struct], _RecordForm | None] = {}
        # No attribute has the empty name.
        self._expiry = spec.expiry or ""
        # Names of attributes, in their order, that have been checked, if all keys are texts.
        self._forms: set[tuple[str, ...]] = set()

    def make(self, item: Mapping[str, Value] | Struct) -> Row:
        """The columns of an item, which is checked as any other."""
        if isinstance(item, Struct):
            return self._of_record(item) or self._any(as_item(item))
        return self._plain(item) or self._any(item)

    def _of_record(self, record: Struct) -> Row | None:
        """Those of a record that is plain; None for another."""
        kind = type(record)
        if kind not in self._forms_of_records:
            self._forms_of_records[kind] = self._form_of(kind)
        form = self._forms_of_records[kind]
        if form is None:
            return None
        try:
            keys = [*map(str.encode, form.keys(record))]
            document = _encode(record)
        except (UnicodeEncodeError, OverflowError):
            return None
        if b"" in keys or len(document) > MAX_SORT_KEY_BYTES:
            return None
        expires = form.expires(record)
        return keys[0], keys[1], None if expires is None else float(expires), document, *keys[2:]

    def _form_of(self, kind: type[Struct]) -> "_RecordForm | None":
        named = {field.encode_name: field for field in structs.fields(kind)}
        if kind.__struct_config__.array_like or kind.__struct_config__.tag is not None:
            return None
        if self._keys is None or any(name not in named or named[name].type is not str for name in self._keys):
            return None
        if not all(_is_plain(field.type) for field in named.values()):
            return None
        expires = named.get(self._expiry)
        return _RecordForm(
            keys=attrgetter(*(named[name].name for name in self._keys)),
            expires=(lambda _: None) if expires is None else attrgetter(expires.name),
        )

    def _plain(self, item: Mapping[str, Any]) -> Row | None:
        """Those of an item that is plain; None for another."""
        if self._keys is None or tuple(item) not in self._forms or not _PLAIN.issuperset(map(type, item.values())):
            return None
        expires = item.get(self._expiry)
        try:
            keys = [*map(str.encode, self._keys_of(item))]
            document = _encode(item)
        except (KeyError, TypeError, UnicodeEncodeError, OverflowError):
            return None
        # No key is longer than the document that it stands in.
        if b"" in keys or len(document) > MAX_SORT_KEY_BYTES or type(expires) is str:
            return None
        return keys[0], keys[1], None if expires is None else float(expires), document, *keys[2:]

    def _any(self, item: Mapping[str, Value]) -> Row:
        checked = rules.check_item(self._layout.spec, item)
        if self._keys is not None and len(self._forms) < MOST_FORMS:
            self._forms.add(tuple(checked))
        return self._layout.row(checked, encode(checked))

    def insert(self, connection: sqlite3.Connection, rows: Sequence[Row], now: float) -> list[bool | None]:
        """Store those whose keys are free; which ones these were. None says that an expired item has the key."""
        newest: int = connection.execute(self._newest).fetchone()[0] or 0
        stored: list[bool | None] = []
        for some, done in self._insert.run(connection, rows):
            if done.rowcount == len(some):
                stored += [True] * len(some)
            else:
                stored += self._look(connection, some, newest, now)
            if done.rowcount:
                newest = done.lastrowid or newest
        return stored

    def replace(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        """Store rows in place of those with their keys, in a table without indexes."""
        for _ in self._replace.run(connection, rows):
            pass

    def _look(self, connection: sqlite3.Connection, rows: Sequence[Row], newest: int, now: float) -> list[bool | None]:
        """Which of these rows are stored, if one of them is not; what was there before has no number above `newest`."""
        ours: set[tuple[bytes, bytes]] = set()
        stored: list[bool | None] = []
        for partition, sort, *_ in rows:
            number, expires = connection.execute(self._found, (partition, sort)).fetchone()
            if number > newest and (partition, sort) not in ours:
                ours.add((partition, sort))
                stored.append(True)
            else:
                stored.append(None if expires is not None and expires <= now else False)
        return stored

    def record(
        self,
        connection: sqlite3.Connection,
        items: Iterable[Mapping[str, Value] | Struct],
        rows: Iterable[Row],
        now: float,
    ) -> None:
        """Note in the change stream that these items are new."""
        key_of = self._layout.spec.key_of
        encoded = encode if self._keys is None else _encode
        changes = [(now, encoded(key_of(as_item(item))), row[_DOCUMENT]) for item, row in zip(items, rows, strict=True)]
        for _ in self._record.run(connection, changes):
            pass


@dataclass(frozen=True, slots=True)
class _RecordForm:
    """How keys and expiry are read from records of one kind."""

    keys: Callable[[Struct], tuple[str, ...]]
    expires: Callable[[Struct], int | None]


def as_item(item: Mapping[str, Value] | Struct) -> Mapping[str, Value]:
    if not isinstance(item, Struct):
        return item
    return msgspec.to_builtins(item, builtin_types=(bytes, bytearray, Decimal))


def _is_plain(declared: Any) -> bool:
    """Whether a field of this type is a text, a number, or left out."""
    origin = get_origin(declared)
    if origin is Literal:
        return all(type(value) is str for value in get_args(declared))
    if origin in (Union, UnionType):
        return all(map(_is_plain, get_args(declared)))
    return declared in _PLAIN or declared is NoneType


class _Statement:
    """An INSERT of one row, and of some at once."""

    def __init__(self, into: str, columns: Sequence[str], otherwise: str = "") -> None:
        row = f"({', '.join('?' * len(columns))})"
        head = f"{into} ({', '.join(columns)}) VALUES "
        self._of = [(size, head + ", ".join([row] * size) + otherwise) for size in _SIZES]

    def run(
        self, connection: sqlite3.Connection, rows: Sequence[Row]
    ) -> Iterator[tuple[Sequence[Row], sqlite3.Cursor]]:
        """Store some at a time: which, and what came of it."""
        start = 0
        for size, statement in self._of:
            while len(rows) - start >= size:
                some = rows[start : start + size]
                yield some, connection.execute(statement, list(chain.from_iterable(some)))
                start += size
