"""What reaches a room from elsewhere: other servers, people's connections, and transfers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from satchel.features.rooms.adapters import RoomFiles
from satchel.features.rooms.service.room_presence import RoomAttendance
from satchel.kernel.clock import system_clock
from satchel.kernel.errors import NotFound
from satchel.kernel.ids import new_id
from satchel.live import Presence
from tests.application import Caller, Satchel, running_satchel
from tests.features.rooms.given import (
    content,
    files,
    guest,
    hearing,
    joined,
    opened,
    people,
    rooms_of,
    said,
    sent,
)
from tests.services import S3Server


async def test_two_servers_share_a_room(
    tmp_path: Path, redis_url: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    shared: dict[str, Any] = {
        "sign_up": "open",
        "ephemeral": redis_url,
        "objects": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
        "secret": "s" * 32,
        "table_prefix": f"{new_id(system_clock)}-",
    }
    async with (
        running_satchel(tmp_path / "one", **shared) as one,
        running_satchel(tmp_path / "two", **shared) as two,
    ):
        ann, gus = one.caller(), await guest(two)
        await ann.sign_up("ann@example.org")
        room = await opened(ann)
        await joined(gus, room)
        async with hearing(one.stores.ephemeral, ann) as by_ann, hearing(two.stores.ephemeral, gus) as by_gus:
            at = f"/rooms/{room['room_id']}/chat"
            await asyncio.gather(
                *(caller("POST", at, json={"text": str(number)}) for number in range(20) for caller in (ann, gus))
            )
            order = await said(gus, room)
            assert len(order) == 40
            for heard in (by_ann, by_gus):
                assert [(await heard.until("room.chat"))["message"]["text"] for _ in order] == order
            file_id = await sent(gus, room, "a.txt", b"hello")
            assert (await by_ann.until("room.file"))["file"]["file_id"] == file_id
        assert (await content(ann, room, file_id)).content == b"hello"
        assert await people(gus, room) == await people(ann, room) == ["ann", "Gus"]
        await ann("DELETE", f"/rooms/{room['room_id']}")
        assert (await gus("GET", f"/rooms/{room['room_id']}")).status_code == 404


async def test_who_has_the_room_open_is_seen_and_a_lost_connection_puts_nobody_out(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    await joined(bob, room)
    presence, attendance = Presence(satchel.stores.ephemeral, satchel.clock), RoomAttendance(rooms_of(satchel))
    async with hearing(satchel.stores.ephemeral, ann) as heard:
        await presence.enter(bob.user_id, "c1", "Firefox on Android")
        await attendance.came(bob.user_id)
        assert await heard.next() == {"type": "room.changed", "room_id": room["room_id"]}
        seen = (await ann("GET", "/rooms/current")).json()["people"]
        assert [(each["here"], each["devices"]) for each in seen] == [(False, []), (True, ["Firefox on Android"])]
        await presence.leave(bob.user_id, "c1")
        await attendance.went(bob.user_id)
        assert await heard.next() == {"type": "room.changed", "room_id": room["room_id"]}
    seen = (await ann("GET", "/rooms/current")).json()["people"]
    assert [each["here"] for each in seen] == [False, False]
    await attendance.came("guest-who-is-nowhere")


async def test_files_are_lent_to_those_who_see_them(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    for caller in (bob, gus):
        await joined(caller, room)
    public, private = await sent(ann, room, "a", b"a"), await sent(ann, room, "b", b"b", to=bob.user_id)
    rooms, room_id = rooms_of(satchel), room["room_id"]
    assert [each.file_id for each in await RoomFiles(rooms).lend(room_id, bob.user_id, [private, public])] == [
        private,
        public,
    ]
    with pytest.raises(NotFound):
        await RoomFiles(rooms).lend(room_id, gus.user_id, [public, private])
    heard = await RoomFiles(rooms).audience(room_id, gus.user_id)
    assert heard.owner_id == ann.user_id
    assert {(each.name, each.kind) for each in heard.people} == {("ann", "member"), ("bob", "member"), ("Gus", "guest")}
    with pytest.raises(NotFound):
        await RoomFiles(rooms).audience(room_id, "guest-elsewhere")


async def test_what_was_handed_over_says_by_which_transfer(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    first, second = await sent(ann, room, "a", b"a"), await sent(ann, room, "b", b"b")
    rooms, room_id = rooms_of(satchel), room["room_id"]
    async with hearing(satchel.stores.ephemeral, ann) as heard:
        await RoomFiles(rooms).mark_handed(room_id, [second, first, "gone"], "transfer-1")
        told = [(await heard.next())["file"] for _ in range(2)]
    places = {each["file_id"]: (each["transfer_id"], each["place"]) for each in await files(ann, room)}
    assert places == {second: ("transfer-1", 0), first: ("transfer-1", 1)}
    assert {each["file_id"]: (each["transfer_id"], each["place"]) for each in told} == places
    keys = await RoomFiles(rooms).keys_of(room_id, [first, "gone"])
    assert list(keys) == [first]
    await RoomFiles(rooms).take_back(room_id, [first, second], by=ann.user_id, transfer_id="transfer-2")
    assert len(await files(ann, room)) == 2
    await RoomFiles(rooms).take_back(room_id, [first], by=ann.user_id, transfer_id="transfer-1")
    assert [each["file_id"] for each in await files(ann, room)] == [second]
    await ann("DELETE", f"/rooms/{room_id}")
    assert await RoomFiles(rooms).keys_of(room_id, [second]) == {}
