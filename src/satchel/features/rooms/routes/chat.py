"""The chat of a room."""

from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Guest, Member
from satchel.features.rooms.model import MAX_TEXT_CHARACTERS, Message, RoomId
from satchel.features.rooms.routes.views import person_id_of
from satchel.features.rooms.service import chat
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.errors import TooMany
from satchel.stores.patterns.idempotency_key import KeyReused


class Saying(Body, frozen=True, kw_only=True):
    """A message to send."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_CHARACTERS)]


class ChatQuery(Query, frozen=True, kw_only=True):
    """How many messages, and before which one. Without that, the last ones."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 100
    before: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class ChatView(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, the oldest first, and whether there are older ones."""

    messages: list[Message]
    more: bool


def routes(rooms: Rooms) -> Router:
    router = Router("rooms")

    @router.post(
        "/rooms/{room_id}/chat",
        status=201,
        raises=(TooMany, KeyReused),
        sends={
            "Idempotency-Key": "letters, digits, - and _: a retry with the same key, within an hour, says nothing twice"
        },
    )
    async def say_in_room(caller: Member | Guest, room_id: str, body: Saying, request: Request) -> Message:
        """Send a message to everybody in the room. The last 2,000 messages are kept."""
        return await chat.say(rooms, RoomId(room_id), person_id_of(caller), body.text, idempotency_key_of(request))

    @router.get("/rooms/{room_id}/chat")
    async def read_room_chat(caller: Member | Guest, room_id: str, query: ChatQuery) -> ChatView:
        """Read the chat, including messages from before you joined."""
        said = await chat.read_chat(rooms, RoomId(room_id), person_id_of(caller), query.limit, query.before)
        return ChatView(messages=said.messages, more=said.more)

    return router
