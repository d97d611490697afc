"""Photos that look alike: list groups of them, keep some, or say that they are different."""

from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Body, PageQuery, Router
from satchel.edge.http.callers import Member
from satchel.features.albums.model import MediaUnknown, OwnerId
from satchel.features.albums.routes.photo_views import PhotoColumns, photo_columns
from satchel.features.albums.service import duplicates
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.duplicates import Group

Ids = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(min_length=1, max_length=100)]


class DuplicateGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Photos that look alike. All lists are columns; `best` is the place of the one that is worth keeping most."""

    group_id: str
    photos: PhotoColumns
    names: list[str]
    sizes: list[int]
    widths: list[int]
    heights: list[int]
    album_ids: list[str]
    best: int


class DuplicateList(msgspec.Struct, frozen=True):
    """A page of groups, and the cursor of the next. A page may be empty though there is more."""

    groups: list[DuplicateGroup]
    cursor: str | None


class KeepBody(Body, frozen=True, kw_only=True):
    """The photos of the group to keep."""

    keep: Ids


class Resolved(msgspec.Struct, frozen=True):
    """How many photos are in the bin now."""

    deleted: int


def routes(albums: Albums) -> Router:
    router = Router("photos")

    @router.get("/photos/duplicates")
    async def list_duplicates(member: Member, query: PageQuery) -> DuplicateList:
        """List your photos that look alike, in groups. Files with the same bytes are stored once anyway."""
        found = await duplicates.list_groups(albums, OwnerId(member.user_id), query.limit, query.cursor)
        return DuplicateList([_view(group, member) for group in found.groups], found.cursor)

    @router.post("/photos/duplicates/{group_id}/keep", status=200, raises=(MediaUnknown,))
    async def keep_duplicates(member: Member, group_id: str, body: KeepBody) -> Resolved:
        """Keep some photos of a group, and move the others into the bin.

        If one of the others was a favourite, or pinned to an album, the first that you keep is it from then on.
        """
        return Resolved(await duplicates.keep_some(albums, OwnerId(member.user_id), group_id, body.keep))

    @router.delete("/photos/duplicates/{group_id}", raises=(MediaUnknown,))
    async def dismiss_duplicates(member: Member, group_id: str) -> None:
        """Say that the photos of a group are different. It is not listed any more."""
        await duplicates.forget_group(albums, OwnerId(member.user_id), group_id)

    return router


def _view(group: Group, member: Member) -> DuplicateGroup:
    items = group.items
    return DuplicateGroup(
        group_id=group.group_id,
        photos=photo_columns(items, member.user_id, None),
        names=[item["Filename"] for item in items],
        sizes=[item["SignatureSize"] for item in items],
        widths=[item.get("Details", {}).get("Width", 0) for item in items],
        heights=[item.get("Details", {}).get("Height", 0) for item in items],
        album_ids=[item["AlbumId"] for item in items],
        best=group.best,
    )
