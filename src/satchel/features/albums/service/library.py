"""An owner's albums as a whole: read them, find the album of a date, and change something only if they are unchanged.

Two changes of one library at once must not lose medias. We use a version, not a lease. Every transaction that changes
an album increments the version of the library row, on condition that it is the one that was read. Every transaction
that puts a media into an album checks it. Who fails reads the albums again and decides again. So a media always goes
where the albums of that instant say. A lease would have to be held while medias move, uploads would have to wait for
it, and its holder could still be too slow. A version costs one check per transaction, and albums seldom change.
"""

from contextlib import suppress

from satchel.features.albums.album_timeline import Timeline
from satchel.features.albums.count_records import PHOTO_USAGE, PhotoUsageRow
from satchel.features.albums.model import (
    AlbumUnknown,
    Email,
    OwnerId,
    is_album_id,
)
from satchel.features.albums.records import ALBUM, LIBRARY, AlbumRow, LibraryRow
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library_state import Library, plain
from satchel.stores.patterns.optimistic_update import NEW, StaleRead, optimistic_update
from satchel.stores.ports.table import TransactionCancelled

# Each holds all albums of one owner.
_MOST_CACHED = 64
_PAGE = 1000


async def open_library(albums: Albums, owner: OwnerId, email: Email) -> Library:
    """The library of somebody who may not have one yet."""
    if await LIBRARY.get(albums.tables, owner=owner) is None:
        row = LibraryRow(owner=owner, email=email, version=1)
        # What is counted from the beginning is complete.
        usage = PhotoUsageRow(owner=owner, complete=True)
        # Somebody else may be first.
        with suppress(TransactionCancelled):
            await albums.tables.transact([LIBRARY.put(row, when=NEW), PHOTO_USAGE.put(usage)])
    return await read_library(albums, owner)


@optimistic_update()
async def read_library(albums: Albums, owner: OwnerId) -> Library:
    """All albums of an owner, as they were at one instant. `AlbumUnknown` if there is no library."""
    row = await LIBRARY.get(albums.tables, owner=owner)
    if row is None:
        raise AlbumUnknown("This album does not exist.")
    known = albums.libraries.get(owner)
    if known is not None and known.row.version == row.version:
        return known
    rows: list[AlbumRow] = []
    cursor: str | None = None
    while True:
        page = await ALBUM.list(albums.tables, owner=owner, limit=_PAGE, cursor=cursor)
        rows += page.records
        if (cursor := page.cursor) is None:
            break
    again = await LIBRARY.get(albums.tables, owner=owner)
    if again is None or again.version != row.version:
        raise StaleRead
    library = Library(
        row, {each.album_id: each for each in rows}, Timeline(plain(each) for each in rows if not each.leaving)
    )
    albums.libraries.pop(owner, None)
    albums.libraries[owner] = library
    while len(albums.libraries) > _MOST_CACHED:
        del albums.libraries[next(iter(albums.libraries))]
    return library


async def find_own(albums: Albums, owner: OwnerId, album_id: str) -> AlbumRow:
    """An album of the caller."""
    row = await ALBUM.get(albums.tables, owner=owner, album_id=album_id) if is_album_id(album_id) else None
    if row is None or row.leaving:
        raise AlbumUnknown("This album does not exist, or is not yours.")
    return row
