"""Who comes in, who waits, who is put out: as stranger, guest, member, former member and owner."""

import asyncio
from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.rooms.given import (
    begin,
    guest,
    hearing,
    join,
    joined,
    objects,
    opened,
    paths,
    people,
    said,
    send_rest,
    sent,
    slug,
)

# Everything that can be asked of a room by its id, with what is needed to get past reading the request.
FOR_ALL: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "", {}),
    ("GET", "/qr", {}),
    ("POST", "/leave", {}),
    ("POST", "/chat", {"json": {"text": "hello"}}),
    ("GET", "/chat", {}),
    ("GET", "/files", {}),
    ("GET", "/files/{file}/content", {}),
    ("GET", "/files/{file}/preview", {}),
    ("GET", "/archive", {}),
    ("DELETE", "/files/{file}", {}),
]
FOR_MEMBERS: list[tuple[str, str, dict[str, Any]]] = [
    ("PATCH", "", {"json": {"locked": False}}),
    ("DELETE", "", {}),
    ("POST", "/files", {"json": {"shelf": ["x"]}}),
    ("POST", "/knocks/{other}/admit", {}),
    ("DELETE", "/knocks/{other}", {}),
    ("DELETE", "/people/{other}", {}),
]


@pytest.mark.parametrize(("method", "path", "request_"), [*FOR_ALL, *FOR_MEMBERS], ids=str)
async def test_a_room_is_not_there_for_those_who_are_not_in_it(
    satchel: Satchel, ann: Caller, bob: Caller, method: str, path: str, request_: dict[str, Any]
) -> None:
    room = await opened(ann)
    left, removed, outside = await guest(satchel), await guest(satchel), await guest(satchel)
    for each in (left, removed):
        await joined(each, room)
    file_id = await sent(ann, room, "a.txt", b"hello")
    await left("POST", f"/rooms/{room['room_id']}/leave")
    await ann("DELETE", f"/rooms/{room['room_id']}/people/{removed.user_id}")
    end = path.format(other=ann.user_id, file=file_id)
    is_for_members = (method, path, request_) in FOR_MEMBERS
    for caller in (left, removed, outside, bob):
        answers = [
            await caller(method, f"/rooms/{room_id}{end}", **request_)
            for room_id in (room["room_id"], "0" * 26, "x%3Apeople")
        ]
        expected = 401 if is_for_members and caller is not bob else 404
        assert {answer.status_code for answer in answers} == {expected}
        assert len({answer.json()["detail"] for answer in answers}) == 1
    assert (await satchel.caller()(method, f"/rooms/{room['room_id']}{end}", **request_)).status_code == 401
    assert await people(ann, room) == ["ann"]
    assert await said(ann, room) == []
    assert await paths(ann, room) == ["a.txt"]


async def test_only_the_owner_changes_closes_and_puts_out(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    at = f"/rooms/{room['room_id']}"
    for method, path, request in (
        ("PATCH", at, {"json": {"locked": True}}),
        ("DELETE", at, {}),
        ("DELETE", f"{at}/people/{ann.user_id}", {}),
        ("DELETE", f"{at}/knocks/{ann.user_id}", {}),
        ("POST", f"{at}/knocks/{ann.user_id}/admit", {}),
    ):
        assert (await bob(method, path, **request)).status_code == 403
    assert await people(bob, room) == ["ann", "bob"]


async def test_somebody_put_out_hears_that_and_nothing_more_and_does_not_come_back(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    await joined(bob, room)
    async with hearing(satchel.stores.ephemeral, bob) as heard:
        assert (await ann("DELETE", f"/rooms/{room['room_id']}/people/{bob.user_id}")).status_code == 204
        assert await heard.next() == {"type": "room.closed", "room_id": room["room_id"], "reason": "removed"}
        await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "he is gone"})
        await sent(ann, room, "a.txt", b"hello")
        second = await opened(bob)
        assert await heard.next() == {"type": "room.changed", "room_id": second["room_id"]}
    assert slug(await join(bob, room["code"])) == (403, "removed-from-room")
    assert (await bob("GET", "/rooms/current")).json()["room_id"] == second["room_id"]
    assert (await ann("DELETE", f"/rooms/{room['room_id']}/people/{bob.user_id}")).status_code == 404
    assert (await ann("DELETE", f"/rooms/{room['room_id']}/people/{ann.user_id}")).status_code == 409


async def test_a_locked_room_lets_nobody_in_but_keeps_those_who_are(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    changed = await ann("PATCH", f"/rooms/{room['room_id']}", json={"locked": True})
    assert changed.json()["locked"] is True
    gus = await guest(satchel)
    assert slug(await join(gus, room["code"])) == (409, "room-locked")
    assert (await join(bob, room["code"])).status_code == 200
    await ann("PATCH", f"/rooms/{room['room_id']}", json={"locked": False})
    await joined(gus, room)


async def test_who_knocks_is_let_in_by_the_owner(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann, admits="knock")
    gus = await guest(satchel)
    async with hearing(satchel.stores.ephemeral, ann) as by_ann, hearing(satchel.stores.ephemeral, gus) as by_gus:
        waiting = await join(gus, room["code"])
        assert (waiting.status_code, waiting.json()) == (202, {"room": None, "knocking": True})
        assert await by_ann.next() == {"type": "room.changed", "room_id": room["room_id"]}
        (knock,) = (await ann("GET", f"/rooms/{room['room_id']}")).json()["knocks"]
        assert (knock["person_id"], knock["name"], knock["kind"]) == (gus.user_id, "Gus", "guest")
        assert (await gus("GET", f"/rooms/{room['room_id']}")).status_code == 404
        admit = f"/rooms/{room['room_id']}/knocks/{gus.user_id}/admit"
        assert (await ann("POST", admit)).status_code == 204
        assert (await by_gus.until("room.admitted"))["room_id"] == room["room_id"]
    assert (await gus("GET", "/rooms/current")).json()["knocks"] == []
    assert (await ann("GET", f"/rooms/{room['room_id']}")).json()["knocks"] == []
    assert (await ann("POST", admit)).status_code == 404


async def test_who_is_turned_away_is_told_so(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann, admits="knock")
    gus = await guest(satchel)
    await join(gus, room["code"])
    async with hearing(satchel.stores.ephemeral, gus) as heard:
        assert (await ann("DELETE", f"/rooms/{room['room_id']}/knocks/{gus.user_id}")).status_code == 204
        assert await heard.next() == {"type": "room.turned-away", "room_id": room["room_id"]}
    assert await people(ann, room) == ["ann"]


async def test_who_has_gone_elsewhere_after_knocking_stays_there(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room, other = await opened(ann, admits="knock"), await opened(bob)
    gus = await guest(satchel)
    await join(gus, room["code"])
    await joined(gus, other)
    assert (await ann("POST", f"/rooms/{room['room_id']}/knocks/{gus.user_id}/admit")).status_code == 404
    assert (await gus("GET", "/rooms/current")).json()["room_id"] == other["room_id"]
    await join(gus, room["code"])
    assert (await ann("POST", f"/rooms/{room['room_id']}/knocks/{gus.user_id}/admit")).status_code == 204
    assert (await gus("GET", "/rooms/current")).json()["room_id"] == room["room_id"]


@pytest.mark.slow
async def test_no_more_than_fifty_wait_and_knocking_is_throttled(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann, admits="knock")
    first = await guest(satchel)
    for waiting in [first, *[await guest(satchel) for _ in range(49)]]:
        assert (await join(waiting, room["code"])).status_code == 202
    late = await guest(satchel)
    for _ in range(50):
        assert slug(await join(late, room["code"])) == (409, "room-full")
    assert (await join(late, room["code"])).status_code == 429
    assert (await join(first, room["code"])).status_code == 202
    assert len((await ann("GET", f"/rooms/{room['room_id']}")).json()["knocks"]) == 50


async def test_joining_while_the_room_is_locked_closed_or_one_is_put_out_ends_in_one_of_both(
    satchel: Satchel, ann: Caller
) -> None:
    for _ in range(5):
        room = await opened(ann)
        guests = [await guest(satchel) for _ in range(4)]
        at = f"/rooms/{room['room_id']}"
        await joined(guests[0], room)
        await asyncio.gather(
            *(join(each, room["code"]) for each in guests),
            ann("DELETE", f"{at}/people/{guests[0].user_id}"),
            ann("PATCH", at, json={"locked": True}),
        )
        inside = [person["person_id"] for person in (await ann("GET", at)).json()["people"]]
        assert guests[0].user_id not in inside
        for each in guests:
            current = await each("GET", "/rooms/current")
            assert current.status_code == (200 if each.user_id in inside else 404)
        await asyncio.gather(ann("DELETE", at), *(join(each, room["code"]) for each in guests))
        for each in guests:
            assert (await each("GET", "/rooms/current")).status_code == 404


async def test_what_arrives_after_its_sender_was_put_out_is_not_kept(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, room)
    begun = await begin(gus, room, 5, filename="a.txt")
    await ann("DELETE", f"/rooms/{room['room_id']}/people/{gus.user_id}")
    assert slug(await send_rest(gus, begun, b"hello")) == (410, "upload-unwanted")
    assert (await send_rest(gus, begun, b"hello")).status_code == 410
    assert (await begin(gus, room, 5, filename="a.txt")).status_code == 404
    assert await objects(satchel) == []
    assert (await satchel.stores.objects.list("uploads/")).objects == []


async def test_what_arrives_after_the_room_has_ended_is_not_kept(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    begun = await begin(ann, room, 5, filename="a.txt")
    await ann("DELETE", f"/rooms/{room['room_id']}")
    assert slug(await send_rest(ann, begun, b"hello")) == (410, "upload-unwanted")
    assert await objects(satchel) == []
    assert (await satchel.stores.objects.list("uploads/")).objects == []
