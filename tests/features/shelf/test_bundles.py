"""Many small files at once on a shelf: the same as if each had come alone, also when it is cut off or crossed."""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.features.shelf.model import ROOT, FileId, FolderId, UserId
from satchel.features.shelf.records import FileRow
from satchel.features.shelf.service.bundle_add import keep_uploads
from satchel.features.shelf.service.purge import sweep_due
from satchel.features.shelf.service.shelf_bin import delete_file
from satchel.features.shelf.service.shelf_file_add import Upload, keep_upload
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.kernel.clock import iso
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName
from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import (
    Killed,
    Meddling,
    check_shelf,
    kill,
    made,
    names,
    room,
    shelf_of,
    stored_keys,
    uploaded,
    usage,
)
from tests.uploads.given import a_bundle

MOST_STEPS = 9
LONG = timedelta(days=2)
each_step = pytest.mark.parametrize("step", range(1, MOST_STEPS))


async def bundle(caller: Caller, *files: tuple[dict[str, Any], bytes]) -> list[dict[str, Any]]:
    body = a_bundle(*files, destination="shelf")
    answer = await caller("POST", "/uploads/bundle", headers={"content-type": BUNDLE_TYPE}, content=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["files"]


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"filename": name, "filetype": "text/plain", **more}


def problems(kept: Sequence[dict[str, Any]]) -> list[str | None]:
    return [file["problem"] and file["problem"]["type"].removeprefix("/problems#") for file in kept]


@pytest.mark.slow
async def test_a_bundle_of_a_whole_tree_arrives_with_its_folders(satchel: Satchel, ann: Caller) -> None:
    places = [f"top/{number % 5}/{number:03}.txt" for number in range(120)]
    files = [(named(place[-7:], details={"relativePath": place}), place.encode()) for place in places]
    kept = await bundle(ann, *files)
    assert problems(kept) == [None] * 120
    for file, place in zip(kept, places, strict=True):
        shown = await ann("GET", f"/shelf/files/{file['became']}/content")
        assert (shown.content, shown.headers["content-type"]) == (place.encode(), "text/plain")
    assert len(await check_shelf(satchel, ann)) == 120
    assert await names(ann) == ["top"]
    assert await usage(ann) == room(sum(len(place) for place in places), 120)


async def test_the_same_bytes_are_stored_once_however_many_files_show_them(satchel: Satchel, ann: Caller) -> None:
    await uploaded(satchel, ann, "before.txt", b"same")
    kept = await bundle(ann, *((named(f"{number}.txt"), b"same") for number in range(60)))
    assert problems(kept) == [None] * 60
    kept = await bundle(ann, *((named(f"{number}.empty"), b"") for number in range(60)))
    assert problems(kept) == [None] * 60
    assert len(await check_shelf(satchel, ann)) == 121
    assert len(await stored_keys(satchel)) == 2


async def test_names_that_are_taken_get_a_number(satchel: Satchel, ann: Caller) -> None:
    await made(ann, "a.txt")
    await bundle(ann, (named("A.txt"), b"1"), (named("b.txt"), b"2"), (named("B.TXT"), b"3"), (named("b.txt"), b"2"))
    assert sorted(await names(ann)) == sorted(["a.txt", "A.txt", "b.txt", "B.TXT", "b (1).txt"])
    await check_shelf(satchel, ann)


async def test_each_file_is_refused_for_its_own_reason(satchel: Satchel, ann: Caller) -> None:
    deep = "/".join("abcdefgh" * 9) + "/x.txt"
    kept = await bundle(
        ann,
        (named("a.txt"), b"1"),
        (named("b.txt", details={"folder": "nowhere"}), b"2"),
        (named("c.txt", details={"relativePath": deep}), b"3"),
        (named("d.txt", details={"expires": "soon"}), b"4"),
        (named("e.txt", details={"expires": "2001-01-01T00:00:00Z"}), b"5"),
        (named("f.txt"), b"6"),
    )
    assert problems(kept) == [None, "not-found", "too-deep", "time-unfit", "time-unfit", None]
    assert await names(ann) == ["a.txt", "f.txt"]
    await check_shelf(satchel, ann)


async def test_of_a_bundle_as_much_is_kept_as_there_is_room_for(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", quota=1000) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        await bundle(ann, (named("first"), b"x" * 400))
        files = [(named(str(size)), bytes([size % 251]) * size) for size in (300, 900, 200, 150)]
        kept = await bundle(ann, *files, (named("known"), b"x" * 400))
        assert problems(kept) == [None, "quota-reached", None, "quota-reached", None]
        assert (await usage(ann))["used_bytes"] == 900
        await check_shelf(satchel, ann)


async def test_files_that_shall_go_by_themselves_do(satchel: Satchel, ann: Caller) -> None:
    expires = iso(satchel.clock() + 3600)
    await bundle(ann, (named("brief", details={"expires": expires}), b"brief"), (named("stays"), b"stays"))
    await check_shelf(satchel, ann)
    satchel.clock.advance(timedelta(hours=2))
    await ann.refresh()
    assert await names(ann) == ["stays"]


async def test_a_bundle_that_comes_again_makes_no_doubles(satchel: Satchel, ann: Caller) -> None:
    files = [(named(f"{number}.txt", key=f"k{number}"), b"%d" % number) for number in range(50)]
    first = await bundle(ann, *files[:30])
    again = await bundle(ann, *files)
    assert again[:30] == first
    assert problems(again) == [None] * 50
    assert len(await check_shelf(satchel, ann)) == 50
    assert len(await names(ann)) == 50


async def test_the_same_bundle_twice_at_once_makes_no_doubles(satchel: Satchel, ann: Caller) -> None:
    files = [(named(f"{number}.txt", key=f"k{number}"), b"%d" % (number % 40)) for number in range(50)]
    one, other = await asyncio.gather(bundle(ann, *files), bundle(ann, *files))
    assert one == other
    assert len(await check_shelf(satchel, ann)) == 50


async def test_a_damaged_file_is_repaired_by_bringing_it_back(satchel: Satchel, ann: Caller) -> None:
    await bundle(ann, (named("a.txt"), b"content"))
    await satchel.stores.objects.delete(*await stored_keys(satchel))
    await bundle(ann, (named("b.txt"), b"content"), (named("c.txt"), b"other"))
    assert len(await check_shelf(satchel, ann)) == 3


def arrived(satchel: Satchel, caller: Caller, name: str, data: bytes, folders: Sequence[str] = ()) -> Upload:
    return Upload(
        user_id=UserId(caller.user_id),
        file_id=FileId(new_id(satchel.clock)),
        data=data,
        name=name,
        content_type="text/plain",
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        folder_id=FolderId(ROOT),
        folders=[FileName(folder) for folder in folders],
    )


async def three(satchel: Satchel, caller: Caller) -> list[Upload]:
    """Of bytes that are new and bytes that are known, into a folder that is missing and to the top."""
    await uploaded(satchel, caller, "earlier.txt", b"known")
    return [
        arrived(satchel, caller, "new.txt", b"new", ["folder"]),
        arrived(satchel, caller, "known.txt", b"known", ["folder"]),
        arrived(satchel, caller, "other.txt", b"other"),
    ]


@each_step
@pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])
async def test_a_bundle_cut_off_at_any_step_is_kept_by_doing_it_again(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    uploads = await three(satchel, ann)
    cut = Meddling(step, kill, afterwards=afterwards)
    with suppress(Killed):
        await keep_uploads(cut.shelf(shelf_of(satchel)), uploads)
        assert cut.calls < step
    await check_shelf(satchel, ann, leftovers=True)
    kept = await keep_uploads(shelf_of(satchel), uploads)
    assert [each.file_id for each in kept if isinstance(each, FileRow)] == [upload.file_id for upload in uploads]
    assert len(await check_shelf(satchel, ann)) == 4


@each_step
async def test_what_a_bundle_that_was_cut_off_has_left_is_swept(satchel: Satchel, ann: Caller, step: int) -> None:
    uploads = await three(satchel, ann)
    with suppress(Killed):
        await keep_uploads(Meddling(step, kill).shelf(shelf_of(satchel)), uploads)
    satchel.clock.advance(LONG)
    await sweep_due(shelf_of(satchel))
    await sweep_shelves(shelf_of(satchel))
    # Neither objects nor rows.
    await check_shelf(satchel, ann)


@each_step
async def test_a_bundle_crossed_at_any_step_by_the_same_files_keeps_all(
    satchel: Satchel, ann: Caller, step: int
) -> None:
    uploads = await three(satchel, ann)
    alone = [arrived(satchel, ann, upload.name, upload.data, upload.folders) for upload in uploads]

    async def come_first() -> None:
        for upload in alone:
            await keep_upload(shelf_of(satchel), upload)

    kept = await keep_uploads(Meddling(step, come_first).shelf(shelf_of(satchel)), uploads)
    assert all(isinstance(each, FileRow) for each in kept)
    assert len(await check_shelf(satchel, ann)) in (4, 7)


@each_step
async def test_a_bundle_crossed_at_any_step_by_a_deletion_and_a_sweep_keeps_all(
    satchel: Satchel, ann: Caller, step: int
) -> None:
    uploads = await three(satchel, ann)
    (known,) = await check_shelf(satchel, ann)

    async def take_away() -> None:
        await delete_file(shelf_of(satchel), UserId(ann.user_id), known.file_id)
        satchel.clock.advance(LONG)
        await sweep_shelves(shelf_of(satchel))

    kept = await keep_uploads(Meddling(step, take_away).shelf(shelf_of(satchel)), uploads)
    assert all(isinstance(each, FileRow) for each in kept)
    # What it stored for a row that was taken away under its hands.
    await sweep_shelves(shelf_of(satchel))
    files = await check_shelf(satchel, ann)
    assert {upload.file_id for upload in uploads} <= {file.file_id for file in files}
