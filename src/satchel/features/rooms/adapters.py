"""Rooms as things that links lead to: whoever comes by one is brought to the room's door, with its letters."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.rooms.model import PersonId, RoomId
from satchel.features.rooms.records import RoomRow
from satchel.features.rooms.service.context import Rooms, find_owned
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.linked import LinkedFile, LinkedFiles, LinkedThing


@dataclass(frozen=True, slots=True)
class LinkedRooms:
    """Open rooms of their owners. What is in a room is only for those who have come in."""

    rooms: Rooms

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        """The letters are only in the address of the door, which is for those who may come that far.

        They are the name of a room that was given no other, so that one is without a name here.
        """
        del counted
        room = await self._find(owner_id, thing_id)
        if room is None:
            return None
        return LinkedThing(name="" if room.name == room.code else room.name, goto=f"/join/{room.code}")

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        found = [await self._find(owner_id, thing_id) for thing_id in thing_ids]
        return {room.room_id: room.name for room in found if room is not None}

    async def files(self, owner_id: str, thing_id: str, cursor: str | None) -> LinkedFiles:
        del owner_id, thing_id, cursor
        return LinkedFiles([], None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        del owner_id, thing_id, file_id
        return None

    async def _find(self, owner_id: str, room_id: str) -> RoomRow | None:
        try:
            return await find_owned(self.rooms, RoomId(room_id), PersonId(owner_id))
        except (NotFound, Forbidden):
            return None
