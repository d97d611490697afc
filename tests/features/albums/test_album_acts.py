"""Create, rename, date and delete albums: medias move as the timeline says, counts follow, and all can be undone."""

import pytest

from satchel.features.albums.limits import MAX_PEOPLE
from satchel.features.albums.model import (
    UNDATED,
    ActSuperseded,
    AlbumUnknown,
    Folder,
    FolderTaken,
    OrphanedMedias,
    TooManyMedias,
)
from satchel.features.albums.service import album_plan
from satchel.features.albums.service.album_change import (
    AlbumPatch,
    NewAlbum,
    change_album,
    create_album,
    delete_album,
    plan_change,
    plan_creation,
    plan_deletion,
)
from satchel.features.albums.service.album_folders import album_in
from satchel.features.albums.service.album_share import list_shares, share
from satchel.features.albums.service.album_undo import list_acts, undo
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.media_home import unpin
from satchel.features.albums.service.media_pin import pin
from satchel.kernel.errors import Invalid
from tests.features.albums.given import ANN, BOB, Given, album_of, days, on_both_stores
from tests.stores.harnesses_table import NEWER_HARNESSES

JULY = days("2025-07", range(1, 29))


@on_both_stores
async def test_a_media_that_no_album_covers_gets_a_quarter(library: Given) -> None:
    await library.add("2025-08-01T00:00:00.000", "2025-09-30T23:59:59.999", "2025-10-01T00:00:00.000", "")
    assert await library.names() == ["Q3 2025", "Q3 2025", "Q4 2025", UNDATED]
    await library.check()


@on_both_stores
async def test_a_new_album_takes_what_it_leads(library: Given) -> None:
    await library.add(*JULY)
    acted = await create_album(library.albums, ANN, NewAlbum(name="Sea", start="2025-07-10", end="2025-07-20"))
    assert acted.act is not None
    assert (acted.act.moved, bool(acted.act.done_at)) == (10, True)
    assert (await library.names()).count("Sea") == 10
    await library.check()


@on_both_stores
async def test_an_album_that_grows_can_lose_medias_and_one_that_shrinks_can_win_some(library: Given) -> None:
    await library.add(*JULY)
    long = await library.create("Long", "2025-07-05", "2025-07-15")
    short = await library.create("Short", "2025-07-12", "2025-07-18")
    assert (await library.names()).count("Short") == 6
    await change_album(library.albums, ANN, short.album_id, AlbumPatch(end="2025-08-01"))
    assert (await library.names()).count("Long") == 10
    await library.check()
    await change_album(library.albums, ANN, long.album_id, AlbumPatch(start="2025-07-14"))
    await library.check()
    await change_album(library.albums, ANN, short.album_id, AlbumPatch(start="2025-07-27"))
    await library.check()


@on_both_stores
async def test_deleting_an_album_gives_its_medias_to_those_that_lead_next(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    acted = await delete_album(library.albums, ANN, sea.album_id)
    assert acted.album is None
    assert set(await library.names()) == {"Q3 2025"}
    await library.check()
    with pytest.raises(AlbumUnknown):
        await delete_album(library.albums, ANN, sea.album_id)
    again = await library.create("Sea", "2025-07-05", "2025-07-15")
    assert again.folder == sea.folder
    assert await list_shares(library.albums, ANN.owner, again.album_id) == []
    await library.check()


async def test_orphans_refuse_a_deletion_and_nothing_changes(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await library.add(*days("2025-07", range(5, 15)))
    for refused in (
        delete_album(library.albums, ANN, sea.album_id),
        change_album(library.albums, ANN, sea.album_id, AlbumPatch(end="2025-07-10")),
    ):
        with pytest.raises(OrphanedMedias) as error:
            await refused
        assert error.value.facts["medias"] in (10, 5)
    assert set(await library.names()) == {"Sea"}
    await library.check()


async def test_an_empty_time_that_nobody_covers_does_not_refuse_it(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await library.add(*days("2025-07", range(5, 8)))
    await change_album(library.albums, ANN, sea.album_id, AlbumPatch(end="2025-07-10"))
    await library.check()


async def test_quarters_can_be_made_for_orphans(library: Given) -> None:
    sea = await library.create("Sea", "2025-06-25", "2025-07-05")
    await library.add("2025-06-30T12:00:00.000", "2025-07-01T12:00:00.000")
    await delete_album(library.albums, ANN, sea.album_id, quarters=True)
    assert await library.names() == ["Q2 2025", "Q3 2025"]
    await library.check()


async def test_the_same_again_changes_nothing(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    same = AlbumPatch(name="Sea", start="2025-07-05", end="2025-07-15")
    assert (await change_album(library.albums, ANN, sea.album_id, same)).act is None
    with pytest.raises(Invalid):
        await change_album(library.albums, ANN, sea.album_id, AlbumPatch(end="2025-07-05"))


async def test_a_new_name_decides_between_albums_of_the_same_dates(library: Given) -> None:
    first = await library.create("b", "2025-07-05", "2025-07-15")
    await library.create("a", "2025-07-05", "2025-07-15")
    await library.add(*days("2025-07", range(5, 9)))
    assert set(await library.names()) == {"b"}
    await change_album(library.albums, ANN, first.album_id, AlbumPatch(name="0"))
    assert set(await library.names()) == {"a"}
    await library.check()


@on_both_stores
async def test_a_folder_that_was_renamed_leads_to_the_album(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    renamed = album_of(await change_album(library.albums, ANN, sea.album_id, AlbumPatch(name="Coast")))
    assert renamed.folder == "/2025-07_Sea"
    moved = album_of(await change_album(library.albums, ANN, sea.album_id, AlbumPatch(folder="")))
    assert moved.folder == "/2025-07_Coast"
    assert await album_in(library.albums, ANN.owner, "/2025-07_Sea") == sea.album_id
    other = await library.create("Other", "2025-08-01", "2025-08-02", folder="2025-07_Sea")
    assert await album_in(library.albums, ANN.owner, "/2025-07_Sea") == other.album_id


async def test_a_folder_is_one_albums(library: Given) -> None:
    await library.create("Sea", "2025-07-05", "2025-07-15")
    with pytest.raises(FolderTaken):
        await library.create("Lake", "2025-07-05", "2025-07-15", folder="2025-07_Sea")
    second = await library.create("Sea", "2025-07-06", "2025-07-15")
    assert second.folder == Folder("/2025-07_Sea-2")


@on_both_stores
async def test_every_act_can_be_undone(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    (pinned,) = await library.add("2025-01-01T12:00:00.000", pinned=sea.album_id)
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    before = await library.where()
    for act in (
        change_album(library.albums, ANN, sea.album_id, AlbumPatch(start="2025-07-01", name="Coast", folder="")),
        change_album(library.albums, ANN, sea.album_id, AlbumPatch(name="Coast")),
        delete_album(library.albums, ANN, sea.album_id, quarters=True),
    ):
        acted = await act
        assert acted.act is not None
        undone = await undo(library.albums, ANN, acted.act.act_id)
        assert undone.album is not None
        assert (undone.album.name, undone.album.folder, undone.album.start) == (sea.name, sea.folder, sea.start)
        assert await library.where() == before
        await library.check()
        # Twice is once.
        await undo(library.albums, ANN, acted.act.act_id)
    assert [each.email for each in await list_shares(library.albums, ANN.owner, sea.album_id)] == [BOB]
    assert (await library.where())[pinned] == sea.album_id


async def test_an_undo_can_be_undone_and_a_later_change_forbids_it(library: Given) -> None:
    await library.add(*JULY)
    made = await create_album(library.albums, ANN, NewAlbum(name="Sea", start="2025-07-05", end="2025-07-15"))
    assert made.act is not None
    undone = await undo(library.albums, ANN, made.act.act_id)
    assert undone.album is None
    assert undone.act is not None
    redone = await undo(library.albums, ANN, undone.act.act_id)
    assert redone.act is not None
    again = album_of(redone)
    assert again.album_id == made.act.album_id
    await library.check()
    await change_album(library.albums, ANN, again.album_id, AlbumPatch(end="2025-07-16"))
    with pytest.raises(ActSuperseded):
        await undo(library.albums, ANN, redone.act.act_id)
    acts = (await list_acts(library.albums, ANN.owner, 10, None)).records
    assert sorted(act.kind for act in acts) == ["create", "create", "create", "dates", "delete"]


@on_both_stores
async def test_a_pinned_media_stays_against_its_date_until_it_is_unpinned(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    first, second = await library.add("2025-07-06T12:00:00.000", "2025-09-06T12:00:00.000")
    await pin(library.albums, ANN.owner, first, sea.album_id)
    await pin(library.albums, ANN.owner, second, sea.album_id)
    await library.create("Day", "2025-07-06", "2025-07-07")
    assert await library.names() == ["Sea", "Sea"]
    await library.check()
    await unpin(library.albums, ANN.owner, first)
    await unpin(library.albums, ANN.owner, second)
    assert await library.names() == ["Day", "Q3 2025"]
    await library.check()


async def test_a_plan_says_what_moves_and_who_newly_sees_it(library: Given) -> None:
    await library.add(*JULY)
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await share(library.albums, ANN, sea.album_id, BOB, "visitor")
    summer = await library.create("Summer", "2025-07-18", "2025-07-22")
    plan = await plan_change(library.albums, ANN, sea.album_id, AlbumPatch(start="2025-07-19", end="2025-07-21"))
    assert plan.medias == 12
    moves = {(move.source_name, move.target_name): move for move in plan.moves}
    assert moves["Summer", "Sea"].medias == 2
    assert moves["Summer", "Sea"].newly == [BOB]
    assert moves["Sea", "Q3 2025"].medias == 10
    assert moves["Sea", "Q3 2025"].no_longer == [BOB]
    acted = await change_album(library.albums, ANN, sea.album_id, AlbumPatch(start="2025-07-19", end="2025-07-21"))
    assert acted.act is not None
    assert acted.act.moved == plan.medias
    deletion = await plan_deletion(library.albums, ANN, summer.album_id)
    assert [(move.target_name, move.medias) for move in deletion.moves] == [("Q3 2025", 2)]
    creation = await plan_creation(library.albums, ANN, NewAlbum(name="New", start="2025-07-01", end="2025-07-02"))
    assert creation.medias == 1
    assert creation.orphans.medias == 0


async def test_a_plan_counts_orphans(library: Given) -> None:
    sea = await library.create("Sea", "2025-07-05", "2025-07-15")
    await library.add(*days("2025-07", range(5, 15)))
    plan = await plan_change(library.albums, ANN, sea.album_id, AlbumPatch(start="2025-07-10"))
    assert (plan.orphans.medias, plan.orphans.first[:10], plan.orphans.last[:10]) == (5, "2025-07-05", "2025-07-09")


@pytest.mark.parametrize("make", NEWER_HARNESSES)
async def test_two_albums_with_as_many_people_as_can_be_fit_into_transactions(library: Given) -> None:
    await library.add(*JULY)
    albums = [await library.create(name, "2025-07-05", "2025-07-15") for name in ("Sea", "Lake")]
    for album in albums:
        await library.share_with(album.album_id, [f"{album.name}{number}@example.org" for number in range(MAX_PEOPLE)])
    await change_album(library.albums, ANN, albums[1].album_id, AlbumPatch(start="2025-07-07", end="2025-07-14"))
    acted = await delete_album(library.albums, ANN, albums[1].album_id)
    assert acted.act is not None
    await undo(library.albums, ANN, acted.act.act_id)
    await library.check()


async def test_an_act_moves_no_more_medias_than_is_allowed(library: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(album_plan, "MAX_MEDIAS_PER_ACT", 5)
    await library.add(*JULY)
    with pytest.raises(TooManyMedias):
        await library.create("Sea", "2025-07-05", "2025-07-15")
    await library.create("Sea", "2025-07-05", "2025-07-10")
    await library.check()


async def test_a_retry_with_the_same_key_finds_the_same_album(library: Given) -> None:
    new = NewAlbum(name="Sea", start="2025-07-05", end="2025-07-15")
    first = album_of(await create_album(library.albums, ANN, new, idempotency_key="k"))
    assert album_of(await create_album(library.albums, ANN, new, idempotency_key="k")).album_id == first.album_id
    await library.check()


async def test_a_quarter_that_stood_in_goes_when_its_act_is_undone(library: Given) -> None:
    await library.add(*days("2024-05", range(1, 4)))
    (quarter,) = (await read_library(library.albums, ANN.owner)).albums.values()
    deleted = await delete_album(library.albums, ANN, quarter.album_id, quarters=True)
    (stand_in,) = (await read_library(library.albums, ANN.owner)).albums.values()
    assert (stand_in.name, stand_in.album_id == quarter.album_id) == ("Q2 2024", False)

    assert deleted.act is not None
    await undo(library.albums, ANN, deleted.act.act_id, quarters=True)

    (kept,) = (await read_library(library.albums, ANN.owner)).albums.values()
    assert (kept.name, kept.album_id) == ("Q2 2024", quarter.album_id)
    await library.check()


async def test_a_quarter_that_somebody_made_their_own_stays_when_an_act_is_undone(library: Given) -> None:
    sea = await library.create("Sea", "2024-05-01", "2024-05-04")
    await library.add(*days("2024-05", range(1, 4)))
    deleted = await delete_album(library.albums, ANN, sea.album_id, quarters=True)
    (stand_in,) = (await read_library(library.albums, ANN.owner)).albums.values()
    await library.share_with(stand_in.album_id, ["bob@example.org"])

    assert deleted.act is not None
    await undo(library.albums, ANN, deleted.act.act_id, quarters=True)

    assert sorted(row.name for row in (await read_library(library.albums, ANN.owner)).albums.values()) == [
        "Q2 2024",
        "Sea",
    ]
    await library.check()
