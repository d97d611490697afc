"""Open a room, join it, talk in it, and see it end."""

import asyncio
import string
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.features.rooms.model import MAX_CHAT_BYTES, Message
from satchel.features.rooms.records import CHAT, MEMBERS, ROOM, ROOMS, decode_message, encode
from satchel.features.rooms.service.room_close import keep_due_rooms
from satchel.kernel.clock import ManualClock, iso
from satchel.kernel.ids import new_id
from satchel.stores.ports.ephemeral import HashAll, ListPush, ListRange, SetAdd
from tests.application import Caller, Satchel, running_satchel, set_up_code
from tests.features.rooms.given import (
    guest,
    hearing,
    join,
    joined,
    left_of,
    objects,
    opened,
    people,
    relabel,
    rooms_of,
    said,
    send,
    sent,
    slug,
    unhurried,
)


async def test_a_new_room_has_five_letters_a_link_and_its_owner_in_it(ann: Caller) -> None:
    room = await opened(ann, name="  Band\u202e  practice ")
    assert len(room["code"]) == 5
    assert set(room["code"]) <= set(string.ascii_uppercase)
    link, _, key = room["link"].partition("#")
    assert link == f"http://satchel.test/join/{room['code']}"
    assert len(key) == 16
    assert (room["name"], room["you"], room["is_owner"]) == ("Band practice", ann.user_id, True)
    assert [person["name"] for person in room["people"]] == ["ann"]
    assert (await ann("GET", "/rooms/current")).json() == room
    listed = (await ann("GET", "/rooms/mine")).json()
    (mine,) = listed["rooms"]
    assert listed["current"] == mine
    assert mine == {key: room[key] for key in ("room_id", "code", "name", "expires_at")} | {"people": 1}


async def test_a_room_without_a_name_is_called_by_its_letters(ann: Caller) -> None:
    room = await opened(ann)
    assert room["name"] == room["code"]


async def test_only_somebody_with_an_account_opens_a_room(satchel: Satchel) -> None:
    assert (await satchel.caller()("POST", "/rooms", json={})).status_code == 401
    assert (await (await guest(satchel))("POST", "/rooms", json={})).status_code == 401


@pytest.mark.parametrize("wish", [{"hours": 0}, {"hours": 169}, {"name": "x" * 81}, {"admits": "nobody"}])
async def test_a_room_cannot_be_opened_out_of_bounds(ann: Caller, wish: dict[str, object]) -> None:
    assert (await ann("POST", "/rooms", json=wish)).status_code == 422


async def test_nobody_has_more_than_twenty_rooms_open(ann: Caller) -> None:
    first = await opened(ann)
    for _ in range(19):
        await opened(ann)
    assert slug(await ann("POST", "/rooms", json={})) == (409, "too-many-rooms")
    assert len((await ann("GET", "/rooms/mine")).json()["rooms"]) == 20
    assert (await ann("DELETE", f"/rooms/{first['room_id']}")).status_code == 204
    await opened(ann)


async def test_people_join_by_letters_in_any_case_with_and_without_an_account(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    assert (await join(bob, room["code"].lower())).status_code == 200
    assert (await join(gus, f" {room['code'][:2]}-{room['code'][2:]} ")).status_code == 200
    seen = (await gus("GET", "/rooms/current")).json()
    assert {(each["name"], each["kind"], each["is_owner"]) for each in seen["people"]} == {
        ("ann", "member", True),
        ("bob", "member", False),
        ("Gus", "guest", False),
    }
    assert (seen["you"], seen["is_owner"], seen["knocks"]) == (gus.user_id, False, [])


@pytest.mark.parametrize("code", ["", "ABCD", "ABCDEF", "ABCD1", "AB:DE", "ÀBCDE", "room:", "rooms"])
async def test_letters_that_no_room_has_are_unknown_and_leave_one_where_one_is(ann: Caller, code: str) -> None:
    room = await opened(ann)
    assert slug(await join(ann, code)) == (404, "room-unknown")
    assert (await ann("GET", "/rooms/current")).json()["room_id"] == room["room_id"]


async def test_a_class_comes_in_at_once_from_behind_one_address(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", through=unhurried) as satchel:
        teacher = satchel.caller()
        await teacher.sign_up("teacher@example.org")
        room = await opened(teacher)
        pupils = [await guest(satchel) for _ in range(60)]
        answers = await asyncio.gather(*(join(pupil, room["code"]) for pupil in pupils))
        assert [answer.status_code for answer in answers] == [200] * 60


async def test_joining_another_room_leaves_the_present_one(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    first, second = await opened(ann), await opened(bob)
    gus = await guest(satchel)
    await joined(gus, first)
    async with hearing(satchel.stores.ephemeral, gus) as heard, hearing(satchel.stores.ephemeral, ann) as left_behind:
        await joined(gus, second)
        assert await heard.next() == {"type": "room.closed", "room_id": first["room_id"], "reason": "left"}
        assert await left_behind.next() == {"type": "room.changed", "room_id": first["room_id"]}
    assert await people(ann, first) == ["ann"]
    assert await people(bob, second) == ["bob", "Gus"]
    assert (await gus("GET", f"/rooms/{first['room_id']}")).status_code == 404


async def test_who_joins_the_room_that_they_are_in_disturbs_nobody(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    async with hearing(satchel.stores.ephemeral, ann) as heard:
        await joined(bob, room)
        await bob("POST", f"/rooms/{room['room_id']}/chat", json={"text": "back"})
        assert (await heard.next())["type"] == "room.chat"


async def test_two_windows_that_join_two_rooms_at_once_end_in_one(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    first, second = await opened(ann), await opened(bob)
    gus = await guest(satchel)
    await asyncio.gather(*(join(gus, room["code"]) for _ in range(3) for room in (first, second)))
    current = (await gus("GET", "/rooms/current")).json()["room_id"]
    inside = {first["room_id"]: await people(ann, first), second["room_id"]: await people(bob, second)}
    assert [room_id for room_id, names in inside.items() if "Gus" in names] == [current]
    listed = (await gus("GET", "/rooms/mine")).json()
    assert (listed["rooms"], listed["current"]["room_id"]) == ([], current)


async def test_an_owner_who_leaves_comes_back_lock_or_not(ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    assert (await ann("POST", f"/rooms/{room['room_id']}/leave")).status_code == 204
    assert slug(await ann("GET", "/rooms/current")) == (404, "not-in-a-room")
    assert (await ann("GET", f"/rooms/{room['room_id']}")).status_code == 404
    changed = await ann("PATCH", f"/rooms/{room['room_id']}", json={"locked": True})
    assert (changed.json()["locked"], changed.json()["code"]) == (True, room["code"])
    assert await people(bob, room) == ["bob"]
    await joined(ann, room)
    assert (await bob("POST", f"/rooms/{room['room_id']}/leave")).status_code == 204
    assert slug(await join(bob, room["code"])) == (409, "room-locked")


async def test_what_is_said_can_be_read_by_those_who_come_later(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    for number in range(5):
        answer = await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": f" {number}\n"})
        assert answer.status_code == 201
        assert (answer.json()["name"], answer.json()["person_id"]) == ("ann", ann.user_id)
    await joined(bob, room)
    assert await said(bob, room) == ["0", "1", "2", "3", "4"]
    last = (await bob("GET", f"/rooms/{room['room_id']}/chat?limit=2")).json()
    assert ([each["text"] for each in last["messages"]], last["more"]) == (["3", "4"], True)
    before = last["messages"][0]["message_id"]
    earlier = (await bob("GET", f"/rooms/{room['room_id']}/chat", params={"limit": 3, "before": before})).json()
    assert ([each["text"] for each in earlier["messages"]], earlier["more"]) == (["0", "1", "2"], False)
    lost = (await bob("GET", f"/rooms/{room['room_id']}/chat", params={"before": new_id(satchel.clock)})).json()
    assert lost == {"messages": [], "more": False}


@pytest.mark.parametrize("text", ["", " \n ", "\u200b\x00", "x" * 4001])
async def test_a_message_has_something_to_say_and_ends(ann: Caller, text: str) -> None:
    room = await opened(ann)
    assert (await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": text})).status_code == 422


async def test_who_floods_a_room_is_held_back_for_some_seconds(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    say = f"/rooms/{room['room_id']}/chat"
    for _ in range(60):
        assert (await ann("POST", say, json={"text": "x"})).status_code == 201
    assert slug(await ann("POST", say, json={"text": "one too many"})) == (429, "too-many")
    assert (await bob("POST", say, json={"text": "not me"})).status_code == 201
    satchel.clock.advance(10)
    assert (await ann("POST", say, json={"text": "again"})).status_code == 201
    assert (await said(ann, room))[-3:] == ["x", "not me", "again"]


async def test_everybody_hears_messages_in_the_order_of_the_chat(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    texts = [str(number) for number in range(20)]
    async with hearing(satchel.stores.ephemeral, ann) as by_ann, hearing(satchel.stores.ephemeral, bob) as by_bob:
        say = f"/rooms/{room['room_id']}/chat"
        await asyncio.gather(*(caller("POST", say, json={"text": text}) for text in texts for caller in (ann, bob)))
        order = await said(ann, room)
        assert len(order) == 40
        for heard in (by_ann, by_bob):
            assert [(await heard.until("room.chat"))["message"]["text"] for _ in order] == order


async def test_a_room_keeps_its_last_two_thousand_messages(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    earlier = [
        Message(message_id=str(number), person_id=ann.user_id, name="ann", text=str(number), at=room["opened_at"])
        for number in range(2000)
    ]
    chat = CHAT(room_id=room["room_id"])
    await satchel.stores.ephemeral.together(*(ListPush(chat, encode(message)) for message in earlier))
    for number in range(2000, 2003):
        await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": str(number)})
    oldest = (await ann("GET", f"/rooms/{room['room_id']}/chat?limit=1")).json()["messages"][0]["message_id"]
    kept = ["2002"]
    while (page := await _before(ann, room, oldest)) and page["messages"]:
        kept = [each["text"] for each in page["messages"]] + kept
        oldest = page["messages"][0]["message_id"]
    assert kept == [str(number) for number in range(3, 2003)]


async def test_a_chat_takes_so_many_bytes_and_drops_what_is_older(satchel: Satchel, ann: Caller) -> None:
    """Two thousand of the longest messages would be 32 MB."""
    room = await opened(ann)
    long = "\N{MUSICAL SYMBOL G CLEF}" * 3990
    for number in range(80):
        satchel.clock.advance(1)
        answer = await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": f"{number} {long}"})
        assert answer.status_code == 201
    kept = await satchel.stores.ephemeral.run(ListRange(CHAT(room_id=room["room_id"]), 0, -1))
    assert MAX_CHAT_BYTES / 2 < sum(map(len, kept)) <= MAX_CHAT_BYTES
    texts = [decode_message(each).text.partition(" ")[0] for each in kept]
    assert texts == [str(number) for number in range(79, 79 - len(kept), -1)]


async def _before(caller: Caller, room: dict[str, str], message_id: str) -> dict[str, list[dict[str, str]]]:
    query = {"limit": 500, "before": message_id}
    return (await caller("GET", f"/rooms/{room['room_id']}/chat", params=query)).json()


async def test_closing_a_room_takes_everything_away_and_tells_everybody(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, room)
    file_id = await sent(gus, room, "a.txt", b"hello", to=ann.user_id)
    await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "bye"})
    async with hearing(satchel.stores.ephemeral, gus) as heard:
        assert (await ann("DELETE", f"/rooms/{room['room_id']}")).status_code == 204
        assert await heard.next() == {"type": "room.closed", "room_id": room["room_id"], "reason": "closed"}
    for caller in (ann, gus):
        assert (await caller("GET", f"/rooms/{room['room_id']}")).status_code == 404
        assert (await caller("GET", f"/rooms/{room['room_id']}/chat")).status_code == 404
        assert (await caller("GET", f"/rooms/{room['room_id']}/files/{file_id}/content")).status_code == 404
        assert slug(await join(caller, room["code"])) == (404, "room-unknown")
    assert (await ann("GET", "/rooms/mine")).json() == {"rooms": [], "current": None}
    assert await objects(satchel) == []
    satchel.clock.advance(timedelta(hours=25))
    await satchel.housekeep()
    assert await left_of(satchel, room, person_id=gus.user_id, file_id=file_id) == []


async def test_the_letters_of_a_room_that_is_over_rest_for_a_day(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    await ann("DELETE", f"/rooms/{room['room_id']}")
    assert await left_of(satchel, room) == ["roomCode:{code}", "room:{room_id}"]
    satchel.clock.advance(timedelta(hours=2))
    await satchel.housekeep()
    assert await left_of(satchel, room) == ["roomCode:{code}"]
    satchel.clock.advance(timedelta(hours=22))
    assert await left_of(satchel, room) == []


async def test_a_room_ends_by_itself_for_everybody_at_once(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann, hours=1)
    gus = await guest(satchel)
    await joined(gus, room)
    file_id = await sent(gus, room, "a.txt", b"hello")
    satchel.clock.advance(timedelta(hours=1))
    # Before anybody has looked after it: what is over is over.
    assert (await gus("GET", f"/rooms/{room['room_id']}/files/{file_id}/content")).status_code == 404
    assert slug(await join(gus, room["code"])) == (404, "room-unknown")
    async with hearing(satchel.stores.ephemeral, gus) as heard:
        await satchel.housekeep()
        assert await heard.next() == {"type": "room.closed", "room_id": room["room_id"], "reason": "expired"}
    assert await objects(satchel) == []
    satchel.clock.advance(timedelta(hours=25))
    await satchel.housekeep()
    assert await left_of(satchel, room, person_id=gus.user_id, file_id=file_id) == []


async def test_only_rooms_whose_time_has_come_are_looked_at(satchel: Satchel, ann: Caller) -> None:
    four = [await opened(ann, hours=hours) for hours in (1, 5, 1, 5)]
    # The third is put off, and the last ends earlier.
    for room, hours in ((four[2], 3), (four[3], 2)):
        moment = iso(satchel.clock() + timedelta(hours=hours).total_seconds())
        changed = await ann("PATCH", f"/rooms/{room['room_id']}", json={"expires_at": moment})
        assert changed.status_code == 200, changed.text
    rooms = rooms_of(satchel)
    assert await keep_due_rooms(rooms) == 0
    ended: list[str] = []
    for _ in range(5):
        satchel.clock.advance(timedelta(hours=1))
        await keep_due_rooms(rooms)
        rows = await satchel.stores.ephemeral.together(*(HashAll(ROOM(room_id=room["room_id"])) for room in four))
        ended.append("".join(str(number) for number, row in enumerate(rows) if not row or row.get("closed_at")))
    assert ended == ["0", "03", "023", "023", "0123"]
    # An hour after its end each is cleaned up once more, and nothing is left.
    satchel.clock.advance(timedelta(hours=1, minutes=1))
    assert await keep_due_rooms(rooms) > 0
    assert await satchel.stores.ephemeral.run(HashAll(ROOMS())) == {}
    assert await rooms.due.look() == []


async def test_an_owner_puts_the_end_off_within_a_week(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann, hours=1)
    await joined(bob, room)
    later = iso(satchel.clock() + timedelta(days=7).total_seconds())
    changed = await ann("PATCH", f"/rooms/{room['room_id']}", json={"expires_at": later, "name": "Late"})
    assert (changed.json()["expires_at"], changed.json()["name"]) == (later, "Late")
    satchel.clock.advance(timedelta(hours=2))
    await satchel.housekeep()
    await bob.refresh()
    assert await people(bob, room) == ["ann", "bob"]
    await ann.refresh()
    for wrong in ("tomorrow", iso(satchel.clock() - 1), iso(satchel.clock() + 8 * 86400), "2030-04-01T00:00:00"):
        assert (await ann("PATCH", f"/rooms/{room['room_id']}", json={"expires_at": wrong})).status_code == 422


async def test_a_room_outlives_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with running_satchel(tmp_path, clock, sign_up="open") as first:
        ann, gus = first.caller(), await guest(first)
        await ann.sign_up("ann@example.org")
        room = await opened(ann)
        await joined(gus, room)
        await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "hello"})
        file_id = await sent(gus, room, "a.txt", b"hello")
    async with running_satchel(tmp_path, clock, sign_up="open") as second:
        again = second.caller()
        again.tokens = gus.tokens
        assert await people(again, room) == ["ann", "Gus"]
        assert await said(again, room) == ["hello"]
        assert (await again("GET", f"/rooms/{room['room_id']}/files/{file_id}/content")).content == b"hello"
        assert (await again("GET", "/rooms/current")).json()["room_id"] == room["room_id"]


async def test_a_full_room_lets_nobody_in(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    members = MEMBERS(room_id=room["room_id"])
    await satchel.stores.ephemeral.together(*(SetAdd(members, f"guest-{number}") for number in range(498)))
    early, late = await guest(satchel), await guest(satchel)
    answers = await asyncio.gather(join(early, room["code"]), join(late, room["code"]))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    refused = next(answer for answer in answers if answer.status_code == 409)
    assert slug(refused) == (409, "room-full")
    assert len(await people(ann, room)) == 2
    await joined(ann, room)


async def test_the_link_of_a_room_is_drawn_for_those_in_it(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    drawn = await ann("GET", f"/rooms/{room['room_id']}/qr")
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert drawn.text.startswith("<svg")
    assert "sandbox" in drawn.headers["content-security-policy"]
    assert (await bob("GET", f"/rooms/{room['room_id']}/qr")).status_code == 404


async def test_links_lead_to_the_public_address(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", public_url="https://meet.example.org") as public:
        ann = public.caller()
        await ann.sign_up("ann@example.org", invitation=set_up_code(public))
        room = await opened(ann)
        assert room["link"].startswith(f"https://meet.example.org/join/{room['code']}#")


async def test_nothing_of_an_old_room_is_in_a_new_one_with_the_same_letters(satchel: Satchel, ann: Caller) -> None:
    old = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, old)
    await sent(gus, old, "a.txt", b"hello")
    await ann("POST", f"/rooms/{old['room_id']}/chat", json={"text": "old"})
    await ann("DELETE", f"/rooms/{old['room_id']}")
    satchel.clock.advance(timedelta(days=2))
    await ann.sign_in("ann@example.org")
    new = await opened(ann)
    await relabel(satchel, new, old["code"])
    seen = await joined(gus, old)
    assert (seen["room_id"], seen["code"]) == (new["room_id"], old["code"])
    assert await people(gus, new) == ["ann", "Gus"]
    assert await said(gus, new) == []
    assert (await send(gus, old, "b.txt", b"late")).status_code == 404
    assert (await gus("GET", f"/rooms/{new['room_id']}/files")).json()["files"] == []
