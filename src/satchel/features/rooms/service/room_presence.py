"""Presence: tells a room when a person opens their first page or closes the last. A lost connection removes nobody."""

from satchel.features.rooms.events import RoomChanged
from satchel.features.rooms.model import NotInARoom, PersonId
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.membership import tell_room
from satchel.features.rooms.service.room_join import find_current


class RoomAttendance:
    """Passes changes of a person's presence on to their room."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def came(self, person_id: str) -> None:
        await self._changed(person_id)

    async def went(self, person_id: str) -> None:
        await self._changed(person_id)

    async def _changed(self, person_id: str) -> None:
        try:
            room_id = await find_current(self._rooms, PersonId(person_id))
        except NotInARoom:
            return
        await tell_room(self._rooms, room_id, RoomChanged(room_id=room_id))
