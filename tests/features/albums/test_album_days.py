"""Days of shared albums: counted once, kept right by every change, and read without reading medias."""

import asyncio
from collections import Counter

from satchel.features.albums.count_records import ALBUM_MONTH
from satchel.features.albums.media_records import MEDIA, MediaDetails
from satchel.features.albums.model import AlbumId, LocalTime, OwnerId
from satchel.features.albums.records import ALBUM, AlbumRow
from satchel.features.albums.service.album_change import AlbumPatch, change_album, delete_album
from satchel.features.albums.service.album_days import days_of_album, kept_days, recount_days
from satchel.features.albums.service.album_list import Person
from satchel.features.albums.service.album_share import share
from satchel.features.albums.service.camera_clock import ClockScope, Correction, correct_clock
from satchel.features.albums.service.count_check import check_library
from satchel.features.albums.service.media_bin import delete_media, restore
from satchel.features.albums.service.media_change import set_date
from satchel.features.albums.service.media_pin import pin
from satchel.features.albums.service.shared_timeline import list_shared_days
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import Update
from tests.features.albums.given import ANN, BOB, Given, Meddling, days, kill, on_both_stores

VISITOR = Person(OwnerId("bob"), BOB)
JULY = days("2025-07", range(1, 13))


async def _album(library: Given, album_id: AlbumId) -> AlbumRow:
    found = await ALBUM.get(library.albums.tables, owner=ANN.owner, album_id=album_id)
    assert found is not None
    return found


async def _given_sea(library: Given) -> AlbumRow:
    """Shared with Bob, who has looked at it."""
    library.details = MediaDetails(make="Canon", model="R5")
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-03", "2025-07-08")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    await days_of_album(library.albums, await _album(library, sea.album_id))
    seen = await _album(library, sea.album_id)
    assert seen.days
    return seen


async def _check(library: Given, album_id: AlbumId) -> None:
    """What Bob sees is what is there."""
    await library.check()
    keys = [MEDIA.key(owner=ANN.owner, media_id=media_id) for media_id in library.medias]
    items = [item for item in await library.albums.tables.get_many(MEDIA.table, keys) if item is not None]
    expected = Counter(item["DateTime"][:10] for item in items if item["AlbumId"] == album_id)
    assert await list_shared_days(library.albums, VISITOR) == expected


@on_both_stores
async def test_days_stay_right_whatever_is_changed(library: Given) -> None:
    sea, albums = await _given_sea(library), library.albums
    await _check(library, sea.album_id)
    await library.add("2025-07-03T09:00:00.000", "2025-07-07T09:00:00.000")
    await _check(library, sea.album_id)
    pinned, moved, *_ = await library.add("2025-09-01T09:00:00.000", "2025-07-05T10:00:00.000")
    await pin(albums, ANN.owner, pinned, sea.album_id)
    await set_date(albums, ANN.owner, moved, LocalTime("2025-07-06T10:00:00.000"))
    library.medias[moved] = LocalTime("2025-07-06T10:00:00.000")
    await _check(library, sea.album_id)
    await change_album(albums, ANN, sea.album_id, AlbumPatch(start="2025-07-05", end="2025-07-11"))
    await _check(library, sea.album_id)
    await delete_media(albums, ANN.owner, moved)
    assert await check_library(albums, ANN.owner, repair=False) == []
    await restore(albums, ANN.owner, moved)
    await _check(library, sea.album_id)
    assert (await _album(library, sea.album_id)).days == sea.days


async def test_days_follow_a_corrected_clock(library: Given) -> None:
    """A transaction of this has more writes than DynamoDB Local takes."""
    sea, albums = await _given_sea(library), library.albums
    scope = ClockScope(album_id=sea.album_id)
    await correct_clock(albums, ANN, Correction(scope=scope, make="Canon", model="R5", shift_seconds=86400))
    await _check(library, sea.album_id)


async def test_days_are_read_without_reading_photos(library: Given) -> None:
    await _given_sea(library)

    async def calls() -> int:
        counted = Meddling(0, kill)
        await list_shared_days(counted.albums(library.albums), VISITOR)
        return counted.calls

    few = await calls()
    await library.add(
        *(
            f"2025-07-0{day}T{hour:02}:{minute:02}:00.000"
            for day in (3, 4)
            for hour in range(24)
            for minute in range(0, 60, 2)
        )
    )
    assert await calls() == few


async def test_days_that_change_while_they_are_counted_are_counted_again(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-03", "2025-07-08")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    step = 0
    while True:
        step += 1
        hour = f"{step:02}"
        await recount_days(library.albums, ANN.owner, sea.album_id)

        async def meddle(hour: str = hour) -> None:
            await library.add(f"2025-07-04T{hour}:00:00.000")

        crossing = Meddling(step, meddle)
        await days_of_album(crossing.albums(library.albums), await _album(library, sea.album_id))
        await _check(library, sea.album_id)
        if crossing.calls < step:
            break
    assert step > 3


async def test_two_who_ask_at_once_keep_one_count(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-03", "2025-07-08")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    asked = await asyncio.gather(*(days_of_album(library.albums, sea) for _ in range(4)))
    assert len({tuple(sorted(each.items())) for each in asked}) == 1
    await _check(library, sea.album_id)


async def test_a_check_finds_days_that_drifted(library: Given) -> None:
    sea, tables = await _given_sea(library), library.albums.tables
    key = ALBUM_MONTH.key(owner=ANN.owner, album_id=sea.album_id, days=sea.days, month="2025-07")
    await tables.transact([Update(ALBUM_MONTH.table, key, [add("D04", 2)])])
    (drift,) = await check_library(library.albums, ANN.owner, repair=True)
    assert (drift.kind, drift.stored, drift.counted, drift.repaired) == ("days", 7, 5, True)
    await _check(library, sea.album_id)


async def test_a_deleted_album_leaves_no_days(library: Given) -> None:
    sea = await _given_sea(library)
    await delete_album(library.albums, ANN, sea.album_id)
    assert await kept_days(library.albums, sea) == {}
    assert await list_shared_days(library.albums, VISITOR) == {}
