"""Files that leave a shelf for somebody else, and copies that come to one: through every crash, and only once."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from satchel.features.shelf.model import BytesGone, FileId, FolderId, UserId
from satchel.features.shelf.records import object_key
from satchel.features.shelf.service.shelf_copies import Copy, discard, gather, keep_all, locate
from satchel.kernel.errors import NotFound, TooLarge
from satchel.kernel.ids import derived_id, new_id
from satchel.kernel.names import FileName
from tests.application import Caller, Satchel
from tests.features.shelf.given import (
    Killed,
    Meddling,
    check_shelf,
    kill,
    made,
    names,
    shelf_of,
    stored_keys,
    uploaded,
)

CONTENT = b"of somebody else"


async def a_copy(satchel: Satchel, ann: Caller) -> Copy:
    """Of a file on Ann's shelf."""
    file = await uploaded(satchel, ann, "theirs.txt", CONTENT)
    key = (await locate(shelf_of(satchel), UserId(ann.user_id), [file.file_id]))[file.file_id]
    return Copy(
        file_id=FileId(derived_id(new_id(satchel.clock), "0")),
        source_key=key,
        name="theirs.txt",
        size_bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        content_type="text/plain",
        folders=[FileName("Received")],
    )


async def test_a_selection_is_gathered_with_its_folders_each_file_once(satchel: Satchel, ann: Caller) -> None:
    outer = await made(ann, "Outer")
    inner = await made(ann, "Inner", outer)
    deep = await uploaded(satchel, ann, "deep.txt", b"deep", folder_id=inner)
    top = await uploaded(satchel, ann, "top.txt", b"top")
    found = await gather(shelf_of(satchel), UserId(ann.user_id), [outer, top.file_id, deep.file_id, outer], 2)
    assert [(each.folder, each.name) for each in found] == [("Outer/Inner", "deep.txt"), ("", "top.txt")]


async def test_what_is_not_there_is_in_the_bin_or_is_too_much_is_not_gathered(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    shelf, person = shelf_of(satchel), UserId(ann.user_id)
    folder = await made(ann, "Folder")
    first = await uploaded(satchel, ann, "a.txt", b"a", folder_id=folder)
    await uploaded(satchel, ann, "b.txt", b"b", folder_id=folder)
    with pytest.raises(TooLarge):
        await gather(shelf, person, [folder], 1)
    for entry_id in ("unknown", "", "x" * 65):
        with pytest.raises(NotFound):
            await gather(shelf, person, [entry_id], 10)
    with pytest.raises(NotFound):
        await gather(shelf, UserId(bob.user_id), [folder], 10)
    await ann("DELETE", f"/shelf/folders/{folder}")
    for entry_id in (folder, str(first.file_id)):
        with pytest.raises(NotFound):
            await gather(shelf, person, [entry_id], 10)
    assert await locate(shelf, person, [first.file_id]) == {}


async def test_a_copy_is_kept_once_and_the_source_stays(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    copy, shelf, person = await a_copy(satchel, ann), shelf_of(satchel), UserId(bob.user_id)
    await keep_all(shelf, person, [copy])
    first = await check_shelf(satchel, bob)
    await keep_all(shelf, person, [copy])
    assert await check_shelf(satchel, bob) == first
    assert [file.file_id for file in await check_shelf(satchel, bob)] == [copy.file_id]
    assert len(await check_shelf(satchel, ann)) == 1


async def test_a_copy_in_the_bin_comes_back(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    copy, shelf, person = await a_copy(satchel, ann), shelf_of(satchel), UserId(bob.user_id)
    await keep_all(shelf, person, [copy])
    await bob("DELETE", f"/shelf/files/{copy.file_id}")
    await keep_all(shelf, person, [copy])
    assert [file.file_id for file in await check_shelf(satchel, bob)] == [copy.file_id]


async def test_a_copy_of_nothing_is_refused(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    copy = await a_copy(satchel, ann)
    await satchel.stores.objects.delete(copy.source_key)
    with pytest.raises(BytesGone):
        await keep_all(shelf_of(satchel), UserId(bob.user_id), [copy])
    assert await check_shelf(satchel, bob, leftovers=True) == []


async def test_a_discarded_copy_leaves_nothing(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    copy, shelf, person = await a_copy(satchel, ann), shelf_of(satchel), UserId(bob.user_id)
    await keep_all(shelf, person, [copy])
    await discard(shelf, person, [copy.file_id, "unknown"])
    assert await check_shelf(satchel, bob) == []
    assert len(await check_shelf(satchel, ann)) == 1


class Dying(Meddling):
    """From the n-th call on the power is out: nothing is cleaned up on the way."""

    async def around(self, call: Callable[..., Awaitable[Any]], *positional: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls >= self.number:
            raise Killed
        return await call(*positional, **named)


@pytest.mark.slow
async def test_a_crash_at_any_step_of_keeping_a_copy_loses_and_leaks_nothing(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    number, finished = 0, False
    while not finished:
        number += 1
        copy, person = await a_copy(satchel, ann), UserId(bob.user_id)
        try:
            await keep_all(Dying(number, kill).shelf(shelf_of(satchel)), person, [copy])
            finished = True
        except Killed:
            satchel.clock.advance(24 * 3600 + 1)
            await satchel.housekeep()
            files = await check_shelf(satchel, bob, leftovers=True)
            assert await stored_keys(satchel, f"user/{bob.user_id}/") == [object_key(file) for file in files]
            await keep_all(shelf_of(satchel), person, [copy])
        await check_shelf(satchel, bob)
        await discard(shelf_of(satchel), person, [copy.file_id])
    assert number > 5


@pytest.mark.slow
async def test_a_sweep_at_any_step_of_keeping_a_copy_does_no_harm(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    number, meddling = 0, Meddling(0, satchel.housekeep)
    while number <= meddling.calls:
        number += 1
        copy = await a_copy(satchel, ann)
        meddling = Meddling(number, satchel.housekeep)
        await keep_all(meddling.shelf(shelf_of(satchel)), UserId(bob.user_id), [copy])
        await check_shelf(satchel, bob)
    assert number > 5


async def test_a_folder_that_is_gone_is_replaced_by_the_top(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    copy = await a_copy(satchel, ann)
    elsewhere = Copy(
        file_id=copy.file_id,
        source_key=copy.source_key,
        name=copy.name,
        size_bytes=copy.size_bytes,
        sha256=copy.sha256,
        content_type=copy.content_type,
        folder_id=FolderId("gone"),
    )
    await keep_all(shelf_of(satchel), UserId(bob.user_id), [elsewhere])
    assert await names(bob) == ["theirs.txt"]
