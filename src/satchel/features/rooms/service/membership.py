"""Adds people to a room and removes them. Whatever happens concurrently, a person ends in one room or none.

Three keys say who is where: the set of the room, its hash of names, and the person's `userId`. Set and hash always
change in one step. The set decides. `userId` only says where to look, and counts only if the set agrees.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from satchel.features.rooms.events import RoomChanged, RoomClosed
from satchel.features.rooms.model import (
    MAX_PEOPLE,
    Ending,
    Person,
    PersonId,
    RemovedFromRoom,
    RoomFull,
    RoomId,
    RoomLocked,
    RoomUnknown,
)
from satchel.features.rooms.records import (
    CALLED,
    KNOCKS,
    MEMBERS,
    PEOPLE,
    REMOVED,
    WHEREABOUTS,
    PersonRow,
    RoomRow,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, open_room, state_of
from satchel.kernel.errors import SatchelError
from satchel.kernel.look_alikes import skeleton
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Get,
    HashAll,
    HashDelete,
    HashPut,
    Put,
    SetAdd,
    SetAll,
    SetHas,
    SetRemove,
    SetSize,
)

# How many keys one step has at most: the store does nothing else while it lasts.
TOGETHER = 500


async def enter(
    rooms: Rooms,
    room_id: RoomId,
    person: Person,
    names: Mapping[str, str],
    *,
    is_owner: bool = False,
    is_admitted: bool = False,
) -> None:
    """Add a person, then remove them from their previous room, so that a refusal leaves them where they are.

    `names` are those that were in use in the room a moment ago.

    A lock, a removal or the end of the room may have come since the last read, so the step that adds them reads the
    decisive state.
    """
    members, person_id = MEMBERS(room_id=room_id), person.person_id
    name = person.name if is_owner else _own_name(person, names)
    row = PersonRow(name=name, kind=person.kind, joined_at=rooms.now())
    fields, due, is_removed, is_new, size, where, _, _, people, called, *_ = await rooms.ephemeral.together(
        *state_of(room_id),
        SetHas(REMOVED(room_id=room_id), person_id),
        SetAdd(members, person_id),
        SetSize(members),
        Get(WHEREABOUTS(person_id=person_id)),
        rooms.changing(room_id),
        HashPut(PEOPLE(room_id=room_id), {person_id: encode(row)}),
        *names_of(room_id),
    )
    room = open_room(rooms, room_id, fields, due)
    refusal = why_not(room, person_id, is_removed=is_removed, is_admitted=is_admitted)
    if refusal is None and size > MAX_PEOPLE:
        refusal = RoomFull(f"This room is full ({MAX_PEOPLE} people). Try again later.")
    if refusal is not None:
        if is_new:
            await rooms.ephemeral.together(*member_removal(room_id, person_id))
        raise refusal
    if not is_owner:
        row = await _with_own_name(rooms, room_id, person, row, names_in_use(people, called))
    await make_current(rooms, room_id, person_id, row, where, *kept(room_id, person, row.name, called))


async def _with_own_name(
    rooms: Rooms, room_id: RoomId, person: Person, row: PersonRow, names: Mapping[str, str]
) -> PersonRow:
    """Number a person whose name looks like another's in the room.

    Each step that writes a name answers all names. So of two people who come with one name at once, the second to
    write sees the first, and takes another name until nobody has it.
    """
    while (name := _own_name(person, names)) != row.name:
        row = PersonRow(name=name, kind=row.kind, joined_at=row.joined_at)
        _, people, called, *_ = await rooms.ephemeral.together(
            HashPut(PEOPLE(room_id=room_id), {person.person_id: encode(row)}),
            *names_of(room_id),
        )
        names = names_in_use(people, called)
    return row


def names_of(room_id: RoomId) -> tuple[Command[dict[str, bytes]], Command[dict[str, bytes]]]:
    """What to read for `names_in_use`."""
    return HashAll(PEOPLE(room_id=room_id)), HashAll(CALLED(room_id=room_id))


def names_in_use(people: Mapping[str, bytes], called: Mapping[str, bytes]) -> dict[str, str]:
    """By person: the names of those in the room, and of members who were, so that no guest comes as one of them."""
    return {each: name.decode() for each, name in called.items()} | {
        each: decode_person(row).name for each, row in people.items()
    }


def kept(room_id: RoomId, person: Person, name: str, called: Mapping[str, bytes]) -> tuple[Command[Any], ...]:
    """Keep the name of a member for when they are away; the owner, who comes first, in any case."""
    if person.kind == "guest" or (len(called) >= 2 * MAX_PEOPLE and person.person_id not in called):
        return ()
    return (HashPut(CALLED(room_id=room_id), {person.person_id: name.encode()}),)


def _own_name(person: Person, names: Mapping[str, str]) -> str:
    """The name of a person, with a number if it looks like that of somebody else in the room."""
    taken = {skeleton(name) for each, name in names.items() if each != person.person_id}
    name, number = person.name, 1
    while skeleton(name) in taken:
        number += 1
        name = f"{person.name} ({number})"
    return name


def why_not(
    room: RoomRow | None, person_id: PersonId, *, is_removed: bool, is_admitted: bool = False
) -> SatchelError | None:
    """The error that keeps this person out of the room. None for its owner."""
    if room is None:
        return RoomUnknown("No room has this code. Check the code.")
    if room.owner_id == person_id:
        return None
    if is_removed:
        return RemovedFromRoom("The owner removed you from this room.")
    if room.locked and not is_admitted:
        return RoomLocked("This room is locked. Ask its owner to unlock it.")
    return None


async def make_current(
    rooms: Rooms, room_id: RoomId, person_id: PersonId, row: PersonRow, where: bytes | None, *more: Command[Any]
) -> None:
    """Make a room that a person is in, or was just admitted to, their only room; `where` they were a moment ago.

    One step adds them, and removes them from the room that they are thought to be in. If they were in another, it is
    repeated for that one, so the last caller moves them from where they really are.
    """
    whereabouts = WHEREABOUTS(person_id=person_id)
    left: set[RoomId] = set()
    while True:
        expected = _other_room(where, room_id)
        found, fields, due, is_removed, *_, members = await rooms.ephemeral.together(
            Get(whereabouts),
            *state_of(room_id),
            SetHas(REMOVED(room_id=room_id), person_id),
            Put(whereabouts, room_id.encode()),
            SetAdd(MEMBERS(room_id=room_id), person_id),
            HashPut(PEOPLE(room_id=room_id), {person_id: encode(row)}),
            HashDelete(KNOCKS(room_id=room_id), person_id),
            rooms.changing(room_id),
            *more,
            *(member_removal(expected, person_id) if expected else ()),
            SetAll(MEMBERS(room_id=room_id)),
        )
        left |= {expected} if expected else set()
        if _other_room(found, room_id) in (None, expected):
            break
        where = found
    for each in left:
        await tell_of_leaving(rooms, each, person_id, "left")
    refusal = why_not(open_room(rooms, room_id, fields, due), person_id, is_removed=is_removed, is_admitted=True)
    if refusal is not None:
        await remove_member(rooms, room_id, person_id)
        raise refusal
    await _publish(rooms, tell(members, RoomChanged(room_id=room_id)))


async def remove_member(rooms: Rooms, room_id: RoomId, person_id: PersonId, *more: Command[Any]) -> None:
    """Remove a person from the room in one step. If they have joined another meanwhile, that is restored."""
    whereabouts = WHEREABOUTS(person_id=person_id)
    where, *_ = await rooms.ephemeral.together(
        Get(whereabouts), Delete(whereabouts), *member_removal(room_id, person_id), *more
    )
    await _restore_other_rooms(rooms, room_id, {person_id: where})


def member_removal(room_id: RoomId, person_id: PersonId) -> tuple[Command[Any], Command[Any]]:
    return SetRemove(MEMBERS(room_id=room_id), person_id), HashDelete(PEOPLE(room_id=room_id), person_id)


async def clear_current(rooms: Rooms, room_id: RoomId, person_ids: Iterable[str]) -> None:
    """Clear the `userId` of these people, who were in the room."""
    wanted = list(person_ids)
    for start in range(0, len(wanted), TOGETHER):
        part = wanted[start : start + TOGETHER]
        keys = [WHEREABOUTS(person_id=person_id) for person_id in part]
        taken = await rooms.ephemeral.together(*map(Get, keys), *map(Delete, keys))
        await _restore_other_rooms(rooms, room_id, dict(zip(part, taken, strict=False)))


async def _restore_other_rooms(rooms: Rooms, room_id: RoomId, taken: Mapping[str, bytes | None]) -> None:
    """The store has no conditional delete. So the value is removed, whatever it was, and put back if it was not this
    room, unless a newer value is there."""
    for person_id, where in taken.items():
        if where and where != room_id.encode():
            await rooms.ephemeral.run(Put(WHEREABOUTS(person_id=person_id), where, only_if_absent=True))


async def tell_of_leaving(rooms: Rooms, room_id: RoomId, person_id: PersonId, why: Ending) -> None:
    """Tell every window of the person who left, and the others in the room."""
    left = await rooms.ephemeral.run(SetAll(MEMBERS(room_id=room_id)))
    await _publish(
        rooms,
        [
            *tell([person_id], RoomClosed(room_id=room_id, reason=why)),
            *tell(left - {person_id}, RoomChanged(room_id=room_id)),
        ],
    )


async def tell_room(rooms: Rooms, room_id: RoomId, event: LiveEvent) -> None:
    await _publish(rooms, tell(await rooms.ephemeral.run(SetAll(MEMBERS(room_id=room_id))), event))


async def tell_people(rooms: Rooms, person_ids: Iterable[str], event: LiveEvent) -> None:
    await _publish(rooms, tell(person_ids, event))


async def _publish(rooms: Rooms, commands: Sequence[Command[Any]]) -> None:
    if commands:
        await rooms.ephemeral.together(*commands)


def _other_room(whereabouts: bytes | None, room_id: RoomId) -> RoomId | None:
    other = RoomId((whereabouts or b"").decode())
    return other if other and other != room_id else None
