"""Acts cut off at every step, or crossed by others: no media and no count is lost, and a retry completes them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from satchel.features.albums.model import AlbumId, AlbumUnknown, FolderTaken
from satchel.features.albums.records import ALBUM
from satchel.features.albums.service.act_recovery import sweep_acts
from satchel.features.albums.service.album_act import KEPT_FOR
from satchel.features.albums.service.album_change import (
    AlbumPatch,
    NewAlbum,
    change_album,
    create_album,
    delete_album,
)
from satchel.features.albums.service.album_days import days_of_album
from satchel.features.albums.service.album_share import revoke, share
from satchel.features.albums.service.album_undo import list_acts, undo
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.media_pin import pin
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Unavailable
from tests.features.albums.given import ANN, BOB, Given, Killed, Meddling, days, kill, on_both_stores

JULY = days("2025-07", range(1, 29))
MOST_STEPS = 60
LONG = timedelta(hours=1)
Act = Callable[[Albums, Given], Awaitable[object]]


async def _create(albums: Albums, _: Given) -> object:
    new = NewAlbum(name="New", start="2025-07-02", end="2025-07-08", folder="new")
    try:
        return await create_album(albums, ANN, new, idempotency_key="k")
    except FolderTaken:
        return None


async def _dates(albums: Albums, given: Given) -> object:
    return await change_album(albums, ANN, await _sea(given), AlbumPatch(start="2025-07-09", end="2025-07-12"))


async def _rename(albums: Albums, given: Given) -> object:
    return await change_album(albums, ANN, await _sea(given), AlbumPatch(name="Coast", folder="coast"))


async def _delete(albums: Albums, given: Given) -> object:
    try:
        return await delete_album(albums, ANN, await _sea(given), quarters=True)
    except AlbumUnknown:
        return None


async def _undo(albums: Albums, given: Given) -> object:
    acts = (await list_acts(given.albums, ANN.owner, 100, None)).records
    last = next(act for act in acts if act.after is not None and act.after.name == "Sea")
    return await undo(albums, ANN, last.act_id, quarters=True)


async def _sea(given: Given) -> AlbumId:
    """By its folder's start, however it is called now."""
    page = await ALBUM.list(given.albums.tables, owner=ANN.owner)
    found = [row.album_id for row in page.records if row.name in ("Sea", "Coast")]
    if not found:
        raise AlbumUnknown("gone")
    return found[0]


async def _begin(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    # Somebody looks, so that its days are kept, too.
    await days_of_album(library.albums, sea)
    await library.add("2025-01-01T12:00:00.000", pinned=sea.album_id)


each_act = pytest.mark.parametrize("act", [_create, _dates, _rename, _delete, _undo])
each_way = pytest.mark.parametrize("bulk", [False, True], ids=["by transactions", "by steps"])
each_side = pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])


@each_act
@each_side
@each_way
@pytest.mark.parametrize("recovered", [False, True], ids=["retry", "recovery"])
async def test_an_act_cut_off_at_any_step_is_completed(
    library: Given, act: Act, afterwards: bool, recovered: bool
) -> None:
    """A fresh library for each step would take a minute, so what is done is undone between them."""
    clock = library.albums.clock
    assert isinstance(clock, ManualClock)
    await _begin(library)
    step = 0
    for step in count(1):
        # Ids sort by time.
        clock.advance(1)
        cut = Meddling(step, kill, afterwards=afterwards)
        try:
            await act(cut.albums(library.albums), library)
        except Killed:
            pass
        else:
            break
        assert step < MOST_STEPS
        if recovered:
            clock.advance(LONG)
            await sweep_acts(library.albums)
        else:
            await act(library.albums, library)
        await library.check()
        await _undo_all(library)
        await library.check()
    assert step > 5


async def _undo_all(library: Given) -> None:
    """Back to how it was, so that the next step finds the same."""
    fresh = Given(library.albums, medias=library.medias)
    page = await ALBUM.list(library.albums.tables, owner=ANN.owner)
    for row in page.records:
        if row.name not in ("Sea", "Q3 2025", "Q1 2025"):
            await delete_album(library.albums, ANN, row.album_id, quarters=True)
    sea = [row for row in page.records if row.name == "Sea"]
    if sea and (sea[0].start, sea[0].end) == ("2025-07-05T00:00:00", "2025-07-15T00:00:00"):
        return
    if sea:
        await delete_album(library.albums, ANN, sea[0].album_id, quarters=True)
    made = await fresh.create("Sea", "2025-07-05", "2025-07-15", folder="2025-07_Sea")
    await share(library.albums, ANN, made.album_id, BOB, "visitor")


@each_act
@each_side
@each_way
@pytest.mark.parametrize("step", range(1, 24, 3))
async def test_uploads_and_shares_between_any_two_steps_of_an_act_are_counted(
    library: Given, act: Act, afterwards: bool, step: int
) -> None:
    await _begin(library)

    async def meddle() -> None:
        await library.add("2025-07-06T13:00:00.000", "2025-07-10T13:00:00.000", "2025-07-20T13:00:00.000")
        page = await ALBUM.list(library.albums.tables, owner=ANN.owner)
        for row in page.records:
            if not row.leaving:
                await share(library.albums, ANN, row.album_id, "carl@example.org", "contributor")

    await act(Meddling(step, meddle, afterwards=afterwards).albums(library.albums), library)
    await library.check()


@on_both_stores
@each_way
async def test_many_acts_uploads_and_shares_at_once_lose_nothing(library: Given) -> None:
    """Each as by a server of its own, whose caches know nothing of the others."""
    await library.add(*JULY)
    albums = [
        await library.create(f"Album {number}", f"2025-07-{number * 5 + 1:02}", "2025-07-27") for number in range(3)
    ]

    def server() -> Albums:
        return Meddling(0, kill).albums(library.albums)

    medias = [*library.medias][:3]
    outcomes = await asyncio.gather(
        change_album(server(), ANN, albums[0].album_id, AlbumPatch(end="2025-07-09")),
        change_album(server(), ANN, albums[1].album_id, AlbumPatch(start="2025-07-12", end="2025-07-14")),
        delete_album(server(), ANN, albums[2].album_id),
        create_album(server(), ANN, NewAlbum(name="New", start="2025-07-13", end="2025-07-26")),
        create_album(server(), ANN, NewAlbum(name="New", start="2025-07-03", end="2025-07-20")),
        share(server(), ANN, albums[0].album_id, BOB, "visitor"),
        share(server(), ANN, albums[1].album_id, BOB, "contributor"),
        revoke(server(), ANN, albums[0].album_id, "nobody@example.org"),
        *(library.add(*days(f"2025-{month:02}", range(10, 14)), albums=server()) for month in (6, 7, 7, 8, 8, 10)),
        *(pin(server(), ANN.owner, media, albums[0].album_id) for media in medias),
        return_exceptions=True,
    )
    assert [each for each in outcomes if isinstance(each, BaseException)] == []
    await library.check()
    names = [row.name for row in (await read_library(library.albums, ANN.owner)).albums.values()]
    assert sorted(names) == ["Album 0", "Album 1", "New", "New", "Q2 2025", "Q3 2025", "Q4 2025"]


async def test_an_act_that_fails_does_not_keep_others_from_being_finished(library: Given) -> None:
    """Two are cut off; the tables fail while the first of them is finished."""
    clock = library.albums.clock
    assert isinstance(clock, ManualClock)
    await _begin(library)
    for act in (_dates, _create):
        clock.advance(1)
        # The first steps of moving medias come after the transaction that begins an act.
        cut = Meddling(1, kill)
        broken = replace(library.albums, bulk=cut.albums(library.albums).bulk)
        with pytest.raises(Killed):
            await act(broken, library)
    clock.advance(LONG)

    async def fail() -> None:
        raise Unavailable("The tables do not respond.")

    failing = Meddling(1, fail)
    with pytest.raises(Unavailable):
        await sweep_acts(replace(library.albums, bulk=failing.albums(library.albums).bulk))
    unfinished = [act for act in (await list_acts(library.albums, ANN.owner, 10, None)).records if not act.done_at]
    assert len(unfinished) == 1
    await sweep_acts(library.albums)
    await library.check()


async def test_an_act_is_looked_at_again_and_then_forgotten(library: Given) -> None:
    clock = library.albums.clock
    assert isinstance(clock, ManualClock)
    await library.add(*JULY)
    await library.create("Sea", "2025-07-05", "2025-07-15")
    clock.advance(LONG)
    await sweep_acts(library.albums)
    assert len((await list_acts(library.albums, ANN.owner, 10, None)).records) == 2
    clock.advance(KEPT_FOR)
    clock.advance(LONG)
    assert await sweep_acts(library.albums) == 2
    assert (await list_acts(library.albums, ANN.owner, 10, None)).records == []
    await library.check()
