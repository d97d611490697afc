"""Giving out links: to what one has and nothing else, under conditions that make sense."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from satchel.features.links.records import LINK
from satchel.kernel.clock import iso
from tests.application import Caller, Satchel
from tests.features.links.given import give, given, given_file, listed, read, slug
from tests.features.rooms.given import guest, opened
from tests.features.shelf.given import made, uploaded

REFUSED: list[dict[str, Any]] = [
    {"downloads": 0},
    {"downloads": 100_001},
    {"downloads": -1},
    {"downloads": "3"},
    {"max_bytes": 0},
    {"max_bytes": 5},
    {"note": "x" * 501},
    {"name": "x" * 201},
    {"password": "short"},
    {"password": "x" * 257},
    {"expires_at": "2001-01-01T00:00:00Z"},
    {"expires_at": "1970-01-01T00:00:00Z"},
    {"expires_at": "9999-01-01T00:00:00Z"},
    {"expires_at": "2040-01-01T00:00:00"},
    {"expires_at": "tomorrow"},
    {"downlods": 3},
]


async def test_a_link_to_a_file_is_shown_as_it_was_wished_for(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "song.txt", b"la la")
    end = iso(satchel.clock() + timedelta(days=7).total_seconds())
    link = await given(
        ann,
        "file",
        file.file_id,
        name="  Our   song ",
        note="Listen to this.\nPlease.",
        password="swordfish",
        expires_at=end,
        downloads=3,
    )
    token, link_id = link["token"], link["link_id"]
    assert len(token) == 22
    assert link == {
        "link_id": link_id,
        "token": token,
        "address": f"http://satchel.test/l/{token}",
        "thing": {"kind": "file", "id": file.file_id, "name": "song.txt", "is_there": True},
        "name": "Our song",
        "note": "Listen to this.\nPlease.",
        "has_password": True,
        "starts_at": None,
        "alias": None,
        "expires_at": end,
        "downloads_limit": 3,
        "downloads_used": 0,
        "downloads_open": 0,
        "max_bytes": None,
        "received_bytes": 0,
        "may_add": False,
        "state": "active",
        "created_at": iso(satchel.clock()),
        "badge_address": None,
        "opens": 0,
        "people": 0,
        "downloads": 0,
        "last_at": None,
        "previews": 0,
    }
    assert await read(ann, link) == link


async def test_a_password_is_kept_only_as_a_hash(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password="swordfish")
    row = await LINK.get(satchel.stores.tables, token=link["token"])
    assert row is not None
    assert row.password.startswith("$argon2id$")


async def test_folders_rooms_and_requests_can_be_linked(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "Holiday")
    room = await opened(ann, name="Choir")
    folder = await given(ann, "folder", folder_id)
    asking = await given(ann, "request", folder_id, name="Your photos", max_bytes=10**9)
    door = await given(ann, "room", room["room_id"])
    assert folder["thing"] == {"kind": "folder", "id": folder_id, "name": "Holiday", "is_there": True}
    assert (asking["thing"]["kind"], asking["name"], asking["max_bytes"]) == ("request", "Your photos", 10**9)
    assert door["thing"] == {"kind": "room", "id": room["room_id"], "name": "Choir", "is_there": True}
    assert {each["state"] for each in (folder, asking, door)} == {"active"}


async def test_every_link_to_one_thing_has_a_token_of_its_own(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "file.txt", b"x")
    links = [await given(ann, "file", file.file_id) for _ in range(5)]
    assert len({link["token"] for link in links} | {link["link_id"] for link in links}) == 10


async def test_nobody_gives_links_to_what_is_not_theirs(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "file.txt", b"x")
    folder_id = await made(ann, "Folder")
    room = await opened(ann)
    for kind, thing_id in (("file", file.file_id), ("folder", folder_id), ("request", folder_id)):
        assert slug(await give(bob, kind, thing_id)) == (404, "not-found")
    await bob("POST", "/rooms/join", json={"code": room["code"]})
    assert slug(await give(bob, "room", room["room_id"])) == (404, "not-found")
    # A thing of another kind is no such thing.
    assert slug(await give(ann, "folder", file.file_id)) == (404, "not-found")
    assert slug(await give(ann, "file", folder_id)) == (404, "not-found")
    assert await listed(ann) == await listed(bob) == []


@pytest.mark.parametrize("kind", ["file", "folder", "request", "room"])
async def test_there_is_no_link_to_what_is_not_there(ann: Caller, kind: str) -> None:
    for thing_id in ("unknown", "root", "a#b", "%", "x" * 64, "é"):
        assert slug(await give(ann, kind, thing_id)) == (404, "not-found"), thing_id


async def test_conditions_that_make_no_sense_are_refused(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "file.txt", b"x")
    for wishes in REFUSED:
        assert (await give(ann, "file", file.file_id, **wishes)).status_code == 422, wishes
    assert await listed(ann) == []


async def test_only_what_can_be_downloaded_has_a_number_of_downloads(ann: Caller) -> None:
    folder_id, room = await made(ann, "Folder"), await opened(ann)
    assert slug(await give(ann, "request", folder_id, downloads=1)) == (422, "combination-unfit")
    assert slug(await give(ann, "room", room["room_id"], downloads=1)) == (422, "combination-unfit")
    assert slug(await give(ann, "folder", folder_id, max_bytes=1)) == (422, "combination-unfit")


async def test_a_link_needs_a_thing(ann: Caller) -> None:
    ids = ("", "x" * 65)
    things: list[Any] = [{"kind": "poem", "id": "x"}, *({"kind": "file", "id": each} for each in ids), "file:x"]
    bodies: list[Any] = [{}, [], *({"thing": thing} for thing in things)]
    for body in bodies:
        assert (await ann("POST", "/links", json=body)).status_code == 422, body


async def test_words_that_would_turn_the_reading_around_are_taken_out(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, name="a\u202eb\x00c", note="\u2066x\u2069\ty")
    assert (link["name"], link["note"]) == ("abc", "x\ty")


async def test_only_members_give_links(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "file.txt", b"x")
    assert slug(await give(satchel.caller(), "file", file.file_id))[0] == 401
    assert slug(await give(await guest(satchel), "file", file.file_id))[0] == 401


async def test_a_repeated_key_gives_the_same_link_also_at_once(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    body = {"thing": {"kind": "file", "id": file.file_id}, "password": "a long password"}

    async def asked(caller: Caller, **changes: Any) -> httpx.Response:
        return await caller("POST", "/links", json=body | changes, headers={"idempotency-key": "key"})

    answers = await asyncio.gather(*(asked(ann) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["address"] for answer in [*answers, await asked(ann)]}) == 1
    assert len(await listed(ann)) == 1
    assert slug(await asked(ann, name="Another")) == (422, "key-reused")
    # A key is its owner's alone, and one that was refused is free again.
    assert (await asked(bob)).status_code == 404
    theirs = await uploaded(satchel, bob, "b.txt", b"two")
    assert (await asked(bob, thing={"kind": "file", "id": theirs.file_id})).status_code == 201
