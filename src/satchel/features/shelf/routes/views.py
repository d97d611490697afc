"""What clients see of a shelf."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from satchel.edge.files.previews import Preview, preview_of
from satchel.features.shelf.model import ROOT, Kind
from satchel.features.shelf.records import FileRow, FolderRow, object_key, pictured
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.entry_state import etag_of
from satchel.features.shelf.service.placement import Entry
from satchel.features.shelf.service.search import Hit
from satchel.features.shelf.service.shelf_bin import Binned
from satchel.media.pictures import PictureView

Sort = Literal["name", "newest"]


class EntryView(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder on the caller's shelf. `folder_id` is its parent, `root` at the top.

    `modified_at` is when it was changed where it came from, if that is known. `received` says that somebody else gave
    the file its name. `etag` is its state, for `If-Match`.
    """

    kind: Kind
    id: str
    name: str
    folder_id: str
    size_bytes: int | None
    content_type: str | None
    sha256: str | None
    created_at: str
    modified_at: str | None
    executable: bool
    received: bool
    expires_at: str | None
    previewable: Preview | None
    picture: PictureView | None
    etag: str


class StepView(msgspec.Struct, frozen=True):
    """A folder on the way to another."""

    folder_id: str
    name: str


class FolderView(msgspec.Struct, frozen=True, kw_only=True):
    """The listed folder. `path` has the folders from the top down to it, itself included, and is empty for the top."""

    folder_id: str
    name: str
    path: list[StepView]


class EntryList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a folder, and the cursor of the next."""

    folder: FolderView
    entries: list[EntryView]
    cursor: str | None


class BinEntryView(EntryView, frozen=True, kw_only=True):
    """An item in the bin: since when, until when, and in which folders it was.

    Of a folder, `size_bytes` is what was counted when it was deleted, up to its first thousand things.
    """

    deleted_at: str
    gone_at: str
    from_: list[str] = msgspec.field(name="from")


class BinList(msgspec.Struct, frozen=True):
    """A page of the bin, the last deleted first, and the cursor of the next."""

    entries: list[BinEntryView]
    cursor: str | None


class HitView(EntryView, frozen=True, kw_only=True):
    """A search result, and the names of its folders, from the top down."""

    path: list[str]


class HitList(msgspec.Struct, frozen=True):
    """A page of search results, and the cursor of the next. A page may be empty though there is more."""

    entries: list[HitView]
    cursor: str | None


class UsageView(msgspec.Struct, frozen=True, kw_only=True):
    """How much space the caller uses. Bytes that several files share count once, those in the bin count, too.

    `bin_bytes` is the size of the bin, `quota_bytes` the limit.
    """

    used_bytes: int
    files: int
    quota_bytes: int | None
    bin_bytes: int


async def entry_views(shelf: Shelf, entries: Sequence[Entry]) -> list[EntryView]:
    """What clients see of these, with their pictures."""
    sources = [pictured(entry) for entry in entries if isinstance(entry, FileRow)]
    pictures = await shelf.pictures.describe(sources)
    return [
        _entry_view(entry, pictures.get(object_key(entry)) if isinstance(entry, FileRow) else None) for entry in entries
    ]


async def entry_view(shelf: Shelf, entry: Entry) -> EntryView:
    (view,) = await entry_views(shelf, [entry])
    return view


def _entry_view(entry: Entry, picture: PictureView | None) -> EntryView:
    return EntryView(
        kind="file" if isinstance(entry, FileRow) else "folder",
        id=entry.file_id if isinstance(entry, FileRow) else entry.folder_id,
        name=entry.name,
        folder_id=entry.folder_id if isinstance(entry, FileRow) else entry.parent_id,
        size_bytes=entry.size_bytes if isinstance(entry, FileRow) else None,
        content_type=entry.content_type if isinstance(entry, FileRow) else None,
        sha256=entry.sha256 if isinstance(entry, FileRow) else None,
        created_at=entry.created_at,
        modified_at=entry.modified_at or None,
        executable=isinstance(entry, FileRow) and entry.executable,
        received=isinstance(entry, FileRow) and (entry.from_others or bool(entry.came_by)),
        expires_at=(entry.expires_at or None) if isinstance(entry, FileRow) else None,
        previewable=preview_of(entry.name, entry.content_type) if isinstance(entry, FileRow) else None,
        picture=picture,
        etag=f'"{etag_of(entry)}"',
    )


def folder_view(way: list[FolderRow]) -> FolderView:
    return FolderView(
        folder_id=way[-1].folder_id if way else ROOT,
        name=way[-1].name if way else "",
        path=[StepView(folder.folder_id, folder.name) for folder in way],
    )


def bin_view(binned: Binned) -> BinEntryView:
    """Without a picture: nothing in the bin can be looked at."""
    row = binned.row
    plain = msgspec.structs.asdict(msgspec.structs.replace(_entry_view(binned.entry, None), size_bytes=row.size_bytes))
    return BinEntryView(**plain, deleted_at=row.deleted_at, gone_at=row.gone_at, from_=list(row.path))


async def hit_views(shelf: Shelf, hits: Sequence[Hit]) -> list[HitView]:
    views = await entry_views(shelf, [hit.entry for hit in hits])
    return [HitView(**msgspec.structs.asdict(view), path=list(hit.path)) for view, hit in zip(views, hits, strict=True)]
