"""Files: find, list, rename, move, set the expiry, and read the usage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.shelf.model import EntryId, Etag, FileId, FolderId, UserId
from satchel.features.shelf.records import (
    DUE,
    FILE,
    FOLDER,
    KINDS,
    MOMENT,
    NAME,
    USAGE,
    DueRow,
    FileRow,
    FolderRow,
    UsageRow,
    id_of,
    kind_of,
)
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.entry_state import check_state
from satchel.features.shelf.service.folders import Ways, find_way, refusing_taken_names, usable_name
from satchel.features.shelf.service.placement import Entry, changing, open_folder, still
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound
from satchel.kernel.handed_file import HandedFileOpened
from satchel.kernel.unfit import TimeUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, add, assign, attr
from satchel.stores.ports.table import Item, Key, Write

LONGEST_LIFE = timedelta(days=366 * 100)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a folder, and the cursor of the next."""

    entries: list[Entry]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What to change of a file. None changes nothing; an `expires_at` of "" keeps the file for good."""

    written: str | None = None
    folder_id: FolderId | None = None
    expires_at: str | None = None
    modified_at: str | None = None
    executable: bool | None = None


async def list_by_name(shelf: Shelf, user_id: UserId, folder_id: FolderId, limit: int, cursor: str | None) -> Listed:
    """Folders first."""
    page = await NAME.list(shelf.tables, user_id=user_id, folder_id=folder_id, limit=limit, cursor=cursor)
    keys = [entry_key(user_id, KINDS[row.rank], row.entry_id) for row in page.records]
    return Listed(await read_entries(shelf, keys), page.cursor)


async def list_by_time(shelf: Shelf, user_id: UserId, folder_id: FolderId, limit: int, cursor: str | None) -> Listed:
    """Newest first."""
    page = await MOMENT.list(
        shelf.tables, user_id=user_id, folder_id=folder_id, descending=True, limit=limit, cursor=cursor
    )
    keys = [entry_key(user_id, row.kind, row.entry_id) for row in page.records]
    return Listed(await read_entries(shelf, keys), page.cursor)


def entry_key(user_id: UserId, kind: str, entry_id: EntryId) -> Key:
    if kind == "folder":
        return FOLDER.key(user_id=user_id, folder_id=entry_id)
    return FILE.key(user_id=user_id, file_id=entry_id)


async def read_entries(shelf: Shelf, keys: Sequence[Key]) -> list[Entry]:
    """The files and folders at these keys that still exist."""
    found = [read_entry(item) for item in await shelf.tables.get_many(FILE.table, keys) if item is not None]
    return [entry for entry in found if not is_over(shelf, entry)]


def is_over(shelf: Shelf, entry: Entry) -> bool:
    """Whether it is in the bin, or has expired and is not collected yet."""
    if entry.deleted_at:
        return True
    if isinstance(entry, FolderRow):
        return entry.closing
    return bool(entry.expires_at) and entry.expires_at <= iso(shelf.clock())


async def find_file(shelf: Shelf, user_id: UserId, file_id: FileId) -> FileRow:
    """A file on the shelf. Files in the bin, or in a folder in the bin, are not found."""
    known = 0 < len(file_id) <= MAX_ID_CHARACTERS
    file = await FILE.get(shelf.tables, user_id=user_id, file_id=file_id) if known else None
    if file is None or is_over(shelf, file) or await Ways(shelf, user_id).to(file.folder_id) is None:
        raise NotFound("Your shelf has no such file.")
    return file


async def find_files(shelf: Shelf, user_id: UserId, file_ids: Sequence[FileId]) -> list[FileRow]:
    """Several at once, in this order. All of them have to be on the shelf."""
    keys = [FILE.key(user_id=user_id, file_id=file_id) for file_id in file_ids if 0 < len(file_id) <= MAX_ID_CHARACTERS]
    files = [FILE.read(item) for item in await shelf.tables.get_many(FILE.table, keys) if item is not None]
    ways = Ways(shelf, user_id)
    live = [file for file in files if not is_over(shelf, file) and await ways.to(file.folder_id) is not None]
    if len(live) < len(file_ids):
        raise NotFound("Your shelf does not have all of these files.")
    return live


async def note_opening(shelf: Shelf, file: FileRow) -> None:
    """Tell the sender of the file that it was opened."""
    if file.came_by:
        await shelf.events.publish(HandedFileOpened(file.user_id, file.came_by))


async def change_file(
    shelf: Shelf, user_id: UserId, file_id: FileId, change: FileChange, *, seen: Etag | None = None
) -> FileRow:
    """Rename a file, move it, set its expiry: all in one step, if it is in the state that was seen."""
    old, new = await _change_row(shelf, user_id, file_id, change, seen)
    if new != old:
        await tell_folders(shelf, user_id, old.folder_id, new.folder_id)
        await note_opening(shelf, new)
    return new


@optimistic_update()
async def _change_row(
    shelf: Shelf, user_id: UserId, file_id: FileId, change: FileChange, seen: Etag | None
) -> tuple[FileRow, FileRow]:
    """The file before and after."""
    old = await find_file(shelf, user_id, file_id)
    check_state(old, seen)
    new = msgspec.structs.replace(
        old,
        name=old.name if change.written is None else usable_name(change.written),
        folder_id=old.folder_id if change.folder_id is None else change.folder_id,
        expires_at=old.expires_at if change.expires_at is None else change.expires_at,
        modified_at=old.modified_at if change.modified_at is None else change.modified_at,
        executable=old.executable if change.executable is None else change.executable,
    )
    if new == old:
        return old, new
    is_moved = new.folder_id != old.folder_id
    if is_moved:
        await find_way(shelf, user_id, new.folder_id)
    checks = open_folder(user_id, new.folder_id) if is_moved else []
    with refusing_taken_names(len(checks)):
        await shelf.tables.transact(
            [*checks, FILE.put(new, when=as_read(old)), *due_at(new, new.expires_at), *changing(old, new)]
        )
    return old, new


def as_read(file: FileRow) -> Condition:
    """The condition that a file still has all that was read, so that of two changes neither undoes the other."""
    same = (attr("fileName") == file.name) & (attr("folderId") == file.folder_id)
    content = (attr("sha256") == file.sha256) & (attr("objectId") == file.object_id)
    rest = still("expiresAt", file.expires_at) & still("deletedAt", file.deleted_at)
    facts = still("modifiedAt", file.modified_at) & still("executable", file.executable)
    return same & content & rest & facts & still("replacedBy", file.replaced_by)


def due_at(entry: Entry, due: str) -> list[Write]:
    """The row that says when garbage collection is due. None without an expiry."""
    person, entry_id = entry.user_id, id_of(entry)
    if not due:
        return [DUE.delete(user_id=person, entry_id=entry_id)]
    return [DUE.put(DueRow(user_id=person, entry_id=entry_id, kind=kind_of(entry), due=due))]


def check_expiry(shelf: Shelf, moment: float) -> str:
    """The stored form of an expiry."""
    now = shelf.clock()
    if not now < moment <= now + LONGEST_LIFE.total_seconds():
        raise TimeUnfit("Choose a time in the future, within a hundred years.", field="expires_at")
    return iso(moment)


async def read_usage(shelf: Shelf, user_ids: Sequence[UserId], *, may_lag: bool = False) -> list[UsageRow]:
    """One answer per person, in the order asked."""
    keys = [USAGE.key(user_id=user_id) for user_id in user_ids]
    items = await shelf.tables.get_many(USAGE.table, keys, may_lag=may_lag)
    return [
        UsageRow(user_id=user_id) if item is None else USAGE.read(item)
        for user_id, item in zip(user_ids, items, strict=True)
    ]


def count_usage(
    user_id: UserId, *, files: int = 0, used_bytes: int = 0, bin_bytes: int = 0, when: Condition | None = None
) -> Write:
    counts = {"files": files, "usedBytes": used_bytes, "binBytes": bin_bytes}
    return USAGE.update(
        [assign("userId", user_id), *(add(name, count) for name, count in counts.items() if count)],
        when=when,
        user_id=user_id,
    )


def read_entry(item: Item) -> Entry:
    return FILE.read(item) if "fileName" in item else FOLDER.read(item)
