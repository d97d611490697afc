"""Versions of files: what was replaced is kept, listed, fetched and restored, and goes in the end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from satchel.features.shelf.model import UserId
from satchel.features.shelf.service.purge import sweep_due
from satchel.features.shelf.service.shelf_file_add import keep_upload
from satchel.features.shelf.service.versions import MAX_VERSIONS, list_versions, restore_version
from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, names, replaced, room, shelf_of, staged, uploaded, usage


async def versions(caller: Caller, file_id: str) -> list[str]:
    answer = await caller("GET", f"/shelf/files/{file_id}/versions")
    assert answer.status_code == 200, answer.text
    return [each["version_id"] for each in answer.json()["versions"]]


async def content(caller: Caller, file_id: str) -> bytes:
    return (await caller("GET", f"/shelf/files/{file_id}/content")).content


async def test_what_is_replaced_is_kept_and_comes_back(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    assert (await replaced(satchel, ann, file, b"second")).file_id == file.file_id
    assert (await content(ann, file.file_id), await names(ann)) == (b"second", ["a.txt"])
    (first,) = await versions(ann, file.file_id)
    path = f"/shelf/files/{file.file_id}/versions/{first}"
    assert (await ann("GET", f"{path}/content")).content == b"one"
    assert await usage(ann) == room(9, 1)
    assert (await ann("POST", f"{path}/restore")).json()["sha256"] == file.sha256
    assert await content(ann, file.file_id) == b"one"
    (second,) = await versions(ann, file.file_id)
    assert (await ann("GET", f"/shelf/files/{file.file_id}/versions/{second}/content")).content == b"second"
    await check_shelf(satchel, ann)
    assert (await ann("DELETE", f"/shelf/files/{file.file_id}/versions/{second}")).status_code == 204
    assert (await ann("POST", f"{path}/restore")).status_code == 404
    assert await usage(ann) == room(3, 1)
    await check_shelf(satchel, ann)


async def test_a_repeated_replacement_is_done_once(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    upload = replace(await staged(satchel, ann, "a.txt", b"two"), replaces=file.file_id, replaced_sha256=file.sha256)
    first = await keep_upload(shelf_of(satchel), upload)
    await replaced(satchel, ann, first, b"three")
    assert (await keep_upload(shelf_of(satchel), upload)).file_id == file.file_id
    assert await content(ann, file.file_id) == b"three"
    assert len(await versions(ann, file.file_id)) == 2
    await check_shelf(satchel, ann)


async def test_a_file_that_has_changed_since_is_not_replaced(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    await replaced(satchel, ann, file, b"two")
    late = await replaced(satchel, ann, file, b"late")
    assert (late.file_id != file.file_id, late.name) == (True, "a (1).txt")
    assert await content(ann, file.file_id) == b"two"
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    assert (await replaced(satchel, ann, file, b"later")).name == "a.txt"
    assert (await replaced(satchel, bob, file, b"of another")).file_id != file.file_id
    await check_shelf(satchel, ann)


async def test_the_same_bytes_make_no_version(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    await replaced(satchel, ann, file, b"one")
    assert await versions(ann, file.file_id) == []
    await check_shelf(satchel, ann)


async def test_how_long_versions_stay_is_a_setting_and_is_said(satchel: Satchel, ann: Caller) -> None:
    shelf, person = replace(shelf_of(satchel), versions_kept=timedelta(days=2)), UserId(ann.user_id)
    file = await uploaded(satchel, ann, "a.txt", b"one")
    upload = replace(await staged(satchel, ann, "a.txt", b"two"), replaces=file.file_id)
    await keep_upload(shelf, upload)
    assert (await ann("GET", f"/shelf/files/{file.file_id}/versions")).json()["kept_days"] == 30
    satchel.clock.advance(timedelta(days=2) - timedelta(seconds=1))
    assert len(await list_versions(shelf, person, file.file_id)) == 1
    satchel.clock.advance(timedelta(seconds=1))
    assert await list_versions(shelf, person, file.file_id) == []


async def test_versions_end_after_a_month_the_restored_one_not_first(satchel: Satchel, ann: Caller) -> None:
    shelf, person = shelf_of(satchel), UserId(ann.user_id)
    file = await uploaded(satchel, ann, "a.txt", b"one")
    await replaced(satchel, ann, file, b"two")
    satchel.clock.advance(timedelta(days=20))
    (first,) = await list_versions(shelf, person, file.file_id)
    assert (await restore_version(shelf, person, file.file_id, first.version_id)).sha256 == file.sha256
    satchel.clock.advance(timedelta(days=20))
    assert await sweep_due(shelf) == 0
    assert len(await list_versions(shelf, person, file.file_id)) == 1
    satchel.clock.advance(timedelta(days=11))
    assert await list_versions(shelf, person, file.file_id) == []
    assert await sweep_due(shelf) == 1
    (left,) = await check_shelf(satchel, ann)
    assert left.sha256 == file.sha256


async def test_a_file_has_a_limited_number_of_versions_and_takes_them_along(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"first")
    for number in range(MAX_VERSIONS + 2):
        satchel.clock.advance(1)
        file = await replaced(satchel, ann, file, b"%d" % number)
    assert len(await versions(ann, file.file_id)) == MAX_VERSIONS
    await check_shelf(satchel, ann)
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await ann("DELETE", f"/shelf/bin/{file.file_id}")
    assert await usage(ann) == room(0, 0)
    assert await check_shelf(satchel, ann) == []


@pytest.mark.parametrize("what", ["name", "content"])
async def test_a_rename_and_a_replacement_do_not_undo_each_other(satchel: Satchel, ann: Caller, what: str) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    if what == "name":
        await ann("PATCH", f"/shelf/files/{file.file_id}", json={"name": "b.txt"})
        await replaced(satchel, ann, file, b"two")
    else:
        await replaced(satchel, ann, file, b"two")
        await ann("PATCH", f"/shelf/files/{file.file_id}", json={"name": "b.txt"})
    assert (await names(ann), await content(ann, file.file_id)) == (["b.txt"], b"two")
    await check_shelf(satchel, ann)
