"""Strangers who guess the codes of rooms: they are slowed down, and nobody else."""

import asyncio
from pathlib import Path
from typing import Any

from satchel.features.rooms.limits import (
    MANY_WRONG_CODES,
    WRONG_CODES_OVERALL,
    WRONG_CODES_PER_ACCOUNT,
    WRONG_CODES_PER_NETWORK,
)
from satchel.features.rooms.model import MAX_PEOPLE
from satchel.features.rooms.records import MEMBERS
from satchel.stores.ports.ephemeral import SetAdd, SetRemove
from tests.application import Caller, Satchel, running_satchel
from tests.features.rooms.given import guest, hearing, join, joined, opened, people, slug, unhurried


def wrong_code(room: dict[str, Any]) -> str:
    return "AAAAA" if room["code"] != "AAAAA" else "BBBBB"


def link_key(room: dict[str, Any]) -> str:
    return room["link"].partition("#")[2]


async def guess(satchel: Satchel, room: dict[str, Any], times: int, *addresses: str) -> list[int]:
    """Wrong codes of one guest, from these addresses by turns."""
    gus = await guest(satchel, address="203.0.113.200")
    callers = [satchel.caller(address) for address in addresses]
    for caller in callers:
        caller.tokens = gus.tokens
    turns = [callers[number % len(callers)] for number in range(times)]
    return [(await join(caller, wrong_code(room))).status_code for caller in turns]


async def everybody(caller: Caller, room: dict[str, Any]) -> list[dict[str, Any]]:
    return (await caller("GET", f"/rooms/{room['room_id']}")).json()["people"]


async def test_after_thirty_typos_behind_one_address_guests_knock_and_everybody_else_comes_in(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    await joined(before := await guest(satchel), room)
    assert set(await guess(satchel, room, WRONG_CODES_PER_NETWORK.times, "127.0.0.1")) == {404}
    # The owner, members and those who are in the room behind the same address.
    await ann("POST", f"/rooms/{room['room_id']}/leave")
    await joined(ann, room)
    await joined(bob, room)
    await joined(before, room)
    # Whoever has the link or the picture of it.
    assert (await join(await guest(satchel, "Lin"), room["code"], link_key(room))).status_code == 200
    # A guest elsewhere.
    assert (await join(await guest(satchel, "Eli", "192.0.2.7"), room["code"])).status_code == 200
    # A guest with the code alone waits for the owner.
    kim = await guest(satchel, "Kim")
    assert (await join(kim, room["code"])).json() == {"room": None, "knocking": True}
    assert (await ann("POST", f"/rooms/{room['room_id']}/knocks/{kim.user_id}/admit")).status_code == 204
    assert "Kim" in await people(ann, room)


async def test_one_home_line_with_many_networks_keeps_nobody_else_out(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    # A /56 has 256 networks of /64; all of them have four times the limit of one.
    home = [f"2001:db8:0:{number:x}::1" for number in range(21)]
    told = await guess(satchel, room, WRONG_CODES_OVERALL.times, *home)
    assert set(told) == {404}
    neighbour = await guest(satchel, "Neighbour", "2001:db8:0:99::1")
    assert (await join(neighbour, room["code"])).status_code == 202
    await joined(ann, room)
    stranger = await guest(satchel, "Sam", "198.51.100.1")
    assert (await join(stranger, room["code"])).status_code == 202
    assert (await join(stranger, room["code"], link_key(room))).status_code == 200
    assert (await join(neighbour, room["code"], link_key(room))).status_code == 200


async def test_who_goes_on_guessing_learns_nothing(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    assert 429 not in await guess(satchel, room, MANY_WRONG_CODES.times - 1, "192.0.2.1")
    assert await guess(satchel, room, 2, "192.0.2.1") == [429, 429]
    refused = await join(await guest(satchel, address="192.0.2.1"), room["code"])
    assert slug(refused) == (429, "too-many")
    assert int(refused.headers["retry-after"]) > 0
    # Signed in, one has attempts of one's own.
    there = satchel.caller("192.0.2.1")
    there.tokens = bob.tokens
    answers = [(await join(there, wrong_code(room))).status_code for _ in range(WRONG_CODES_PER_ACCOUNT.times)]
    assert set(answers) == {404}
    assert slug(await join(there, room["code"])) == (429, "too-many")
    await joined(ann, room)


async def test_guesses_that_come_at_once_are_counted_like_any_others(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", through=unhurried) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        room = await opened(ann)
        gus = await guest(satchel)
        await asyncio.gather(*(join(gus, wrong_code(room)) for _ in range(60)))
        assert (await join(gus, room["code"])).status_code == 202


async def test_the_code_of_an_ended_room_is_no_guess(satchel: Satchel, ann: Caller) -> None:
    ended = await opened(ann)
    await ann("DELETE", f"/rooms/{ended['room_id']}")
    late = await guest(satchel)
    for _ in range(WRONG_CODES_PER_NETWORK.times + 1):
        answer = await join(late, ended["code"])
        assert slug(answer) == (404, "room-unknown")
        assert "ended" in answer.json()["detail"]
    assert (await join(late, (await opened(ann))["code"])).status_code == 200


async def test_a_new_code_shuts_out_who_was_removed(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    await joined(mal := await guest(satchel, "Mal"), room)
    assert (await ann("DELETE", f"/rooms/{room['room_id']}/people/{mal.user_id}")).status_code == 204
    async with hearing(satchel.stores.ephemeral, bob) as heard:
        answer = await ann("POST", f"/rooms/{room['room_id']}/code")
        assert await heard.until("room.changed") == {"type": "room.changed", "room_id": room["room_id"]}
    assert answer.status_code == 200
    changed = answer.json()
    assert changed["code"] != room["code"]
    assert changed["name"] == changed["code"]
    again = await guest(satchel, "Mal, again")
    assert slug(await join(again, room["code"])) == (404, "room-unknown")
    assert slug(await join(again, room["code"], link_key(room))) == (404, "room-unknown")
    assert await people(ann, room) == ["ann", "bob"]
    assert (await join(await guest(satchel), changed["code"], link_key(changed))).status_code == 200
    # The old link is no whole link of the new code.
    assert link_key(changed) != link_key(room)
    await ann("DELETE", f"/rooms/{room['room_id']}")
    assert slug(await join(bob, changed["code"])) == (404, "room-unknown")


async def test_a_code_changed_twice_at_once_leaves_one_code(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", through=unhurried) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        room = await opened(ann)
        path = f"/rooms/{room['room_id']}"
        answers = await asyncio.gather(*(ann("POST", f"{path}/code") for _ in range(3)))
        shown = {room["code"], *(answer.json()["code"] for answer in answers)}
        last = (await ann("GET", path)).json()["code"]
        gus = await guest(satchel)
        opens = {code for code in shown if (await join(gus, code)).status_code == 200}
        assert opens == {last}


async def test_only_the_owner_changes_the_code(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    path = f"/rooms/{room['room_id']}/code"
    assert (await bob("POST", path)).status_code == 404
    await joined(bob, room)
    assert (await bob("POST", path)).status_code == 403
    assert (await (await guest(satchel))("POST", path)).status_code == 401
    assert (await ann("GET", f"/rooms/{room['room_id']}")).json()["code"] == room["code"]


async def test_a_guest_cannot_call_themselves_like_somebody_in_the_room(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    for name in ("ann", "Ann", "аnn", "a n n", "ａｎｎ", "Bea"):
        await joined(await guest(satchel, name), room)
    seen = ["ann", "ann (2)", "Ann (3)", "аnn (4)", "a n n (5)", "ａｎｎ (6)", "Bea"]
    assert sorted(await people(ann, room)) == sorted(seen)
    kinds = {each["name"]: each["kind"] for each in (await ann("GET", f"/rooms/{room['room_id']}")).json()["people"]}
    assert kinds["ann"] == "member"
    assert kinds["ann (2)"] == "guest"


async def test_no_blank_letter_and_no_letter_of_another_script_makes_another_name(
    satchel: Satchel, ann: Caller
) -> None:
    room = await opened(ann)
    alike = ["ann\u3164", "\u2800ann", "a\u115fnn", "\u0251nn", "ᎪNN", "ann\ufe0f"]
    for name in alike:
        await joined(await guest(satchel, name), room)
    numbered = [f"{name} ({number})" for number, name in enumerate(alike, 2)]
    assert sorted(await people(ann, room)) == sorted(["ann", *numbered])


async def test_a_member_cannot_call_themselves_like_the_owner_who_keeps_their_name(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    assert (await bob("PATCH", "/accounts/me", json={"name": "Ann"})).status_code == 200
    room = await opened(ann)
    await joined(bob, room)
    for _ in range(2):
        names = {each["person_id"]: each["name"] for each in await everybody(ann, room)}
        assert names == {ann.user_id: "ann", bob.user_id: "Ann (2)"}
        # Also if the owner comes back when the other is there.
        await ann("POST", f"/rooms/{room['room_id']}/leave")
        await joined(ann, room)


async def test_nobody_takes_the_name_of_the_owner_or_a_member_while_they_are_away(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    await joined(bob, room)
    for each in (bob, ann):
        assert (await each("POST", f"/rooms/{room['room_id']}/leave")).status_code == 204
    for name in ("ann", "Βob", "Gus"):
        await joined(await guest(satchel, name), room)
    for each in (ann, bob):
        await joined(each, room)
    assert sorted(await people(ann, room)) == sorted(["ann", "ann (2)", "bob", "Βob (2)", "Gus"])


async def test_a_member_for_whom_there_is_no_place_leaves_no_name_behind(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    members, others = MEMBERS(room_id=room["room_id"]), [f"guest-{number}" for number in range(MAX_PEOPLE)]
    await satchel.stores.ephemeral.together(*(SetAdd(members, each) for each in others))
    assert slug(await join(bob, room["code"])) == (409, "room-full")
    await satchel.stores.ephemeral.together(*(SetRemove(members, each) for each in others))
    await joined(await guest(satchel, "bob"), room)
    assert sorted(await people(ann, room)) == ["ann", "bob"]


async def test_of_guests_who_come_at_once_no_two_have_one_name(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    guests = [await guest(satchel, "Gus") for _ in range(6)]
    await asyncio.gather(*(joined(each, room) for each in guests))
    assert sorted(await people(ann, room)) == ["Gus", *(f"Gus ({number})" for number in range(2, 7)), "ann"]


async def test_the_room_of_a_suspended_person_is_locked(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(bob)
    await joined(gus := await guest(satchel), room)
    assert (await ann("PATCH", f"/people/{bob.user_id}", json={"suspended": True})).is_success
    assert slug(await join(await guest(satchel, "Late"), room["code"])) == (409, "room-locked")
    assert (await gus("GET", f"/rooms/{room['room_id']}")).json()["locked"]


async def test_an_archive_of_many_chosen_files_is_asked_for_in_one_address(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    ids = "&".join(["file=" + "0" * 26] * 450)
    # None of them is there, but the address itself is right.
    assert (await ann("GET", f"/rooms/{room['room_id']}/archive?{ids}")).status_code == 404
