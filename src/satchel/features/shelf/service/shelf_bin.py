"""The bin: delete into it, list it, restore from it.

Deleting a folder changes the row of that folder alone. Its contents cannot be reached because no path leads to them
(decision 9).
"""

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.shelf.model import MAX_DEPTH, ROOT, EntryId, Etag, FileId, FolderId, UserId
from satchel.features.shelf.records import (
    BIN,
    FILE,
    FOLDER,
    BinRow,
    FileRow,
    FolderRow,
    id_of,
    kind_of,
    place_of,
)
from satchel.features.shelf.service import files, folders
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.entry_state import check_state
from satchel.features.shelf.service.files import count_usage, due_at, entry_key, find_file
from satchel.features.shelf.service.folder_walk import count_bytes
from satchel.features.shelf.service.folders import Ways, find_folder, unchanged_way
from satchel.features.shelf.service.placement import Entry, entering, free_name, leaving, open_folder
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound
from satchel.kernel.handed_file import ShelfFolderUsed
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Put, Write

KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Binned:
    """An item in the bin, and the row that put it there."""

    row: BinRow
    entry: Entry


@dataclass(frozen=True, slots=True)
class BinPage:
    """A page of the bin, and the cursor of the next."""

    binned: list[Binned]
    cursor: str | None


@optimistic_update()
async def delete_file(shelf: Shelf, user_id: UserId, file_id: FileId, *, seen: Etag | None = None) -> None:
    """Delete a file, if it is in the state that was seen."""
    file = await find_file(shelf, user_id, file_id)
    check_state(file, seen)
    await _move_to_bin(shelf, file, file.size_bytes)


@optimistic_update()
async def delete_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId, *, seen: Etag | None = None) -> None:
    """Delete a folder with everything in it, if it is in the state that was seen."""
    folder = await find_folder(shelf, user_id, folder_id)
    check_state(folder, seen)
    await _move_to_bin(shelf, folder, await count_bytes(shelf, user_id, folder_id))


async def list_bin(shelf: Shelf, user_id: UserId, limit: int, cursor: str | None) -> BinPage:
    """The bin, the last deleted first."""
    page = await BIN.list(shelf.tables, user_id=user_id, descending=True, limit=limit, cursor=cursor)
    keys = [entry_key(user_id, row.kind, row.entry_id) for row in page.records]
    items = await shelf.tables.get_many(FILE.table, keys)
    found = [
        Binned(row, files.read_entry(item))
        for row, item in zip(page.records, items, strict=True)
        if item is not None and row.gone_at > iso(shelf.clock())
    ]
    return BinPage(found, page.cursor)


async def find_in_bin(shelf: Shelf, user_id: UserId, entry_id: EntryId) -> Binned:
    known = 0 < len(entry_id) <= MAX_ID_CHARACTERS
    keys = [entry_key(user_id, kind, entry_id) for kind in ("file", "folder")] if known else []
    for item in await shelf.tables.get_many(FILE.table, keys):
        entry = None if item is None else files.read_entry(item)
        if entry is not None and entry.deleted_at:
            row = await BIN.get(shelf.tables, user_id=user_id, deleted_at=entry.deleted_at, entry_id=entry_id)
            if row is not None and row.gone_at > iso(shelf.clock()):
                return Binned(row, entry)
    raise NotFound("Your bin has no such item.")


async def restore(shelf: Shelf, user_id: UserId, entry_id: EntryId) -> Entry:
    """Restore what somebody wants to keep. If it was handed to them, it is theirs from now on."""
    restored = await leave_bin(shelf, user_id, entry_id)
    if isinstance(restored, FileRow):
        await files.note_opening(shelf, restored)
    else:
        await shelf.events.publish(ShelfFolderUsed(user_id, entry_id))
    return restored


@optimistic_update()
async def leave_bin(shelf: Shelf, user_id: UserId, entry_id: EntryId) -> Entry:
    """Restore to its folder, or to the top if that is gone, with a numbered name if its own is taken."""
    binned = await find_in_bin(shelf, user_id, entry_id)
    old = binned.entry
    way = await Ways(shelf, user_id).to(place_of(old)) or []
    if len(way) >= MAX_DEPTH:
        way = []
    folder_id = way[-1].folder_id if way else ROOT
    name = await free_name(shelf, user_id, folder_id, old.name)
    if isinstance(old, FileRow):
        new = msgspec.structs.replace(old, folder_id=folder_id, name=name, deleted_at="")
        checks, expires_at = open_folder(user_id, folder_id), new.expires_at
    else:
        new = msgspec.structs.replace(old, parent_id=folder_id, name=name, deleted_at="")
        checks, expires_at = unchanged_way(way), ""
    await shelf.tables.transact(
        [*checks, replacing(old, new), *leaving_bin(binned.row), *due_at(new, expires_at), *entering(new)]
    )
    await tell_folders(shelf, user_id, folder_id)
    return new


def replacing(old: Entry, new: Entry) -> Put:
    """Replace the old row by the new one, if it is still as it was read."""
    if isinstance(new, FolderRow):
        return FOLDER.put(new, when=folders.as_read(old) if isinstance(old, FolderRow) else None)
    return FILE.put(new, when=files.as_read(old) if isinstance(old, FileRow) else None)


def leaving_bin(row: BinRow) -> list[Write]:
    return [
        BIN.delete(when=attr("PK").exists(), user_id=row.user_id, deleted_at=row.deleted_at, entry_id=row.entry_id),
        count_usage(row.user_id, bin_bytes=-row.size_bytes),
    ]


async def _move_to_bin(shelf: Shelf, entry: Entry, size_bytes: int) -> None:
    now = shelf.clock()
    way = await Ways(shelf, entry.user_id).to(place_of(entry)) or []
    deleted = msgspec.structs.replace(entry, deleted_at=iso(now))
    gone_at = iso(now + KEPT_FOR.total_seconds())
    if isinstance(entry, FileRow) and entry.expires_at:
        gone_at = min(gone_at, entry.expires_at)
    row = BinRow(
        user_id=entry.user_id,
        deleted_at=deleted.deleted_at,
        entry_id=id_of(entry),
        kind=kind_of(entry),
        gone_at=gone_at,
        path=[folder.name for folder in way],
        size_bytes=size_bytes,
    )
    writes: list[Write] = [
        replacing(entry, deleted),
        BIN.put(row),
        count_usage(entry.user_id, bin_bytes=size_bytes),
        *due_at(entry, gone_at),
        *leaving(entry),
    ]
    await shelf.tables.transact(writes)
    await tell_folders(shelf, entry.user_id, place_of(entry))
