"""A room as its people see it: members, presence and, for the owner, who waits to be admitted."""

from dataclasses import dataclass

from satchel.features.rooms.model import PersonId, RoomId
from satchel.features.rooms.records import (
    KNOCKS,
    PEOPLE,
    KnockRow,
    PersonRow,
    RoomRow,
    decode_knock,
    decode_person,
)
from satchel.features.rooms.service.context import Rooms, find_owned, find_room
from satchel.stores.ports.ephemeral import HashAll


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A room at one moment: its owner first, then the others in the order of joining. No `devices` means away."""

    room: RoomRow
    people: dict[str, PersonRow]
    devices: dict[str, list[str]]
    knocks: dict[str, KnockRow]


async def show_room(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> Shown:
    """The room for a person in it."""
    return await _show(rooms, await find_room(rooms, room_id, person_id), person_id)


async def show_owned(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> Shown:
    """The room for its owner, who need not be in it."""
    return await _show(rooms, await find_owned(rooms, room_id, person_id), person_id)


async def _show(rooms: Rooms, room: RoomRow, person_id: PersonId) -> Shown:
    room_id = room.room_id
    people, knocks = await rooms.ephemeral.together(HashAll(PEOPLE(room_id=room_id)), HashAll(KNOCKS(room_id=room_id)))
    rows = {each: decode_person(row) for each, row in people.items()}
    order = sorted(rows, key=lambda each: (each != room.owner_id, rows[each].joined_at, each))
    return Shown(
        room=room,
        people={each: rows[each] for each in order},
        devices=await rooms.attending.present(rows),
        knocks={each: decode_knock(row) for each, row in knocks.items()} if room.owner_id == person_id else {},
    )
