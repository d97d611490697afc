"""Days counted by month: those of libraries from before are brought over, whoever changes them meanwhile."""

import asyncio
from collections import Counter
from contextlib import suppress

import pytest

from satchel.features.albums.count_records import (
    ALBUM_DAY,
    DAY,
    MONTH,
    AlbumDayRow,
    DayRow,
    album_days,
    month_key,
    owner_days,
)
from satchel.features.albums.model import LocalTime
from satchel.features.albums.records import ALBUM, AlbumRow
from satchel.features.albums.service.album_days import days_of_album
from satchel.features.albums.service.album_share import share
from satchel.features.albums.service.count_check import check_library
from satchel.features.albums.service.media_bin import delete_media
from satchel.features.albums.service.photo_timeline import list_days, years_of
from satchel.stores.patterns.partition_delete import delete_partition
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import Update
from tests.features.albums.given import ANN, BOB, Given, Killed, Meddling, days, kill, on_both_stores

# More days of one month than an old DynamoDB Local deletes in a transaction, and two further years.
TIMES = [*days("2024-02", range(1, 13)), *days("2024-03", (1, 31)), *days("2019-12", (31,)), *days("2025-01", (1,))]
OWN = owner_days(ANN.owner)


async def _from_before(library: Given) -> Counter[str]:
    """A library whose days were counted in a row each. What they are."""
    await library.add(*TIMES)
    counts = Counter(await list_days(library.albums, ANN.owner))
    await _count_by_day(library, counts)
    return counts


async def _count_by_day(library: Given, counts: Counter[str]) -> None:
    tables = library.albums.tables
    await delete_partition(tables, DAY.table, OWN)
    rows = [DayRow(owner=ANN.owner, day=day, count=count) for day, count in counts.items()]
    # A day that has none any more.
    rows.append(DayRow(owner=ANN.owner, day="2024-02-20"))
    await tables.write_many(DAY.table, put=[DAY.item(row) for row in rows])


async def _check(library: Given, expected: Counter[str]) -> None:
    found = await list_days(library.albums, ANN.owner)
    assert found == expected
    assert list(found) == sorted(found, reverse=True)
    rows = (await library.albums.tables.query(DAY.table, OWN)).items
    assert [row["SK"] for row in rows] == [f"MONTH#{month}" for month in sorted({day[:7] for day in expected})]
    assert await check_library(library.albums, ANN.owner, repair=False) == []


@on_both_stores
async def test_days_from_before_are_brought_to_their_months(library: Given) -> None:
    expected = await _from_before(library)
    assert len(expected) == len(TIMES)
    assert await years_of(library.albums, ANN.owner, LocalTime(""), LocalTime("")) == (2019, 2025)
    await _check(library, expected)


@on_both_stores
async def test_photos_come_and_go_before_and_after_their_days_are_brought(library: Given) -> None:
    expected = await _from_before(library)
    first, *_ = await library.add("2024-02-01T10:00:00.000", "2024-04-01T10:00:00.000")
    await delete_media(library.albums, ANN.owner, first)
    gone = next(media for media, time in library.medias.items() if time.startswith("2024-02-02"))
    await delete_media(library.albums, ANN.owner, gone)
    expected["2024-04-01"] += 1
    del expected["2024-02-02"]
    await _check(library, expected)


@pytest.mark.parametrize("afterwards", [False, True])
async def test_nothing_is_lost_or_counted_twice_if_bringing_days_ends_anywhere(
    library: Given, afterwards: bool
) -> None:
    expected = await _from_before(library)
    step = 0
    for step in range(1, 100):
        await _count_by_day(library, expected)
        dying = Meddling(step, kill, afterwards=afterwards)
        with suppress(Killed):
            await list_days(dying.albums(library.albums), ANN.owner)
        await _check(library, expected)
        if dying.calls < step:
            break
    assert step > 5


async def test_photos_may_come_at_any_moment_while_days_are_brought(library: Given) -> None:
    expected = await _from_before(library)
    step = 0
    for step in range(1, 100):
        await _count_by_day(library, expected)
        crossing = Meddling(step, lambda: library.add(f"2024-02-11T10:{len(library.medias):02}:00.000"))
        await list_days(crossing.albums(library.albums), ANN.owner)
        if crossing.calls < step:
            break
        expected["2024-02-11"] += 1
        await _check(library, expected)
    assert step > 5


@on_both_stores
async def test_several_who_look_at_once_bring_each_day_once(library: Given) -> None:
    expected = await _from_before(library)
    seen = await asyncio.gather(*(list_days(library.albums, ANN.owner) for _ in range(4)))
    assert all(each == expected for each in seen)
    await _check(library, expected)


async def test_days_of_a_shared_album_from_before_are_brought_too(library: Given) -> None:
    await library.add(*TIMES)
    leap = await library.create("Leap", "2024-02-01", "2024-03-02")
    await share(library.albums, ANN, leap.album_id, BOB, "visitor")
    counts = await days_of_album(library.albums, await _album(library, leap))
    album = await _album(library, leap)
    place, tables = album_days(ANN.owner, album.album_id, album.days), library.albums.tables
    await delete_partition(tables, ALBUM_DAY.table, place)
    rows = [
        AlbumDayRow(owner=ANN.owner, album_id=album.album_id, days=album.days, day=day, count=count)
        for day, count in counts.items()
    ]
    await tables.write_many(ALBUM_DAY.table, put=[ALBUM_DAY.item(row) for row in rows])
    await library.add("2024-02-11T10:00:00.000")
    assert await days_of_album(library.albums, album) == Counter(counts) + Counter(["2024-02-11"])
    assert all(row["SK"].startswith("MONTH#") for row in (await tables.query(ALBUM_DAY.table, place)).items)
    await library.check()


async def _album(library: Given, album: AlbumRow) -> AlbumRow:
    found = await ALBUM.get(library.albums.tables, owner=ANN.owner, album_id=album.album_id)
    assert found is not None
    return found


@on_both_stores
async def test_a_check_finds_days_of_the_timeline_that_drifted(library: Given) -> None:
    await library.add(*TIMES)
    wrong = [add("D01", -1), add("D20", 3)]
    await library.albums.tables.transact([Update(MONTH.table, month_key(OWN, "2024-02"), wrong)])
    (drift,) = await check_library(library.albums, ANN.owner, repair=True)
    assert (drift.kind, drift.stored, drift.counted, drift.repaired) == ("timeline", 3, 1, True)
    await _check(library, Counter(time[:10] for time in TIMES))


@pytest.mark.parametrize("photos", [1, 3])
async def test_a_repair_leaves_alone_what_has_changed_since(library: Given, photos: int) -> None:
    """The days were read before the photo came, and the photos after it."""
    await library.add(*TIMES)
    seen = set[tuple[int, bool]]()

    async def meddle() -> None:
        minute = len(library.medias)
        await library.add(*(f"2024-02-01T11:{minute:02}:{second:02}.000" for second in range(photos)))

    step = 0
    for step in range(1, 100):
        await library.albums.tables.transact([Update(MONTH.table, month_key(OWN, "2024-02"), [add("D01", 5)])])
        crossing = Meddling(step, meddle)
        found = await check_library(crossing.albums(library.albums), ANN.owner, repair=True)
        seen |= {(each.stored - each.counted, each.repaired) for each in found if each.kind == "timeline"}
        await check_library(library.albums, ANN.owner, repair=True)
        await library.check()
        assert sum((await list_days(library.albums, ANN.owner)).values()) == len(library.medias)
        if crossing.calls < step:
            break
    assert {(5, True), (5 - photos, False)} <= seen
