"""The chat of a room: send and read messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from satchel.features.rooms.events import RoomChat
from satchel.features.rooms.model import (
    MAX_CHAT_BYTES,
    MAX_MESSAGES,
    Message,
    PersonId,
    RoomId,
    check_text,
    is_room_id,
)
from satchel.features.rooms.records import (
    CHAT,
    CHAT_BYTES,
    MEMBERS,
    PEOPLE,
    ROOM,
    SAID,
    decode_message,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, find_room, missing, open_room, state_of
from satchel.kernel.ids import new_id
from satchel.live import tell
from satchel.stores.patterns.idempotency_key import Claim, IdempotencyKey, decode_claim, encode_claim, order_of
from satchel.stores.ports.ephemeral import HashGet, HashIncrement, HashPut, ListPush, ListRange, ListTrim, Put, SetAll

# Somebody who writes looks at the screen. Keys of all messages that the throttle lets pass must not fill the memory.
_REPEATED_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Said:
    """A page of messages, the oldest first, and whether there are older ones."""

    messages: list[Message]
    more: bool


async def say(
    rooms: Rooms, room_id: RoomId, person_id: PersonId, written: str, idempotency_key: str | None = None
) -> Message:
    """Append the message and publish it in one step, so that everybody sees the order of the list.

    With a key that came before it is the same message. It is appended again unless that is known to be done; who reads
    the list drops what stands in it twice.
    """
    text = check_text(written)
    if not is_room_id(room_id):
        raise missing()
    await rooms.limits.messages.count(person_id)
    members = SetAll(MEMBERS(room_id=room_id))
    fields, due, speaker, hearers = await rooms.ephemeral.together(
        *state_of(room_id), HashGet(PEOPLE(room_id=room_id), person_id), members
    )
    room = open_room(rooms, room_id, fields, due)
    if speaker is None or room is None:
        raise missing()
    await rooms.limits.messages_of_owner.count(room.owner_id)
    claim, key = Claim(made_id=f"{new_id(rooms.clock)} {rooms.now()}", order=order_of(text)), None
    if idempotency_key is not None:
        place = SAID(room_id=room_id, person_id=person_id, key=idempotency_key)
        key = IdempotencyKey(rooms.ephemeral, place)
        earlier = await key.claim(encode_claim(claim).decode(), ttl=_REPEATED_WITHIN)
        claim = claim if earlier is None else decode_claim(earlier)
        claim.check(order_of(text))
    message_id, at = claim.made_id.split()
    message = Message(message_id=message_id, person_id=person_id, name=decode_person(speaker).name, text=text, at=at)
    if claim.done:
        return message
    done = () if key is None else (Put(key.place, encode_claim(claim.finished), ttl=_REPEATED_WITHIN),)
    event, written_down = RoomChat(room_id=room_id, message=message), encode(message)
    chat = CHAT(room_id=room_id)
    fields, due, present, _, _, chat_bytes, *_ = await rooms.ephemeral.together(
        *state_of(room_id),
        members,
        ListPush(chat, written_down),
        ListTrim(chat, 0, MAX_MESSAGES - 1),
        HashIncrement(ROOM(room_id=room_id), CHAT_BYTES, len(written_down)),
        *done,
        *tell(hearers, event),
    )
    if open_room(rooms, room_id, fields, due) is None:
        raise missing()
    if chat_bytes > MAX_CHAT_BYTES:
        await _drop_older(rooms, room_id)
    if newcomers := present - hearers:
        # They joined between the two steps, and may have read the chat before this message was in it.
        await rooms.ephemeral.together(*tell(newcomers, event))
    return message


async def _drop_older(rooms: Rooms, room_id: RoomId) -> None:
    """Keep the last messages that take three quarters of what a chat may take, so that this is seldom done.

    The count only grows until then, also by messages that others push out. It is set to what is left.
    """
    chat, taken, kept = CHAT(room_id=room_id), 0, 0
    for message in await rooms.ephemeral.run(ListRange(chat, 0, -1)):
        if taken + len(message) > MAX_CHAT_BYTES * 3 // 4:
            break
        taken, kept = taken + len(message), kept + 1
    await rooms.ephemeral.together(
        ListTrim(chat, 0, max(kept, 1) - 1), HashPut(ROOM(room_id=room_id), {CHAT_BYTES: b"%d" % taken})
    )


async def read_chat(rooms: Rooms, room_id: RoomId, person_id: PersonId, limit: int, before: str | None) -> Said:
    """The last messages, or those before one. Before a message that is no longer kept there is nothing."""
    await find_room(rooms, room_id, person_id)
    # Positions shift with every new message, so those before one have to be found in one read.
    stop = -1 if before else limit
    said = [decode_message(each) for each in await rooms.ephemeral.run(ListRange(CHAT(room_id=room_id), 0, stop))]
    if before:
        place = next((place for place, each in enumerate(said) if each.message_id == before), len(said))
        said = said[place + 1 :]
    return Said(_once_each(said[:limit][::-1]), more=len(said) > limit)


def _once_each(said: Sequence[Message]) -> list[Message]:
    """Each message where it stands first."""
    return list({each.message_id: each for each in reversed(said)}.values())[::-1]
