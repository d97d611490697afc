"""Find objects that are gone though something that is stored cannot do without them."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.copies.tables_copy import scanning
from satchel.stores.ports.ephemeral import Ephemeral, Get
from satchel.stores.ports.objects import ObjectMissing, Objects
from satchel.stores.ports.table import Item, Key, Tables, TableSpec
from satchel.stores.ports.whole_stores import ListsKeys
from satchel.stores.schema import EphemeralKey, Shape

_AT_ONCE = 16
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Needed:
    """An object that something needs, and what that is. `place` is where it is stored."""

    key: str
    by: str
    place: tuple[Shape[Any], Key] | tuple[EphemeralKey, str]


class MissingObjects:
    """Looks for what records and values of these kinds need."""

    def __init__(self, objects: Objects, shapes: Sequence[Shape[Any]], keys: Sequence[EphemeralKey]) -> None:
        self._objects = objects
        self._shapes = shapes
        self._keys = [key for key in keys if key.needs is not None]

    async def find(self, tables: Tables, ephemeral: Ephemeral) -> list[Needed]:
        """What is gone. What was deleted since these stores were read is among it: see `still`."""
        found: list[Needed] = []
        async for some in self._all(tables, ephemeral):
            found += await self._gone(some)
        return found

    async def still(self, found: Sequence[Needed], tables: Tables, ephemeral: Ephemeral) -> list[Needed]:
        """Those that are still needed, and still gone."""
        needed: list[Needed] = []
        for each in found:
            match each.place:
                case (Shape() as shape, key):
                    item = await tables.get(shape.table, key)
                    again = [] if item is None else _needs_of(shape, item)
                case (declared, name):
                    value = await ephemeral.run(Get(name))
                    again = [] if value is None else [_need_of(declared, name, value)]
            needed += [other for other in again if other.key == each.key]
        return await self._gone(needed)

    async def _all(self, tables: Tables, ephemeral: Ephemeral) -> AsyncIterator[list[Needed]]:
        for table in dict.fromkeys(shape.table for shape in self._shapes if shape.needs is not None):
            async for items in _pages(tables, table):
                yield [each for item in items for each in self._needs(table, item)]
        if not isinstance(ephemeral, ListsKeys):
            raise Unavailable("This store of short-lived state cannot be looked through.")
        for declared in self._keys:
            async for name in ephemeral.keys(declared.prefix):
                if declared.matches(name) and (value := await ephemeral.run(Get(name))) is not None:
                    yield [_need_of(declared, name, value)]

    def _needs(self, table: TableSpec, item: Item) -> list[Needed]:
        """Of kinds whose keys are alike, it is of the one with the most words of its own."""
        possible = [shape for shape in self._shapes if shape.table is table and shape.matches(item)]
        shape = min(possible, key=lambda each: sum(len(key.fields) for key in each.keys.values()), default=None)
        return [] if shape is None else _needs_of(shape, item)

    async def _gone(self, needed: Sequence[Needed]) -> list[Needed]:
        gone: list[Needed] = []
        waiting = iter(needed)

        async def look() -> None:
            for each in waiting:
                try:
                    await self._objects.head(each.key)
                except ObjectMissing:
                    gone.append(each)
                except SatchelError as error:
                    if error.slug != "object-damaged":  # which whoever reads all objects finds
                        raise

        await asyncio.gather(*(look() for _ in range(min(_AT_ONCE, len(needed)))))
        return gone


def _needs_of(shape: Shape[Any], item: Item) -> list[Needed]:
    if shape.needs is None:
        return []
    key = shape.table.key_of(item)
    where = f"{shape.owner}, {' '.join(map(str, key.values()))}"
    needs: Mapping[str, str] = shape.needs(shape.read(item))
    return [Needed(each, f"{name} ({where})", (shape, key)) for each, name in needs.items()]


def _need_of(declared: EphemeralKey, name: str, value: bytes) -> Needed:
    assert declared.needs is not None
    return Needed(declared.needs(declared.template.parse(name), value), f"{declared.owner}, {name}", (declared, name))


async def _pages(tables: Tables, table: TableSpec) -> AsyncIterator[list[Item]]:
    after: Key | None = None
    while True:
        page = await scanning(tables).scan(table, after, limit=_PAGE)
        yield page.items
        if (after := page.after) is None:
            return
