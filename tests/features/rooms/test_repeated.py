"""Requests that a client repeats because the answer was lost: one room, and one message, for one idempotency key."""

import asyncio
from itertools import count

import httpx
import pytest

from satchel.features.rooms.model import Person, PersonId, RoomId
from satchel.features.rooms.service.chat import read_chat, say
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_open import NewRoom, open_new_room
from tests.application import Caller, Satchel
from tests.features.rooms.given import guest, hearing, joined, lives_through, opened, rooms_of, said, slug

MOMENTS = pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])


async def codes(ann: Caller) -> list[str]:
    return [room["code"] for room in (await ann("GET", "/rooms/mine")).json()["rooms"]]


async def test_a_repeated_key_opens_one_room_also_at_once(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    async def open_one(caller: Caller, key: str = "key", **wish: str) -> httpx.Response:
        return await caller("POST", "/rooms", json=wish, headers={"idempotency-key": key})

    answers = await asyncio.gather(*(open_one(ann) for _ in range(4)))
    assert len({(answer.status_code, answer.json()["room_id"]) for answer in answers}) == 1
    (code,) = await codes(ann)
    # A later repeat leaves the owner where they are.
    other = await open_one(ann, "other")
    assert (await open_one(ann)).json()["code"] == code
    assert (await ann("GET", "/rooms/current")).json()["room_id"] == other.json()["room_id"]
    assert slug(await open_one(ann, name="Another")) == (422, "key-reused")
    # The key is its owner's alone, and one that was refused is free again.
    assert (await open_one(bob)).json()["code"] != code
    assert (await open_one(ann, "odd", name="x" * 100)).status_code == 422
    assert (await open_one(ann, "odd")).status_code == 201


@MOMENTS
async def test_a_room_is_opened_once_for_a_key_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, *, afterwards: bool
) -> None:
    rooms, owner = rooms_of(satchel), Person(PersonId(ann.user_id), "ann", "member")
    tried: list[RoomId] = []
    for number in count(1):
        key = f"key-{number}"

        async def open_one(mortal: Rooms, key: str = key) -> None:
            await open_new_room(mortal, owner, NewRoom(), key)

        is_done = await lives_through(rooms, number, open_one, afterwards=afterwards)
        satchel.clock.advance(11)  # the lease of a server that died
        room_id = await open_new_room(rooms, owner, NewRoom(), key)
        (room,) = (await ann("GET", "/rooms/mine")).json()["rooms"]
        assert room["room_id"] == room_id
        assert (await ann("GET", "/rooms/current")).json()["room_id"] == room_id
        assert (await joined(await guest(satchel), room))["room_id"] == room_id
        assert (await ann("DELETE", f"/rooms/{room_id}")).status_code == 204
        tried.append(room_id)
        if is_done:
            break
    assert len(tried) > 5


async def test_a_repeated_key_says_a_message_once_also_at_once(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, room)

    async def say_it(caller: Caller, text: str = "hello", key: str = "key") -> httpx.Response:
        path = f"/rooms/{room['room_id']}/chat"
        return await caller("POST", path, json={"text": text}, headers={"idempotency-key": key})

    answers = await asyncio.gather(*(say_it(ann) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {201}
    async with hearing(satchel.stores.ephemeral, gus) as heard:
        again = await say_it(ann)
        await say_it(ann, key="new")
        assert (await heard.until("room.chat"))["message"]["message_id"] != again.json()["message_id"]
    assert [again.json()] * 4 == [answer.json() for answer in answers]
    assert slug(await say_it(ann, "another")) == (422, "key-reused")
    await say_it(gus)
    assert await said(ann, room) == ["hello"] * 3


@MOMENTS
async def test_a_message_is_said_once_for_a_key_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, *, afterwards: bool
) -> None:
    rooms, me = rooms_of(satchel), PersonId(ann.user_id)
    room_id = RoomId((await opened(ann))["room_id"])
    for number in count(1):

        async def say_it(mortal: Rooms, number: int = number) -> None:
            await say(mortal, room_id, me, f"message {number}", f"key-{number}")

        is_done = await lives_through(rooms, number, say_it, afterwards=afterwards)
        await say_it(rooms)
        page = await read_chat(rooms, room_id, me, 100, None)
        assert [message.text for message in page.messages] == [f"message {each}" for each in range(1, number + 1)]
        satchel.clock.advance(1)
        if is_done:
            break
