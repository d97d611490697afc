"""Joins a room by its code, knocks and admits, leaves, and removes people."""

from dataclasses import dataclass

from satchel.features.rooms.events import RoomAdmitted, RoomChanged, RoomTurnedAway
from satchel.features.rooms.model import (
    MAX_KNOCKS,
    NotInARoom,
    Person,
    PersonId,
    RoomFull,
    RoomId,
    is_id,
)
from satchel.features.rooms.records import (
    KNOCKS,
    PEOPLE,
    REMOVED,
    WHEREABOUTS,
    KnockRow,
    RoomRow,
    decode_knock,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, find_owned, find_room, open_room, state_of
from satchel.features.rooms.service.membership import (
    enter,
    kept,
    make_current,
    names_in_use,
    names_of,
    remove_member,
    tell_of_leaving,
    tell_people,
    why_not,
)
from satchel.features.rooms.service.room_code import find_by_code, must_knock
from satchel.kernel.errors import Conflict, NotFound
from satchel.stores.ports.ephemeral import Get, HashAll, HashDelete, HashGet, HashPut, SetAdd, SetHas


@dataclass(frozen=True, slots=True)
class Joined:
    """The room that a person has joined, or waits to be admitted to."""

    room_id: RoomId
    is_knocking: bool


async def join(rooms: Rooms, person: Person, written: str, *, key: str = "", address: str) -> Joined:
    """Join a room by its code. With the `key` of a whole link, what others have guessed does not matter."""
    room = await find_by_code(rooms, person, written, address)
    people, called, is_removed, where = await rooms.ephemeral.together(
        *names_of(room.room_id),
        SetHas(REMOVED(room_id=room.room_id), person.person_id),
        Get(WHEREABOUTS(person_id=person.person_id)),
    )
    if (present := people.get(person.person_id)) is not None:
        # A repeated join by the same link changes nothing, so nobody is told.
        if where != room.room_id.encode():
            row = decode_person(present)
            await make_current(
                rooms, room.room_id, person.person_id, row, where, *kept(room.room_id, person, row.name, called)
            )
        return Joined(room.room_id, is_knocking=False)
    knocks = await must_knock(rooms, room, person, key, address)
    refusal = why_not(room, person.person_id, is_removed=is_removed)
    if refusal is not None:
        raise refusal
    if knocks:
        await _knock(rooms, room, person)
        return Joined(room.room_id, is_knocking=True)
    names = names_in_use(people, called)
    await enter(rooms, room.room_id, person, names, is_owner=room.owner_id == person.person_id)
    return Joined(room.room_id, is_knocking=False)


async def find_current(rooms: Rooms, person_id: PersonId) -> RoomId:
    """The room that a person is in."""
    where = await rooms.ephemeral.run(Get(WHEREABOUTS(person_id=person_id)))
    try:
        room = await find_room(rooms, RoomId((where or b"").decode()), person_id)
    except NotFound:
        raise NotInARoom("You are not in a room. Open one, or join one with its code.") from None
    return room.room_id


async def leave(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> None:
    """Leave a room. An owner who leaves still owns it, and can join again by its code."""
    await find_room(rooms, room_id, person_id)
    await remove_member(rooms, room_id, person_id)
    await tell_of_leaving(rooms, room_id, person_id, "left")


async def remove(rooms: Rooms, room_id: RoomId, owner_id: PersonId, person_id: PersonId) -> None:
    """Remove a person for good. They are banned before they are out, so they cannot join again."""
    await find_owned(rooms, room_id, owner_id)
    if person_id == owner_id:
        raise Conflict("You own this room. Leave it or close it instead.")
    people, knocks = PEOPLE(room_id=room_id), KNOCKS(room_id=room_id)
    if not is_id(person_id) or await rooms.ephemeral.run(HashGet(people, person_id)) is None:
        raise NotFound("This person is not in the room.")
    await remove_member(
        rooms, room_id, person_id, SetAdd(REMOVED(room_id=room_id), person_id), HashDelete(knocks, person_id)
    )
    await tell_of_leaving(rooms, room_id, person_id, "removed")


async def admit(rooms: Rooms, room_id: RoomId, owner_id: PersonId, person_id: PersonId) -> None:
    """Admit a person who knocked, unless they have joined another room since."""
    await find_owned(rooms, room_id, owner_id)
    knock = await _find_knock(rooms, room_id, person_id)
    where = (await rooms.ephemeral.run(Get(WHEREABOUTS(person_id=person_id))) or b"").decode()
    if where not in ("", room_id, knock.came_from):
        await rooms.ephemeral.run(HashDelete(KNOCKS(room_id=room_id), person_id))
        raise NotFound("This person has joined another room.")
    names = names_in_use(*await rooms.ephemeral.together(*names_of(room_id)))
    await enter(rooms, room_id, Person(person_id, knock.name, knock.kind), names, is_admitted=True)
    await tell_people(rooms, [person_id], RoomAdmitted(room_id=room_id))


async def turn_away(rooms: Rooms, room_id: RoomId, owner_id: PersonId, person_id: PersonId) -> None:
    await find_owned(rooms, room_id, owner_id)
    await _find_knock(rooms, room_id, person_id)
    await rooms.ephemeral.run(HashDelete(KNOCKS(room_id=room_id), person_id))
    await tell_people(rooms, [person_id], RoomTurnedAway(room_id=room_id))
    await tell_people(rooms, [owner_id], RoomChanged(room_id=room_id))


async def _knock(rooms: Rooms, room: RoomRow, person: Person) -> None:
    knocks = KNOCKS(room_id=room.room_id)
    where, earlier = await rooms.ephemeral.together(
        Get(WHEREABOUTS(person_id=person.person_id)), HashGet(knocks, person.person_id)
    )
    # Reloading the page while waiting keeps the place in the queue, and tells the owner nothing new.
    if earlier is None:
        await rooms.limits.knocks.count(room.room_id)
    row = KnockRow(name=person.name, kind=person.kind, at=rooms.now(), came_from=(where or b"").decode())
    fields, due, is_removed, _, waiting = await rooms.ephemeral.together(
        *state_of(room.room_id),
        SetHas(REMOVED(room_id=room.room_id), person.person_id),
        HashPut(knocks, {person.person_id: encode(row)}),
        HashAll(knocks),
    )
    current = open_room(rooms, room.room_id, fields, due)
    refusal = why_not(current, person.person_id, is_removed=is_removed)
    if refusal is None and len(waiting) > MAX_KNOCKS:
        refusal = RoomFull("Too many people are waiting to be admitted to this room. Try again later.")
    if refusal is not None:
        await rooms.ephemeral.run(HashDelete(knocks, person.person_id))
        raise refusal
    if earlier is None:
        await tell_people(rooms, [room.owner_id], RoomChanged(room_id=room.room_id))


async def _find_knock(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> KnockRow:
    found = await rooms.ephemeral.run(HashGet(KNOCKS(room_id=room_id), person_id)) if is_id(person_id) else None
    if found is None:
        raise NotFound("This person is not waiting to be admitted.")
    return decode_knock(found)
