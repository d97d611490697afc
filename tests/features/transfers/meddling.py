"""Stores that let something happen just before one of their writes, or lose their power there."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from satchel.stores.connect import Stores
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables
from tests.features.shelf.given import Killed

TABLE_WRITES = {"put", "update", "delete", "write_many", "transact"}
OBJECT_WRITES = {"put", "copy", "delete"}


async def nothing() -> None:
    pass


async def lose_power() -> None:
    raise Killed


@dataclass
class Before:
    """Does something just before the n-th write from when it is set; `for_good` also before each that follows."""

    countdown: int = 0
    act: Callable[[], Awaitable[object]] = nothing
    for_good: bool = False

    def the_write(self, number: int, act: Callable[[], Awaitable[object]], *, for_good: bool = False) -> None:
        self.countdown, self.act, self.for_good = number, act, for_good

    def no_write(self) -> None:
        self.the_write(0, nothing)

    async def pass_by(self) -> None:
        self.countdown -= 1
        if self.countdown == 0 or (self.for_good and self.countdown < 0):
            await self.act()

    def through(self, stores: Stores) -> Stores:
        return replace(
            stores,
            tables=cast("Tables", _Watched(stores.tables, TABLE_WRITES, self)),
            objects=cast("Objects", _Watched(stores.objects, OBJECT_WRITES, self)),
        )


class _Watched:
    def __init__(self, store: Tables | Objects, writes: set[str], before: Before) -> None:
        self._store = store
        self._writes = writes
        self._before = before

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name not in self._writes:
            return call

        async def watched(*positional: Any, **named: Any) -> Any:
            await self._before.pass_by()
            return await call(*positional, **named)

        return watched
