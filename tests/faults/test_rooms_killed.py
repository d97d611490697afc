"""Rooms survive the death of their server at every step, and end with nothing left of them."""

import hashlib
import random
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.features.rooms.model import FileId, RoomId
from satchel.features.rooms.records import (
    BYTES,
    ENDING,
    FILE_HASH,
    FILE_NAME,
    FILES,
    MEMBERS,
    NAMES,
    PEOPLE,
    REFS,
    ROOM,
    ROOMS,
    WHEREABOUTS,
    RoomFile,
    decode_file,
    object_key,
    object_name,
)
from satchel.features.rooms.service.room_files import claim_of
from satchel.kernel.clock import from_iso
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName
from satchel.stores.ports.ephemeral import Get, HashAll, SetAll, SetHas
from tests.application import Satchel
from tests.faults.clients import send
from tests.faults.scenes import Moment, Scene, World, check_when_killed
from tests.features.rooms import given

BROUGHT, NEW = random.Random(3).randbytes(3000), random.Random(4).randbytes(2000)
# The first while the rooms are open.
PAUSES = (timedelta(hours=3), timedelta(days=9), timedelta(days=32))
WEEK = 168


class RoomScene(Scene):
    """Something about Ann's room, in which Bob and a guest are and a file is."""

    pauses = PAUSES

    async def prepare(self, world: World) -> None:
        satchel = world.satchel
        for name in ("ann", "bob"):
            world.callers[name] = satchel.caller()
            assert (await world[name].sign_up(f"{name}@example.org")).status_code == 201
        room = await given.opened(world["ann"], name="Choir", hours=WEEK)
        world.callers["gus"] = await given.guest(satchel)
        for name in ("bob", "gus"):
            await given.joined(world[name], room)
        world.known["room"], world.known["code"] = room["room_id"], room["code"]
        world.known["file"] = await given.sent(world["bob"], room, "brought.txt", BROUGHT)
        said = await world["gus"]("POST", f"/rooms/{room['room_id']}/chat", json={"text": "Hello"})
        assert said.status_code == 201, said.text

    async def check(self, world: World) -> None:
        await check_rooms(world.satchel)


async def check_rooms(satchel: Satchel) -> None:
    """In every room files, names, counts and bytes agree; and everybody is in the room that they are said to be in."""
    rooms = await satchel.stores.ephemeral.run(HashAll(ROOMS()))
    due = given.rooms_of(satchel).due
    for room_id, when in rooms.items():
        minute = ENDING(span=str(due.span_of(from_iso(when.decode()))))
        assert await satchel.stores.ephemeral.run(SetHas(minute, room_id)), "nobody would look when its time comes"
    stored = {info.key for info in (await satchel.stores.objects.list("room/")).objects}
    shown: set[str] = set()
    for room_id in map(RoomId, rooms):
        shown |= await check_files(satchel, room_id)
        members, people = await satchel.stores.ephemeral.together(
            SetAll(MEMBERS(room_id=room_id)), HashAll(PEOPLE(room_id=room_id))
        )
        assert members == people.keys()
        for person_id in members:
            assert await satchel.stores.ephemeral.run(Get(WHEREABOUTS(person_id=person_id))) == room_id.encode()
    assert stored == shown


async def check_files(satchel: Satchel, room_id: RoomId) -> set[str]:
    """The objects that the room's files show."""
    ephemeral = satchel.stores.ephemeral
    rows = await ephemeral.run(HashAll(FILES(room_id=room_id)))
    files: list[RoomFile] = []
    for file_id, row in rows.items():
        name = await ephemeral.run(Get(FILE_NAME(file_id=file_id)))
        sha256 = await ephemeral.run(Get(FILE_HASH(file_id=file_id)))
        assert name is not None
        assert sha256 is not None
        file = RoomFile(
            room_id=room_id, file_id=FileId(file_id), name=name.decode(), sha256=sha256.decode(), row=decode_file(row)
        )
        files.append(file)
        assert await read(satchel, file.key) == file.sha256
        assert await ephemeral.run(Get(BYTES(room_id=room_id, sha256=file.sha256))) == file.row.object_id.encode()
    counted, names, fields = await ephemeral.together(
        HashAll(REFS(room_id=room_id)), SetAll(NAMES(room_id=room_id)), HashAll(ROOM(room_id=room_id))
    )
    shown = Counter(object_name(file.sha256, file.row.object_id) for file in files)
    assert {name: int(count) for name, count in counted.items()} == shown
    assert sorted(names) == sorted(claim_of(FileName(file.name), file.row) for file in files)
    used = sum({file.key: file.row.size_bytes for file in files}.values())
    assert int(fields.get("used_bytes", b"0")) == used
    return {object_key(room_id, name) for name in shown}


async def read(satchel: Satchel, key: str) -> str:
    digest = hashlib.sha256()
    async with satchel.stores.objects.read(key) as reading:
        async for piece in reading:
            digest.update(piece)
    return digest.hexdigest()


class UploadOfNewBytes(RoomScene):
    """By a guest, with folders."""

    async def act(self, world: World) -> None:
        described = {"destination": "room", "room": world.known["room"], "relativePath": "a/b/new.txt"}
        await send(world, "gus", "new.txt", NEW, **described)


class UploadOfKnownBytes(RoomScene):
    """Under a name that is taken."""

    async def act(self, world: World) -> None:
        await send(world, "ann", "brought.txt", BROUGHT, destination="room", room=world.known["room"])


class DeletionOfAFile(RoomScene):
    async def act(self, world: World) -> None:
        path = f"/rooms/{world.known['room']}/files/{world.known['file']}"
        answer = await world["bob"]("DELETE", path)
        assert answer.status_code in (204, 404), answer.text
        world.acknowledge("it is deleted")


class DeletionOfSharedBytes(DeletionOfAFile):
    """Which another file goes on showing."""

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        room = {"room_id": world.known["room"]}
        await given.sent(world["ann"], room, "other.txt", BROUGHT)


class Moving(RoomScene):
    """Into another room, and so out of this one."""

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        cleo = world.callers["cleo"] = world.satchel.caller()
        assert (await cleo.sign_up("cleo@example.org")).status_code == 201
        world.known["other"] = (await given.opened(cleo, name="Band", hours=WEEK))["code"]

    async def act(self, world: World) -> None:
        await given.joined(world["bob"], {"code": world.known["other"]})
        world.acknowledge("Bob has moved")


class Closing(RoomScene):
    """By its owner."""

    async def act(self, world: World) -> None:
        answer = await world["ann"]("DELETE", f"/rooms/{world.known['room']}")
        assert answer.status_code in (204, 404), answer.text
        world.acknowledge("it is closed")


class Expiry(RoomScene):
    """Once the time of the room is over, and again later, when its row goes."""

    lasts = timedelta(hours=WEEK + 2)
    pauses = PAUSES[1:]

    async def act(self, world: World) -> None:
        for pause in (timedelta(hours=WEEK), timedelta(hours=2)):
            world.satchel.clock.advance(pause)
            await world.satchel.housekeep()
            world.acknowledge("the house is kept")


class SweepOfRooms(RoomScene):
    """Bytes are lying about of a room that is gone, and of one that is open."""

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        clock = world.satchel.clock
        for room_id in (world.known["room"], new_id(clock)):
            for number in range(2):
                content = f"left {number}".encode()
                name = object_name(hashlib.sha256(content).hexdigest(), new_id(clock))
                await world.satchel.stores.objects.put(object_key(RoomId(room_id), name), stream(content))

    lasts = timedelta(hours=2)

    async def act(self, world: World) -> None:
        world.satchel.clock.advance(self.lasts)
        await world.satchel.housekeep()
        world.acknowledge("the house is kept")


async def stream(content: bytes) -> AsyncGenerator[bytes]:
    yield content


SCENES = [
    UploadOfNewBytes(),
    UploadOfKnownBytes(),
    DeletionOfAFile(),
    DeletionOfSharedBytes(),
    Moving(),
    Closing(),
    Expiry(),
    SweepOfRooms(),
]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
@pytest.mark.parametrize("moment", ["during", "after"])
def test_what_a_kill_at_any_step_cuts_off_is_done_or_not_and_can_be_asked_for_again(
    scene: Scene, moment: Moment, tmp_path: Path
) -> None:
    check_when_killed(scene, tmp_path, moment)
