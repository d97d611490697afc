"""Copy the short-lived state that has to survive a restart: rooms, sign-outs, idempotency keys."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from satchel.kernel.errors import Unavailable
from satchel.stores.copies.census import Census
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Ephemeral,
    Expire,
    Get,
    HashAll,
    HashPut,
    ListPush,
    ListRange,
    Put,
    SetAdd,
    SetAll,
    TimeToLive,
)
from satchel.stores.ports.whole_stores import ListsKeys
from satchel.stores.schema import EphemeralKey

# What ends this soon may be gone from one store and not from the other.
_SOON = timedelta(hours=1)


class EphemeralCopy:
    """A copy of the keys that are declared durable."""

    def __init__(self, source: Ephemeral, target: Ephemeral, declared: Sequence[EphemeralKey]) -> None:
        self._source = source
        self._target = target
        self._durable = [key for key in declared if key.durable]

    async def copy(self) -> int:
        """How many keys there are."""
        here = await self._keys(self._source)
        for key, kind in here.items():
            await self._copy_one(key, kind)
        for key in (await self._keys(self._target)).keys() - here.keys():
            await self._target.run(Delete(key))
        return len(here)

    async def are_equal(self) -> bool:
        return await self._census(self._source) == await self._census(self._target)

    async def _copy_one(self, key: str, kind: str) -> None:
        content, ttl = await self._source.together(_reading(key, kind), TimeToLive(key))
        ending = [] if ttl is None else [Expire(key, ttl)]
        await self._target.together(Delete(key), *_writing(key, kind, content), *ending)

    async def _keys(self, store: Ephemeral) -> dict[str, str]:
        """The kind of each durable key."""
        if not isinstance(store, ListsKeys):
            raise Unavailable("This store of short-lived state cannot be copied.")
        found: dict[str, str] = {}
        for declared in self._durable:
            async for key in store.keys(declared.prefix):
                if declared.matches(key):
                    found[key] = declared.kind
        return found

    async def _census(self, store: Ephemeral) -> Census:
        census = Census()
        for key, kind in (await self._keys(store)).items():
            content, ttl = await store.together(_reading(key, kind), TimeToLive(key))
            if content and (ttl is None or ttl > _SOON):
                census.add(key, content)
        return census


def _reading(key: str, kind: str) -> Command[Any]:
    match kind:
        case "value":
            return Get(key)
        case "hash":
            return HashAll(key)
        case "set":
            return SetAll(key)
        case _:
            return ListRange(key)


def _writing(key: str, kind: str, content: Any) -> Sequence[Command[Any]]:
    if content is None:
        return ()
    match kind:
        case "value":
            return (Put(key, content),)
        case "hash":
            return (HashPut(key, content),) if content else ()
        case "set":
            return [SetAdd(key, member) for member in sorted(content)]
        case _:
            return [ListPush(key, value) for value in reversed(content)]
