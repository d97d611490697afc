"""Rooms: open, read, change, close."""

import io
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.fields import TimeWithZone
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Guest, Member
from satchel.features.rooms.model import (
    DEFAULT_LIFE,
    LONGEST_LIFE,
    MAX_TITLE_CHARACTERS,
    Admits,
    NotInARoom,
    PersonId,
    RoomId,
    TooManyRooms,
)
from satchel.features.rooms.records import RoomRow
from satchel.features.rooms.routes.views import RoomView, link_to, person_id_of, person_of, room_view
from satchel.features.rooms.service import room_close, room_code, room_join, room_open, room_show
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.unfit import TimeUnfit
from satchel.stores.patterns.idempotency_key import KeyReused

Title = Annotated[str, msgspec.Meta(max_length=MAX_TITLE_CHARACTERS)]
HOUR = timedelta(hours=1)
# Our page shows it as an image. Opened by itself, it cannot run a script either.
_QR_HEADERS = {"cache-control": "private, no-cache", "content-security-policy": "sandbox; default-src 'none'"}


class NewRoom(Body, frozen=True, kw_only=True):
    """The settings of the new room. Without a name it is called by its code."""

    name: Title = ""
    hours: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_LIFE // HOUR)] = DEFAULT_LIFE // HOUR
    admits: Admits = "anyone"


class RoomPatch(Body, frozen=True, kw_only=True):
    """What to change. `expires_at` may be up to 7 days from now."""

    name: Title | None = None
    locked: bool | None = None
    admits: Admits | None = None
    expires_at: TimeWithZone | None = None


class OwnedRoom(msgspec.Struct, frozen=True, kw_only=True):
    """A room in a list. `people` is how many are in it."""

    room_id: str
    code: str
    name: str
    expires_at: str
    people: int


class OwnedRooms(msgspec.Struct, frozen=True):
    """The open rooms of the caller, the newest first, and the room that they are in, whosever it is."""

    rooms: list[OwnedRoom]
    current: OwnedRoom | None


def routes(rooms: Rooms, addresses: Addresses) -> Router:
    router = Router("rooms")

    @router.post(
        "/rooms",
        status=201,
        raises=(TooManyRooms, KeyReused),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same room"},
    )
    async def open_room(member: Member, body: NewRoom, request: Request) -> RoomView:
        """Open a room and join it. You leave the room you are in."""
        owner = await person_of(rooms, member)
        wish = room_open.NewRoom(name=body.name, life=timedelta(hours=body.hours), admits=body.admits)
        room_id = await room_open.open_new_room(rooms, owner, wish, idempotency_key_of(request))
        shown = await room_show.show_owned(rooms, room_id, owner.person_id)
        return room_view(rooms, shown, owner.person_id, link_to(rooms, shown.room, addresses, request))

    @router.get("/rooms/current", raises=(NotInARoom,))
    async def read_current_room(caller: Member | Guest, request: Request) -> RoomView:
        """Read the room that you are in."""
        you = person_id_of(caller)
        shown = await room_show.show_room(rooms, await room_join.find_current(rooms, you), you)
        return room_view(rooms, shown, you, link_to(rooms, shown.room, addresses, request))

    @router.get("/rooms/mine")
    async def list_my_rooms(caller: Member | Guest) -> OwnedRooms:
        """List your open rooms, whether you are in them or not, and the room that you are in. Guests open none."""
        you = person_id_of(caller)
        owned = await room_open.list_owned(rooms, you)
        return OwnedRooms([_listed(each.room, each.people) for each in owned], await _current(rooms, you))

    @router.get("/rooms/{room_id}")
    async def read_room(caller: Member | Guest, room_id: str, request: Request) -> RoomView:
        """Read a room that you are in: its settings, its people and their presence."""
        you = person_id_of(caller)
        shown = await room_show.show_room(rooms, RoomId(room_id), you)
        return room_view(rooms, shown, you, link_to(rooms, shown.room, addresses, request))

    @router.get("/rooms/{room_id}/qr", produces="image/svg+xml")
    async def draw_room_link(caller: Member | Guest, room_id: str, request: Request) -> Response:
        """Draw the link to a room that you are in as a QR code."""
        import segno  # brings XML and more: 20 ms of every start, for what few ask

        shown = await room_show.show_room(rooms, RoomId(room_id), person_id_of(caller))
        drawn = io.BytesIO()
        segno.make(link_to(rooms, shown.room, addresses, request), error="m", micro=False).save(
            drawn, kind="svg", scale=8, border=4, dark="#000", light="#fff", xmldecl=False
        )
        return Response(drawn.getvalue(), media_type="image/svg+xml", headers=_QR_HEADERS)

    @router.patch("/rooms/{room_id}", raises=(Forbidden,))
    async def change_room(member: Member, room_id: str, body: RoomPatch, request: Request) -> RoomView:
        """Rename your room, lock it, choose how people join, or when it ends."""
        you = person_id_of(member)
        change = room_open.RoomChange(
            name=body.name,
            locked=body.locked,
            admits=body.admits,
            expires_at=None if body.expires_at is None else _moment(body.expires_at),
        )
        await room_open.change_room(rooms, RoomId(room_id), you, change)
        shown = await room_show.show_owned(rooms, RoomId(room_id), you)
        return room_view(rooms, shown, you, link_to(rooms, shown.room, addresses, request))

    @router.post("/rooms/{room_id}/code", raises=(Forbidden,))
    async def change_room_code(member: Member, room_id: str, request: Request) -> RoomView:
        """Give your room a new code.

        The old code and links with it lead nowhere. Who is in the room stays in it.
        """
        you = person_id_of(member)
        await room_code.change_code(rooms, RoomId(room_id), you)
        shown = await room_show.show_owned(rooms, RoomId(room_id), you)
        return room_view(rooms, shown, you, link_to(rooms, shown.room, addresses, request))

    @router.delete("/rooms/{room_id}", raises=(Forbidden,))
    async def close_room(member: Member, room_id: str) -> None:
        """Close your room. It deletes people, chat and files."""
        await room_close.close_room(rooms, RoomId(room_id), person_id_of(member))

    return router


def _moment(written: str) -> float:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise TimeUnfit("`expires_at` must be a time such as 2030-01-31T12:00:00Z.", field="expires_at")
    return moment.timestamp()


async def _current(rooms: Rooms, you: PersonId) -> OwnedRoom | None:
    try:
        shown = await room_show.show_room(rooms, await room_join.find_current(rooms, you), you)
    except NotFound:
        return None
    return _listed(shown.room, len(shown.people))


def _listed(room: RoomRow, people: int) -> OwnedRoom:
    return OwnedRoom(room_id=room.room_id, code=room.code, name=room.name, expires_at=room.expires_at, people=people)
