"""The contract of writing much at once, which only a store with one writer can offer: writes that depend on each other
as one step, with nobody in between.

What is written so cannot be told from what `Tables` writes: it is found by the same keys and indexes, expires, meets
conditions and stands in the change stream alike. There is no such thing on DynamoDB.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct

from satchel.stores.ports.expressions import Value
from satchel.stores.ports.table import Eq, Item, Key, KeyValue, Page, Range, StartsWith, TableSpec

T = TypeVar("T")
# Returns once rows that are written late are written.
Settle: TypeAlias = Callable[[], Awaitable[None]]


class Step(Protocol):
    """What can be done inside one step. It sees what it has written, and belongs to the step alone."""

    def get(self, table: TableSpec, key: Key) -> Item | None:
        """The item, or None."""
        ...

    def query(
        self,
        table: TableSpec,
        partition: KeyValue,
        sort: Eq | StartsWith | Range | None = None,
        *,
        index: str | None = None,
        limit: int = 1000,
        cursor: str | None = None,
    ) -> Page:
        """As `Tables.query`."""
        ...

    def insert_new(self, table: TableSpec, items: Sequence[Mapping[str, Value] | Struct]) -> list[bool]:
        """Store those whose keys are free, each in turn; which ones these were.

        An item may come as the record that it is made from, if its fields are its attributes, keys and all: that saves
        a third of what it takes to write it.
        """
        ...

    def put(self, table: TableSpec, item: Mapping[str, Value]) -> None:
        """Store the whole item in place of any other with its key."""
        ...

    def put_all(self, table: TableSpec, items: Sequence[Mapping[str, Value]]) -> None:
        """As `put`, for many items with different keys."""
        ...

    def delete(self, table: TableSpec, key: Key) -> None:
        """Take the item away, if it is there."""
        ...


class BulkWrites(Protocol):
    """A store with one writer."""

    async def in_one_step(self, step: Callable[[Step], T]) -> T:
        """What the step answers, once everything it has written is durable. If it raises, it has written nothing.

        It runs in another thread, and while it does every other write waits: it should be short.
        """
        ...

    def before_reads(self, table: TableSpec, partitions: tuple[str, ...], settle: Settle) -> None:
        """From now on whoever reads this table through `Tables` waits for `settle` first.

        So the caller can write some rows later than it answers for them, and nobody finds them missing. A read within
        partitions that do not begin so does not wait, nor does a step, nor the condition of a write.
        """
        ...
