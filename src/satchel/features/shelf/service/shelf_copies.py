"""Copies between shelves: the selected files of a sender with their folders, and the copies that a receiver keeps.

A copy goes through the same steps as an upload, many of them together as a bundle does. The source stays: no row
names an object that a crash has left half copied, so garbage collection removes it.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from satchel.features.shelf.model import ROOT, EntryId, FileId, FolderId, UserId
from satchel.features.shelf.records import FILE, FileRow, FolderRow, object_key
from satchel.features.shelf.service import bundle_add, purge, shelf_bin, shelf_file_add
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.files import entry_key, read_entries
from satchel.features.shelf.service.folder_walk import walk
from satchel.features.shelf.service.folders import Ways, check_depth, find_way
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.errors import NotFound, SatchelError, TooLarge
from satchel.kernel.handed_file import HandedFile, HandedFileOpened
from satchel.kernel.names import FileName
from satchel.kernel.patches import Patch
from satchel.stores.ports.table import Write

# So many go together. Each such step can be repeated by itself after a crash.
TOGETHER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The source bytes, which stay where they are, and the file that their copy becomes, with its id."""

    file_id: FileId
    source_key: str
    name: str
    size_bytes: int
    sha256: str
    content_type: str
    folder_id: FolderId = ROOT
    folders: Sequence[FileName] = ()
    came_by: str = ""
    modified_at: str = ""
    executable: bool = False
    from_others: bool = True
    patches: Sequence[Patch] = ()


async def gather(shelf: Shelf, user_id: UserId, entry_ids: Sequence[str], at_most: int) -> list[HandedFile]:
    """The selected files, and those in the selected folders, each once. Everything selected has to exist."""
    found: dict[str, HandedFile] = {}
    ways = Ways(shelf, user_id)
    for entry_id in dict.fromkeys(entry_ids):
        entry = await _find(shelf, user_id, ways, entry_id)
        async with aclosing(_files_of(shelf, entry)) as files:
            async for folder, file in files:
                found.setdefault(file.file_id, _source(file, folder))
                if len(found) > at_most:
                    raise TooLarge(f"At most {at_most:,} files can be sent at once. Send fewer.", limit=at_most)
    return list(found.values())


async def note_handed_on(shelf: Shelf, user_id: UserId, files: Sequence[HandedFile]) -> None:
    """Sending a received file on counts as opening it."""
    for transfer_id in dict.fromkeys(file.came_by for file in files if file.came_by):
        await shelf.events.publish(HandedFileOpened(user_id, transfer_id))


async def locate(shelf: Shelf, user_id: UserId, file_ids: Sequence[str]) -> dict[str, str]:
    """The objects of those files that are still on the shelf, by file id."""
    keys = [entry_key(user_id, "file", EntryId(file_id)) for file_id in file_ids]
    ways = Ways(shelf, user_id)
    return {
        entry.file_id: object_key(entry)
        for entry in await read_entries(shelf, keys)
        if isinstance(entry, FileRow) and await ways.to(entry.folder_id) is not None
    }


async def is_any_in(shelf: Shelf, user_id: UserId, folder_id: FolderId, file_ids: Sequence[str]) -> bool:
    """Whether one of these files is in the folder, or in a folder below it."""
    keys = [entry_key(user_id, "file", EntryId(file_id)) for file_id in file_ids]
    ways = Ways(shelf, user_id)
    for entry in await read_entries(shelf, keys):
        way = await ways.to(entry.folder_id) or []
        if any(folder.folder_id == folder_id for folder in way):
            return True
    return False


async def admit(shelf: Shelf, user_id: UserId, folder_id: FolderId, size_bytes: int) -> None:
    """Refuse copies that exceed the quota, or a missing folder, before the first copy."""
    check_depth(await find_way(shelf, user_id, folder_id), 1)
    await shelf_file_add.check_room(shelf, user_id, size_bytes)


async def keep_all(
    shelf: Shelf, user_id: UserId, copies: Sequence[Copy], *, is_first: bool = False, beside: Sequence[Write] = ()
) -> bool:
    """Make files of copies. Idempotent: a repeat leads to the same files, restored if they were in the bin.

    When it raises, any number of them may be there. With `is_first` none of them ever was. Whether the writes `beside`
    were made in one transaction with the files.
    """
    written = False
    for start in range(0, len(copies), TOGETHER):
        some = copies[start : start + TOGETHER]
        there = set[FileId]() if is_first else await _kept(shelf, user_id, [copy.file_id for copy in some])
        uploads = [_upload(user_id, copy) for copy in some if copy.file_id not in there]
        own = beside if len(uploads) == len(copies) else ()
        kept = await bundle_add.keep_beside(shelf, uploads, own)
        written = kept.beside
        for outcome in kept.outcomes:
            if isinstance(outcome, SatchelError):
                raise outcome
    return written


async def _kept(shelf: Shelf, user_id: UserId, file_ids: Sequence[FileId]) -> set[FileId]:
    """Which of these files are on the shelf, after those in the bin were restored."""
    found = await shelf.tables.get_many(FILE.table, [FILE.key(user_id=user_id, file_id=each) for each in file_ids])
    kept: set[FileId] = set()
    ways = Ways(shelf, user_id)
    for file in (FILE.read(item) for item in found if item is not None):
        if file.deleted_at:
            await shelf_bin.leave_bin(shelf, user_id, EntryId(file.file_id))
        elif await ways.to(file.folder_id) is None:
            # It went to the bin with its folder, which stays there.
            await purge.delete_at_once(shelf, user_id, file.file_id)
            continue
        kept.add(file.file_id)
    return kept


async def discard(shelf: Shelf, user_id: UserId, file_ids: Sequence[str]) -> None:
    """Delete copies that the person was not meant to have after all."""
    for file_id in file_ids:
        await purge.delete_at_once(shelf, user_id, FileId(file_id))


def _upload(user_id: UserId, copy: Copy) -> shelf_file_add.Upload:
    return shelf_file_add.Upload(
        user_id=user_id,
        file_id=copy.file_id,
        key=copy.source_key,
        is_copy=True,
        patches=copy.patches,
        name=copy.name,
        content_type=copy.content_type,
        size_bytes=copy.size_bytes,
        sha256=copy.sha256,
        folder_id=copy.folder_id,
        folders=copy.folders,
        came_by=copy.came_by,
        from_others=copy.from_others,
        modified_at=copy.modified_at,
        executable=copy.executable,
    )


async def _find(shelf: Shelf, user_id: UserId, ways: Ways, entry_id: str) -> Entry:
    known = 0 < len(entry_id) <= MAX_ID_CHARACTERS
    keys = [entry_key(user_id, kind, EntryId(entry_id)) for kind in ("file", "folder")] if known else []
    for entry in await read_entries(shelf, keys):
        if await ways.to(entry.folder_id) is not None:
            return entry
    raise NotFound("Your shelf has no such file or folder.")


async def _files_of(shelf: Shelf, entry: Entry) -> AsyncGenerator[tuple[str, FileRow]]:
    """The file itself, or every file below the folder, with the folders that it is in."""
    if isinstance(entry, FileRow):
        yield "", entry
        return
    async with aclosing(walk(shelf, entry.user_id, entry.folder_id)) as walked:
        async for found in walked:
            if not isinstance(found.entry, FolderRow):
                yield "/".join((entry.name, *found.names)), found.entry


def _source(file: FileRow, folder: str) -> HandedFile:
    return HandedFile(
        file_id=file.file_id,
        name=file.name,
        folder=folder,
        key=object_key(file),
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        content_type=file.content_type,
        modified_at=file.modified_at,
        executable=file.executable,
        came_by=file.came_by,
    )
