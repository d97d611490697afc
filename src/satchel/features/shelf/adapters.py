"""What a shelf offers to other slices: things that links lead to, folders to ask files into, files to send.

A visitor of a link has no rights on the shelf. They reach only what is below the thing of the link at that moment, so
every answer is looked up again from there.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from satchel.features.shelf.model import ROOT, EntryId, FileId, FolderId, UserId
from satchel.features.shelf.records import NAME, RANKS, FileRow, FolderRow, UsageRow, object_key
from satchel.features.shelf.service import shelf_copies, shelf_file_add
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import entry_key, find_file, note_opening, read_entries, read_usage
from satchel.features.shelf.service.folder_walk import COUNTED_ENTRIES, walk
from satchel.features.shelf.service.folders import Ways, find_folder
from satchel.kernel.errors import Conflict, Invalid, NotFound
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedThing
from satchel.kernel.names import kept_path, name_key
from satchel.stores.ports.table import Range

PAGE = 100
# A tree of empty folders must not keep one request busy: the next page continues.
_MOST_STEPS = 200
# After the ranks of folders and files, so after all that is in a folder.
_LAST_RANK = "3"


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """The position of a listing: it has everything of this folder up to `after`, the end of a name's key."""

    folder_id: FolderId
    after: str = ""


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
        return _linked(file, "")


@dataclass(frozen=True, slots=True)
class LinkedFolders:
    """Folders with their contents as link targets."""

    shelf: Shelf

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        try:
            folder = await find_folder(self.shelf, UserId(owner_id), FolderId(thing_id))
        except NotFound:
            return None
        files, size_bytes = await _count(self.shelf, folder) if counted else (None, None)
        return LinkedThing(name=folder.name, files=files, size_bytes=size_bytes)

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        return await _names(self.shelf, owner_id, "folder", thing_ids)

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """All files below the folder: of each folder first its folders, then its files, both by name."""
        listing = _Listing(self.shelf, UserId(owner_id), FolderId(thing_id))
        if cursor is None and await self.describe(owner_id, thing_id) is None:
            return LinkedFiles([], None)
        position = _Position(FolderId(thing_id)) if cursor is None else _position(cursor)
        return await listing.go_on(position, min(limit, PAGE))

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        try:
            file = await find_file(self.shelf, UserId(owner_id), FileId(file_id))
        except NotFound:
            return None
        folder = await _path_below(Ways(self.shelf, UserId(owner_id)), thing_id, file.folder_id)
        if folder is None:
            return None
        await note_opening(self.shelf, file)
        return _linked(file, folder)


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


class _Listing:
    """Walks through a folder page by page. Between pages it keeps only its position."""

    def __init__(self, shelf: Shelf, user_id: UserId, top: FolderId) -> None:
        self._shelf = shelf
        self._user_id = user_id
        self._top = top
        self._ways = Ways(shelf, user_id)

    async def go_on(self, position: _Position, limit: int) -> LinkedFiles:
        found: list[LinkedFile] = []
        for _ in range(_MOST_STEPS):
            path = await _path_below(self._ways, self._top, position.folder_id)
            if path is None:
                # A client that archives the listing must not take it for complete.
                raise Conflict("This folder has changed. Read its list from the beginning.")
            following, files = await self._step(position, limit - len(found))
            found += [_linked(file, path) for file in files]
            if following is None:
                return LinkedFiles(found, None)
            position = following
            if len(found) >= limit:
                break
        return LinkedFiles(found, msgspec.json.encode(position).decode())

    async def _step(self, position: _Position, limit: int) -> tuple[_Position | None, list[FileRow]]:
        """Go into the next folder, over the next files, or up after the last. None at the end."""
        beginning = self._beginning(position.folder_id)
        page = await self._shelf.tables.query(
            NAME.table,
            NAME.keys["PK"].render({"user_id": self._user_id}),
            # A zero character makes the smallest text after another.
            Range(low=beginning + (position.after and position.after + "\0"), high=beginning + _LAST_RANK),
            limit=limit,
        )
        rows = [NAME.read(item) for item in page.items]
        if rows and rows[0].rank == RANKS["folder"]:
            return _Position(FolderId(rows[0].entry_id)), []
        entries = await read_entries(self._shelf, [entry_key(self._user_id, "file", row.entry_id) for row in rows])
        files = [entry for entry in entries if isinstance(entry, FileRow)]
        if page.cursor is not None:
            return _Position(position.folder_id, page.items[-1]["SK"].removeprefix(beginning)), files
        return await self._above(position.folder_id), files

    async def _above(self, folder_id: FolderId) -> _Position | None:
        way = await self._ways.to(folder_id)
        if folder_id == self._top or not way:
            return None
        folder = way[-1]
        key = NAME.key(
            user_id=self._user_id,
            folder_id=folder.parent_id,
            rank=RANKS["folder"],
            name_key=name_key(folder.name),
        )
        return _Position(folder.parent_id, key["SK"].removeprefix(self._beginning(folder.parent_id)))

    def _beginning(self, folder_id: FolderId) -> str:
        return NAME.keys["SK"].render_prefix({"folder_id": folder_id})


def _position(cursor: str) -> _Position:
    try:
        return msgspec.json.decode(cursor, type=_Position)
    except msgspec.DecodeError as error:
        raise Invalid("This cursor is not from this list. Read the list from the beginning.", field="cursor") from error


async def _names(shelf: Shelf, owner_id: str, kind: str, thing_ids: Sequence[str]) -> dict[str, str]:
    user_id = UserId(owner_id)
    ways = Ways(shelf, user_id)
    keys = [entry_key(user_id, kind, EntryId(thing_id)) for thing_id in thing_ids]
    names: dict[str, str] = {}
    for entry in await read_entries(shelf, keys):
        if await ways.to(entry.folder_id) is not None:
            names[entry.file_id if isinstance(entry, FileRow) else entry.folder_id] = entry.name
    return names


async def _path_below(ways: Ways, top: str, folder_id: FolderId) -> str | None:
    """The names of the folders between, as "a/b". None if the folder is not below the top, or missing."""
    way = await ways.to(folder_id) or []
    ids = [folder.folder_id for folder in way]
    return "/".join(folder.name for folder in way[ids.index(FolderId(top)) + 1 :]) if top in ids else None


async def _count(shelf: Shelf, folder: FolderRow) -> tuple[int | None, int | None]:
    """The number of files and their size together. Unknown if counting would take long."""
    files = size_bytes = seen = 0
    async with aclosing(walk(shelf, folder.user_id, folder.folder_id)) as walked:
        async for found in walked:
            seen += 1
            if seen > COUNTED_ENTRIES:
                return None, None
            if isinstance(found.entry, FileRow):
                files += 1
                size_bytes += found.entry.size_bytes
    return files, size_bytes


def _linked(file: FileRow, folder: str) -> LinkedFile:
    return LinkedFile(
        file_id=file.file_id,
        name=file.name,
        folder=folder,
        key=object_key(file),
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        content_type=file.content_type,
        at=file.created_at,
        modified_at=file.modified_at,
        executable=file.executable,
    )


@dataclass(frozen=True, slots=True)
class ShelfFiles:
    """Files that are sent from a shelf, and copies that are received, for transfers and rooms."""

    shelf: Shelf

    async def gather(self, user_id: str, entry_ids: Sequence[str], at_most: int) -> list[HandedFile]:
        return await shelf_copies.gather(self.shelf, UserId(user_id), entry_ids, at_most)

    async def locate(self, user_id: str, file_ids: Sequence[str]) -> dict[str, str]:
        return await shelf_copies.locate(self.shelf, UserId(user_id), file_ids)

    async def is_any_in(self, user_id: str, folder_id: str, file_ids: Sequence[str]) -> bool:
        return await shelf_copies.is_any_in(self.shelf, UserId(user_id), FolderId(folder_id), file_ids)

    async def admit(self, user_id: str, folder_id: str | None, size_bytes: int) -> None:
        await shelf_copies.admit(self.shelf, UserId(user_id), FolderId(folder_id or ROOT), size_bytes)

    async def keep_all(
        self, user_id: str, files: Sequence[HandedFile], *, folder_id: str | None, top: str, came_by: str
    ) -> None:
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
        await shelf_copies.keep_all(self.shelf, UserId(user_id), copies)

    async def discard(self, user_id: str, file_ids: Sequence[str]) -> None:
        await shelf_copies.discard(self.shelf, UserId(user_id), file_ids)


@dataclass(frozen=True, slots=True)
class ShelfUsage:
    """How much each person keeps, for administrators."""

    shelf: Shelf

    async def usage_of(self, user_ids: Sequence[str]) -> list[UsageRow]:
        return await read_usage(self.shelf, [UserId(user_id) for user_id in user_ids])
