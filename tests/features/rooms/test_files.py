"""Files in a room: brought by upload or from a shelf, seen by whom they are for, stored once, gone when deleted."""

import asyncio
import hashlib
import io
import zipfile
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from satchel.features.rooms.model import ALWAYS_FILES, MAX_FILES, MAX_FILES_OF_ONE
from satchel.features.rooms.records import NAMES
from satchel.features.rooms.routes import room_files
from satchel.stores.ports.ephemeral import SetAdd
from tests.application import Caller, Satchel, running_satchel
from tests.features.rooms.given import (
    begin,
    content,
    files,
    guest,
    hearing,
    joined,
    objects,
    opened,
    paths,
    send,
    sent,
    slug,
)
from tests.features.shelf.given import made, uploaded


async def test_a_file_is_there_for_those_who_come_later(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    file_id = await sent(ann, room, "notes.txt", b"hello", relativePath="trip/day 1/notes.txt")
    gus = await guest(satchel)
    await joined(gus, room)
    (file,) = await files(gus, room)
    assert file == {
        "file_id": file_id,
        "name": "notes.txt",
        "folder": "trip/day 1",
        "size_bytes": 5,
        "content_type": "text/plain",
        "sha256": hashlib.sha256(b"hello").hexdigest(),
        "by": ann.user_id,
        "by_name": "ann",
        "at": file["at"],
        "modified_at": None,
        "executable": False,
        "previewable": "text",
        "picture": None,
        "to": None,
        "transfer_id": None,
        "place": None,
    }
    got = await content(gus, room, file_id)
    assert got.content == b"hello"
    assert got.headers["content-disposition"].startswith('attachment; filename="notes.txt"')
    part = await gus("GET", f"/rooms/{room['room_id']}/files/{file_id}/content", headers={"range": "bytes=1-2"})
    assert (part.status_code, part.content) == (206, b"el")
    shown = await gus("GET", f"/rooms/{room['room_id']}/files/{file_id}/preview")
    assert (shown.content, shown.headers["content-type"]) == (b"hello", "text/plain; charset=utf-8")


async def test_an_active_file_is_never_served_as_a_page(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    file_id = await sent(ann, room, "a.html", b"<script>alert(1)</script>", filetype="text/html")
    got = await content(ann, room, file_id)
    assert got.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in got.headers["content-security-policy"]
    shown = await ann("GET", f"/rooms/{room['room_id']}/files/{file_id}/preview")
    assert shown.headers["content-type"] == "text/plain; charset=utf-8"


async def test_everybody_is_told_of_a_file_and_that_it_is_gone(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    async with hearing(satchel.stores.ephemeral, bob) as heard:
        file_id = await sent(ann, room, "a.txt", b"hello")
        assert (await heard.next())["file"] == (await files(bob, room))[0]
        await ann("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")
        assert await heard.next() == {"type": "room.file-gone", "room_id": room["room_id"], "file_id": file_id}


async def test_a_private_file_is_there_for_two_people_only(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    await joined(bob, room)
    await joined(gus, room)
    async with hearing(satchel.stores.ephemeral, ann) as heard:
        file_id = await sent(bob, room, "a.txt", b"secret", to=gus.user_id)
        public = await sent(bob, room, "a.txt", b"hello")
        assert (await heard.next())["file"]["file_id"] == public
    assert [file["file_id"] for file in await files(ann, room)] == [public]
    assert {file["file_id"] for file in await files(gus, room)} == {file_id, public}
    # A name that one may not see takes none from the others.
    assert await paths(bob, room) == ["a.txt", "a.txt"]
    for method, path in (("GET", "/content"), ("GET", "/preview"), ("DELETE", "")):
        assert (await ann(method, f"/rooms/{room['room_id']}/files/{file_id}{path}")).status_code == 404
    assert (await ann("GET", f"/rooms/{room['room_id']}/archive?file={file_id}")).status_code == 404
    assert (await content(gus, room, file_id)).content == b"secret"
    assert (await gus("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")).status_code == 403
    assert (await bob("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")).status_code == 204


async def test_a_private_file_goes_to_somebody_in_the_room(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    assert (await send(ann, room, "a.txt", b"x", to=bob.user_id)).status_code == 404
    assert (await send(ann, room, "a.txt", b"x", to=ann.user_id)).status_code == 409
    assert (await send(ann, room, "a.txt", b"x", to="y" * 500)).status_code == 404


async def test_the_same_name_twice_at_once_gets_a_number(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    callers = [ann, bob] * 4
    await asyncio.gather(*(sent(caller, room, "A.txt", b"%d" % place) for place, caller in enumerate(callers)))
    assert sorted(await paths(ann, room)) == sorted(["A.txt", *(f"A ({number}).txt" for number in range(1, 8))])
    bodies = {(await content(ann, room, file["file_id"])).content for file in await files(ann, room)}
    assert bodies == {b"%d" % place for place in range(8)}


async def test_the_same_bytes_are_stored_once_and_stay_until_the_last_file_goes(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    await joined(bob, room)
    ids = await asyncio.gather(*(sent(bob, room, f"{number}.txt", b"same") for number in range(6)))
    assert len(await objects(satchel)) == 1
    assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 4
    for file_id in ids[:5]:
        assert (await ann("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")).status_code == 204
    assert (await content(ann, room, ids[5])).content == b"same"
    late = await sent(bob, room, "late.txt", b"same")
    assert len(await objects(satchel)) == 1
    await asyncio.gather(
        *(bob("DELETE", f"/rooms/{room['room_id']}/files/{file_id}") for file_id in (ids[5], late, late))
    )
    assert await objects(satchel) == []
    assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 0


async def test_bytes_that_come_while_the_last_file_of_them_goes_are_there(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    file_id = await sent(ann, room, "a.txt", b"same")
    for number in range(10):
        _, new_id = await asyncio.gather(
            ann("DELETE", f"/rooms/{room['room_id']}/files/{file_id}"), sent(ann, room, f"{number}.txt", b"same")
        )
        file_id = new_id
        assert (await content(ann, room, file_id)).content == b"same"
        assert len(await objects(satchel)) == 1
    assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 4


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\Windows\\win.ini", "C:\\Windows\\win.ini"),
        ("a//./../b.txt", "a/b.txt"),
        ("a/\x00/b.txt", "a/b.txt"),
        ("con/.env", "con/.env"),
        ("..", "file"),
        ("room:x:files/a:b", "room:x:files/a:b"),
    ],
)
async def test_no_path_leads_out_of_the_room(satchel: Satchel, ann: Caller, path: str, place: str) -> None:
    room = await opened(ann)
    await sent(ann, room, "", b"x", relativePath=path)
    assert await paths(ann, room) == [place]
    archive = await ann("GET", f"/rooms/{room['room_id']}/archive")
    assert zipfile.ZipFile(io.BytesIO(archive.content)).namelist() == [place]


async def test_a_path_that_is_too_long_is_refused_before_a_byte_is_taken(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    refused = await send(ann, room, "", b"x", relativePath="folder/" * 200 + "a.txt")
    assert slug(refused) == (422, "path-too-long")
    assert await paths(ann, room) == []


async def test_an_archive_has_what_one_may_see_each_under_its_own_path(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann, name="Trip")
    await joined(bob, room)
    first = await sent(ann, room, "a", b"1")
    satchel.clock.advance(1)
    await sent(ann, room, "", b"2", relativePath="a/b.txt")
    await sent(bob, room, "a", b"3", to=ann.user_id)
    whole = await ann("GET", f"/rooms/{room['room_id']}/archive")
    assert whole.headers["content-disposition"].startswith('attachment; filename="Trip.zip"')
    unpacked = zipfile.ZipFile(io.BytesIO(whole.content))
    assert {name: unpacked.read(name) for name in unpacked.namelist()} == {
        "a (1)": b"1",
        "a/b.txt": b"2",
        "a (2)": b"3",
    }
    one = await bob("GET", f"/rooms/{room['room_id']}/archive?file={first}")
    assert zipfile.ZipFile(io.BytesIO(one.content)).namelist() == ["a"]


async def test_an_archive_breaks_off_when_the_room_ends(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    for name in ("one.txt", "two.txt"):
        await sent(ann, room, name, name.encode() * 20_000)
    answered: list[Message] = []

    async def ending(scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            answered.append(message)
            await send(message)
            if len(answered) == 2:
                assert (await ann("DELETE", f"/rooms/{room['room_id']}")).status_code == 204

        await satchel.app(scope, receive, watched)
        await send({"type": "http.response.body"})

    in_between = replace(satchel, app=ending).caller()
    in_between.tokens = bob.tokens
    assert (await in_between("GET", f"/rooms/{room['room_id']}/archive")).status_code == 200
    assert answered[-1]["more_body"]


async def test_who_brought_a_file_and_the_owner_delete_it_and_nobody_else(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    for caller in (bob, gus):
        await joined(caller, room)
    by_bob, by_gus = await sent(bob, room, "b.txt", b"b"), await sent(gus, room, "g.txt", b"g")
    assert (await gus("DELETE", f"/rooms/{room['room_id']}/files/{by_bob}")).status_code == 403
    assert (await gus("DELETE", f"/rooms/{room['room_id']}/files/{by_gus}")).status_code == 204
    assert (await ann("DELETE", f"/rooms/{room['room_id']}/files/{by_bob}")).status_code == 204
    assert await files(ann, room) == []


async def test_files_and_folders_come_from_ones_own_shelf(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(bob)
    await joined(ann, room)
    folder = await made(ann, "trip")
    await uploaded(satchel, ann, "in.txt", b"in", folder_id=folder)
    loose = await uploaded(satchel, ann, "loose.txt", b"loose")
    answer = await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": [folder, loose.file_id]})
    assert answer.status_code == 201
    assert sorted(await paths(bob, room)) == ["loose.txt", "trip/in.txt"]
    await ann("DELETE", f"/shelf/files/{loose.file_id}")
    await ann("DELETE", "/shelf/bin")
    bodies = {(await content(bob, room, file["file_id"])).content for file in await files(bob, room)}
    assert bodies == {b"in", b"loose"}
    foreign = await bob("POST", f"/rooms/{room['room_id']}/files", json={"shelf": [folder]})
    assert foreign.status_code == 404


async def test_copies_are_answered_piece_by_piece(
    satchel: Satchel, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_files, "_PIECE", 2)
    room = await opened(ann)
    folder = await made(ann, "trip")
    for number in range(5):
        await uploaded(satchel, ann, f"{number}.txt", b"%d" % number, folder_id=folder)
    answer = await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": [folder]})
    told, known = answer.json(), await files(ann, room)
    assert (len(told["files"]), told["cursor"]) == (5, None)
    assert sorted(told["files"], key=itemgetter("name")) == sorted(known, key=itemgetter("name"))


async def test_a_repeated_key_makes_no_second_copies_also_at_once(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    folder = await made(ann, "trip")
    for name in ("a.txt", "b.txt"):
        await uploaded(satchel, ann, name, name.encode(), folder_id=folder)

    async def share(key: str, *entries: str) -> httpx.Response:
        headers = {"idempotency-key": key}
        return await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": list(entries)}, headers=headers)

    answers = await asyncio.gather(*(share("once", folder) for _ in range(5)))
    made_ids = [sorted(file["file_id"] for file in answer.json()["files"]) for answer in answers]
    assert made_ids == [sorted(file["file_id"] for file in await files(ann, room))] * 5
    await ann("DELETE", f"/rooms/{room['room_id']}/files/{made_ids[0][0]}")
    later = await share("once", folder)
    assert [file["file_id"] for file in later.json()["files"]] == made_ids[0][1:]
    other = await share("once", "something-else")
    assert (other.status_code, other.json()["type"].rpartition("#")[2]) == (422, "key-reused")
    refused = await share("refused", folder, "nothing")
    assert (refused.status_code, len(await files(ann, room))) == (404, 1)
    assert len((await share("refused", folder)).json()["files"]) == 2


async def test_what_does_not_fit_is_refused_and_nothing_of_it_stays(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", room_quota=10) as small:
        ann = small.caller()
        await ann.sign_up("ann@example.org")
        room = await opened(ann)
        assert room["quota_bytes"] == 10
        assert slug(await begin(ann, room, 11, filename="a")) == (507, "room-full-of-files")
        sent_at_once = await asyncio.gather(*(send(ann, room, "a", b"%06d" % number) for number in range(3)))
        assert sorted(answer.status_code for answer in sent_at_once) == [201, 507, 507]
        assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 6
        shelf = [(await uploaded(small, ann, name, name.encode())).file_id for name in ("abc", "defg")]
        refused = await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": shelf})
        assert slug(refused) == (507, "room-full-of-files")
        assert len(await files(ann, room)) == len(await objects(small)) == 1
        assert (await ann("GET", "/rooms/current")).json()["used_bytes"] == 6


async def test_files_come_in_pages_in_one_order(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    for number in range(7):
        await sent(ann, room, f"{number}.txt", b"x" * number, **({"to": bob.user_id} if number == 3 else {}))
        satchel.clock.advance(1)
    gus = await guest(satchel)
    await joined(gus, room)
    for caller, expected in ((bob, "0123456"), (gus, "012456")):
        names, query = "", {"limit": "2"}
        while True:
            page = (await caller("GET", f"/rooms/{room['room_id']}/files", params=query)).json()
            assert len(page["files"]) <= 2
            names += "".join(file["name"][0] for file in page["files"])
            if page["cursor"] is None:
                break
            query["cursor"] = page["cursor"]
        assert names == expected


async def test_the_rooms_of_an_owner_have_a_most_of_files_together(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    full, small = await opened(ann), await opened(ann)
    many = (SetAdd(NAMES(room_id=full["room_id"]), str(number)) for number in range(MAX_FILES_OF_ONE))
    few = (SetAdd(NAMES(room_id=small["room_id"]), str(number)) for number in range(ALWAYS_FILES - 1))
    await satchel.stores.ephemeral.together(*many, *few)
    await sent(ann, small, "last", b"x")
    answer = await send(ann, small, "more", b"y")
    assert slug(answer) == (507, "room-full-of-files")
    assert "rooms of this room's owner" in answer.json()["detail"]
    assert len(await objects(satchel)) == 1
    # What others own is not hindered by it.
    room = await opened(bob)
    await satchel.stores.ephemeral.together(
        *(SetAdd(NAMES(room_id=room["room_id"]), str(number)) for number in range(ALWAYS_FILES))
    )
    await sent(bob, room, "mine", b"z")


async def test_a_room_has_a_most_of_files(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    names = NAMES(room_id=room["room_id"])
    await satchel.stores.ephemeral.together(*(SetAdd(names, str(number)) for number in range(MAX_FILES - 1)))
    begun = await begin(ann, room, 1, filename="late")
    await sent(ann, room, "last", b"x")
    assert slug(await send(ann, room, "more", b"y")) == (507, "room-full-of-files")
    path = begun.headers["location"].removeprefix("/api/v1")
    headers = {"tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream", "upload-offset": "0"}
    assert slug(await ann("PATCH", path, headers=headers, content=b"y")) == (507, "room-full-of-files")
    assert len(await objects(satchel)) == 1
