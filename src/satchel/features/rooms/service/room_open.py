"""Opens a room with its own code, lists the rooms of an owner, and changes their settings."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from satchel.features.rooms.events import RoomChanged
from satchel.features.rooms.model import (
    DEFAULT_LIFE,
    LONGEST_LIFE,
    MAX_ROOMS_OF_ONE,
    Admits,
    Person,
    PersonId,
    RoomId,
    TooManyRooms,
    check_title,
    draw_code,
)
from satchel.features.rooms.records import CODE, MEMBERS, OPEN_LEASE, OPENED, OWNED, ROOM, ROOMS, RoomRow, room_fields
from satchel.features.rooms.service.context import Rooms, find_owned, missing, open_room, state_of
from satchel.features.rooms.service.membership import enter, tell_people
from satchel.features.rooms.service.room_code import DRAWS
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict, Invalid, Unavailable
from satchel.kernel.ids import new_id
from satchel.kernel.suspended import PersonSuspended
from satchel.kernel.unfit import TimeUnfit
from satchel.stores.patterns.idempotency_key import Claim, IdempotencyKey, decode_claim, encode_claim, order_of
from satchel.stores.patterns.lease import turn
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Get,
    HashDelete,
    HashGet,
    HashPut,
    Put,
    SetAdd,
    SetAll,
    SetRemove,
    SetSize,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRoom:
    """What a room shall be. Without a name it is called by its code."""

    name: str = ""
    life: timedelta = DEFAULT_LIFE
    admits: Admits = "anyone"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomChange:
    """What to change of a room. None changes nothing."""

    name: str | None = None
    locked: bool | None = None
    admits: Admits | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Owned:
    """A room of an owner, and how many people are in it."""

    room: RoomRow
    people: int


async def open_new_room(rooms: Rooms, owner: Person, wish: NewRoom, idempotency_key: str | None = None) -> RoomId:
    """Open a room and enter it. With a key that came before, the room that it became, wherever the owner is now."""
    room_id = RoomId(new_id(rooms.clock))
    if idempotency_key is None:
        await _open(rooms, room_id, owner, wish)
        return room_id
    key = IdempotencyKey(rooms.ephemeral, OPENED(person_id=owner.person_id, key=idempotency_key))
    claim = Claim(made_id=room_id, order=order_of(wish.name, wish.life.total_seconds(), wish.admits))
    mine = OPEN_LEASE(person_id=owner.person_id)
    async with turn(rooms.ephemeral, mine, "You are opening a room already. Try again in a moment."):
        if (earlier := await key.claim(encode_claim(claim).decode())) is not None:
            found = decode_claim(earlier)
            found.check(claim.order)
            claim = found
        if not claim.done:
            try:
                await _open(rooms, RoomId(claim.made_id), owner, wish)
            except (Conflict, Invalid):
                await key.release()
                raise
            await key.settle(encode_claim(claim.finished).decode())
    return RoomId(claim.made_id)


async def _open(rooms: Rooms, room_id: RoomId, owner: Person, wish: NewRoom) -> None:
    """Its row is written before its code, so what a crash leaves in between expires like any room."""
    title = check_title(wish.name)
    owned = OWNED(person_id=owner.person_id)
    fields = room_fields(owner_id=owner.person_id, opened_at=rooms.now(), admits=wish.admits)
    *_, count = await rooms.ephemeral.together(
        HashPut(ROOM(room_id=room_id), fields),
        *rooms.ending(room_id, iso(rooms.clock() + wish.life.total_seconds())),
        SetAdd(owned, room_id),
        SetSize(owned),
    )
    if count > MAX_ROOMS_OF_ONE:
        await rooms.ephemeral.together(
            SetRemove(owned, room_id), HashDelete(ROOMS(), room_id), Delete(ROOM(room_id=room_id))
        )
        raise TooManyRooms(f"You have {MAX_ROOMS_OF_ONE} rooms open. Close one first.")
    await _take_letters(rooms, room_id, title)
    await enter(rooms, room_id, owner, {}, is_owner=True)


async def _take_letters(rooms: Rooms, room_id: RoomId, title: str) -> None:
    """Reserve a code, unless an earlier request has: the row names it first, so that closing the room knows of it."""
    row = await rooms.ephemeral.run(HashGet(ROOM(room_id=room_id), "code"))
    if row is not None and await rooms.ephemeral.run(Get(CODE(code=row.decode()))) == room_id.encode():
        return
    for _ in range(DRAWS):
        code = draw_code()
        await rooms.ephemeral.run(HashPut(ROOM(room_id=room_id), room_fields(code=code, name=title or code)))
        if await rooms.ephemeral.run(Put(CODE(code=code), room_id.encode(), only_if_absent=True)):
            return
    raise Unavailable("No room code is free. Try again.")


async def list_owned(rooms: Rooms, person_id: PersonId) -> list[Owned]:
    """The open rooms of an owner, the newest first."""
    found: list[Owned] = []
    for room_id in sorted(map(RoomId, await rooms.ephemeral.run(SetAll(OWNED(person_id=person_id)))), reverse=True):
        fields, due, people = await rooms.ephemeral.together(*state_of(room_id), SetSize(MEMBERS(room_id=room_id)))
        room = open_room(rooms, room_id, fields, due)
        # A room without a code is left from a crash while it was opened, and expires by itself.
        if room is not None and room.code:
            found.append(Owned(room, people))
    return found


async def change_room(rooms: Rooms, room_id: RoomId, person_id: PersonId, change: RoomChange) -> None:
    room = await find_owned(rooms, room_id, person_id)
    fields: dict[str, bytes] = {}
    if change.name is not None:
        fields |= room_fields(name=check_title(change.name) or room.code)
    if change.locked is not None:
        fields |= room_fields(locked=change.locked)
    if change.admits is not None:
        fields |= room_fields(admits=change.admits)
    writes: list[Command[Any]] = [HashPut(ROOM(room_id=room_id), fields)] if fields else []
    if change.expires_at is not None:
        writes += rooms.ending(room_id, _end(rooms, change.expires_at))
    before, due, people, *_ = await rooms.ephemeral.together(
        *state_of(room_id), SetAll(MEMBERS(room_id=room_id)), *writes
    )
    if open_room(rooms, room_id, before, due) is None:
        # It has just ended: we must not postpone its cleanup.
        await rooms.ephemeral.together(*rooms.ending(room_id, due.decode() if due else rooms.now()))
        raise missing()
    await tell_people(rooms, people | {person_id}, RoomChanged(room_id=room_id))


async def lock_rooms_of(rooms: Rooms, suspended: PersonSuspended) -> None:
    """Lock the rooms of somebody who was suspended. Who is in one stays, and can save what is there."""
    for owned in await list_owned(rooms, PersonId(suspended.user_id)):
        await change_room(rooms, owned.room.room_id, owned.room.owner_id, RoomChange(locked=True))


def _end(rooms: Rooms, moment: float) -> str:
    now = rooms.clock()
    if not now < moment <= now + LONGEST_LIFE.total_seconds():
        raise TimeUnfit(f"Choose a time within the next {LONGEST_LIFE.days} days.", field="expires_at")
    return iso(moment)
