"""How a declared table lies in SQLite: one SQL table, with columns and an SQL index for each secondary index.

Keys are stored as ordered bytes beside the whole item as a document. SQLite itself keeps the indexes in step with the
rows, so that no write can leave one without the other. All SQL is made here, once per table: names are quoted, values
are always parameters, and since the texts are constants SQLite's compiled statements are found again.
"""
# ruff: noqa: S608

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from satchel.stores.embedded.key_order import ordered
from satchel.stores.ports.table import IndexSpec, Item, KeyAttribute, KeyKind, TableSpec

_KEY_TYPES: dict[KeyKind, tuple[type, ...]] = {
    KeyKind.TEXT: (str,),
    KeyKind.NUMBER: (int, Decimal),
    KeyKind.BYTES: (bytes,),
}
_ALIVE = "(expires IS NULL OR expires > ?)"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class IndexColumns:
    """Where the keys of an index stand in the rows of its table."""

    spec: IndexSpec
    partition: str
    sort: str | None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


@dataclass(frozen=True, slots=True)
class Selection:
    """The shape of a query: on which index, how its sort key is bounded, from a position or from the start."""

    index: str | None
    bounds: tuple[str, ...]
    onward: bool
    descending: bool
    keys_only: bool


class Layout:
    """A table as it lies in the file, and the SQL to use it."""

    def __init__(self, number: int, full_name: str, spec: TableSpec) -> None:
        self.number = number
        self.full_name = full_name
        self.spec = spec
        self.indexes = tuple(
            IndexColumns(index, f"i{place}p", None if index.sort is None else f"i{place}s")
            for place, index in enumerate(spec.indexes)
        )
        # SQLite takes `Users` and `users` for one name and `sqlite_…` for its own; the number keeps them apart.
        self.table = quoted(f"{number}:{full_name}")
        self.changes_name = f"{number}:{full_name}:changes"
        self.changes = quoted(self.changes_name)
        self._partition = spec.partition.name
        self._sort = None if spec.sort is None else spec.sort.name
        self._expiry = spec.expiry
        self._write_statements()
        self.select = cache(self._select)

    def _write_statements(self) -> None:
        of_key = f"{self.table} WHERE pk = ? AND sk = ?"
        columns = self.columns = ["pk", "sk", "expires", "doc", *(name for each in self.indexes for name in each.names)]
        renewed = ", ".join(f"{name} = excluded.{name}" for name in columns[2:])
        self.get = f"SELECT doc FROM {of_key} AND {_ALIVE}"
        self.current = f"SELECT doc, expires FROM {of_key}"
        self.put = (
            f"INSERT INTO {self.table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            f" ON CONFLICT (pk, sk) DO UPDATE SET {renewed}"
        )
        self.renew = f"UPDATE {self.table} SET expires = ?, doc = ? WHERE pk = ? AND sk = ?"
        self.delete = f"DELETE FROM {of_key}"
        self.expired = f"SELECT pk, sk, doc FROM {self.table} WHERE expires <= ? LIMIT ?"
        self.scan = f"SELECT doc FROM {self.table} WHERE (pk, sk) > (?, ?) AND {_ALIVE} ORDER BY pk, sk LIMIT ?"
        self.rows_after = f"SELECT rowid, doc FROM {self.table} WHERE rowid > ? ORDER BY rowid LIMIT ?"
        self.record = f"INSERT INTO {self.changes} (at, key, old, new) VALUES (?, ?, ?, ?)"
        self.oldest = f"SELECT position, at FROM {self.changes} ORDER BY position LIMIT ?"
        self.newest = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        self.following = (
            f"SELECT position, key, old, new FROM {self.changes} WHERE position > ? ORDER BY position LIMIT ?"
        )
        self.trim = f"DELETE FROM {self.changes} WHERE position <= ?"

    def _select(self, shape: Selection) -> str:
        """Takes partition, bounds, position (sort, then the table's key), now and limit."""
        index = None if shape.index is None else self.index(shape.index)
        partition, sort = ("pk", "sk") if index is None else (index.partition, index.sort)
        place = ("sk",) if index is None else (*index.names[1:], "pk", "sk")
        conditions = [f"{partition} = ?", *(f"{sort} {operator} ?" for operator in shape.bounds)]
        if shape.onward:
            further = "<" if shape.descending else ">"
            conditions.append(f"({', '.join(place)}) {further} ({', '.join('?' * len(place))})")
        direction = " DESC" if shape.descending else ""
        columns = ", ".join((partition, *place)) if shape.keys_only else "doc"
        return (
            f"SELECT {columns} FROM {self.table} WHERE {' AND '.join((*conditions, _ALIVE))}"
            f" ORDER BY {', '.join(name + direction for name in place)} LIMIT ?"
        )

    def refill(self, added: tuple[IndexColumns, ...]) -> str:
        columns = ["expires", *(name for index in added for name in index.names)]
        return f"UPDATE {self.table} SET {', '.join(f'{name} = ?' for name in columns)} WHERE rowid = ?"

    def key(self, item: Mapping[str, Any]) -> tuple[bytes, bytes]:
        """The key columns of an item or key; in a table without sort key, the second is the same for all."""
        return ordered(item[self._partition]), b"" if self._sort is None else ordered(item[self._sort])

    def row(self, item: Item, document: bytes) -> tuple[object, ...]:
        """An item in all of the columns."""
        return (*self.key(item), self.expires(item), document, *self.index_row(item, self.indexes))

    def expires(self, item: Item) -> float | None:
        moment: Any = None if self._expiry is None else item.get(self._expiry)
        return float(moment) if type(moment) in (int, Decimal) else None

    def index_row(self, item: Item, indexes: tuple[IndexColumns, ...]) -> list[bytes | None]:
        """The index columns of an item; those of an index stay empty unless the item has its whole key."""
        values: list[bytes | None] = []
        for index in indexes:
            keys = [_key_column(item, index.spec.partition)]
            if index.spec.sort is not None:
                keys.append(_key_column(item, index.spec.sort))
            values += keys if None not in keys else [None] * len(keys)
        return values

    def index(self, name: str) -> IndexColumns | None:
        return next((index for index in self.indexes if index.spec.name == name), None)


def _key_column(item: Item, attribute: KeyAttribute) -> bytes | None:
    # An index made later may meet items that are no keys of it; they stay outside, as on DynamoDB.
    value: Any = item.get(attribute.name)
    return ordered(value) if type(value) in _KEY_TYPES[attribute.kind] and value not in ("", b"") else None
