"""What another app shares is kept by the server, when no service worker takes it."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from satchel.edge.api.identity import ACCESS_LIFETIME
from satchel.edge.uploads.shared_form import AT_ONCE
from satchel.stores import disk_room
from tests.application import PASSWORD, Caller, Satchel, running_satchel

TEXT = "a & b # c 🎻"


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path, sign_up="open") as running:
        yield running


@pytest.fixture
async def ann(satchel: Satchel) -> Caller:
    caller = satchel.caller()
    await caller.sign_up("ann@example.org")
    return caller


async def share(
    caller: Caller, files: Any = (), fields: dict[str, str] | None = None, **options: Any
) -> httpx.Response:
    sent = {name: (None, value) for name, value in (fields or {}).items()}
    headers = {**options.pop("headers", {})}
    if caller.tokens:
        headers["authorization"] = f"Bearer {caller.tokens['access_token']}"
    address = options.pop("address", "/share-target")
    return await caller.http.post(address, files=[*sent.items(), *files], headers=headers, **options)


def told(answer: httpx.Response) -> dict[str, list[str]]:
    assert answer.status_code == 303, answer.text
    target = urlsplit(answer.headers["location"])
    assert target.path == "/share"
    return parse_qs(target.query)


async def test_files_and_text_arrive_whole_on_the_shelf_of_whoever_shares_them(ann: Caller) -> None:
    photo = bytes(range(256)) * 4000
    files = [("files", ("a & b 🎻.jpg", photo, "image/jpeg")), ("files", ("empty.txt", b"", "text/plain"))]
    answer = await share(ann, files, {"title": "News", "text": TEXT, "url": "https://example.org/?a=1&b=2#c"})
    kept = told(answer)["kept"][0].split(",")
    names = [(await ann("GET", f"/shelf/files/{each}")).json()["name"] for each in kept]
    assert names == ["a & b 🎻.jpg", "empty.txt", "News.txt"]
    contents = [(await ann("GET", f"/shelf/files/{each}/content")).content for each in kept]
    assert contents == [photo, b"", f"News\n{TEXT}\nhttps://example.org/?a=1&b=2#c".encode()]


async def test_an_address_that_stands_in_the_text_as_well_is_told_once(ann: Caller) -> None:
    said = {"text": "Look: https://example.org/", "url": "https://example.org/"}
    (kept,) = told(await share(ann, fields=said))["kept"]
    assert (await ann("GET", f"/shelf/files/{kept}/content")).text == said["text"]


@pytest.mark.parametrize("who", ["stranger", "guest"])
async def test_who_has_no_shelf_is_told_to_sign_in(satchel: Satchel, who: str) -> None:
    caller = satchel.caller()
    if who == "guest":
        await caller("POST", "/guests", json={"name": "Gus", "keep": "cookie"})
    answer = await share(caller, [("files", ("a.txt", b"a", "text/plain"))])
    assert told(answer) == {"problem": ["unauthenticated"]}


async def test_a_form_of_another_site_is_refused(ann: Caller) -> None:
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    answer = await share(ann, [("files", ("a.txt", b"a", "text/plain"))], headers=headers)
    assert answer.status_code == 403
    assert (await ann("GET", "/shelf/entries?folder=root")).json()["entries"] == []


@pytest.mark.parametrize("body", [b"", b"--x\r\nnothing", b"--x\r\n" + b"a" * 40_000 + b": b\r\n\r\n--x--\r\n"])
async def test_a_form_that_cannot_be_read_keeps_nothing(ann: Caller, body: bytes) -> None:
    headers = {
        "content-type": "multipart/form-data; boundary=x",
        "authorization": f"Bearer {ann.tokens['access_token']}",
    }
    answer = await ann.http.post("/share-target", content=body, headers=headers)
    assert told(answer) == {"problem": ["malformed"]}
    assert (await ann("GET", "/shelf/entries?folder=root")).json()["entries"] == []


async def test_a_session_that_has_to_be_renewed_is_renewed_on_the_way(satchel: Satchel, ann: Caller) -> None:
    ann.tokens = {}
    signed_in = {"email": "ann@example.org", "password": PASSWORD, "keep": "cookie"}
    assert (await ann("POST", "/sessions", json=signed_in)).status_code == 201
    satchel.clock.advance(ACCESS_LIFETIME + timedelta(minutes=1))
    files = [("files", ("a.txt", b"at eight", "text/plain"))]
    # As browsers do: the same form again, by the same method.
    answer = await share(ann, files)
    for _ in range(2):
        assert answer.status_code == 307, answer.text
        answer = await share(ann, files, address=answer.headers["location"])
    (kept,) = told(answer)["kept"]
    assert (await ann("GET", f"/shelf/files/{kept}/content")).content == b"at eight"


async def test_whose_session_cannot_be_renewed_is_told_so(satchel: Satchel) -> None:
    answer = await satchel.caller().http.post("/api/v1/sessions/renewal")
    assert told(answer) == {"problem": ["session-ended"]}


BEGINNING = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'


async def share_slowly(caller: Caller, pieces: AsyncGenerator[bytes]) -> httpx.Response:
    headers = {
        "content-type": "multipart/form-data; boundary=x",
        "authorization": f"Bearer {caller.tokens['access_token']}",
    }
    return await caller.http.post("/share-target", content=pieces, headers=headers)


async def test_slow_forms_of_one_member_keep_nobody_else_from_sharing(satchel: Satchel, ann: Caller) -> None:
    bob = satchel.caller()
    await bob.sign_up("bob@example.org")
    begun, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slow() -> AsyncGenerator[bytes]:
        yield BEGINNING
        begun.release()
        await go_on.wait()
        yield b"slow\r\n--x--\r\n"

    files = [("files", ("b.txt", b"b", "text/plain"))]
    async with asyncio.TaskGroup() as group:
        slow_ones = [group.create_task(share_slowly(ann, slow())) for _ in range(AT_ONCE)]
        for _ in slow_ones:
            await begun.acquire()
        assert told(await share(ann, files)) == {"problem": ["too-many"]}
        assert "kept" in told(await share(bob, files))
        go_on.set()
    assert all("kept" in told(each.result()) for each in slow_ones)
    assert "kept" in told(await share(ann, files))


async def test_a_form_leaves_the_last_bytes_of_the_disk(ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 0

    async def large() -> AsyncGenerator[bytes]:
        nonlocal sent
        yield BEGINNING
        for _ in range(50):
            sent += 1
            yield b"a" * 64 * 1024
        yield b"\r\n--x--\r\n"

    def all_of(total_bytes: int) -> int:
        return total_bytes

    # All of the disk is kept for deleting.
    monkeypatch.setattr(disk_room, "reserve_of", all_of)
    assert told(await share_slowly(ann, large())) == {"problem": ["out-of-space"]}
    assert sent <= 1
    monkeypatch.undo()
    assert "kept" in told(await share_slowly(ann, large()))
