"""Two things at once in a room: the second happens just before each step of the first, one after another."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from satchel.features.rooms.model import FileId, Person, PersonId, RoomId
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_file_add import keep_upload
from satchel.features.rooms.service.room_files import delete_file
from satchel.features.rooms.service.room_join import join
from satchel.kernel.errors import SatchelError
from tests.application import Caller, Satchel
from tests.features.rooms.given import (
    Meddling,
    content,
    files,
    guest,
    joined,
    objects,
    opened,
    people,
    rooms_of,
    sent,
)
from tests.features.rooms.test_interruptions import arrived


async def crossed(rooms: Rooms, number: int, do: Callable[[Rooms], Awaitable[Any]], other: Callable[[], Any]) -> bool:
    """Whether the other thing came in between; a refusal is as good an end as any."""
    meddling = Meddling(number, other)
    with suppress(SatchelError):
        await do(meddling.rooms(rooms))
    return meddling.calls >= number


async def test_bytes_that_come_while_their_last_file_goes_are_there(satchel: Satchel, ann: Caller) -> None:
    rooms, room = rooms_of(satchel), await opened(ann)
    for number in count(1):
        last = await sent(ann, room, "last", b"same")
        brought = await arrived(satchel, room, ann, b"same")

        async def delete(last: str = last) -> None:
            await delete_file(rooms, RoomId(room["room_id"]), PersonId(ann.user_id), FileId(last))

        was_crossed = await crossed(rooms, number, lambda mine, it=brought: keep_upload(mine, it), delete)
        assert (await content(ann, room, brought.file_id)).content == b"same"
        assert len(await objects(satchel)) == 1
        await ann("DELETE", f"/rooms/{room['room_id']}/files/{brought.file_id}")
        if not was_crossed:
            break
        assert await files(ann, room) == []
        assert await objects(satchel) == []
        assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 0


async def test_a_name_that_is_taken_anew_while_its_old_file_goes_twice_stays_taken(
    satchel: Satchel, ann: Caller
) -> None:
    rooms, room = rooms_of(satchel), await opened(ann)
    for number in count(1):
        old = await sent(ann, room, "name", b"old")

        async def delete(mine: Rooms, old: str = old) -> None:
            await delete_file(mine, RoomId(room["room_id"]), PersonId(ann.user_id), FileId(old))

        async def renew(delete: Callable[[Rooms], Awaitable[None]] = delete) -> None:
            with suppress(SatchelError):
                await delete(rooms)
            await sent(ann, room, "name", b"new")

        was_crossed = await crossed(rooms, number, delete, renew)
        await sent(ann, room, "name", b"newer")
        names = [file["name"] for file in await files(ann, room)]
        assert len(set(names)) == len(names)
        for file in await files(ann, room):
            await ann("DELETE", f"/rooms/{room['room_id']}/files/{file['file_id']}")
        if not was_crossed:
            break


@pytest.mark.parametrize("how", ["removed", "closed"])
async def test_a_file_that_comes_while_its_sender_goes_is_whole_or_not_there(
    satchel: Satchel, ann: Caller, how: str
) -> None:
    rooms = rooms_of(satchel)
    for number in count(1):
        room, gus = await opened(ann), await guest(satchel)
        await joined(gus, room)
        brought = await arrived(satchel, room, gus, b"hello")
        end = f"/people/{gus.user_id}" if how == "removed" else ""

        async def go(room: dict[str, Any] = room, end: str = end) -> None:
            assert (await ann("DELETE", f"/rooms/{room['room_id']}{end}")).status_code == 204

        was_crossed = await crossed(rooms, number, lambda mine, it=brought: keep_upload(mine, it), go)
        if how == "removed":
            for file in await files(ann, room):
                assert (await content(ann, room, file["file_id"])).content == b"hello"
            assert len(await files(ann, room)) == len(await objects(satchel, room))
        elif was_crossed:
            assert await objects(satchel, room) == []
        await ann("DELETE", f"/rooms/{room['room_id']}")
        if not was_crossed:
            break


@pytest.mark.parametrize("how", ["removed", "locked", "closed", "moved", "left"])
async def test_who_comes_in_while_something_else_happens_is_in_one_room_or_none(
    satchel: Satchel, ann: Caller, bob: Caller, how: str
) -> None:
    carol = satchel.caller()
    await carol.sign_up("carol@example.org")
    rooms, other, third = rooms_of(satchel), await opened(bob), await opened(carol)
    for number in count(1):
        room, gus = await opened(ann), await guest(satchel)
        at = f"/rooms/{room['room_id']}"
        await joined(gus, other)

        async def meddle(room: dict[str, Any] = room, at: str = at, gus: Caller = gus) -> None:
            if how == "removed":
                await ann("DELETE", f"{at}/people/{gus.user_id}")
            elif how == "locked":
                await ann("PATCH", at, json={"locked": True})
            elif how == "closed":
                await ann("DELETE", at)
            elif how == "moved":
                await joined(gus, third)
            else:
                await gus("POST", f"{at}/leave")

        gus_comes = Person(PersonId(gus.user_id), "Gus", "guest")
        was_crossed = await crossed(
            rooms, number, lambda mine, who=gus_comes, code=room["code"]: join(mine, who, code, address="::1"), meddle
        )
        current = await gus("GET", "/rooms/current")
        where = current.json()["room_id"] if current.is_success else None
        inside = {
            other["room_id"]: "Gus" in await people(bob, other),
            third["room_id"]: "Gus" in await people(carol, third),
        }
        if (await ann("GET", at)).is_success:
            inside[room["room_id"]] = "Gus" in await people(ann, room)
        assert {room_id for room_id, is_in in inside.items() if is_in} == ({where} if where else set())
        if where:
            await gus("POST", f"/rooms/{where}/leave")
        await ann("DELETE", at)
        if not was_crossed:
            break
