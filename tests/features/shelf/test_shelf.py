"""A person's own files over HTTP: what they see, get back, rename and delete."""

import asyncio
import hashlib
import random
from dataclasses import replace
from datetime import timedelta
from urllib.parse import unquote

import pytest

from satchel.features.shelf.service.files import FileChange, change_file, find_file
from satchel.features.shelf.service.shelf_file_add import keep_upload
from tests.application import Caller, Satchel
from tests.features.shelf.given import (
    Meddling,
    check_shelf,
    made,
    names,
    room,
    shelf_of,
    staged,
    stored_keys,
    uploaded,
    usage,
)
from tests.uploads.given import SENDS, TUS, pairs

TOP: dict[str, object] = {"folder_id": "root", "name": "", "path": []}


async def test_an_empty_shelf_is_a_list_without_entries(ann: Caller) -> None:
    assert (await ann("GET", "/shelf/entries")).json() == {"folder": TOP, "entries": [], "cursor": None}
    assert await usage(ann) == room(0, 0)


async def test_a_file_is_described_by_what_arrived(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "notes.txt", b"hello")
    expected = {
        "kind": "file",
        "id": kept.file_id,
        "name": "notes.txt",
        "folder_id": "root",
        "size_bytes": 5,
        "content_type": "text/plain",
        "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "created_at": "2030-03-17T17:46:40.000Z",
        "modified_at": None,
        "executable": False,
        "received": False,
        "expires_at": None,
        "previewable": "text",
        "picture": None,
    }
    read = await ann("GET", f"/shelf/files/{kept.file_id}")
    expected["etag"] = read.headers["etag"]
    assert read.json() == expected
    assert (await ann("GET", "/shelf/entries")).json() == {"folder": TOP, "entries": [expected], "cursor": None}
    assert await usage(ann) == room(5, 1)
    assert await stored_keys(satchel, "uploads/") == []


@pytest.mark.parametrize(
    ("sort", "expected"),
    [("name", ["A", "b", "0.txt", "c.txt", "Z.txt"]), ("newest", ["b", "A", "0.txt", "c.txt", "Z.txt"])],
)
async def test_a_folder_is_listed_page_by_page(satchel: Satchel, ann: Caller, sort: str, expected: list[str]) -> None:
    for name in ("Z.txt", "c.txt", "0.txt"):
        satchel.clock.advance(1)
        await uploaded(satchel, ann, name, name.encode())
    for name in ("A", "b"):
        satchel.clock.advance(1)
        await made(ann, name)
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2, "sort": sort, **({"cursor": cursor} if cursor else {})}
        page = (await ann("GET", "/shelf/entries", params=params)).json()
        seen += [entry["name"] for entry in page["entries"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == expected


async def test_a_download_is_an_attachment_that_can_be_resumed(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "page.html", b"<script>alert(1)</script>", "text/html")
    path = f"/shelf/files/{kept.file_id}/content"
    whole = await ann("GET", path)
    assert (whole.status_code, whole.content) == (200, b"<script>alert(1)</script>")
    assert whole.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in whole.headers["content-security-policy"]
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = await ann("GET", path, headers={"range": "bytes=1-6", "if-range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, b"script")
    assert (await ann("GET", path, headers={"if-none-match": whole.headers["etag"]})).status_code == 304
    head = await ann("HEAD", path)
    assert (head.status_code, head.headers["content-length"]) == (200, "25")
    past = await ann("GET", path, headers={"range": "bytes=25-"})
    assert past.status_code == 416


@pytest.mark.parametrize(
    ("written", "saved"),
    [
        ('the "best" 🎉.txt', 'the "best" 🎉.txt'),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("100%; filename=x.txt", "100%; filename=x.txt"),
        ("学校/楽譜.pdf", "楽譜.pdf"),
        ("", "file"),
    ],
)
async def test_a_browser_saves_a_file_under_its_name(satchel: Satchel, ann: Caller, written: str, saved: str) -> None:
    kept = await uploaded(satchel, ann, written, b"x")
    answer = await ann("GET", f"/shelf/files/{kept.file_id}/content")
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="')
    assert unquote(disposition.partition("filename*=UTF-8''")[2]) == saved


async def test_an_empty_file_is_a_file(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "empty", b"")
    assert (await ann("GET", f"/shelf/files/{kept.file_id}/content")).content == b""
    assert await usage(ann) == room(0, 1)


async def test_a_made_up_content_type_is_not_passed_on(satchel: Satchel, ann: Caller) -> None:
    upload = await staged(satchel, ann, "x", b"x")
    kept = await keep_upload(shelf_of(satchel), replace(upload, content_type="text/html\r\nset-cookie: a=b"))
    answer = await ann("GET", f"/shelf/files/{kept.file_id}/content")
    assert answer.headers["content-type"] == "application/octet-stream"


async def test_the_same_bytes_are_stored_and_counted_once(satchel: Satchel, ann: Caller) -> None:
    first = await uploaded(satchel, ann, "one.txt", b"same", "text/plain")
    second = await uploaded(satchel, ann, "two.md", b"same", "text/markdown")
    assert len(await stored_keys(satchel)) == 1
    assert await usage(ann) == room(4, 2)
    answer = await ann("GET", f"/shelf/files/{second.file_id}/content")
    assert answer.headers["content-type"] == "text/markdown"
    assert (await ann("DELETE", f"/shelf/files/{first.file_id}")).status_code == 204
    assert (await ann("DELETE", f"/shelf/bin/{first.file_id}")).status_code == 204
    assert (await ann("GET", f"/shelf/files/{second.file_id}/content")).content == b"same"
    assert await usage(ann) == room(4, 1)
    assert (await ann("DELETE", f"/shelf/files/{second.file_id}")).status_code == 204
    assert await usage(ann) == room(4, 1, bin_bytes=4)
    assert (await ann("DELETE", "/shelf/bin")).status_code == 204
    assert await stored_keys(satchel) == []
    assert await usage(ann) == room(0, 0)
    await check_shelf(satchel, ann)


async def test_two_people_do_not_share_bytes(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    anns = await uploaded(satchel, ann, "a", b"same")
    await uploaded(satchel, bob, "b", b"same")
    assert len(await stored_keys(satchel)) == 2
    await ann("DELETE", f"/shelf/files/{anns.file_id}")
    await ann("DELETE", "/shelf/bin")
    await check_shelf(satchel, bob)
    assert len(await stored_keys(satchel)) == 1


async def test_bytes_carry_the_name_that_they_came_with(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "née 🎉.txt", b"x")
    (key,) = await stored_keys(satchel)
    assert key.startswith(f"user/{ann.user_id}/{kept.sha256}")
    assert (await satchel.stores.objects.head(key)).metadata == {"original-name": "née 🎉.txt"}


async def test_a_second_file_of_a_name_is_numbered(satchel: Satchel, ann: Caller) -> None:
    for content in (b"1", b"2", b"3"):
        satchel.clock.advance(1)
        await uploaded(satchel, ann, "a.txt", content)
    satchel.clock.advance(1)
    await uploaded(satchel, ann, "A.TXT", b"4")
    assert await names(ann, sort="newest") == ["A.TXT", "a (2).txt", "a (1).txt", "a.txt"]


@pytest.mark.slow
async def test_files_of_one_name_that_come_at_once_all_stay(satchel: Satchel, ann: Caller) -> None:
    await asyncio.gather(*(uploaded(satchel, ann, "a.txt", b"%d" % (number // 2)) for number in range(24)))
    files = await check_shelf(satchel, ann)
    assert len(files) == 24
    assert "a (23).txt" in {file.name for file in files}
    assert await usage(ann) == room(14, 24)


async def test_a_file_can_be_renamed(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "a.txt", b"x")
    answer = await ann("PATCH", f"/shelf/files/{kept.file_id}", json={"name": "folder/\u202eB.txt "})
    assert (answer.status_code, answer.json()["name"]) == (200, "\u202eB.txt")
    again = await ann("PATCH", f"/shelf/files/{kept.file_id}", json={"name": "b.txt"})
    assert again.json()["name"] == "b.txt"
    await uploaded(satchel, ann, "a.txt", b"y")
    assert set(await names(ann)) == {"a.txt", "b.txt"}
    await check_shelf(satchel, ann)


async def test_a_rename_takes_no_other_files_name(satchel: Satchel, ann: Caller) -> None:
    await uploaded(satchel, ann, "a.txt", b"x")
    kept = await uploaded(satchel, ann, "b.txt", b"y")
    taken = await ann("PATCH", f"/shelf/files/{kept.file_id}", json={"name": "a.txt"})
    assert (taken.status_code, taken.json()["type"]) == (409, "/problems#name-taken")
    empty = await ann("PATCH", f"/shelf/files/{kept.file_id}", json={"name": "../"})
    assert (empty.status_code, empty.json()["field"]) == (422, "name")
    assert set(await names(ann)) == {"a.txt", "b.txt"}


async def test_of_many_renames_to_one_name_one_wins(satchel: Satchel, ann: Caller) -> None:
    kept = [await uploaded(satchel, ann, f"{number}.txt", b"x") for number in range(6)]
    renames = (ann("PATCH", f"/shelf/files/{file.file_id}", json={"name": "one.txt"}) for file in kept)
    statuses = sorted(answer.status_code for answer in await asyncio.gather(*renames))
    assert statuses == [200, 409, 409, 409, 409, 409]
    await check_shelf(satchel, ann)


async def test_a_deleted_file_is_gone(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "a.txt", b"x")
    path = f"/shelf/files/{kept.file_id}"
    answers = await asyncio.gather(*(ann("DELETE", path) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [204, 404, 404, 404]
    for gone in (
        await ann("GET", path),
        await ann("GET", f"{path}/content"),
        await ann("PATCH", path, json={"name": "b"}),
    ):
        assert gone.status_code == 404
    assert await names(ann) == []


async def test_nobody_else_reaches_a_file_not_even_an_administrator(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    bobs = await uploaded(satchel, bob, "diary.txt", b"secret")
    carl = satchel.caller()
    await carl.sign_up("carl@example.org")
    path = f"/shelf/files/{bobs.file_id}"
    for caller in (ann, carl):
        answers = [
            await caller("GET", path),
            await caller("GET", f"{path}/content"),
            await caller("PATCH", path, json={"name": "mine"}),
            await caller("DELETE", path),
        ]
        missing = await caller("GET", "/shelf/files/nothing")
        assert [answer.status_code for answer in answers] == [404] * 4
        assert answers[0].json()["detail"] == missing.json()["detail"]
        assert await names(caller) == []
    assert (await bob("GET", f"{path}/content")).content == b"secret"


@pytest.mark.parametrize("file_id", ["x" * 2000, "%23", "..%2f", "a%00b", "🎉"])
async def test_an_impossible_id_is_simply_not_found(ann: Caller, file_id: str) -> None:
    assert (await ann("GET", f"/shelf/files/{file_id}")).status_code == 404
    assert (await ann("DELETE", f"/shelf/files/{file_id}")).status_code == 404


async def test_a_session_that_ended_reads_nothing_more(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "a.txt", b"x")
    path = f"/shelf/files/{kept.file_id}/content"
    former = satchel.caller()
    await former.sign_in("ann@example.org")
    assert (await former("GET", path)).status_code == 200
    await ann("DELETE", f"/sessions/{former.session_id}")
    assert (await former("GET", path)).status_code == 401
    satchel.clock.advance(timedelta(minutes=16))
    assert (await ann("GET", path)).status_code == 401


async def test_who_says_what_they_have_seen_changes_nothing_else(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    folder = await made(ann, "F")
    for path in (f"/shelf/files/{file.file_id}", f"/shelf/folders/{folder}"):
        read = await ann("PATCH", path, json={"name": "first"})
        seen = read.headers["etag"]
        assert read.json()["etag"] == seen
        other = await ann("PATCH", path, json={"name": f"second {path[7]}"}, headers={"if-match": seen})
        assert other.status_code == 200
        for method, body in (("PATCH", {"name": "third"}), ("DELETE", None)):
            late = await ann(method, path, json=body, headers={"if-match": seen})
            assert (late.status_code, late.json()["type"].rpartition("#")[2]) == (412, "entry-changed")
        now = other.headers["etag"]
        assert (await ann("DELETE", path, headers={"if-match": now})).status_code == 204
    assert await names(ann) == []


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(
    "beside",
    [FileChange(modified_at="2020-02-20T20:20:20Z"), FileChange(written="b.txt"), FileChange(written="c.txt")],
    ids=["a time", "a name", "the same name"],
)
async def test_of_changes_that_cross_none_undoes_another(
    satchel: Satchel, ann: Caller, step: int, beside: FileChange
) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    shelf, whose = shelf_of(satchel), (file.user_id, file.file_id)

    async def meddle() -> None:
        await change_file(shelf, *whose, beside)

    same_name = beside.written == "c.txt"
    ours = FileChange(executable=True, written="c.txt" if same_name else None)
    await change_file(Meddling(step, meddle).shelf(shelf), *whose, ours)
    now = await find_file(shelf, *whose)
    assert (now.executable, now.modified_at) == (True, beside.modified_at or "")
    assert now.name == (beside.written or "a.txt")


async def test_the_etag_of_a_content_is_its_digest_however_it_was_uploaded(satchel: Satchel, ann: Caller) -> None:
    # More than one part of a multipart upload.
    content = random.Random(7).randbytes(1024**2) * 9
    half = len(content) // 2
    metadata = pairs(destination="shelf", filename="a.bin")
    begun = await ann(
        "POST", "/uploads", headers={**TUS, "upload-length": str(len(content)), "upload-metadata": metadata}
    )
    path = begun.headers["location"].removeprefix("/api/v1")
    for at in (0, half):
        piece = content[at : at + half]
        sent = await ann("PATCH", path, content=piece, headers={**SENDS, "upload-offset": str(at)})
        assert sent.status_code == 204, sent.text
    (entry,) = (await ann("GET", "/shelf/entries")).json()["entries"]
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    address = f"/shelf/files/{entry['id']}/content"
    assert (await ann("GET", address)).headers["etag"] == tag
    assert (await ann("GET", address, headers={"if-none-match": tag})).status_code == 304
    part = await ann("GET", address, headers={"range": f"bytes={half}-", "if-range": tag})
    assert (part.status_code, part.content, part.headers["etag"]) == (206, content[half:], tag)
