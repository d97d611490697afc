"""Which files and folders go into an archive, and under which paths."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from satchel.features.shelf.model import FileId, FolderId, UserId
from satchel.features.shelf.records import FolderRow, place_of
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import find_files
from satchel.features.shelf.service.folder_walk import walk
from satchel.features.shelf.service.folders import find_folder, find_way
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.names import FileName, kept_numbered
from satchel.kernel.unfit import CombinationUnfit

NAME_OF_MANY = "Satchel"


@dataclass(frozen=True, slots=True)
class Selection:
    """The contents of an archive, each under a unique name, and the name of the archive."""

    chosen: Sequence[tuple[FileName, Entry]]
    name: str


async def select(
    shelf: Shelf, user_id: UserId, file_ids: Sequence[FileId], folder_ids: Sequence[FolderId]
) -> Selection:
    """Everything asked for, once. All of it has to exist."""
    folders = [await find_folder(shelf, user_id, folder_id) for folder_id in dict.fromkeys(folder_ids)]
    files = await find_files(shelf, user_id, [*dict.fromkeys(file_ids)])
    entries: list[Entry] = [*folders, *files]
    if not entries:
        raise CombinationUnfit("Name at least one `file` or `folder`.", field="file")
    if len(entries) == 1:
        name: str = entries[0].name
    else:
        together = {place_of(entry) for entry in entries}
        way = await find_way(shelf, user_id, together.pop()) if len(together) == 1 else []
        name = way[-1].name if way else NAME_OF_MANY
    return Selection(told_apart(entries), name)


async def walk_selection(shelf: Shelf, selection: Selection) -> AsyncGenerator[tuple[str, Entry]]:
    """Every selected entry and its contents, each with its path in the archive."""
    for name, entry in selection.chosen:
        yield name, entry
        if isinstance(entry, FolderRow):
            async with aclosing(walk(shelf, entry.user_id, entry.folder_id)) as walked:
                async for found in walked:
                    yield "/".join((name, *found.names, found.entry.name)), found.entry


def told_apart(entries: Sequence[Entry]) -> list[tuple[FileName, Entry]]:
    """Things from different folders may have the same name; in the archive they are numbered."""
    taken: set[FileName] = set()
    named: list[tuple[FileName, Entry]] = []
    for entry in entries:
        name, number = entry.name, 0
        while name in taken:
            number += 1
            name = kept_numbered(entry.name, number)
        taken.add(name)
        named.append((name, entry))
    return named
