"""Copy a table item by item. What has gone from the source since an earlier run goes from the target, too."""

from collections.abc import Callable
from typing import Protocol

from satchel.kernel.errors import Unavailable
from satchel.stores.copies.census import Census
from satchel.stores.ports.table import Item, Key, Tables, TableSpec
from satchel.stores.ports.whole_stores import ScansTables

_PAGE = 500
# What expires this soon may be gone from one store and not from the other.
_SOON_SECONDS = 3600


class Places(Protocol):
    """Remembers how far the copy of each table has come, so that one that was broken off goes on."""

    def place_of(self, table: str) -> Key | None: ...

    def note_place(self, table: str, after: Key | None) -> None: ...


class TablesCopy:
    """A copy of tables. `is_left_out` says of an item that it stays where it is; `told` how many were copied."""

    def __init__(
        self,
        source: Tables,
        target: Tables,
        places: Places,
        *,
        is_left_out: Callable[[TableSpec, Item], bool],
        told: Callable[[int], None],
    ) -> None:
        self._source = source
        self._target = target
        self._places = places
        self._is_left_out = is_left_out
        self._told = told

    async def copy(self, table: TableSpec) -> None:
        after = self._places.place_of(table.name)
        while True:
            page = await scanning(self._source).scan(table, after, limit=_PAGE)
            items = [item for item in page.items if not self._is_left_out(table, item)]
            await self._target.write_many(table, put=items)
            self._told(len(items))
            after = page.after
            self._places.note_place(table.name, after)
            if after is None:
                return

    async def forget_gone(self, table: TableSpec) -> None:
        """Delete from the target what the source does not have any more."""
        after: Key | None = None
        while True:
            page = await scanning(self._target).scan(table, after, limit=_PAGE)
            keys = [table.key_of(item) for item in page.items]
            found = await self._source.get_many(table, keys)
            gone = [key for key, item in zip(keys, found, strict=True) if item is None]
            await self._target.write_many(table, delete=gone)
            after = page.after
            if after is None:
                return

    async def are_equal(self, table: TableSpec, now: float) -> bool:
        here = await self._census(self._source, table, now)
        return here == await self._census(self._target, table, now)

    async def _census(self, tables: Tables, table: TableSpec, now: float) -> Census:
        census = Census()
        after: Key | None = None
        while True:
            page = await scanning(tables).scan(table, after, limit=_PAGE)
            for item in page.items:
                if not self._is_left_out(table, item) and not _ends_soon(table, item, now):
                    census.add(table.name, item)
            after = page.after
            if after is None:
                return census


def scanning(tables: Tables) -> ScansTables:
    if not isinstance(tables, ScansTables):
        raise Unavailable("This table store cannot be copied.")
    return tables


def _ends_soon(table: TableSpec, item: Item, now: float) -> bool:
    until = item.get(table.expiry) if table.expiry else None
    return until is not None and float(until) <= now + _SOON_SECONDS
