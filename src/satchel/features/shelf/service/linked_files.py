"""Lists the files and folders below a folder for visitors of a link, page by page, with their paths from there."""

from contextlib import aclosing

import msgspec

from satchel.features.shelf.model import FolderId, UserId
from satchel.features.shelf.records import NAME, RANKS, FileRow, FolderRow, object_key
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import entry_key, read_entries
from satchel.features.shelf.service.folder_walk import COUNTED_ENTRIES, walk
from satchel.features.shelf.service.folders import Ways
from satchel.kernel.errors import Conflict, CursorInvalid
from satchel.kernel.linked import LinkedFile, LinkedFiles, LinkedFolder
from satchel.kernel.names import name_key
from satchel.stores.ports.table import Range

PAGE = 100
# A tree of empty folders must not keep one request busy: the next page continues.
_MOST_STEPS = 200
# After the ranks of folders and files, so after all that is in a folder.
_LAST_RANK = "3"


class ListPosition(msgspec.Struct, frozen=True, array_like=True):
    """The position of a listing: it has everything of this folder up to `after`, the end of a name's key."""

    folder_id: FolderId
    after: str = ""


class FolderListing:
    """Walks through a folder page by page. Between pages it keeps only its position."""

    def __init__(self, shelf: Shelf, user_id: UserId, top: FolderId) -> None:
        self._shelf = shelf
        self._user_id = user_id
        self._top = top
        self._ways = Ways(shelf, user_id)

    async def go_on(self, position: ListPosition, limit: int) -> LinkedFiles:
        found: list[LinkedFile] = []
        folders: list[LinkedFolder] = []
        for _ in range(_MOST_STEPS):
            path = await path_below(self._ways, self._top, position.folder_id)
            if path is None:
                # A client that archives the listing must not take it for complete.
                raise Conflict("This folder has changed. Read its list from the beginning.")
            if not position.after:
                folders += [_linked_folder(each, path) for each in (await self._ways.to(position.folder_id) or [])[-1:]]
            following, files = await self._step(position, limit - len(found))
            found += [linked_file(file, path) for file in files]
            if following is None:
                return LinkedFiles(found, None, folders)
            position = following
            if len(found) >= limit:
                break
        return LinkedFiles(found, msgspec.json.encode(position).decode(), folders)

    async def _step(self, position: ListPosition, limit: int) -> tuple[ListPosition | None, list[FileRow]]:
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
            return ListPosition(FolderId(rows[0].entry_id)), []
        entries = await read_entries(self._shelf, [entry_key(self._user_id, "file", row.entry_id) for row in rows])
        files = [entry for entry in entries if isinstance(entry, FileRow)]
        if page.cursor is not None:
            return ListPosition(position.folder_id, page.items[-1]["SK"].removeprefix(beginning)), files
        return await self._above(position.folder_id), files

    async def _above(self, folder_id: FolderId) -> ListPosition | None:
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
        return ListPosition(folder.parent_id, key["SK"].removeprefix(self._beginning(folder.parent_id)))

    def _beginning(self, folder_id: FolderId) -> str:
        return NAME.keys["SK"].render_prefix({"folder_id": folder_id})


def position_in(cursor: str) -> ListPosition:
    try:
        return msgspec.json.decode(cursor, type=ListPosition)
    except msgspec.DecodeError as error:
        raise CursorInvalid(
            "This cursor is not from this list. Read the list from the beginning.", field="cursor"
        ) from error


async def path_below(ways: Ways, top: str, folder_id: FolderId) -> str | None:
    """The names of the folders between, as "a/b". None if the folder is not below the top, or missing."""
    way = await ways.to(folder_id) or []
    ids = [folder.folder_id for folder in way]
    return "/".join(folder.name for folder in way[ids.index(FolderId(top)) + 1 :]) if top in ids else None


async def count_files(shelf: Shelf, *folders: FolderRow) -> tuple[int | None, int | None]:
    """The number of files and their size, of all folders together. Unknown if counting would take long."""
    files = size_bytes = seen = 0
    for folder in folders:
        async with aclosing(walk(shelf, folder.user_id, folder.folder_id)) as walked:
            async for found in walked:
                seen += 1
                if seen > COUNTED_ENTRIES:
                    return None, None
                if isinstance(found.entry, FileRow):
                    files += 1
                    size_bytes += found.entry.size_bytes
    return files, size_bytes


def _linked_folder(folder: FolderRow, path: str) -> LinkedFolder:
    return LinkedFolder(path, folder.modified_at, folder.created_at)


def linked_file(file: FileRow, folder: str) -> LinkedFile:
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
