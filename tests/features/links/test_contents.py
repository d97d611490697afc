"""What a link leads to, and nothing else: downloads, previews and archives, while the shelf changes underneath."""

import io
import zipfile
from typing import Any

import pytest

from satchel.edge.files.downloads import USER_CONTENT_POLICY
from satchel.edge.files.previews import PREVIEW_POLICY
from satchel.features.shelf.model import FolderId, UserId
from satchel.features.shelf.service.folders import date_folder
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, changed, given, given_file, given_folder, slug
from tests.features.links.visiting import Visitor, counted, figures, visitor
from tests.features.shelf.given import made, shelf_of, uploaded
from tests.features.transfers.given import a_guest

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100
PAGE = b"<!doctype html><script>alert(1)</script>"


async def moved(ann: Caller, kind: str, entry_id: str, folder_id: str) -> None:
    answer = await ann("PATCH", f"/shelf/{kind}/{entry_id}", json={"folder_id": folder_id})
    assert answer.is_success, answer.text


async def ids(someone: Visitor) -> dict[str, str]:
    """The files that a link shows, by path."""
    answer = await someone("GET", "/files")
    assert answer.status_code == 200, answer.text
    return {file["path"]: file["file_id"] for file in answer.json()["files"]}


async def statuses(someone: Visitor, file_id: str) -> set[int]:
    """What all ways to one file answer."""
    answers = [
        await someone(method, f"/files/{file_id}/{way}") for method in ("GET", "HEAD") for way in ("content", "preview")
    ]
    return {answer.status_code for answer in answers}


async def test_anybody_gets_the_file_as_it_is(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link = await given_file(satchel, ann)
    for each in (satchel.caller(), await a_guest(satchel, "Gus"), bob, ann):
        answer = await visitor(satchel, link, caller=each)("GET", "/content")
        assert (answer.status_code, answer.content) == (200, CONTENT)
    assert await counted(ann, link) == figures(opens=3, people=3, downloads=3, downloads_used=3)


async def test_every_way_is_open_to_everybody_with_a_pass_and_to_nobody_without(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    link = await given_folder(satchel, ann, "a.txt", password="swordfish")
    people = [satchel.caller(), await a_guest(satchel, "Gus"), bob, ann]
    for number, each in enumerate(people):
        someone = visitor(satchel, link, caller=each)
        (file,) = (await someone.entered("swordfish"))["listing"]["files"]
        ways = ["", "/files", f"/files/{file['file_id']}/content", f"/files/{file['file_id']}/preview", "/archive"]
        assert [(await someone("GET", way)).status_code for way in ways] == [200] * 5, number
        someone.shown = ""
        assert [(await someone("GET", way)).status_code for way in ways] == [200, 403, 403, 403, 403], number
    assert await counted(ann, link) == figures(opens=3, people=3, downloads=6, downloads_used=6)


@pytest.mark.parametrize(
    ("name", "content", "content_type"),
    [
        ("page.html", PAGE, "text/html"),
        ("drawing.svg", b"<svg onload='alert(1)'/>", "image/svg+xml"),
        ("script.js", b"alert(1)", "text/javascript"),
        ("fake.png", PAGE, "image/png"),
    ],
)
async def test_nothing_is_ever_served_as_a_page_of_ours(
    satchel: Satchel, ann: Caller, name: str, content: bytes, content_type: str
) -> None:
    file = await uploaded(satchel, ann, name, content, content_type)
    someone = visitor(satchel, await given(ann, "file", file.file_id))
    for path in ("/content", f"/files/{file.file_id}/content"):
        answer = await someone("GET", path)
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-security-policy"] == USER_CONTENT_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
    shown = await someone("GET", "/preview")
    if shown.is_success:
        assert shown.headers["content-type"] == "text/plain; charset=utf-8"
        assert shown.headers["content-security-policy"] == PREVIEW_POLICY
    else:
        assert slug(shown) == (422, "no-preview")


async def test_a_name_that_deceives_is_written_without_its_tricks(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, 'in\u202egpj".exe', b"x")
    answer = await visitor(satchel, await given(ann, "file", file.file_id))("GET", "/content")
    assert "%E2%80%AE" not in answer.headers["content-disposition"]
    assert answer.headers["content-disposition"].isascii()


async def test_a_look_counts_once_for_each_pass_and_file(satchel: Satchel, ann: Caller) -> None:
    image = await uploaded(satchel, ann, "a.png", PNG, "image/png")
    link = await given(ann, "file", image.file_id)
    someone = visitor(satchel, link)
    await someone.entered()
    assert (await someone("HEAD", "/preview")).status_code == 200
    assert await views(ann, link) == 0
    for headers in ({}, {"range": "bytes=0-9"}, {"range": "bytes=10-"}):
        assert (await someone("GET", "/preview", headers=headers)).is_success
    assert await views(ann, link) == 1
    await someone.entered()
    assert (await someone("GET", f"/files/{image.file_id}/preview")).content == PNG
    assert await views(ann, link) == 2
    assert await counted(ann, link) == figures(opens=2, people=1)
    assert (await someone("GET", "/content")).content == PNG


@pytest.mark.parametrize("content_type", ["image/png", "text/plain"])
async def test_where_downloads_are_numbered_nobody_gets_the_bytes_by_looking(
    satchel: Satchel, ann: Caller, content_type: str
) -> None:
    folder_id = await made(ann, "Pictures")
    content = PNG if content_type == "image/png" else b"words"
    file = await uploaded(satchel, ann, "a", content, content_type, folder_id=folder_id)
    file_link = await given(ann, "file", file.file_id, downloads=1)
    for link in (file_link, await given(ann, "folder", folder_id, downloads=1)):
        someone = visitor(satchel, link)
        (shown,) = (await someone.entered())["listing"]["files"]
        assert shown["preview"] is None
        for method in ("GET", "HEAD"):
            for headers in ({}, {"range": "bytes=0-9"}):
                answer = await someone(method, f"/files/{file.file_id}/preview", headers=headers)
                assert answer.status_code == 422
        assert slug(answer := await someone("GET", f"/files/{file.file_id}/preview")) == (422, "no-preview")
        assert content not in answer.content
        assert await views(ann, link) == 0
    await changed(ann, file_link, downloads=None)
    assert (await visitor(satchel, file_link)("GET", "/preview")).status_code == 200


async def views(ann: Caller, link: dict[str, Any]) -> int:
    answer = await ann("GET", f"/stats/link:{link['link_id']}/summary")
    assert answer.status_code == 200, answer.text
    return answer.json()["total"]["view"]


async def test_a_preview_ends_with_the_link(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=1)
    someone = visitor(satchel, link)
    await someone.entered()
    assert (await someone("GET", "/content")).content == CONTENT
    assert slug(await someone("GET", "/preview")) == (410, "link-used-up")
    assert (await someone("HEAD", "/content")).status_code == 410


async def test_ranges_and_conditions_are_answered(satchel: Satchel, ann: Caller) -> None:
    someone = visitor(satchel, await given_file(satchel, ann))
    part = await someone("GET", "/content", headers={"range": "bytes=5-7"})
    assert (part.status_code, part.content) == (206, CONTENT[5:8])
    assert part.headers["content-range"] == f"bytes 5-7/{len(CONTENT)}"
    same = await someone("GET", "/content", headers={"if-none-match": part.headers["etag"]})
    assert same.status_code == 304
    head = await someone("HEAD", "/content")
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(CONTENT)))


async def test_a_folder_is_one_archive_with_all_that_is_in_it(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt")
    inner = await made(ann, "Inner", link["thing"]["id"])
    await uploaded(satchel, ann, "b.txt", b"bee", folder_id=inner)
    await made(ann, "Hollow", inner)
    await date_folder(shelf_of(satchel), UserId(ann.user_id), FolderId(inner), "2020-02-20T20:20:20Z")
    await uploaded(satchel, ann, "elsewhere.txt", b"no")
    answer = await visitor(satchel, link)("GET", "/archive")
    assert answer.headers["content-disposition"].startswith("attachment")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "Folder/": b"",
            "Folder/Inner/": b"",
            "Folder/Inner/Hollow/": b"",
            "Folder/Inner/b.txt": b"bee",
            "Folder/a.txt": b"a.txt",
        }
        assert archive.getinfo("Folder/Inner/").date_time == (2020, 2, 20, 20, 20, 20)


@pytest.mark.slow
async def test_a_folder_with_many_files_is_archived_to_its_end(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, *(f"{number}.txt" for number in range(250)))
    answer = await visitor(satchel, link)("GET", "/archive")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert len(archive.namelist()) == 251


async def test_a_file_has_no_archive_and_a_folder_no_content(satchel: Satchel, ann: Caller) -> None:
    file, folder = await given_file(satchel, ann), await given_folder(satchel, ann, "a.txt")
    assert slug(await visitor(satchel, file)("GET", "/archive")) == (404, "not-found")
    for path in ("/content", "/preview"):
        assert slug(await visitor(satchel, folder)("GET", path)) == (404, "not-found")


async def test_a_link_leads_to_no_other_file(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt")
    single = await given_file(satchel, ann)
    others = [
        (await uploaded(satchel, ann, "mine.txt", b"secret")).file_id,
        (await uploaded(satchel, bob, "his.txt", b"secret")).file_id,
        link["thing"]["id"],
        "x",
        "x" * 65,
        "%2e%2e%2f",
        "a#b",
    ]
    for shared in (link, single):
        someone = visitor(satchel, shared)
        await someone.entered()
        for each in others:
            assert await statuses(someone, each) == {404}, each


async def test_what_leaves_the_folder_is_out_of_reach_and_what_comes_is_there(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt")
    top = link["thing"]["id"]
    inner = await made(ann, "Inner", top)
    deep = await uploaded(satchel, ann, "deep.txt", b"deep", folder_id=inner)
    outside = await made(ann, "Outside")
    someone = visitor(satchel, link)
    await someone.entered()
    before = await ids(someone)
    assert before.keys() == {"a.txt", "Inner/deep.txt"}
    assert await statuses(someone, deep.file_id) == {200}
    # The folder that it is in moves away, and with it all that is below.
    await moved(ann, "folders", inner, outside)
    assert (await ids(someone)).keys() == {"a.txt"}
    assert await statuses(someone, deep.file_id) == {404}
    await moved(ann, "files", before["a.txt"], outside)
    assert await ids(someone) == {}
    assert await statuses(someone, before["a.txt"]) == {404}
    await moved(ann, "files", deep.file_id, top)
    assert (await ids(someone)).keys() == {"deep.txt"}
    assert await statuses(someone, deep.file_id) == {200}


async def test_a_folder_that_moves_takes_its_link_along_and_nothing_above_it(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt")
    above = await made(ann, "Above")
    beside = await uploaded(satchel, ann, "beside.txt", b"no", folder_id=above)
    await moved(ann, "folders", link["thing"]["id"], above)
    someone = visitor(satchel, link)
    await someone.entered()
    assert (await ids(someone)).keys() == {"a.txt"}
    assert await statuses(someone, beside.file_id) == {404}


async def test_what_is_binned_is_gone_and_what_is_restored_is_back(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt", "b.txt")
    someone = visitor(satchel, link)
    await someone.entered()
    found = await ids(someone)
    assert (await ann("DELETE", f"/shelf/files/{found['a.txt']}")).is_success
    assert (await ids(someone)).keys() == {"b.txt"}
    assert await statuses(someone, found["a.txt"]) == {404}
    assert (await ann("DELETE", f"/shelf/folders/{link['thing']['id']}")).is_success
    assert slug(await someone("GET", f"/files/{found['b.txt']}/content")) == (410, "link-target-gone")
    assert (await ann("POST", f"/shelf/bin/{link['thing']['id']}/restore")).is_success
    assert await statuses(someone, found["b.txt"]) == {200}


async def test_a_renamed_file_has_its_new_name(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    assert (await ann("PATCH", f"/shelf/files/{link['thing']['id']}", json={"name": "new.txt"})).is_success
    answer = await visitor(satchel, link)("GET", "/content")
    assert 'filename="new.txt"' in answer.headers["content-disposition"]


async def test_a_limit_that_was_taken_away_opens_the_link_again(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=1)
    someone = visitor(satchel, link)
    assert (await someone("GET", "/content")).content == CONTENT
    assert slug(await someone("GET", "/content")) == (410, "link-used-up")
    await changed(ann, link, downloads=None)
    assert (await someone("GET", "/content")).content == CONTENT


async def test_a_bad_token_of_a_session_is_not_overlooked(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    answer = await visitor(satchel, link)("GET", headers={"authorization": "Bearer nonsense"})
    assert slug(answer)[0] == 401
