"""Look through all objects of a store bit by bit: the cursor says where the next sweep goes on, on whichever server."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from satchel.stores.ports.ephemeral import Delete, Ephemeral, Get, Put
from satchel.stores.ports.objects import ObjectInfo, Objects

# Which of these objects nobody needs, by their keys.
FindGarbage: TypeAlias = Callable[[Sequence[ObjectInfo]], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class SweepCursor:
    """The position of a sweep, at a key of the ephemeral store. If the store forgets it, the sweep begins anew."""

    ephemeral: Ephemeral
    key: str

    async def read(self) -> str:
        """After which object to go on; empty at the beginning."""
        return (await self.ephemeral.run(Get(self.key)) or b"").decode()

    async def move(self, after: str | None) -> None:
        """None leads back to the beginning."""
        await self.ephemeral.run(Delete(self.key) if after is None else Put(self.key, after.encode()))


async def sweep_objects(
    objects: Objects, prefix: str, cursor: SweepCursor, find_garbage: FindGarbage, *, limit: int
) -> int:
    """Look at the next `limit` objects and delete what nobody needs; how many those were.

    The cursor moves last: if we are cut off, the same objects are looked at again.
    """
    page = await objects.list(prefix, after=await cursor.read(), limit=limit)
    garbage = await find_garbage(page.objects)
    await objects.delete(*garbage)
    await cursor.move(page.after)
    return len(garbage)
