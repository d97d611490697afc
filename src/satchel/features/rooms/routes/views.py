"""What clients see of rooms, and the caller as a person of a room."""

import msgspec
from starlette.requests import Request

from satchel.edge.api.addresses import Addresses
from satchel.edge.http.callers import Guest, Member
from satchel.features.rooms.model import Admits, Kind, Person, PersonId
from satchel.features.rooms.records import RoomRow
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_code import link_key
from satchel.features.rooms.service.room_show import Shown
from satchel.kernel.errors import Unauthenticated


class OccupantView(msgspec.Struct, frozen=True, kw_only=True):
    """A person in the room. `here` if they have it open, on these `devices`."""

    person_id: str
    name: str
    kind: Kind
    is_owner: bool
    here: bool
    devices: list[str]
    joined_at: str


class KnockView(msgspec.Struct, frozen=True, kw_only=True):
    """A person who waits to be admitted."""

    person_id: str
    name: str
    kind: Kind
    at: str


class RoomView(msgspec.Struct, frozen=True, kw_only=True):
    """A room as a member sees it. `you` is the caller. Only the owner sees `knocks`."""

    room_id: str
    code: str
    link: str
    name: str
    owner_id: str
    you: str
    is_owner: bool
    opened_at: str
    expires_at: str
    locked: bool
    admits: Admits
    used_bytes: int
    quota_bytes: int | None
    people: list[OccupantView]
    knocks: list[KnockView]


def link_to(rooms: Rooms, room: RoomRow, addresses: Addresses, request: Request) -> str:
    """Where a room can be joined. Browsers do not send what follows the `#`, so no log has it."""
    return addresses.of(f"/join/{room.code}#{link_key(rooms, room)}", request)


def person_id_of(caller: Member | Guest) -> PersonId:
    return PersonId(caller.user_id if isinstance(caller, Member) else caller.id)


def kind_of(caller: Member | Guest) -> Kind:
    return "member" if isinstance(caller, Member) else "guest"


async def person_of(rooms: Rooms, caller: Member | Guest) -> Person:
    """The caller as a person of a room, with their current name."""
    if isinstance(caller, Guest):
        return Person(PersonId(caller.id), caller.name, "guest")
    found = await rooms.people.by_id(caller.user_id)
    if found is None:
        raise Unauthenticated("This account no longer exists. Sign in again.")
    return Person(PersonId(caller.user_id), found.name, "member")


def room_view(rooms: Rooms, shown: Shown, you: PersonId, link: str) -> RoomView:
    room = shown.room
    return RoomView(
        room_id=room.room_id,
        code=room.code,
        link=link,
        name=room.name,
        owner_id=room.owner_id,
        you=you,
        is_owner=room.owner_id == you,
        opened_at=room.opened_at,
        expires_at=room.expires_at,
        locked=room.locked,
        admits=room.admits,
        used_bytes=room.used_bytes,
        quota_bytes=rooms.quota_bytes,
        people=[
            OccupantView(
                person_id=person_id,
                name=row.name,
                kind=row.kind,
                is_owner=person_id == room.owner_id,
                here=bool(shown.devices.get(person_id)),
                devices=shown.devices.get(person_id, []),
                joined_at=row.joined_at,
            )
            for person_id, row in shown.people.items()
        ],
        knocks=[
            KnockView(person_id=person_id, name=row.name, kind=row.kind, at=row.at)
            for person_id, row in shown.knocks.items()
        ],
    )
