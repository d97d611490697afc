"""Uploads and deletions cut off, or crossed by others, at every single step: nothing is lost or left behind."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from satchel.features.shelf.model import BytesGone, EntryId, FileId, UserId
from satchel.features.shelf.records import object_key
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.purge import delete_for_good, sweep_due
from satchel.features.shelf.service.shelf_bin import delete_file
from satchel.features.shelf.service.shelf_file_add import keep_upload
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.kernel.errors import NotFound
from tests.application import Caller, Satchel
from tests.features.shelf.given import (
    Killed,
    Meddling,
    check_shelf,
    kill,
    shelf_of,
    staged,
    stored_keys,
    uploaded,
)

MOST_STEPS = 14
LONG = timedelta(days=2)
each_step = pytest.mark.parametrize("step", range(1, MOST_STEPS))
each_side = pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])


@pytest.fixture
def ann(satchel: Satchel) -> Caller:
    """An owner of files. No request is sent, so nobody has to sign up."""
    caller = satchel.caller()
    caller.user_id = "ann"
    return caller


async def delete(satchel: Satchel, caller: Caller, file_id: FileId) -> None:
    await take_away(shelf_of(satchel), UserId(caller.user_id), file_id)


async def take_away(shelf: Shelf, user_id: UserId, file_id: FileId) -> None:
    """Into the bin and out of it; what is in the bin already only goes."""
    with suppress(NotFound):
        await delete_file(shelf, user_id, file_id)
    await delete_for_good(shelf, user_id, EntryId(file_id))


def crossing(step: int, meddle: Callable[[], Awaitable[object]], *, afterwards: bool) -> Meddling:
    async def once() -> None:
        await meddle()

    return Meddling(step, once, afterwards=afterwards)


@each_step
@each_side
@pytest.mark.parametrize("already_there", [False, True], ids=["new bytes", "known bytes"])
async def test_an_upload_cut_off_at_any_step_is_taken_over_by_doing_it_again(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool, already_there: bool
) -> None:
    if already_there:
        await uploaded(satchel, ann, "earlier.txt", b"content")
    upload = await staged(satchel, ann, "a.txt", b"content")
    cut = Meddling(step, kill, afterwards=afterwards)
    try:
        await keep_upload(cut.shelf(shelf_of(satchel)), upload)
    except Killed:
        pass
    else:
        assert cut.calls < step
    await check_shelf(satchel, ann, leftovers=True)
    kept = await keep_upload(shelf_of(satchel), upload)
    assert (kept.file_id, kept.name) == (upload.file_id, "a.txt")
    assert len(await check_shelf(satchel, ann)) == 1 + already_there
    assert await stored_keys(satchel, "uploads/") == []


@each_step
@each_side
async def test_what_an_upload_left_that_never_came_back_is_swept_away(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    upload = await staged(satchel, ann, "a.txt", b"content")
    cut = Meddling(step, kill, afterwards=afterwards)
    with suppress(Killed):
        await keep_upload(cut.shelf(shelf_of(satchel)), upload)
    await sweep_shelves(shelf_of(satchel))
    await check_shelf(satchel, ann, leftovers=True)
    satchel.clock.advance(LONG)
    await satchel.stores.objects.delete(upload.key)  # it is given up
    await sweep_due(shelf_of(satchel))
    await sweep_shelves(shelf_of(satchel))
    await check_shelf(satchel, ann)


@each_step
@each_side
@pytest.mark.parametrize("shared", [False, True], ids=["last reference", "shared bytes"])
async def test_a_deletion_cut_off_at_any_step_can_be_repeated_and_leaves_nothing(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool, shared: bool
) -> None:
    if shared:
        await uploaded(satchel, ann, "other.txt", b"content")
    kept = await uploaded(satchel, ann, "a.txt", b"content")
    cut = Meddling(step, kill, afterwards=afterwards)
    try:
        await take_away(cut.shelf(shelf_of(satchel)), kept.user_id, kept.file_id)
    except Killed:
        await check_shelf(satchel, ann, leftovers=True)
        with suppress(NotFound):
            await delete(satchel, ann, kept.file_id)
    await sweep_shelves(shelf_of(satchel))
    assert len(await check_shelf(satchel, ann)) == shared


@each_step
@each_side
async def test_deleting_the_last_reference_during_a_new_upload_of_the_same_bytes_loses_nothing(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    old = await uploaded(satchel, ann, "old.txt", b"content")
    upload = await staged(satchel, ann, "new.txt", b"content")
    meddling = crossing(step, lambda: delete(satchel, ann, old.file_id), afterwards=afterwards)
    await keep_upload(meddling.shelf(shelf_of(satchel)), upload)
    await sweep_shelves(shelf_of(satchel))
    assert "new.txt" in {file.name for file in await check_shelf(satchel, ann)}


@each_step
@each_side
async def test_bytes_that_go_and_come_back_during_an_upload_are_not_taken_for_those_that_went(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    old = await uploaded(satchel, ann, "old.txt", b"content")
    upload = await staged(satchel, ann, "new.txt", b"content")

    async def go_and_come_back() -> None:
        await delete(satchel, ann, old.file_id)
        await uploaded(satchel, ann, "other.txt", b"content")

    await keep_upload(crossing(step, go_and_come_back, afterwards=afterwards).shelf(shelf_of(satchel)), upload)
    await sweep_shelves(shelf_of(satchel))
    assert "new.txt" in {file.name for file in await check_shelf(satchel, ann)}


@each_step
@each_side
async def test_a_new_upload_of_the_same_bytes_during_the_deletion_of_the_last_reference_loses_nothing(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    old = await uploaded(satchel, ann, "old.txt", b"content")
    upload = await staged(satchel, ann, "new.txt", b"content")
    meddling = crossing(step, lambda: keep_upload(shelf_of(satchel), upload), afterwards=afterwards)
    await take_away(meddling.shelf(shelf_of(satchel)), old.user_id, old.file_id)
    await keep_upload(shelf_of(satchel), upload)
    assert [file.name for file in await check_shelf(satchel, ann)] == ["new.txt"]


@each_step
@each_side
async def test_a_sweep_in_the_middle_of_an_upload_harms_nothing_however_long_the_upload_took(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    upload = await staged(satchel, ann, "a.txt", b"content")

    async def sweep_much_later() -> None:
        satchel.clock.advance(LONG)
        await sweep_shelves(shelf_of(satchel))

    meddling = crossing(step, sweep_much_later, afterwards=afterwards)
    await keep_upload(meddling.shelf(shelf_of(satchel)), upload)
    await sweep_shelves(shelf_of(satchel))
    assert [file.name for file in await check_shelf(satchel, ann)] == ["a.txt"]


@each_step
@each_side
async def test_an_upload_in_the_middle_of_a_sweep_is_not_swept_away(
    satchel: Satchel, ann: Caller, step: int, afterwards: bool
) -> None:
    abandoned = await staged(satchel, ann, "a.txt", b"content")
    with pytest.raises(Killed):
        await keep_upload(Meddling(3, kill, afterwards=True).shelf(shelf_of(satchel)), abandoned)
    satchel.clock.advance(LONG)
    meddling = crossing(step, lambda: keep_upload(shelf_of(satchel), abandoned), afterwards=afterwards)
    await sweep_shelves(meddling.shelf(shelf_of(satchel)))
    await keep_upload(shelf_of(satchel), abandoned)
    await sweep_shelves(shelf_of(satchel))
    assert [file.name for file in await check_shelf(satchel, ann)] == ["a.txt"]


async def test_the_same_upload_taken_over_by_many_at_once_becomes_one_file(satchel: Satchel, ann: Caller) -> None:
    upload = await staged(satchel, ann, "a.txt", b"content")
    kept = await asyncio.gather(*(keep_upload(shelf_of(satchel), upload) for _ in range(8)))
    assert {file.file_id for file in kept} == {upload.file_id}
    assert len(await check_shelf(satchel, ann)) == 1


async def test_an_upload_whose_bytes_are_gone_says_so(satchel: Satchel, ann: Caller) -> None:
    upload = await staged(satchel, ann, "a.txt", b"content")
    await satchel.stores.objects.delete(upload.key)
    with pytest.raises(BytesGone):
        await keep_upload(shelf_of(satchel), upload)


async def test_bringing_bytes_back_repairs_a_file_that_lost_them(satchel: Satchel, ann: Caller) -> None:
    await uploaded(satchel, ann, "a.txt", b"content")
    await satchel.stores.objects.delete(*await stored_keys(satchel))
    await uploaded(satchel, ann, "b.txt", b"content")
    assert len(await check_shelf(satchel, ann)) == 2


async def test_a_crowd_that_uploads_deletes_and_sweeps_the_same_bytes_stays_consistent(
    satchel: Satchel, ann: Caller
) -> None:
    async def come_and_go(number: int) -> None:
        for turn in range(4):
            kept = await uploaded(satchel, ann, "a.txt", b"content %d" % (number % 2))
            if (number + turn) % 3:
                await delete(satchel, ann, kept.file_id)
            await sweep_shelves(shelf_of(satchel))

    await asyncio.gather(*(come_and_go(number) for number in range(6)))
    await sweep_shelves(shelf_of(satchel))
    assert len(await check_shelf(satchel, ann)) == 8


async def test_a_sweep_goes_on_where_the_one_before_it_stopped(satchel: Satchel, ann: Caller) -> None:
    kept = [await uploaded(satchel, ann, "a.txt", b"%d" % number) for number in range(5)]
    for file in kept:
        key = object_key(file)
        await satchel.stores.objects.copy(key, key.rpartition(".")[0] + ".zz")
    swept = [await sweep_shelves(shelf_of(satchel), look_at=4) for _ in range(3)]
    assert (sum(swept), max(swept)) == (5, 2)
    await check_shelf(satchel, ann)


async def test_housekeeping_sweeps_and_leaves_what_it_does_not_know(satchel: Satchel, ann: Caller) -> None:
    kept = await uploaded(satchel, ann, "a.txt", b"content")
    objects = satchel.stores.objects
    await objects.copy(object_key(kept), f"user/{ann.user_id}/{kept.sha256}.old")
    await objects.copy(object_key(kept), "user/readme")
    await satchel.housekeep()
    assert await stored_keys(satchel, "user/readme") == ["user/readme"]
    await objects.delete("user/readme")
    await check_shelf(satchel, ann)
