"""The code of a room: finds a room by it, counts wrong ones, proves a whole link, and replaces it by a new one."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from datetime import timedelta

from satchel.features.rooms.events import RoomChanged
from satchel.features.rooms.model import Person, PersonId, RoomId, RoomUnknown, draw_code, read_code
from satchel.features.rooms.records import CODE, MEMBERS, ROOM, RoomRow, room_fields
from satchel.features.rooms.service.context import Rooms, find_owned, missing, open_room, state_of
from satchel.features.rooms.service.membership import tell_people
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.ephemeral import Get, HashPut, Put, SetAll

# For this long, an old link or note with the code of an ended room cannot lead into somebody else's new one.
LETTERS_REST = timedelta(hours=24)
# Attempts among nearly twelve million codes: all would fail only if most codes were in use.
DRAWS = 100
# A reserved code that a crash left over is free again after this.
_RESERVED = timedelta(minutes=10)
_KEY_BYTES = 12


def link_key(rooms: Rooms, room: RoomRow) -> str:
    """What a link has besides the code: nobody guesses it, so whoever has it is never taken for a guesser."""
    made = hmac.digest(rooms.signer.derive("room-link"), f"{room.room_id}:{room.code}".encode(), hashlib.sha256)
    return urlsafe_b64encode(made[:_KEY_BYTES]).decode()


async def find_by_code(rooms: Rooms, person: Person, written: str, address: str) -> RoomRow:
    """The room of a code. Only codes that no room has, and none had of late, count as guesses."""
    code = read_code(written)
    found = await rooms.ephemeral.run(Get(CODE(code=code))) if code else None
    if found is None:
        await rooms.limits.codes.count(person, address)
        raise RoomUnknown("No room has this code. Check the code.")
    room_id = RoomId(found.decode())
    room = open_room(rooms, room_id, *await rooms.ephemeral.together(*state_of(room_id))) if room_id else None
    if room is None or room.code != code:
        raise RoomUnknown("The room of this code has ended, or has a new code. Ask for the new one.")
    return room


async def must_knock(rooms: Rooms, room: RoomRow, person: Person, key: str, address: str) -> bool:
    """Whether this person has to knock: the owner wants it, or others have guessed codes and this may be one more."""
    if room.owner_id == person.person_id:
        return False
    if hmac.compare_digest(key.encode(), link_key(rooms, room).encode()):
        return room.admits == "knock"
    return await rooms.limits.codes.must_knock(person, address) or room.admits == "knock"


async def change_code(rooms: Rooms, room_id: RoomId, owner_id: PersonId) -> None:
    """Give a room a new code. The old one, and links with it, lead nowhere. Who is in the room stays in it.

    The new code is reserved first. One step then names it in the row and rests the old one.
    """
    room = await find_owned(rooms, room_id, owner_id)
    for _ in range(DRAWS):
        code = draw_code()
        if await rooms.ephemeral.run(Put(CODE(code=code), room_id.encode(), only_if_absent=True, ttl=_RESERVED)):
            break
    else:
        raise Unavailable("No room code is free. Try again.")
    # A room without a name of its own is called by its code.
    name = code if room.name == room.code else room.name
    before, due, people, *_ = await rooms.ephemeral.together(
        *state_of(room_id),
        SetAll(MEMBERS(room_id=room_id)),
        HashPut(ROOM(room_id=room_id), room_fields(code=code, name=name)),
        Put(CODE(code=code), room_id.encode()),
        Put(CODE(code=room.code), b"", ttl=LETTERS_REST),
    )
    if open_room(rooms, room_id, before, due) is None:
        await rooms.ephemeral.run(Put(CODE(code=code), b"", ttl=LETTERS_REST))
        raise missing()
    # Changed twice at once, the room has the last code. The one in between rests, too.
    if (between := before["code"].decode()) != room.code:
        await rooms.ephemeral.run(Put(CODE(code=between), b"", ttl=LETTERS_REST))
    await tell_people(rooms, people | {owner_id}, RoomChanged(room_id=room_id))
