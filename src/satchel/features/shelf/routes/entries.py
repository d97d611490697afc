"""Files and folders: list, find, make, rename, move, delete."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, PageQuery, Reply, Router
from satchel.edge.api.fields import TimeWithZone
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.shelf.model import (
    ROOT,
    EntryChanged,
    FileId,
    FolderId,
    FolderInsideItself,
    NameTaken,
    NameUnusable,
    TooDeep,
    UserId,
)
from satchel.features.shelf.routes.entry_etag import ANSWERS, SENDS, headers_of, wanted_etag
from satchel.features.shelf.routes.views import (
    EntryList,
    EntryView,
    HitList,
    Sort,
    UsageView,
    entry_view,
    entry_views,
    folder_view,
    hit_views,
)
from satchel.features.shelf.service import files, folders, search, shelf_bin
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.errors import NotFound
from satchel.kernel.file_time import checked_time

Name = Annotated[str, msgspec.Meta(max_length=1000)]
CHANGES = (NameTaken, NameUnusable, EntryChanged)
PlaceId = Annotated[str, msgspec.Meta(max_length=64)]


class EntriesQuery(PageQuery, frozen=True, kw_only=True):
    """Which folder, in which order. By name, folders come first; by time, the newest."""

    folder: PlaceId = ROOT
    sort: Sort = "name"


class SearchQuery(PageQuery, frozen=True, kw_only=True):
    """Words that a name has to contain, each of them somewhere."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class NewFolder(Body, frozen=True, kw_only=True):
    """The name of the folder and its parent."""

    name: Name
    folder_id: PlaceId = ROOT


class FolderChange(Body, frozen=True, kw_only=True):
    """What to change: the name, the parent, or both."""

    name: Name | UnsetType = UNSET
    folder_id: PlaceId | UnsetType = UNSET


class FileChange(Body, frozen=True, kw_only=True):
    """What to change. `expires_at` is when the file expires; null keeps it.

    `modified_at` is when it was changed at its origin, `executable` whether it was executable there.
    """

    name: Name | UnsetType = UNSET
    folder_id: PlaceId | UnsetType = UNSET
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | UnsetType | None = UNSET
    modified_at: TimeWithZone | UnsetType | None = UNSET
    executable: bool | UnsetType = UNSET


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    async def shown(entry: Entry) -> Reply[EntryView]:
        return Reply(await entry_view(shelf, entry), headers=headers_of(entry))

    @router.get("/shelf/entries", raises=(NotFound,))
    async def list_entries(member: Member, query: EntriesQuery) -> EntryList:
        """List what is in a folder."""
        person, folder_id = UserId(member.user_id), FolderId(query.folder)
        way = await folders.find_way(shelf, person, folder_id)
        listing = files.list_by_name if query.sort == "name" else files.list_by_time
        page = await listing(shelf, person, folder_id, query.limit, query.cursor)
        return EntryList(folder=folder_view(way), entries=await entry_views(shelf, page.entries), cursor=page.cursor)

    @router.get("/shelf/search")
    async def search_shelf(member: Member, query: SearchQuery) -> HitList:
        """Search files and folders by words of their names. Case and accents do not matter."""
        found = await search.search(shelf, UserId(member.user_id), query.q, query.limit, query.cursor)
        return HitList(await hit_views(shelf, found.hits), found.cursor)

    @router.post(
        "/shelf/folders",
        status=201,
        raises=(NotFound, NameTaken, NameUnusable, TooDeep),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same folder"},
    )
    async def make_folder(member: Member, body: NewFolder, request: Request) -> EntryView:
        """Create a folder."""
        person, parent_id = UserId(member.user_id), FolderId(body.folder_id)
        made = await folders.make_folder(
            shelf, person, parent_id, body.name, idempotency_key=idempotency_key_of(request)
        )
        return await entry_view(shelf, made)

    @router.patch(
        "/shelf/folders/{folder_id}", raises=(*CHANGES, TooDeep, FolderInsideItself), sends=SENDS, answers=ANSWERS
    )
    async def change_folder(member: Member, folder_id: str, body: FolderChange, request: Request) -> Reply[EntryView]:
        """Rename or move a folder."""
        changed = await folders.change_folder(
            shelf,
            UserId(member.user_id),
            FolderId(folder_id),
            written=_given(body.name),
            parent_id=None if body.folder_id is UNSET else FolderId(body.folder_id),
            seen=wanted_etag(request),
        )
        return await shown(changed)

    @router.delete("/shelf/folders/{folder_id}", raises=(EntryChanged,), sends=SENDS)
    async def delete_folder(member: Member, folder_id: str, request: Request) -> None:
        """Move a folder into the bin, with everything in it."""
        person = UserId(member.user_id)
        await shelf_bin.delete_folder(shelf, person, FolderId(folder_id), seen=wanted_etag(request))

    @router.get("/shelf/files/{file_id}", answers=ANSWERS)
    async def read_file(member: Member, file_id: str) -> Reply[EntryView]:
        """Read a file's metadata."""
        return await shown(await files.find_file(shelf, UserId(member.user_id), FileId(file_id)))

    @router.patch("/shelf/files/{file_id}", raises=CHANGES, sends=SENDS, answers=ANSWERS)
    async def change_file(member: Member, file_id: str, body: FileChange, request: Request) -> Reply[EntryView]:
        """Rename or move a file, or set when it expires."""
        change = files.FileChange(
            written=_given(body.name),
            folder_id=None if body.folder_id is UNSET else FolderId(body.folder_id),
            expires_at=_expiry(shelf, body.expires_at),
            modified_at=None if body.modified_at is UNSET else checked_time(body.modified_at or ""),
            executable=None if body.executable is UNSET else body.executable,
        )
        person, seen = UserId(member.user_id), wanted_etag(request)
        return await shown(await files.change_file(shelf, person, FileId(file_id), change, seen=seen))

    @router.delete("/shelf/files/{file_id}", raises=(EntryChanged,), sends=SENDS)
    async def delete_file(member: Member, file_id: str, request: Request) -> None:
        """Move a file into the bin."""
        await shelf_bin.delete_file(shelf, UserId(member.user_id), FileId(file_id), seen=wanted_etag(request))

    @router.get("/shelf/usage")
    async def read_usage(member: Member) -> UsageView:
        """Read how much space you use."""
        (usage,) = await files.read_usage(shelf, [UserId(member.user_id)])
        return UsageView(
            used_bytes=usage.used_bytes,
            files=usage.files,
            quota_bytes=shelf.quota_bytes,
            bin_bytes=usage.bin_bytes,
        )

    return router


def _given(value: str | UnsetType) -> str | None:
    return None if value is UNSET else value


def _expiry(shelf: Shelf, value: datetime | UnsetType | None) -> str | None:
    if value is UNSET:
        return None
    return "" if value is None else files.check_expiry(shelf, value.timestamp())
