"""Deletes entries for good, in steps that survive a crash anywhere: from the bin, expired, or in a deleted folder.

A file is deleted in one transaction with its name, its reference to the bytes and its usage, so that each of these is
released exactly once. A folder is closed first: that is final, and nothing can be added afterwards. Then its files are
deleted one by one, and each folder in it becomes a closed one with a due row of its own. The empty closed folder is
deleted last. The next request or garbage collection continues from whatever is there.
"""

import logging
from datetime import timedelta

import msgspec

from satchel.features.shelf.model import EntryId, FileId, UserId
from satchel.features.shelf.records import (
    BIN,
    BLOB,
    DUE,
    DUE_INDEX,
    DUE_SORT,
    FILE,
    FOLDER,
    KINDS,
    NAME,
    VERSION,
    BlobRow,
    DueRow,
    FileRow,
    FolderRow,
    NameRow,
    object_key,
)
from satchel.features.shelf.service import files
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import count_usage, due_at, entry_key, is_over
from satchel.features.shelf.service.placement import leaving
from satchel.features.shelf.service.selections import settle_selection
from satchel.features.shelf.service.shelf_bin import Binned, find_in_bin, leaving_bin, replacing
from satchel.features.shelf.service.shelf_garbage import settle_announced
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.features.shelf.service.versions import all_versions, drop_version, unreferring
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict, NotFound
from satchel.stores.patterns.optimistic_update import StaleRead, optimistic_update
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Range, TransactionCancelled, Write

# How much one request or one round deletes before it leaves the rest to the next.
AT_ONCE = 1000
PAGE = 100
TRY_AGAIN_AFTER = timedelta(hours=1)

_log = logging.getLogger("satchel.shelf")


async def delete_for_good(shelf: Shelf, user_id: UserId, entry_id: EntryId) -> None:
    """Delete from the bin. The rest of a large folder, no longer visible, is left to garbage collection."""
    closed = await _remove_from_bin(shelf, user_id, entry_id)
    if closed is not None:
        await _empty(shelf, closed, AT_ONCE - 1)


@optimistic_update()
async def _remove_from_bin(shelf: Shelf, user_id: UserId, entry_id: EntryId) -> FolderRow | None:
    """A file goes for good; a folder is closed and answered, for somebody to empty it."""
    binned = await find_in_bin(shelf, user_id, entry_id)
    if isinstance(binned.entry, FolderRow):
        return await _close(shelf, binned.entry, leaving_bin(binned.row))
    if not await _purge_file(shelf, binned.entry):
        raise StaleRead
    return None


@optimistic_update()
async def delete_at_once(shelf: Shelf, user_id: UserId, file_id: FileId) -> None:
    """Delete a file at once, from the shelf, the bin, or a folder in the bin. A missing one is no error."""
    file = await FILE.get(shelf.tables, user_id=user_id, file_id=file_id)
    if file is not None and not await _purge_file(shelf, file):
        raise StaleRead


async def empty_bin(shelf: Shelf, user_id: UserId) -> None:
    """Delete everything that is in the bin now."""
    cursor: str | None = None
    while True:
        page = await BIN.list(shelf.tables, user_id=user_id, limit=PAGE, cursor=cursor)
        for row in page.records:
            due = DueRow(user_id=user_id, entry_id=row.entry_id, kind=row.kind, due=row.gone_at)
            try:
                await delete_for_good(shelf, user_id, row.entry_id)
            except NotFound:
                # Restored or deleted in the meantime, or expired and not collected yet.
                await _settle(shelf, due)
        if (cursor := page.cursor) is None:
            return


async def sweep_due(shelf: Shelf, at_once: int = AT_ONCE) -> int:
    """Delete what is due, the earliest first. Returns how many files and folders."""
    gone = 0
    while gone < at_once:
        page = await shelf.tables.query(
            DUE.table, DUE_SORT, Range(high=iso(shelf.clock())), index=DUE_INDEX, limit=PAGE
        )
        before, had_bytes = gone, False
        for item in await shelf.tables.get_many(DUE.table, [DUE.table.key_of(item) for item in page.items]):
            if item is not None and gone < at_once:
                had_bytes = had_bytes or DUE.read(item).kind == "bytes"
                gone += await _settle_or_postpone(shelf, DUE.read(item), at_once - gone)
        if gone == before and not had_bytes:
            break
    return gone


async def _settle_or_postpone(shelf: Shelf, due: DueRow, at_once: int) -> int:
    try:
        return await _settle(shelf, due, at_once)
    except Conflict as error:
        _log.warning("%s of %s could not be deleted yet: %s", due.entry_id, due.user_id, error)
        later = DUE.update(
            [assign("AbsoluteExpiryTime", iso(shelf.clock() + TRY_AGAIN_AFTER.total_seconds()))],
            when=attr("AbsoluteExpiryTime") == due.due,
            user_id=due.user_id,
            entry_id=due.entry_id,
        )
        try:
            await shelf.tables.update(later.table, later.key, later.actions, when=later.when)
        except ConditionFailed:
            return 0
        return 0


async def _settle(shelf: Shelf, due: DueRow, at_once: int = AT_ONCE) -> int:
    if due.kind == "version":
        return await _settle_version(shelf, due)
    if due.kind == "selection":
        return await settle_selection(shelf, due)
    if due.kind == "bytes":
        await settle_announced(shelf, due)
        return 0
    item = await shelf.tables.get(FILE.table, entry_key(due.user_id, due.kind, due.entry_id))
    if item is None:
        # Ids are never used twice, so nothing will ever be due under this one.
        await shelf.tables.delete(DUE.table, DUE.key(user_id=due.user_id, entry_id=due.entry_id))
        return 0
    entry = files.read_entry(item)
    if isinstance(entry, FolderRow) and entry.closing:
        return await _empty(shelf, entry, at_once)
    if entry.deleted_at:
        row = await BIN.get(shelf.tables, user_id=due.user_id, deleted_at=entry.deleted_at, entry_id=due.entry_id)
        if row is not None and row.gone_at <= iso(shelf.clock()):
            return await _remove_binned(shelf, Binned(row, entry), at_once)
        return 0
    if isinstance(entry, FileRow) and is_over(shelf, entry):
        return await _purge_file(shelf, entry)
    return 0


async def _settle_version(shelf: Shelf, due: DueRow) -> int:
    file_id, _, version_id = due.entry_id.partition(".")
    version = await VERSION.get(shelf.tables, user_id=due.user_id, file_id=file_id, version_id=version_id)
    if version is None:
        await shelf.tables.delete(DUE.table, DUE.key(user_id=due.user_id, entry_id=due.entry_id))
        return 0
    return await drop_version(shelf, version)


async def _remove_binned(shelf: Shelf, binned: Binned, at_once: int = AT_ONCE) -> int:
    """How many entries were deleted: 0 if another change came first."""
    if isinstance(binned.entry, FileRow):
        return await _purge_file(shelf, binned.entry)
    try:
        closed = await _close(shelf, binned.entry, leaving_bin(binned.row))
    except TransactionCancelled:
        return 0
    return 1 + await _empty(shelf, closed, at_once - 1)


async def _close(shelf: Shelf, folder: FolderRow, leaving_place: list[Write]) -> FolderRow:
    closed = msgspec.structs.replace(folder, closing=True)
    await shelf.tables.transact([replacing(folder, closed), *due_at(closed, iso(shelf.clock())), *leaving_place])
    return closed


async def _empty(shelf: Shelf, folder: FolderRow, at_once: int) -> int:
    """Empty a closed folder and delete it. Returns how many entries went: at most the limit, the rest waits."""
    gone = 0
    while gone < at_once:
        page = await NAME.list(shelf.tables, user_id=folder.user_id, folder_id=folder.folder_id, limit=PAGE)
        if not page.records:
            going = FOLDER.delete(user_id=folder.user_id, folder_id=folder.folder_id)
            await shelf.tables.transact([going, *due_at(folder, "")])
            return gone + 1
        before = gone
        for row in page.records[: at_once - gone]:
            gone += await _purge_entry(shelf, row)
        if gone == before:
            break  # somebody else is at it
    return gone


async def _purge_entry(shelf: Shelf, row: NameRow) -> int:
    item = await shelf.tables.get(FILE.table, entry_key(row.user_id, KINDS[row.rank], row.entry_id))
    if item is None:
        return 0
    entry = files.read_entry(item)
    if isinstance(entry, FileRow):
        return await _purge_file(shelf, entry)
    try:
        await _close(shelf, entry, leaving(entry))
    except TransactionCancelled:
        return 0
    return 1


async def _purge_file(shelf: Shelf, file: FileRow) -> int:
    """Delete a file, and its bytes and picture with the last reference. After a crash, garbage collection does."""
    for version in await all_versions(shelf, file.user_id, file.file_id):
        await drop_version(shelf, version)
    blob = await _purge_rows(shelf, file)
    if blob is not None and blob.references == 1:
        await shelf.objects.delete(object_key(blob))
        await shelf.pictures.delete([object_key(blob)])
    return 0 if blob is None else 1


@optimistic_update()
async def _purge_rows(shelf: Shelf, file: FileRow) -> BlobRow | None:
    """The row of the bytes as it was before; None if the file has changed or gone."""
    if await FILE.get(shelf.tables, user_id=file.user_id, file_id=file.file_id) != file:
        return None
    blob = await BLOB.get(shelf.tables, user_id=file.user_id, sha256=file.sha256)
    if blob is None:
        raise StaleRead  # deleted between the two reads, so the file is gone as well
    await shelf.tables.transact(_purging(file, blob))
    if not file.deleted_at:
        await tell_folders(shelf, file.user_id, file.folder_id)
    return blob


def _purging(file: FileRow, blob: BlobRow) -> list[Write]:
    person, is_last = file.user_id, blob.references == 1
    binned = BIN.delete(user_id=person, deleted_at=file.deleted_at, entry_id=file.file_id) if file.deleted_at else None
    return [
        FILE.delete(when=files.as_read(file), user_id=person, file_id=file.file_id),
        unreferring(blob),
        count_usage(
            person,
            files=-1,
            used_bytes=-blob.size_bytes if is_last else 0,
            bin_bytes=-file.size_bytes if binned else 0,
        ),
        *due_at(file, ""),
        *([binned] if binned else leaving(file)),
    ]
