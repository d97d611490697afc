"""The contract of a table store: DynamoDB's model and limits, whatever stands behind it.

Clauses that hold for every implementation, each quoted by name in the conformance suite:

- *typed*: values are null, bool, int, Decimal, str, bytes, list, dict, and sets of str, of numbers or of bytes. A
  number keeps up to 38 digits and comes back as int when it is whole, else as Decimal; float is refused. Sets come
  back as frozenset, sequences as list, mappings as dict.
- *limited*: an item is at most 400 KB as DynamoDB counts it, a partition key 2048 bytes, a sort key 1024 bytes, and
  no key (of the table or of an index) may be empty. Nesting ends at 32 levels. What breaks this raises `Invalid` or
  `ItemTooLarge` and changes nothing.
- *conditional*: a write with `when` happens only if the condition holds of the item stored at that instant; else it
  raises `ConditionFailed` and changes nothing. An absent item has no attributes.
- *expiring*: in a table that names an expiry attribute, an item whose number there (seconds since 1970) lies at or
  before now is absent for every operation, whether or not it has been swept away yet.
- *lagging*: a read that says `may_lag` costs half as much on DynamoDB. It may miss what was written in the last few
  moments, and find an older state than a read before it did. On SQLite it never lags. It is for what people only look
  at: nothing that is written, allowed or refused may follow from it.
- *durable*: when a write returns, it survives the death of the process.
- *indexed*: an index holds the items that have all of its key attributes. Reading one may lag behind the table on
  DynamoDB; it does not on SQLite. Items that tie on the whole index key have no promised order among themselves, but
  paging still meets each exactly once.
- *failing*: `Unavailable` when the store cannot be reached or is overloaded after patient retries; a write that raised
  it may or may not have happened, so a retry has to be one that is safe to repeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from satchel.kernel.errors import Conflict, NotFound, TooLarge, Unavailable
from satchel.stores.ports.expressions import Action, Condition, Value

# Read items are plain and ours to keep: the values inside are those of `Value`, made of dict, list and frozenset.
Item: TypeAlias = dict[str, Any]
KeyValue: TypeAlias = str | int | Decimal | bytes
Key: TypeAlias = Mapping[str, KeyValue]

MAX_ITEM_BYTES = 400 * 1024
MAX_PARTITION_KEY_BYTES = 2048
MAX_SORT_KEY_BYTES = 1024
MAX_NESTING = 32
MAX_TRANSACTION_ITEMS = 100
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_PAGE_ITEMS = 1000
PAGE_BYTES = 1024 * 1024


class KeyKind(StrEnum):
    """What a key attribute holds, in DynamoDB's letters."""

    TEXT = "S"
    NUMBER = "N"
    BYTES = "B"


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """A named part of a key."""

    name: str
    kind: KeyKind = KeyKind.TEXT


def text(name: str) -> KeyAttribute:
    return KeyAttribute(name)


def number(name: str) -> KeyAttribute:
    return KeyAttribute(name, KeyKind.NUMBER)


def binary(name: str) -> KeyAttribute:
    return KeyAttribute(name, KeyKind.BYTES)


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A second way to find the items of a table.

    `carries` names what can be read through it: everything, only keys, or keys and the named attributes.
    """

    name: str
    partition: KeyAttribute
    sort: KeyAttribute | None = None
    carries: Literal["everything", "keys"] | tuple[str, ...] = "everything"


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as it is declared in code: its name without prefix, its keys, indexes, expiry and stream."""

    name: str
    partition: KeyAttribute
    sort: KeyAttribute | None = None
    indexes: tuple[IndexSpec, ...] = ()
    expiry: str | None = None
    stream: bool = False

    @property
    def key_names(self) -> tuple[str, ...]:
        return (self.partition.name,) if self.sort is None else (self.partition.name, self.sort.name)

    def key_of(self, item: Mapping[str, Any]) -> dict[str, Any]:
        return {name: item[name] for name in self.key_names}

    def index(self, name: str) -> IndexSpec:
        for index in self.indexes:
            if index.name == name:
                return index
        raise KeyError(f"table {self.name} has no index {name}")


class ConditionFailed(Conflict):
    """The stored item was not as `when` asked; nothing was changed."""

    slug = "condition-failed"


Reason: TypeAlias = Literal["condition", "contention"]


class TransactionCancelled(Conflict):
    """A transaction changed nothing; `reasons` has one entry per write, None for those not at fault."""

    slug = "transaction-cancelled"

    def __init__(self, reasons: Sequence[Reason | None]) -> None:
        super().__init__("Another change came first. Read again and retry.")
        self.reasons = tuple(reasons)


class ItemTooLarge(TooLarge):
    """An item over 400 KB, or a transaction over 4 MB."""

    slug = "item-too-large"


class TableMissing(Unavailable):
    """The table has not been created in this store. That concerns whoever runs the server, not who asks it."""

    slug = "table-missing"


class PositionLost(NotFound):
    """The stream no longer reaches back to this position; the consumer has to rebuild from the items themselves."""

    slug = "position-lost"


@dataclass(frozen=True, slots=True)
class Put:
    """Store the whole item in place of any other with its key."""

    table: TableSpec
    item: Mapping[str, Value]
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Change parts of an item, creating it if absent. All actions see the item as it was before."""

    table: TableSpec
    key: Key
    actions: Sequence[Action]
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Take the item away; deleting an absent one succeeds unless `when` forbids it."""

    table: TableSpec
    key: Key
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Write nothing, but let the transaction happen only if this holds."""

    table: TableSpec
    key: Key
    when: Condition


Write: TypeAlias = Put | Update | Delete | Check


@dataclass(frozen=True, slots=True)
class Eq:
    """The sort key is this."""

    value: KeyValue


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The sort key, text or bytes, starts so."""

    prefix: str | bytes


@dataclass(frozen=True, slots=True)
class Range:
    """The sort key lies between these; a missing end is open, `*_inclusive` says whether an end itself belongs.

    DynamoDB can ask only for `<`, `<=`, `>`, `>=` with one end, and for both ends included: the rest is refused.
    """

    low: KeyValue | None = None
    high: KeyValue | None = None
    low_inclusive: bool = True
    high_inclusive: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """Some items in order, and where to go on: `cursor` is None exactly when there is nothing more."""

    items: list[Item]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a stream that is in order in itself; everything in `parent` comes before."""

    id: str
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One item before and after; None means absent. `position` is where a reader of this shard goes on after it."""

    key: Item
    old: Item | None
    new: Item | None
    position: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a look into a shard found; `ended` when nothing will ever follow in this shard."""

    changes: list[Change] = field(default_factory=list[Change])
    ended: bool = False


class Tables(Protocol):
    """A store of tables. Safe to use from many tasks of one event loop at once."""

    async def create(self, *tables: TableSpec) -> None:
        """Make the tables, and the indexes, expiry and stream they declare, where missing; return once usable.

        Repeating it is safe. Nothing is ever dropped: a key schema that differs from the declared raises `Conflict`.
        """
        ...

    async def missing(self, *tables: TableSpec) -> list[str]:
        """What `create` would have to make, in words, one per table, index, expiry or stream; empty when ready."""
        ...

    async def get(self, table: TableSpec, key: Key, *, may_lag: bool = False) -> Item | None:
        """The item as last written (a consistent read, unless it may lag), or None.

        Reads by key that begin at one moment, in tasks side by side, may go to the store as one request.
        """
        ...

    async def put(self, table: TableSpec, item: Mapping[str, Value], *, when: Condition | None = None) -> None:
        """Store the whole item; see *conditional*."""
        ...

    async def update(
        self, table: TableSpec, key: Key, actions: Sequence[Action], *, when: Condition | None = None
    ) -> Item:
        """Change parts of an item, creating it if absent, and return the whole new item.

        Actions on overlapping places, on key attributes, or on a place whose surroundings are missing or of another
        type raise `Invalid`.
        """
        ...

    async def delete(self, table: TableSpec, key: Key, *, when: Condition | None = None) -> Item | None:
        """Take the item away and return it as it was, or None if it was absent."""
        ...

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
        """The items of one partition in the order of their sort key: text by UTF-8 bytes, numbers by value.

        A page ends at `limit` items (at most 1000), or earlier once it holds about 1 MB. A cursor is opaque, carries
        no secret, and can only ever move within the partition asked for; a broken one raises `Invalid`. Through a
        table's own key the read is consistent, unless it may lag.
        """
        ...

    async def get_many(self, table: TableSpec, keys: Sequence[Key], *, may_lag: bool = False) -> list[Item | None]:
        """One answer per key, in the order asked, however many there are; not one instant. Repeated keys are fine."""
        ...

    async def write_many(
        self, table: TableSpec, *, put: Sequence[Mapping[str, Value]] = (), delete: Sequence[Key] = ()
    ) -> None:
        """Many puts and deletes without conditions, each atomic, together not: after an error some may have happened.

        All are checked first; naming an item twice raises `Invalid`.
        """
        ...

    async def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        """All or nothing, for up to 100 writes to different items, over any tables of this store.

        A condition that does not hold raises `TransactionCancelled`, whose reasons say which. With a token (1 to 36
        characters), repeating the same writes within ten minutes succeeds without doing them again; other writes
        under the same token raise `Invalid`.
        """
        ...

    async def shards(self, table: TableSpec) -> list[Shard]:
        """The parts of the table's stream that still hold changes, parents before children."""
        ...

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        """What follows `after` (None: the oldest kept) in the shard, in the order in which it happened per item.

        A write that leaves an item equal to what it was makes no change. At least 24 hours are kept; a position older
        than what is kept raises `PositionLost`.
        """
        ...

    async def sweep(self) -> int:
        """Take away expired items and stream entries past keeping, if the store does not do so by itself; how many."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then release every resource."""
        ...
