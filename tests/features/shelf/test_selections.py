"""Several things of a shelf under one link: what visitors get, what is gone with its things, and what is collected."""

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest

from satchel.features.links.records import LINK
from satchel.features.shelf.linked_selections import FOLDERS_AT_ONCE, LinkedSelections
from satchel.features.shelf.records import SELECTION
from satchel.features.shelf.service.selections import UNLINKED_FOR
from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import assign
from tests.application import Caller, Satchel
from tests.features.links.given import given, read, slug
from tests.features.links.visiting import visitor
from tests.features.shelf.given import made, shelf_of, uploaded


async def select(caller: Caller, **what: list[str]) -> dict[str, Any]:
    answer = await caller("POST", "/shelf/selections", json=what)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def a_selection(satchel: Satchel, ann: Caller) -> tuple[dict[str, Any], str, list[str]]:
    """Two files of one name and a folder with a file; their ids."""
    folder_id, other_id = await made(ann, "Trip"), await made(ann, "Other")
    inside = await uploaded(satchel, ann, "map.txt", b"map", folder_id=folder_id)
    first = await uploaded(satchel, ann, "a.txt", b"first")
    second = await uploaded(satchel, ann, "a.txt", b"second", folder_id=other_id)
    await uploaded(satchel, ann, "beside.txt", b"beside", folder_id=other_id)
    selection = await select(ann, folders=[folder_id], files=[first.file_id, second.file_id])
    return selection, folder_id, [inside.file_id, first.file_id, second.file_id]


async def test_visitors_get_what_is_selected_and_nothing_beside_it(satchel: Satchel, ann: Caller) -> None:
    selection, folder_id, file_ids = await a_selection(satchel, ann)
    assert selection["name"] == "Trip + 2"
    again = await select(ann, files=file_ids[:0:-1], folders=[folder_id, folder_id])
    assert again["selection_id"] == selection["selection_id"]
    link = await given(ann, "selection", selection["selection_id"], downloads=2)
    somebody = visitor(satchel, link)
    seen = await somebody.look()
    assert (seen["kind"], seen["name"], seen["files"], seen["size_bytes"]) == ("selection", "Trip + 2", 3, 14)
    await somebody.entered()
    files = (await somebody("GET", "/files")).json()["files"]
    assert [file["path"] for file in files] == ["Trip/map.txt", "a.txt", "a (1).txt"]
    assert {file["file_id"] for file in files} == set(file_ids)
    archive = await somebody("GET", "/archive")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert {opened.read(name) for name in opened.namelist()} == {b"map", b"first", b"second", b""}
        assert [name for name in opened.namelist() if name.endswith("/")] == ["Trip + 2/Trip/"]
    assert (await read(ann, link))["downloads_used"] == 1
    beside = await uploaded(satchel, ann, "new.txt", b"new")
    assert slug(await somebody("GET", f"/files/{beside.file_id}/content")) == (404, "not-found")
    assert (await somebody("GET", f"/files/{file_ids[0]}/content")).content == b"map"


async def test_the_list_of_a_selection_comes_in_pages(satchel: Satchel, ann: Caller) -> None:
    selection, _, _ = await a_selection(satchel, ann)
    things = LinkedSelections(shelf_of(satchel))
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = await things.files(ann.user_id, selection["selection_id"], cursor, 1)
        assert len(page.files) <= 1
        found += [file.path for file in page.files]
        if (cursor := page.cursor) is None:
            break
    assert found == ["Trip/map.txt", "a.txt", "a (1).txt"]


async def test_many_empty_folders_are_read_a_few_at_a_time_and_foreign_cursors_are_refused(
    satchel: Satchel, ann: Caller
) -> None:
    folders = [await made(ann, f"Folder {number}") for number in range(FOLDERS_AT_ONCE + 1)]
    file = await uploaded(satchel, ann, "a.txt", b"first")
    selection = await select(ann, folders=folders, files=[file.file_id])
    things = LinkedSelections(shelf_of(satchel))
    first = await things.files(ann.user_id, selection["selection_id"], None)
    assert (first.files, first.cursor is None) == ([], False)
    second = await things.files(ann.user_id, selection["selection_id"], first.cursor)
    assert ([each.name for each in second.files], second.cursor) == (["a.txt"], None)
    for cursor in ("[-1000]", "[99]", "x"):
        with pytest.raises(Invalid, match="cursor"):
            await things.files(ann.user_id, selection["selection_id"], cursor)


async def test_a_link_goes_with_the_last_of_its_things_and_comes_back(satchel: Satchel, ann: Caller) -> None:
    selection, folder_id, (_, first, second) = await a_selection(satchel, ann)
    link = await given(ann, "selection", selection["selection_id"])
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    await ann("DELETE", f"/shelf/files/{first}")
    assert (await read(ann, link))["thing"]["name"] == "a.txt"
    await ann("DELETE", f"/shelf/files/{second}")
    assert (await read(ann, link))["state"] == "gone"
    assert slug(await visitor(satchel, link)("GET")) == (410, "link-target-gone")
    await ann("POST", f"/shelf/bin/{first}/restore")
    assert (await read(ann, link))["state"] == "active"


async def test_what_is_not_there_or_too_much_is_refused_and_nothing_is_kept(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"a")
    for caller, what, refusal in (
        (ann, {}, (422, "combination-unfit")),
        (ann, {"files": ["no-such-file"]}, (404, "not-found")),
        (ann, {"files": [file.file_id], "folders": ["root"]}, (404, "not-found")),
        (ann, {"files": [file.file_id] * 101}, (422, "invalid")),
        (bob, {"files": [file.file_id]}, (404, "not-found")),
    ):
        answer = await caller("POST", "/shelf/selections", json=what)
        assert slug(answer) == refusal, (what, answer.text)
    assert not (await SELECTION.list(satchel.stores.tables, user_id=ann.user_id)).records
    assert not (await SELECTION.list(satchel.stores.tables, user_id=bob.user_id)).records


async def test_a_selection_is_kept_as_long_as_a_link_leads_to_it(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"a")
    other = await uploaded(satchel, ann, "b.txt", b"b")
    linked, loose = await select(ann, files=[file.file_id, other.file_id]), await select(ann, files=[other.file_id])
    link = await given(ann, "selection", linked["selection_id"])

    async def kept() -> set[str]:
        page = await SELECTION.list(satchel.stores.tables, user_id=ann.user_id)
        return {row.selection_id for row in page.records}

    assert await kept() == {linked["selection_id"], loose["selection_id"]}
    satchel.clock.advance(UNLINKED_FOR + timedelta(minutes=1))
    await satchel.housekeep()
    assert await kept() == {linked["selection_id"]}
    await satchel.stores.tables.transact([LINK.update([assign("pausedAt", "now")], token=link["token"])])
    satchel.clock.advance(UNLINKED_FOR + timedelta(minutes=1))
    await satchel.housekeep()
    assert await kept() == {linked["selection_id"]}
