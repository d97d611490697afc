"""The folders of albums: each is one album's, and leads to it after a rename until another album takes the folder."""

from contextlib import suppress

import msgspec

from satchel.features.albums.model import AlbumId, AlbumUnknown, Folder, FolderTaken, OwnerId, numbered_folder
from satchel.features.albums.records import FOLDER, AlbumRow, FolderRow
from satchel.features.albums.service.context import Albums
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed, Write

_MOST_NUMBERS = 1000
_FREE = attr("PK").absent() | attr("Redirect").exists()


async def find_free_folder(albums: Albums, owner: OwnerId, folder: Folder, *, forced: bool = False) -> Folder:
    """The folder, or the next free one with a number. `FolderTaken` if it was forced and is taken."""
    for number in range(1, 2 if forced else _MOST_NUMBERS):
        wanted = numbered_folder(folder, number)
        row = await FOLDER.get(albums.tables, owner=owner, folder=wanted)
        if row is None or row.redirect:
            return wanted
    raise FolderTaken("Another album of yours has this folder. Choose another.", field="folder")


async def album_in(albums: Albums, owner: OwnerId, folder: str) -> AlbumId:
    """The album that has a folder, or had it last."""
    row = await FOLDER.get(albums.tables, owner=owner, folder=folder)
    if row is None:
        raise AlbumUnknown("No album has this folder.")
    return row.album_id


def folder_writes(before: AlbumRow | None, after: AlbumRow) -> list[Write]:
    """What gives an album its folder, and lets the one that it had lead to it."""
    new = FolderRow(owner=after.owner, folder=after.folder, album_id=after.album_id)
    if before is None:
        return [FOLDER.put(new, when=_FREE)]
    if before.folder == after.folder:
        return []
    old = FolderRow(owner=before.owner, folder=before.folder, album_id=before.album_id)
    return [FOLDER.put(msgspec.structs.replace(old, redirect=True)), FOLDER.put(new, when=_FREE)]


async def delete_folders(albums: Albums, owner: OwnerId, album_id: AlbumId) -> None:
    """The folder of an album, and those that lead to it."""
    cursor: str | None = None
    while True:
        page = await FOLDER.list(albums.tables, owner=owner, limit=1000, cursor=cursor)
        for row in page.records:
            if row.album_id == album_id:
                await _delete(albums, row)
        if (cursor := page.cursor) is None:
            return


async def _delete(albums: Albums, row: FolderRow) -> None:
    # Another album may have taken it.
    with suppress(ConditionFailed):
        await albums.tables.delete(
            FOLDER.table, FOLDER.key(owner=row.owner, folder=row.folder), when=attr("AlbumId") == row.album_id
        )
