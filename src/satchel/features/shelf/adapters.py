"""What a shelf offers to other slices: things that links lead to, folders to ask files into, files to send.

A visitor of a link has no rights on the shelf. They reach only what is below the thing of the link at that moment, so
every answer is looked up again from there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from satchel.features.shelf.model import ROOT, EntryId, FileId, FolderId, UserId
from satchel.features.shelf.records import FileRow, UsageRow, id_of, kind_of, place_of
from satchel.features.shelf.service import shelf_copies, shelf_file_add
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import entry_key, find_file, note_opening, read_entries, read_usage
from satchel.features.shelf.service.folders import Ways, find_folder
from satchel.features.shelf.service.linked_files import (
    PAGE,
    FolderListing,
    ListPosition,
    count_files,
    linked_file,
    path_below,
    position_in,
)
from satchel.features.shelf.service.search import search
from satchel.kernel.errors import NotFound
from satchel.kernel.handed_file import HandedFile, PatchedFile
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedThing
from satchel.kernel.names import kept_path
from satchel.kernel.searched import Finding, Findings, Seeker, Words
from satchel.stores.ports.table import Write


@dataclass(frozen=True, slots=True)
class LinkedShelfFiles:
    """Single files as link targets."""

    shelf: Shelf

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        del counted
        try:
            file = await find_file(self.shelf, UserId(owner_id), FileId(thing_id))
        except NotFound:
            return None
        return LinkedThing(
            name=file.name,
            content_type=file.content_type,
            size_bytes=file.size_bytes,
            files=1,
            file_id=file.file_id,
        )

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        return await _names(self.shelf, owner_id, "file", thing_ids)

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        del cursor, limit
        file = await self.file(owner_id, thing_id, thing_id)
        return LinkedFiles([] if file is None else [file], None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        if file_id != thing_id:
            return None
        try:
            file = await find_file(self.shelf, UserId(owner_id), FileId(file_id))
        except NotFound:
            return None
        await note_opening(self.shelf, file)
        return linked_file(file, "")


@dataclass(frozen=True, slots=True)
class LinkedFolders:
    """Folders with their contents as link targets."""

    shelf: Shelf

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        try:
            folder = await find_folder(self.shelf, UserId(owner_id), FolderId(thing_id))
        except NotFound:
            return None
        files, size_bytes = await count_files(self.shelf, folder) if counted else (None, None)
        return LinkedThing(name=folder.name, files=files, size_bytes=size_bytes)

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        return await _names(self.shelf, owner_id, "folder", thing_ids)

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """All files below the folder: of each folder first its folders, then its files, both by name."""
        listing = FolderListing(self.shelf, UserId(owner_id), FolderId(thing_id))
        if cursor is None and await self.describe(owner_id, thing_id) is None:
            return LinkedFiles([], None)
        position = ListPosition(FolderId(thing_id)) if cursor is None else position_in(cursor)
        return await listing.go_on(position, min(limit, PAGE))

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        try:
            file = await find_file(self.shelf, UserId(owner_id), FileId(file_id))
        except NotFound:
            return None
        folder = await path_below(Ways(self.shelf, UserId(owner_id)), thing_id, file.folder_id)
        if folder is None:
            return None
        await note_opening(self.shelf, file)
        return linked_file(file, folder)


@dataclass(frozen=True, slots=True)
class AskingFolders:
    """Folders that a link asks files into. Visitors cannot see what is in them."""

    shelf: Shelf

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        del counted
        return await LinkedFolders(self.shelf).describe(owner_id, thing_id)

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        return await _names(self.shelf, owner_id, "folder", thing_ids)

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        del owner_id, thing_id, cursor, limit
        return LinkedFiles([], None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        del owner_id, thing_id, file_id
        return None

    async def admit(self, owner_id: str, thing_id: str, size_bytes: int) -> None:
        await find_folder(self.shelf, UserId(owner_id), FolderId(thing_id))
        await shelf_file_add.check_room(self.shelf, UserId(owner_id), size_bytes)

    async def keep(self, owner_id: str, thing_id: str, file: HandedFile, details: Mapping[str, str]) -> str:
        del details
        upload = shelf_file_add.Upload(
            user_id=UserId(owner_id),
            file_id=FileId(file.file_id),
            key=file.key,
            name=file.name,
            content_type=file.content_type,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            folder_id=FolderId(thing_id),
            folders=kept_path(file.folder),
            from_others=True,
            modified_at=file.modified_at,
            executable=file.executable,
        )
        return (await shelf_file_add.keep_upload(self.shelf, upload)).file_id


async def _names(shelf: Shelf, owner_id: str, kind: str, thing_ids: Sequence[str]) -> dict[str, str]:
    user_id = UserId(owner_id)
    ways = Ways(shelf, user_id)
    keys = [entry_key(user_id, kind, EntryId(thing_id)) for thing_id in thing_ids]
    names: dict[str, str] = {}
    for entry in await read_entries(shelf, keys):
        if await ways.to(entry.folder_id) is not None:
            names[entry.file_id if isinstance(entry, FileRow) else entry.folder_id] = entry.name
    return names


@dataclass(frozen=True, slots=True)
class ShelfFiles:
    """Files that are sent from a shelf, and copies that are received, for transfers and rooms."""

    shelf: Shelf

    async def gather(self, user_id: str, entry_ids: Sequence[str], at_most: int) -> list[HandedFile]:
        return await shelf_copies.gather(self.shelf, UserId(user_id), entry_ids, at_most)

    async def note_handed_on(self, user_id: str, files: Sequence[HandedFile]) -> None:
        await shelf_copies.note_handed_on(self.shelf, UserId(user_id), files)

    async def locate(self, user_id: str, file_ids: Sequence[str]) -> dict[str, str]:
        return await shelf_copies.locate(self.shelf, UserId(user_id), file_ids)

    async def is_any_in(self, user_id: str, folder_id: str, file_ids: Sequence[str]) -> bool:
        return await shelf_copies.is_any_in(self.shelf, UserId(user_id), FolderId(folder_id), file_ids)

    async def admit(self, user_id: str, folder_id: str | None, size_bytes: int) -> None:
        await shelf_copies.admit(self.shelf, UserId(user_id), FolderId(folder_id or ROOT), size_bytes)

    async def keep_all(
        self,
        user_id: str,
        files: Sequence[HandedFile],
        *,
        folder_id: str | None,
        top: str,
        came_by: str,
        is_first: bool,
        beside: Sequence[Write],
    ) -> bool:
        copies = [
            shelf_copies.Copy(
                file_id=FileId(file.file_id),
                source_key=file.key,
                name=file.name,
                size_bytes=file.size_bytes,
                sha256=file.sha256,
                content_type=file.content_type,
                folder_id=FolderId(folder_id or ROOT),
                folders=kept_path(file.folder if folder_id else f"{top}/{file.folder}"),
                came_by=came_by,
                modified_at=file.modified_at,
                executable=file.executable,
            )
            for file in files
        ]
        return await shelf_copies.keep_all(self.shelf, UserId(user_id), copies, is_first=is_first, beside=beside)

    async def take_own(self, user_id: str, folder_id: str, files: Sequence[PatchedFile]) -> None:
        """Copy files of the person's own into a folder of their shelf."""
        copies = [
            shelf_copies.Copy(
                file_id=FileId(file.file_id),
                source_key=file.key,
                name=file.name,
                size_bytes=file.size_bytes,
                sha256=file.sha256,
                content_type=file.content_type,
                folder_id=FolderId(folder_id),
                from_others=False,
                patches=file.alterations,
            )
            for file in files
        ]
        await shelf_copies.keep_all(self.shelf, UserId(user_id), copies)

    async def discard(self, user_id: str, file_ids: Sequence[str]) -> None:
        await shelf_copies.discard(self.shelf, UserId(user_id), file_ids)


@dataclass(frozen=True, slots=True)
class ShelfUsage:
    """How much each person keeps, for administrators."""

    shelf: Shelf

    async def usage_of(self, user_ids: Sequence[str]) -> list[UsageRow]:
        return await read_usage(self.shelf, [UserId(user_id) for user_id in user_ids], may_lag=True)


@dataclass(frozen=True, slots=True)
class ShelfSearch:
    """Finds files and folders by their names, for the search over everything."""

    shelf: Shelf

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        hits = await search(self.shelf, UserId(seeker.user_id), words.written, limit, None)
        found = [
            Finding(
                kind=kind_of(hit.entry),
                id=id_of(hit.entry),
                name=hit.entry.name,
                detail=" / ".join(hit.path),
                within=place_of(hit.entry),
            )
            for hit in hits.hits
        ]
        return Findings(found, partial=hits.cursor is not None and len(found) < limit)
