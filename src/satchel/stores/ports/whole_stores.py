"""What a store offers to whoever copies all of it, besides its contract. Nobody else may look through everything."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from satchel.stores.ports.table import Item, Key, TableSpec


@dataclass(frozen=True, slots=True)
class Scanned:
    """Some items of a table in no order that means anything, and the key to go on after; None at the end."""

    items: list[Item]
    after: Key | None


@runtime_checkable
class ScansTables(Protocol):
    """A table store that can be read from one end to the other."""

    async def scan(self, table: TableSpec, after: Key | None = None, *, limit: int = 100) -> Scanned:
        """Every item that is there all the time comes once; what is written meanwhile may come or not."""
        ...


@runtime_checkable
class ListsKeys(Protocol):
    """An ephemeral store that can say which keys it has."""

    def keys(self, prefix: str) -> AsyncIterator[str]:
        """Those that begin so. A key that is made or ends meanwhile may come or not."""
        ...


@runtime_checkable
class KnowsMd5(Protocol):
    """An object store that keeps digests of its own."""

    async def md5(self, key: str) -> str | None:
        """Of the bytes as they were put; None where the store does not know it."""
        ...
