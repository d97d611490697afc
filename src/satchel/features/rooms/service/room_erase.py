"""Closes the rooms of a person, and takes them out of the room of another, when their account is deleted."""

from dataclasses import dataclass

from satchel.features.rooms.model import PersonId, RoomId
from satchel.features.rooms.records import KNOCKS, OWNED, WHEREABOUTS
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.membership import remove_member, tell_of_leaving
from satchel.features.rooms.service.room_close import close_at_once
from satchel.features.rooms.service.room_open import list_owned
from satchel.kernel.departure import Leaver, Tally
from satchel.stores.ports.ephemeral import Get, HashDelete, SetAll


@dataclass(frozen=True, slots=True)
class RoomHoldings:
    """The rooms that people have opened. What they said in rooms of others stays until those end."""

    rooms: Rooms

    async def count(self, leaver: Leaver) -> Tally:
        return Tally(rooms=len(await list_owned(self.rooms, PersonId(leaver.user_id))))

    async def delete(self, leaver: Leaver) -> None:
        rooms, person_id = self.rooms, PersonId(leaver.user_id)
        owned, where = await rooms.ephemeral.together(
            SetAll(OWNED(person_id=person_id)), Get(WHEREABOUTS(person_id=person_id))
        )
        for room_id in sorted(owned):
            await close_at_once(rooms, RoomId(room_id))
        if where and where.decode() not in owned:
            room_id = RoomId(where.decode())
            await remove_member(rooms, room_id, person_id, HashDelete(KNOCKS(room_id=room_id), person_id))
            await tell_of_leaving(rooms, room_id, person_id, "left")
