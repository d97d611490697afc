"""Several files and folders as one zip file, read from the store while it goes out."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from satchel.features.shelf.model import FileId, FileName, FolderId, UserId, numbered, sameness
from satchel.features.shelf.records import FolderRow, object_key, place_of
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import find_file
from satchel.features.shelf.service.folders import find_folder, find_way
from satchel.features.shelf.service.places import Entry
from satchel.features.shelf.service.walking import walk
from satchel.features.shelf.zip_format import ZipWriter
from satchel.kernel.clock import from_iso
from satchel.kernel.errors import Invalid
from satchel.stores.ports.objects import ObjectMissing

NAME_OF_MANY = "Satchel"


@dataclass(frozen=True, slots=True)
class Selection:
    """What goes into an archive, each under a name of its own, and what the archive is called."""

    chosen: Sequence[tuple[FileName, Entry]]
    name: str


async def select(
    shelf: Shelf, user_id: UserId, file_ids: Sequence[FileId], folder_ids: Sequence[FolderId]
) -> Selection:
    """Everything asked for, once; all of it has to be there."""
    folders = [await find_folder(shelf, user_id, folder_id) for folder_id in dict.fromkeys(folder_ids)]
    files = [await find_file(shelf, user_id, file_id) for file_id in dict.fromkeys(file_ids)]
    entries: list[Entry] = [*folders, *files]
    if not entries:
        raise Invalid("Name at least one `file` or `folder`.", field="file")
    if len(entries) == 1:
        name: str = entries[0].name
    else:
        together = {place_of(entry) for entry in entries}
        way = await find_way(shelf, user_id, together.pop()) if len(together) == 1 else []
        name = way[-1].name if way else NAME_OF_MANY
    return Selection(_told_apart(entries), f"{name}.zip")


async def zipped(shelf: Shelf, selection: Selection) -> AsyncGenerator[bytes]:
    """The bytes of the archive. What is deleted meanwhile is left out; what breaks off breaks the archive off."""
    zip_file = ZipWriter()
    for name, entry in selection.chosen:
        async with aclosing(_below(shelf, name, entry)) as found:
            async for path, each in found:
                async with aclosing(_entry(shelf, zip_file, path, each)) as pieces:
                    async for piece in pieces:
                        yield piece
    for piece in zip_file.finish():
        yield piece


async def _below(shelf: Shelf, name: FileName, entry: Entry) -> AsyncGenerator[tuple[str, Entry]]:
    """The thing itself and all that is in it, each with its path in the archive."""
    yield name, entry
    if isinstance(entry, FolderRow):
        async with aclosing(walk(shelf, entry.user_id, entry.folder_id)) as walked:
            async for found in walked:
                yield "/".join((name, *found.names, found.entry.name)), found.entry


async def _entry(shelf: Shelf, zip_file: ZipWriter, path: str, entry: Entry) -> AsyncGenerator[bytes]:
    modified = from_iso(entry.created_at)
    if isinstance(entry, FolderRow):
        yield zip_file.begin(f"{path}/", modified)
        yield zip_file.end()
        return
    try:
        async with shelf.objects.read(object_key(entry)) as reading:
            yield zip_file.begin(path, modified, size_bytes=reading.length)
            async for piece in reading:
                yield zip_file.count(piece)
            yield zip_file.end()
    except ObjectMissing:
        return


def _told_apart(entries: Sequence[Entry]) -> list[tuple[FileName, Entry]]:
    """Things from different folders may have the same name; in the archive they are numbered."""
    taken: set[str] = set()
    named: list[tuple[FileName, Entry]] = []
    for entry in entries:
        name, number = entry.name, 0
        while sameness(name) in taken:
            number += 1
            name = numbered(entry.name, number)
        taken.add(sameness(name))
        named.append((name, entry))
    return named
