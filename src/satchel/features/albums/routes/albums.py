"""Albums: list, read, create, change, delete; what each would do; undo."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, PageQuery, Query, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.albums.model import (
    MAX_NAME_CHARACTERS,
    ActSuperseded,
    AlbumId,
    AlbumUnknown,
    Email,
    FolderTaken,
    MediaUnknown,
    OrphanedMedias,
    OwnerId,
    TooManyAlbums,
    TooManyMedias,
)
from satchel.features.albums.routes.photo_views import PhotoColumns, photo_columns
from satchel.features.albums.routes.views import (
    ActedView,
    ActList,
    AlbumList,
    AlbumView,
    DriftList,
    PlanView,
    act_view,
    album_view,
    drift_view,
    plan_view,
)
from satchel.features.albums.service import album_change, album_list, album_undo, photo_counts
from satchel.features.albums.service.album_change import Acted, AlbumPatch, NewAlbum, Owner
from satchel.features.albums.service.album_folders import album_in
from satchel.features.albums.service.album_list import Person
from satchel.features.albums.service.album_plan import Move, Plan
from satchel.features.albums.service.camera_clock import ClockPlan
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.count_check import check_library
from satchel.features.albums.service.library import open_library
from satchel.kernel.errors import NotFound, TooMany

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
_LOCAL_TIME = r"^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$"
Time = Annotated[str, msgspec.Meta(max_length=40, extra_json_schema={"pattern": _LOCAL_TIME})]
FolderName = Annotated[str, msgspec.Meta(max_length=300)]
Id = Annotated[str, msgspec.Meta(max_length=64)]


class AlbumsQuery(Query, frozen=True, kw_only=True):
    """Whether to list only your own albums."""

    mine: bool = False


class FolderQuery(Query, frozen=True, kw_only=True):
    """The folder of an album of yours, such as `/2025-07_Sea`."""

    folder: FolderName


class OrphansQuery(Query, frozen=True, kw_only=True):
    """With `quarters`, quarter albums are made for medias that would be in no album. Else they refuse the change."""

    quarters: bool = False


class MediasQuery(PageQuery, frozen=True, kw_only=True):
    """Which page, and in which order."""

    descending: bool = False


class AlbumBody(Body, frozen=True, kw_only=True):
    """A new album. Dates are local, such as 2025-07-14; the end is excluded. Without a folder it gets one."""

    name: Name
    start: Time
    end: Time
    folder: FolderName = ""


class AlbumChange(Body, frozen=True, kw_only=True):
    """What to change. An empty folder is made of the month and the name anew; an empty cover is none.

    With `with_location`, others get originals as they are, and see where they were taken.
    """

    name: Name | None = None
    start: Time | None = None
    end: Time | None = None
    folder: FolderName | None = None
    cover: Id | None = None
    with_location: bool | None = None


class UndoBody(Body, frozen=True, kw_only=True):
    """With `quarters`, quarter albums are made for medias that would be in no album."""

    quarters: bool = False


class CheckBody(Body, frozen=True, kw_only=True):
    """Whether to repair what is found."""

    repair: bool = False


class _Change(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """A change that one thinks about."""


class Creation(_Change, frozen=True, kw_only=True, tag="create"):
    """A new album."""

    name: Name
    start: Time
    end: Time
    folder: FolderName = ""


class Amendment(_Change, frozen=True, kw_only=True, tag="change"):
    """Other dates, or another name, of an album."""

    album_id: Id
    name: Name | None = None
    start: Time | None = None
    end: Time | None = None
    folder: FolderName | None = None


class Deletion(_Change, frozen=True, kw_only=True, tag="delete"):
    """An album less."""

    album_id: Id


class Undoing(_Change, frozen=True, kw_only=True, tag="undo"):
    """An act undone."""

    act_id: Id


ChangeBody: TypeAlias = Creation | Amendment | Deletion | Undoing


class PlanBody(Body, frozen=True, kw_only=True):
    """The change to plan."""

    change: ChangeBody


def routes(albums: Albums) -> Router:
    router = Router("albums")

    @router.get("/albums", whole_list=True)
    async def list_albums(member: Member, query: AlbumsQuery) -> AlbumList:
        """List your albums and those shared with you."""
        listed = await album_list.list_albums(albums, person_of(member), only_mine=query.mine)
        return AlbumList([album_view(each) for each in listed.albums], listed.undated)

    @router.post(
        "/albums",
        status=201,
        raises=(FolderTaken, TooManyAlbums, TooManyMedias),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same album"},
    )
    async def create_album(member: Member, body: AlbumBody, request: Request) -> ActedView:
        """Create an album. The medias that it leads from now on move into it."""
        new = NewAlbum(name=body.name, start=body.start, end=body.end, folder=body.folder)
        key = idempotency_key_of(request)
        return await _acted(
            albums, member, await album_change.create_album(albums, owner_of(member), new, idempotency_key=key)
        )

    @router.post(
        "/albums/plan", raises=(AlbumUnknown, FolderTaken, TooManyAlbums, TooManyMedias, ActSuperseded, NotFound)
    )
    async def plan_change(member: Member, body: PlanBody) -> PlanView:
        """Read what a change would do: which medias would move, and who would newly see them."""
        plan = await _plan(albums, owner_of(member), body.change)
        return plan_view(plan, await names_in(albums, plan.moves))

    @router.get("/albums/acts")
    async def list_acts(member: Member, query: PageQuery) -> ActList:
        """List the changes of your albums in the last 30 days, the last first."""
        page = await album_undo.list_acts(albums, OwnerId(member.user_id), query.limit, query.cursor)
        return ActList([act_view(act) for act in page.records], page.cursor)

    @router.post("/albums/acts/{act_id}/undo", raises=(ActSuperseded, OrphanedMedias, TooManyMedias))
    async def undo_act(member: Member, act_id: str, body: UndoBody) -> ActedView:
        """Undo a change, unless the album was changed again since. A deleted album returns with its people."""
        acted = await album_undo.undo(albums, owner_of(member), act_id, quarters=body.quarters)
        return await _acted(albums, member, acted)

    @router.get("/albums/by-folder", raises=(AlbumUnknown,))
    async def find_album(member: Member, query: FolderQuery) -> AlbumView:
        """Read the album of yours that has a folder, or had it before it was renamed."""
        album_id = await album_in(albums, OwnerId(member.user_id), query.folder)
        return album_view(await album_list.show_album(albums, person_of(member), album_id))

    @router.post("/albums/check", status=200, raises=(TooMany,))
    async def check_albums(member: Member, body: CheckBody) -> DriftList:
        """Count all your medias, and compare with what is stored."""
        owner = owner_of(member)
        await albums.limits.checks.count(owner.owner)
        await open_library(albums, owner.owner, owner.email)
        drifts = await check_library(albums, owner.owner, repair=body.repair)
        return DriftList([drift_view(drift) for drift in drifts])

    @router.get("/albums/{album_id}", raises=(AlbumUnknown,))
    async def read_album(member: Member, album_id: str) -> AlbumView:
        """Read an album of yours, or one that is shared with you."""
        return album_view(await album_list.show_album(albums, person_of(member), album_id))

    @router.patch("/albums/{album_id}", raises=(AlbumUnknown, FolderTaken, OrphanedMedias, TooManyMedias, MediaUnknown))
    async def change_album(member: Member, album_id: str, body: AlbumChange, query: OrphansQuery) -> ActedView:
        """Rename an album of yours, change its dates, its folder or its cover. Medias move as the dates say."""
        patch = AlbumPatch(
            name=body.name,
            folder=body.folder,
            start=body.start,
            end=body.end,
            cover=body.cover,
            with_location=body.with_location,
        )
        acted = await album_change.change_album(
            albums, owner_of(member), AlbumId(album_id), patch, quarters=query.quarters
        )
        return await _acted(albums, member, acted)

    @router.delete("/albums/{album_id}", status=200, raises=(AlbumUnknown, OrphanedMedias, TooManyMedias))
    async def delete_album(member: Member, album_id: str, query: OrphansQuery) -> ActedView:
        """Delete an album of yours. Its medias move into the albums that lead next."""
        acted = await album_change.delete_album(albums, owner_of(member), AlbumId(album_id), quarters=query.quarters)
        return await _acted(albums, member, acted)

    @router.get("/albums/{album_id}/medias", raises=(AlbumUnknown,))
    async def list_album_medias(member: Member, album_id: str, query: MediasQuery) -> PhotoColumns:
        """List the medias of an album by time, as columns. The first page counts as opening the album."""
        album, _ = await album_list.find_album(albums, person_of(member), album_id)
        page = await album_list.list_medias(albums, album, query.limit, query.cursor, descending=query.descending)
        if query.cursor is None:
            await photo_counts.note_opening(albums, album, OwnerId(member.user_id))
        return photo_columns(page.items, member.user_id, page.cursor)

    return router


def owner_of(member: Member) -> Owner:
    return Owner(OwnerId(member.user_id), Email(member.email))


def person_of(member: Member) -> Person:
    return Person(OwnerId(member.user_id), Email(member.email))


async def _plan(albums: Albums, owner: Owner, change: ChangeBody) -> Plan | ClockPlan:
    match change:
        case Creation():
            new = NewAlbum(name=change.name, start=change.start, end=change.end, folder=change.folder)
            return await album_change.plan_creation(albums, owner, new)
        case Amendment():
            patch = AlbumPatch(name=change.name, folder=change.folder, start=change.start, end=change.end)
            return await album_change.plan_change(albums, owner, AlbumId(change.album_id), patch)
        case Deletion():
            return await album_change.plan_deletion(albums, owner, AlbumId(change.album_id))
        case Undoing():
            return await album_undo.plan_undo(albums, owner, change.act_id)


async def _acted(albums: Albums, member: Member, acted: Acted) -> ActedView:
    seen = None if acted.album is None else await album_list.show_album(albums, person_of(member), acted.album.album_id)
    return ActedView(
        album=None if seen is None else album_view(seen), act=None if acted.act is None else act_view(acted.act)
    )


async def names_in(albums: Albums, moves: Sequence[Move]) -> dict[Email, str | None]:
    """The names of everybody whom moves concern."""
    emails = {email for move in moves for email in (*move.newly, *move.no_longer)}
    found = {email: await albums.people.by_email(email) for email in sorted(emails)}
    return {email: None if person is None else person.name for email, person in found.items()}
