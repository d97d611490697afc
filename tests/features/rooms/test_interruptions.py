"""Servers that die in the middle of what they do in a room: nothing is lost, and nothing is left once it is over."""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any, cast

import pytest

from satchel.features.rooms.model import FileId, Person, PersonId, RoomId
from satchel.features.rooms.records import ENDED, ENDING, FILE_JOURNAL, LISTED, REPAIRED, REPAIRS
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_blobs import Content
from satchel.features.rooms.service.room_close import close_room, keep_rooms
from satchel.features.rooms.service.room_file_add import Brought, keep_upload
from satchel.features.rooms.service.room_files import delete_file
from satchel.features.rooms.service.room_join import join
from satchel.features.rooms.service.room_open import NewRoom, open_new_room
from satchel.features.rooms.service.room_repair import repair_rooms
from satchel.features.rooms.service.room_share import Sharing, share_from_shelf
from satchel.features.shelf.adapters import ShelfFiles
from satchel.kernel.ids import new_id
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Delete, Exists, HashAll
from tests.application import Caller, Satchel
from tests.features.rooms.given import (
    Watched,
    content,
    files,
    guest,
    joined,
    left_of,
    lives_through,
    objects,
    opened,
    people,
    rooms_of,
    sent,
)
from tests.features.shelf.given import made, shelf_of, uploaded

MOMENTS = pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])


async def arrived(satchel: Satchel, room: dict[str, Any], caller: Caller, body: bytes) -> Brought:
    """An upload that is complete and waits to be taken over."""

    async def stream() -> AsyncGenerator[bytes]:
        yield body

    upload_id = new_id(satchel.clock)
    key = f"uploads/{upload_id}"
    await satchel.stores.objects.put(key, stream())
    return Brought(
        room_id=RoomId(room["room_id"]),
        file_id=FileId(upload_id),
        by=PersonId(caller.user_id),
        to=None,
        folders=[],
        content=Content(key=key, name="a.txt", size_bytes=len(body), sha256=hashlib.sha256(body).hexdigest()),
        content_type="text/plain",
    )


async def nothing_is_left(satchel: Satchel, rooms: Sequence[dict[str, Any]], **ids: str) -> None:
    """Once they have been looked after for the last time; twice, for those that the first round has to end."""
    for _ in range(2):
        satchel.clock.advance(timedelta(hours=25))
        await satchel.housekeep()
    for room in rooms:
        assert await left_of(satchel, room, **ids) == []
    assert await objects(satchel) == []


@MOMENTS
@pytest.mark.parametrize("body", [b"shared", b"own"])
async def test_an_upload_is_kept_once_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, body: bytes, *, afterwards: bool
) -> None:
    rooms = rooms_of(satchel)
    used: list[dict[str, Any]] = []
    for number in count(1):
        room = await opened(ann)
        used.append(room)
        await sent(ann, room, "b.txt", b"shared")
        brought = await arrived(satchel, room, ann, body)

        async def keep(mortal: Rooms, brought: Brought = brought) -> None:
            await keep_upload(mortal, brought)

        is_done = await lives_through(rooms, number, keep, afterwards=afterwards)
        assert (await keep_upload(rooms, brought)).file_id == brought.file_id
        assert brought.file_id in [file["file_id"] for file in await files(ann, room)]
        assert len(await files(ann, room)) == 2
        assert (await content(ann, room, brought.file_id)).content == body
        if is_done:
            break
    await nothing_is_left(satchel, used, person_id=ann.user_id, sha256=hashlib.sha256(body).hexdigest())


@MOMENTS
async def test_a_room_is_closed_wherever_the_server_dies(satchel: Satchel, ann: Caller, *, afterwards: bool) -> None:
    rooms = rooms_of(satchel)
    used: list[dict[str, Any]] = []
    gus = await guest(satchel)
    for number in count(1):
        room = await opened(ann)
        used.append(room)
        await joined(gus, room)
        await sent(gus, room, "a.txt", b"hello")
        await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "hello"})

        async def close(mortal: Rooms, room: dict[str, Any] = room) -> None:
            await close_room(mortal, RoomId(room["room_id"]), PersonId(ann.user_id))

        if await lives_through(rooms, number, close, afterwards=afterwards):
            break
    await nothing_is_left(satchel, used, person_id=gus.user_id, sha256=hashlib.sha256(b"hello").hexdigest())


@MOMENTS
async def test_who_moves_is_in_one_room_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, bob: Caller, *, afterwards: bool
) -> None:
    rooms = rooms_of(satchel)
    first, second = await opened(ann), await opened(bob)
    for number in count(1):
        gus = await guest(satchel)
        await joined(gus, first)

        async def move(mortal: Rooms, gus: Caller = gus) -> None:
            await join(mortal, Person(PersonId(gus.user_id), "Gus", "guest"), second["code"], address="::1")

        is_done = await lives_through(rooms, number, move, afterwards=afterwards)
        current = (await gus("GET", "/rooms/current")).json()["room_id"]
        assert current in (first["room_id"], second["room_id"])
        await joined(gus, second)
        assert await people(ann, first) == ["ann"]
        assert len(await people(bob, second)) == number + 1
        if is_done:
            break


@MOMENTS
async def test_a_room_that_was_being_opened_ends_like_any_other(
    satchel: Satchel, ann: Caller, *, afterwards: bool
) -> None:
    rooms = rooms_of(satchel)

    async def open_one(mortal: Rooms) -> None:
        await open_new_room(mortal, Person(PersonId(ann.user_id), "ann", "member"), NewRoom())

    for number in count(1):
        if await lives_through(rooms, number, open_one, afterwards=afterwards):
            break
    known = (await ann("GET", "/rooms/mine")).json()["rooms"]
    assert len(known) > 1
    await nothing_is_left(satchel, known, person_id=ann.user_id)


@MOMENTS
async def test_a_file_is_deleted_or_not_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, *, afterwards: bool
) -> None:
    rooms = rooms_of(satchel)
    room = await opened(ann)
    for number in count(1):
        gone, kept = await sent(ann, room, "a", b"%d" % number), await sent(ann, room, "b", b"%d" % number)

        async def delete(mortal: Rooms, gone: str = gone) -> None:
            await delete_file(mortal, RoomId(room["room_id"]), PersonId(ann.user_id), FileId(gone))

        is_done = await lives_through(rooms, number, delete, afterwards=afterwards)
        for file in await files(ann, room):
            assert (await content(ann, room, file["file_id"])).content
        assert (await content(ann, room, kept)).content == b"%d" % number
        if is_done:
            break


async def test_bytes_that_no_count_knows_are_swept_away(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    await sent(ann, room, "a.txt", b"hello")
    (stored,) = await objects(satchel)
    folder, name = stored.rsplit("/", 1)
    sha256 = name.partition(".")[0]
    for lost in (f"{folder}/{sha256}.{new_id(satchel.clock)}", f"room/{new_id(satchel.clock)}/{name}"):
        await satchel.stores.objects.copy(stored, lost)
    satchel.clock.advance(timedelta(hours=2))
    await satchel.housekeep()
    assert await objects(satchel) == [stored]


async def test_looking_after_rooms_costs_as_much_as_is_due(satchel: Satchel, ann: Caller) -> None:
    for _ in range(5):
        await opened(ann, hours=24)
    satchel.clock.advance(timedelta(hours=3))
    await satchel.housekeep()
    watched = Watched()
    assert await keep_rooms(watched.rooms(rooms_of(satchel))) == 0
    assert await repair_rooms(watched.rooms(rooms_of(satchel))) == 0
    assert watched.asked
    assert not [each for each in watched.asked if isinstance(each, HashAll)]


@pytest.mark.parametrize("number", [5, 8])
async def test_rooms_of_earlier_versions_are_repaired_and_end(satchel: Satchel, ann: Caller, number: int) -> None:
    """Those looked at every room and kept no lists of what is due."""
    room = await opened(ann)
    await sent(ann, room, "b.txt", b"shared")
    brought = await arrived(satchel, room, ann, b"own")
    assert not await lives_through(
        rooms_of(satchel), number, lambda mortal: keep_upload(mortal, brought), afterwards=True
    )
    ephemeral = cast("MemoryEphemeral", satchel.stores.ephemeral)
    assert await ephemeral.run(Exists(FILE_JOURNAL(room_id=room["room_id"])))
    for key in (ENDING, ENDED, REPAIRS, REPAIRED, LISTED):
        for name in [name async for name in ephemeral.keys(key.prefix)]:
            await ephemeral.run(Delete(name))
    satchel.clock.advance(timedelta(hours=2))
    await satchel.housekeep()
    assert not await ephemeral.run(Exists(FILE_JOURNAL(room_id=room["room_id"])))
    await nothing_is_left(satchel, [room])


@MOMENTS
async def test_copies_from_a_shelf_are_made_once_for_a_key_wherever_the_server_dies(
    satchel: Satchel, ann: Caller, *, afterwards: bool
) -> None:
    rooms = replace(rooms_of(satchel), shelves=ShelfFiles(shelf_of(satchel)))
    folder = await made(ann, "trip")
    for name in ("a.txt", "b.txt"):
        await uploaded(satchel, ann, name, name.encode(), folder_id=folder)
    used: list[dict[str, Any]] = []
    for number in count(1):
        room = await opened(ann)
        used.append(room)
        sharing = Sharing(room_id=RoomId(room["room_id"]), person_id=PersonId(ann.user_id), entry_ids=[folder])

        async def share(mortal: Rooms, sharing: Sharing = sharing) -> None:
            await share_from_shelf(mortal, sharing, "key")

        is_done = await lives_through(rooms, number, share, afterwards=afterwards)
        satchel.clock.advance(11)  # the lease of a server that died
        copies = await share_from_shelf(rooms, sharing, "key")
        assert sorted(copy.name for copy in copies) == ["a.txt", "b.txt"]
        assert {file["file_id"] for file in await files(ann, room)} == {copy.file_id for copy in copies}
        assert (await ann("DELETE", f"/rooms/{room['room_id']}")).status_code == 204
        if is_done:
            break
    assert len(used) > 5
    await nothing_is_left(satchel, used)
