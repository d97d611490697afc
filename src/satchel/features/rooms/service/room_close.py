"""Closes a room, by its owner or by expiry, in repeatable steps until nothing of it is left.

A room is marked closed before anything is deleted. A concurrent change either sees the mark and undoes itself, or came
before it and is deleted here. A crash can leave something of the former, so a room is cleaned up once more an hour
later. Only then is its row deleted.
"""

from datetime import timedelta

from satchel.features.rooms.events import RoomClosed, RoomTurnedAway
from satchel.features.rooms.model import Ending, PersonId, RoomId
from satchel.features.rooms.records import (
    BYTES,
    CALLED,
    CHAT,
    CODE,
    FILE_HASH,
    FILE_JOURNAL,
    FILE_NAME,
    FILES,
    KNOCKS,
    LISTED,
    MEMBERS,
    NAMES,
    OBJECTS_PREFIX,
    OWNED,
    PEOPLE,
    REFS,
    REMOVED,
    ROOM,
    ROOMS,
    SHARES,
    RoomRow,
    read_room,
    room_fields,
)
from satchel.features.rooms.service.context import Rooms, find_owned, state_of
from satchel.features.rooms.service.membership import TOGETHER, clear_current, tell_people
from satchel.features.rooms.service.room_code import LETTERS_REST
from satchel.kernel.clock import from_iso, iso
from satchel.stores.ports.ephemeral import Delete, Get, HashAll, HashDelete, HashGet, HashPut, Put, SetAll, SetRemove

LOOK_AGAIN_AFTER = timedelta(hours=1)


async def close_room(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> None:
    await find_owned(rooms, room_id, person_id)
    await close_at_once(rooms, room_id)


async def close_at_once(rooms: Rooms, room_id: RoomId) -> None:
    """Close a room without asking whose it is. Doing it again changes nothing."""
    await _mark_closed(rooms, room_id, "closed")
    await _tend(rooms, room_id)


async def keep_due_rooms(rooms: Rooms) -> int:
    """Close rooms whose time has come, and continue where closing one crashed. Returns how many. Reads no others."""
    looked_at = await rooms.due.look()
    if not looked_at:
        return 0
    ends = await rooms.ephemeral.together(*(HashGet(ROOMS(), due.name) for due in looked_at))
    now, present, tended = rooms.now(), rooms.due.span_of(rooms.clock()), 0
    for due, when in zip(looked_at, ends, strict=True):
        if when is not None and when.decode() <= now:
            await _tend(rooms, RoomId(due.name))
            tended += 1
        elif when is not None and due.span == present == rooms.due.span_of(from_iso(when.decode())):
            continue  # it ends later in this minute
        await rooms.ephemeral.run(rooms.due.removing(due))
    return tended


async def keep_rooms(rooms: Rooms) -> int:
    """The same until nothing is due, and for rooms from before there were lists of what is due. Returns how many."""
    await _list_all(rooms)
    tended = 0
    while some := await keep_due_rooms(rooms):
        tended += some
    return tended


async def _list_all(rooms: Rooms) -> None:
    """Once for all: earlier versions looked at every room, and listed none."""
    if await rooms.ephemeral.run(Get(LISTED())) is not None:
        return
    known = list((await rooms.ephemeral.run(HashAll(ROOMS()))).items())
    for start in range(0, len(known), TOGETHER):
        part = known[start : start + TOGETHER]
        await rooms.ephemeral.together(
            *(rooms.due.adding(room_id, from_iso(when.decode())) for room_id, when in part),
            *(rooms.repairs.adding(room_id, rooms.clock()) for room_id, _ in part),
        )
    await rooms.ephemeral.run(Put(LISTED(), b"1"))


async def _mark_closed(rooms: Rooms, room_id: RoomId, ending: Ending) -> None:
    now = rooms.now()
    await rooms.ephemeral.together(
        HashPut(ROOM(room_id=room_id), room_fields(closed_at=now, ending=ending)),
        *rooms.ending(room_id, now),
    )


async def _tend(rooms: Rooms, room_id: RoomId) -> None:
    room = await _read(rooms, room_id)
    if room is not None and not room.closed_at:
        if room.expires_at > rooms.now():
            return
        await _mark_closed(rooms, room_id, "expired")
        room = await _read(rooms, room_id)
    if room is not None:
        await _rest_letters(rooms, room)
    await _clear_people(rooms, room_id, room.ending if room else "closed")
    await _clear_files(rooms, room_id)
    await rooms.pictures.delete_below(f"{OBJECTS_PREFIX}{room_id}/")
    await _put_to_rest(rooms, room_id, room)


async def _put_to_rest(rooms: Rooms, room_id: RoomId, room: RoomRow | None) -> None:
    row = ROOM(room_id=room_id)
    if room is None:
        await rooms.ephemeral.together(Delete(row), HashDelete(ROOMS(), room_id))
        return
    owned = SetRemove(OWNED(person_id=room.owner_id), room_id)
    again = from_iso(room.closed_at) + LOOK_AGAIN_AFTER.total_seconds()
    if again <= rooms.clock():
        await rooms.ephemeral.together(owned, Delete(row), HashDelete(ROOMS(), room_id))
        return
    left = room_fields(owner_id=room.owner_id, opened_at=room.opened_at, closed_at=room.closed_at, ending=room.ending)
    await rooms.ephemeral.together(owned, Delete(row), HashPut(row, left), *rooms.ending(room_id, iso(again)))


async def _rest_letters(rooms: Rooms, room: RoomRow) -> None:
    """Nobody else can change the code of this room, so reading it first is safe."""
    if room.code and await rooms.ephemeral.run(Get(CODE(code=room.code))) == room.room_id.encode():
        await rooms.ephemeral.run(Put(CODE(code=room.code), b"", ttl=LETTERS_REST))


async def _clear_people(rooms: Rooms, room_id: RoomId, ending: Ending) -> None:
    members, knocks = await rooms.ephemeral.together(SetAll(MEMBERS(room_id=room_id)), HashAll(KNOCKS(room_id=room_id)))
    await tell_people(rooms, members, RoomClosed(room_id=room_id, reason=ending))
    await tell_people(rooms, knocks, RoomTurnedAway(room_id=room_id))
    await clear_current(rooms, room_id, members)
    keys = (MEMBERS, PEOPLE, CALLED, KNOCKS, REMOVED, CHAT)
    await rooms.ephemeral.together(*(Delete(key(room_id=room_id)) for key in keys))


async def _clear_files(rooms: Rooms, room_id: RoomId) -> None:
    """Delete the keys of each file first, then the list of files."""
    files, refs = await rooms.ephemeral.together(HashAll(FILES(room_id=room_id)), HashAll(REFS(room_id=room_id)))
    hashes = {name.partition(".")[0] for name in refs}
    keys = [
        *(key(file_id=file_id) for file_id in files for key in (FILE_HASH, FILE_NAME)),
        *(BYTES(room_id=room_id, sha256=sha256) for sha256 in hashes),
    ]
    for start in range(0, len(keys), TOGETHER):
        await rooms.ephemeral.together(*map(Delete, keys[start : start + TOGETHER]))
    rest = (FILES, NAMES, REFS, FILE_JOURNAL, SHARES)
    await rooms.ephemeral.together(*(Delete(key(room_id=room_id)) for key in rest))


async def _read(rooms: Rooms, room_id: RoomId) -> RoomRow | None:
    fields, due = await rooms.ephemeral.together(*state_of(room_id))
    return read_room(room_id, fields, due)
