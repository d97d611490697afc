"""Walks through a folder of any size, with one page in memory."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from satchel.features.shelf.model import FolderId, UserId
from satchel.features.shelf.records import FolderRow
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import list_by_name
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.names import FileName

PAGE = 100
# How many entries of a folder are counted when it is deleted. More would make deleting slow.
COUNTED_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """An entry below a folder, and the names of the folders between."""

    names: tuple[FileName, ...]
    entry: Entry


async def walk(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> AsyncGenerator[Found]:
    """All entries, every folder before its contents."""
    ahead: list[tuple[tuple[FileName, ...], FolderId]] = [((), folder_id)]
    while ahead:
        names, current = ahead.pop()
        cursor: str | None = None
        while True:
            page = await list_by_name(shelf, user_id, current, PAGE, cursor)
            for entry in page.entries:
                yield Found(names, entry)
                if isinstance(entry, FolderRow):
                    ahead.append(((*names, entry.name), entry.folder_id))
            if (cursor := page.cursor) is None:
                break


async def count_bytes(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> int:
    """The size of the files in a folder, as far as they are counted."""
    total = seen = 0
    async with aclosing(walk(shelf, user_id, folder_id)) as walked:
        async for found in walked:
            seen += 1
            total += 0 if isinstance(found.entry, FolderRow) else found.entry.size_bytes
            if seen == COUNTED_ENTRIES:
                break
    return total
