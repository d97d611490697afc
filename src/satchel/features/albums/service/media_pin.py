"""Pins: keep a media in an album against its date, and let the date decide again."""

from satchel.features.albums.media_records import MEDIA, MediaRow
from satchel.features.albums.model import (
    BIN,
    AlbumId,
    MediaId,
    MediaUnknown,
    OwnerId,
    is_media_id,
)
from satchel.features.albums.service.album_notify import tell_photos
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, place_in
from satchel.features.albums.service.media_moves import Uncovered, move_of
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import remove
from satchel.stores.ports.table import Item, Update


async def pin(albums: Albums, owner: OwnerId, media_id: str, album_id: AlbumId) -> MediaRow:
    """Put a media into an album, where it stays whatever its date is."""
    source = await _pin(albums, owner, media_id, album_id)
    await tell_photos(albums, owner, [source, album_id])
    return await find_media(albums, owner, media_id)


@optimistic_update()
async def _pin(albums: Albums, owner: OwnerId, media_id: str, album_id: AlbumId) -> AlbumId:
    """The album that it was in."""
    library = await read_library(albums, owner)
    library.album(album_id)
    item = await find_item(albums, owner, media_id)
    if item.get("Pinned") != album_id:
        await _put(albums, library, item, album_id, pinned=True)
    return place_in(item)[0]


async def unpin_covered(albums: Albums, owner: OwnerId, media_id: str) -> MediaRow:
    """Let the date of a media decide about its album again. Raises `Uncovered` if no album covers it."""
    source = await _unpin(albums, owner, media_id)
    media = await find_media(albums, owner, media_id)
    await tell_photos(albums, owner, [source, media.album_id])
    return media


@optimistic_update()
async def _unpin(albums: Albums, owner: OwnerId, media_id: str) -> AlbumId:
    """The album that it was in."""
    item = await find_item(albums, owner, media_id)
    if "Pinned" in item:
        library = await read_library(albums, owner)
        target = library.home_of({**item, "Pinned": ""})
        if target is None:
            raise Uncovered(item["DateTime"])
        await _put(albums, library, item, target, pinned=False)
    return place_in(item)[0]


async def pin_again(albums: Albums, owner: OwnerId, media_id: MediaId, album_id: AlbumId) -> None:
    """Restore a pin, unless the media is gone or was pinned elsewhere since."""
    item = await albums.tables.get(MEDIA.table, MEDIA.key(owner=owner, media_id=media_id))
    if item is not None and item["AlbumId"] != BIN and "Pinned" not in item:
        await pin(albums, owner, media_id, album_id)


async def find_media(albums: Albums, owner: OwnerId, media_id: str) -> MediaRow:
    return MEDIA.read(await find_item(albums, owner, media_id))


async def find_item(albums: Albums, owner: OwnerId, media_id: str) -> Item:
    """A media that is not in the bin."""
    known = is_media_id(media_id)
    item = await albums.tables.get(MEDIA.table, MEDIA.key(owner=owner, media_id=media_id)) if known else None
    if item is None or item["AlbumId"] == BIN:
        raise MediaUnknown("This photo does not exist, or is not yours.")
    return item


async def _put(albums: Albums, library: Library, item: Item, target: AlbumId, *, pinned: bool) -> None:
    source, day = place_in(item)
    moved = move_of(library.owner, item, target, pin=pinned)
    if not pinned and source == target:
        moved = Update(moved.table, moved.key, [remove("Pinned")], moved.when)
    counts = {} if source == target else {(source, day): -1, (target, day): 1}
    await albums.tables.transact([library.unchanged(), moved, *library.counted(counts)])
