"""Selections of a shelf as link targets: visitors reach what is in them now, and nothing beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from satchel.features.shelf.model import FileId, UserId
from satchel.features.shelf.records import FileRow, FolderRow
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import find_file, note_opening
from satchel.features.shelf.service.folders import Ways
from satchel.features.shelf.service.linked_files import (
    PAGE,
    FolderListing,
    ListPosition,
    count_files,
    linked_file,
    path_below,
    position_in,
)
from satchel.features.shelf.service.placement import Entry
from satchel.features.shelf.service.selections import find_selections, name_of
from satchel.features.shelf.service.shelf_archive import told_apart
from satchel.kernel.errors import CursorInvalid, Invalid, NotFound
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedFolder, LinkedThing

# So many folders are read for one page, however few files they have.
FOLDERS_AT_ONCE = 10


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """The position of a listing: which entry is next and, if that is a folder, where in it."""

    index: int = 0
    within: str = ""


@dataclass(frozen=True, slots=True)
class LinkedSelections:
    """Several files and folders as one link target."""

    shelf: Shelf

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        entries = await self._entries(owner_id, thing_id)
        if not entries:
            return None
        files, size_bytes = await self._count(entries) if counted else (None, None)
        return LinkedThing(name=name_of(entries), files=files, size_bytes=size_bytes)

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        found = await find_selections(self.shelf, UserId(owner_id), thing_ids)
        return {selection_id: name_of(entries) for selection_id, (_, entries) in found.items()}

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """The folders with all that is in them, then the files; two of one name are numbered."""
        place = _Place() if cursor is None else _opened(cursor)
        named = told_apart(await self._entries(owner_id, thing_id))
        if not 0 <= place.index <= len(named):
            raise _foreign_cursor()
        found: list[LinkedFile] = []
        inside: list[LinkedFolder] = []
        folders = 0
        for index in range(place.index, len(named)):
            if len(found) >= min(limit, PAGE) or folders == FOLDERS_AT_ONCE:
                return LinkedFiles(found, _closed(_Place(index)), inside)
            name, entry = named[index]
            if isinstance(entry, FileRow):
                found.append(replace(linked_file(entry, ""), name=name))
                continue
            folders += 1
            within = place.within if index == place.index else ""
            position = position_in(within) if within else ListPosition(entry.folder_id)
            listing = FolderListing(self.shelf, entry.user_id, entry.folder_id)
            page = await listing.go_on(position, min(limit, PAGE) - len(found))
            found += [replace(file, folder=f"{name}/{file.folder}".rstrip("/")) for file in page.files]
            inside += [replace(each, path=f"{name}/{each.path}".rstrip("/")) for each in page.folders]
            if page.cursor is not None:
                return LinkedFiles(found, _closed(_Place(index, page.cursor)), inside)
        return LinkedFiles(found, None, inside)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        found = await find_selections(self.shelf, UserId(owner_id), [thing_id])
        if thing_id not in found:
            return None
        try:
            file = await find_file(self.shelf, UserId(owner_id), FileId(file_id))
        except NotFound:
            return None
        selection, _ = found[thing_id]
        ways = Ways(self.shelf, UserId(owner_id))
        paths = [await path_below(ways, folder_id, file.folder_id) for folder_id in selection.folders]
        inside = next((path for path in paths if path is not None), None)
        if file_id not in selection.files and inside is None:
            return None
        await note_opening(self.shelf, file)
        return linked_file(file, inside or "")

    async def _entries(self, owner_id: str, thing_id: str) -> list[Entry]:
        found = await find_selections(self.shelf, UserId(owner_id), [thing_id])
        return found[thing_id][1] if thing_id in found else []

    async def _count(self, entries: Sequence[Entry]) -> tuple[int | None, int | None]:
        """The number of files and their size together. Unknown if counting would take long."""
        alone = [entry for entry in entries if isinstance(entry, FileRow)]
        inside, their_bytes = await count_files(self.shelf, *(each for each in entries if isinstance(each, FolderRow)))
        if inside is None or their_bytes is None:
            return None, None
        return len(alone) + inside, sum(entry.size_bytes for entry in alone) + their_bytes


def _closed(place: _Place) -> str:
    return msgspec.json.encode(place).decode()


def _opened(cursor: str) -> _Place:
    try:
        return msgspec.json.decode(cursor, type=_Place)
    except msgspec.DecodeError as error:
        raise _foreign_cursor() from error


def _foreign_cursor() -> Invalid:
    return CursorInvalid("This cursor is not from this list. Read the list from the beginning.", field="cursor")
