"""Files that go by themselves, and shelves that are full."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.features.shelf.model import QuotaReached
from satchel.features.shelf.service.shelf_file_add import keep_upload
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import check_shelf, names, shelf_of, staged, stored_keys, uploaded, usage

SOON = "2030-03-17T17:56:40.000Z"
LATER = "2030-03-17T18:06:40.000Z"


@pytest.fixture
async def small(tmp_path: Path) -> AsyncGenerator[Satchel]:
    """A Satchel on which everybody has room for ten bytes."""
    async with running_satchel(tmp_path / "small", sign_up="open", quota=10) as running:
        yield running


@pytest.fixture
async def owner(small: Satchel) -> Caller:
    caller = small.caller()
    await caller.sign_up("owner@example.org")
    return caller


async def test_a_file_goes_at_its_time_sweep_or_no_sweep(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"content")
    path = f"/shelf/files/{file.file_id}"
    answer = await ann("PATCH", path, json={"expires_at": "2030-03-17T18:56:40+01:00"})
    assert (answer.status_code, answer.json()["expires_at"]) == (200, SOON)
    satchel.clock.advance(timedelta(minutes=10, milliseconds=-1))
    await satchel.housekeep()
    assert (await ann("GET", path)).status_code == 200
    satchel.clock.advance(0.001)
    assert (await ann("GET", path)).status_code == 404
    assert await names(ann) == []
    await satchel.housekeep()
    await check_shelf(satchel, ann)
    assert await stored_keys(satchel) == []


async def test_the_time_can_be_changed_and_taken_back(satchel: Satchel, ann: Caller) -> None:
    kept = [await uploaded(satchel, ann, name, b"content") for name in ("later", "never")]
    paths = [f"/shelf/files/{file.file_id}" for file in kept]
    for path in paths:
        await ann("PATCH", path, json={"expires_at": SOON})
    await ann("PATCH", paths[0], json={"expires_at": LATER})
    assert (await ann("PATCH", paths[1], json={"expires_at": None, "name": "ever"})).json()["expires_at"] is None
    satchel.clock.advance(timedelta(minutes=11))
    await satchel.housekeep()
    assert set(await names(ann)) == {"later", "ever"}
    await check_shelf(satchel, ann)


@pytest.mark.parametrize(
    "moment", ["2030-03-17T17:46:40Z", "1970-01-01T00:00:00Z", "2030-03-18T00:00:00", "9999-12-31T23:59:59-23:59", "x"]
)
async def test_a_time_has_to_lie_ahead_and_to_be_one(satchel: Satchel, ann: Caller, moment: str) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"content")
    refused = await ann("PATCH", f"/shelf/files/{file.file_id}", json={"expires_at": moment})
    assert (refused.status_code, refused.json()["field"]) == (422, "expires_at")


async def test_a_file_in_the_bin_still_goes_at_its_time(satchel: Satchel, ann: Caller) -> None:
    kept = [await uploaded(satchel, ann, name, b"content") for name in ("back", "gone")]
    for file in kept:
        await ann("PATCH", f"/shelf/files/{file.file_id}", json={"expires_at": SOON})
        await ann("DELETE", f"/shelf/files/{file.file_id}")
    assert {entry["gone_at"] for entry in (await ann("GET", "/shelf/bin")).json()["entries"]} == {SOON}
    assert (await ann("POST", f"/shelf/bin/{kept[0].file_id}/restore")).json()["expires_at"] == SOON
    await check_shelf(satchel, ann)
    satchel.clock.advance(timedelta(minutes=10))
    assert (await ann("GET", "/shelf/bin")).json()["entries"] == []
    await satchel.housekeep()
    assert await check_shelf(satchel, ann) == []
    assert await stored_keys(satchel) == []


async def test_a_full_shelf_takes_nothing_more_and_changes_nothing(small: Satchel, owner: Caller) -> None:
    await uploaded(small, owner, "a.txt", b"12345678")
    assert await usage(owner) == {"used_bytes": 8, "files": 1, "quota_bytes": 10, "bin_bytes": 0}
    upload = await staged(small, owner, "b.txt", b"abc")
    with pytest.raises(QuotaReached):
        await keep_upload(shelf_of(small), upload)
    assert len(await check_shelf(small, owner)) == 1
    # The bytes wait where they arrived, and are taken as soon as there is room.
    file_id = (await owner("GET", "/shelf/entries")).json()["entries"][0]["id"]
    await owner("DELETE", f"/shelf/files/{file_id}")
    with pytest.raises(QuotaReached):
        await keep_upload(shelf_of(small), upload)
    await owner("DELETE", "/shelf/bin")
    assert (await keep_upload(shelf_of(small), upload)).name == "b.txt"


async def test_bytes_that_are_there_already_need_no_room(small: Satchel, owner: Caller) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        await uploaded(small, owner, name, b"1234567890")
    assert (await usage(owner))["used_bytes"] == 10


async def test_of_uploads_that_arrive_at_once_only_those_that_fit_are_kept(small: Satchel, owner: Caller) -> None:
    uploads = [await staged(small, owner, f"{number}.txt", b"%04d" % number) for number in range(6)]
    kept = await asyncio.gather(*(keep_upload(shelf_of(small), upload) for upload in uploads), return_exceptions=True)
    assert sum(isinstance(each, QuotaReached) for each in kept) == 4
    small.clock.advance(timedelta(days=2))
    await sweep_shelves(shelf_of(small))
    assert len(await check_shelf(small, owner, leftovers=True)) == 2
    assert len(await stored_keys(small)) == 2
