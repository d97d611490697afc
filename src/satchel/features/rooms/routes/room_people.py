"""People of a room: join by code, knock, admit, leave, remove."""

from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Body, Reply, Router
from satchel.edge.http.callers import Guest, Member
from satchel.edge.http.request_context import Client
from satchel.features.rooms.model import PersonId, RemovedFromRoom, RoomFull, RoomId, RoomLocked, RoomUnknown
from satchel.features.rooms.routes.views import RoomView, link_to, person_id_of, person_of, room_view
from satchel.features.rooms.service import room_join, room_show
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.errors import Conflict, Forbidden, TooMany


class Letters(Body, frozen=True, kw_only=True):
    """The code of a room, in upper or lower case; and, from a link, what follows its `#`."""

    code: Annotated[str, msgspec.Meta(max_length=64)]
    key: Annotated[str, msgspec.Meta(max_length=64)] = ""


class JoinView(msgspec.Struct, frozen=True, kw_only=True):
    """The room that you have joined; or `knocking`, and a live event says when you are admitted."""

    room: RoomView | None
    knocking: bool


def routes(rooms: Rooms, addresses: Addresses) -> Router:
    router = Router("rooms")

    @router.post("/rooms/join", also=(202,), raises=(RoomUnknown, RoomLocked, RoomFull, RemovedFromRoom, TooMany))
    async def join_room(caller: Member | Guest, body: Letters, client: Client, request: Request) -> Reply[JoinView]:
        """Join a room by its code. You leave the room you are in.

        If the owner has to admit you first, the answer has the status 202 and no room yet. So it is for a guest
        without the key of a link, too, after many wrong codes from their network, or from everywhere.
        """
        person = await person_of(rooms, caller)
        joined = await room_join.join(rooms, person, body.code, key=body.key, address=client.address)
        if joined.is_knocking:
            return Reply(JoinView(room=None, knocking=True), status=202)
        shown = await room_show.show_room(rooms, joined.room_id, person.person_id)
        link = link_to(rooms, shown.room, addresses, request)
        return Reply(JoinView(room=room_view(rooms, shown, person.person_id, link), knocking=False))

    @router.post("/rooms/{room_id}/leave", status=204)
    async def leave_room(caller: Member | Guest, room_id: str) -> None:
        """Leave a room. Your own room stays open."""
        await room_join.leave(rooms, RoomId(room_id), person_id_of(caller))

    @router.post("/rooms/{room_id}/knocks/{person_id}/admit", status=204, raises=(Forbidden, RoomFull))
    async def admit_to_room(member: Member, room_id: str, person_id: str) -> None:
        """Admit a person who knocked at your room."""
        await room_join.admit(rooms, RoomId(room_id), person_id_of(member), PersonId(person_id))

    @router.delete("/rooms/{room_id}/knocks/{person_id}", raises=(Forbidden,))
    async def turn_away_from_room(member: Member, room_id: str, person_id: str) -> None:
        """Decline a person who knocked at your room."""
        await room_join.turn_away(rooms, RoomId(room_id), person_id_of(member), PersonId(person_id))

    @router.delete("/rooms/{room_id}/people/{person_id}", raises=(Forbidden, Conflict))
    async def remove_from_room(member: Member, room_id: str, person_id: str) -> None:
        """Remove a person from your room. They cannot join again.

        A guest can still join as another guest. To keep them out, give the room a new code.
        """
        await room_join.remove(rooms, RoomId(room_id), person_id_of(member), PersonId(person_id))

    return router
