"""How many medias an album has of each day: counted once when somebody asks, kept by every change from then on.

Nobody asks for the days of most albums, so they are not kept until then. The first who asks counts all medias of the
album, and stores its days under a new name. One transaction then lets the album name these rows, on condition that
nothing came, went or got another date since. From then on whoever changes medias counts their days, too.
"""

from collections import Counter
from contextlib import suppress

from satchel.features.albums.count_records import COUNT, album_days, days_by_month, month_key
from satchel.features.albums.model import AlbumId, OwnerId
from satchel.features.albums.records import ALBUM, AlbumRow
from satchel.features.albums.service.album_census import take_census
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.day_counts import read_days
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, count_key
from satchel.kernel.ids import new_id
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.patterns.partition_delete import delete_partition
from satchel.stores.ports.expressions import assign, attr, remove
from satchel.stores.ports.table import Check, Item, TransactionCancelled


async def days_of_album(albums: Albums, album: AlbumRow) -> dict[str, int]:
    """How many medias each day has. What is undated has none."""
    if album.days:
        return await kept_days(albums, album)
    return await _counted(albums, album)


async def forget_days(albums: Albums, album: AlbumRow) -> None:
    """Delete what was counted of an album that is deleted."""
    if album.days:
        await delete_partition(albums.tables, ALBUM.table, _place(album, album.days))


@optimistic_update()
async def recount_days(albums: Albums, owner: OwnerId, album_id: AlbumId) -> None:
    """Let the next who asks count the days of an album anew."""
    library = await read_library(albums, owner)
    album = library.album(album_id)
    forgotten = ALBUM.update([remove("Days")], when=attr("PK").exists(), owner=owner, album_id=album_id)
    await albums.tables.transact([library.changed(), forgotten])
    await forget_days(albums, album)


async def kept_days(albums: Albums, album: AlbumRow) -> dict[str, int]:
    """What is stored of the days of an album."""
    return await read_days(albums, _place(album, album.days))


def _place(album: AlbumRow, days: str) -> str:
    return album_days(album.owner, album.album_id, days)


async def _counted(albums: Albums, album: AlbumRow) -> dict[str, int]:
    """Count, and keep it. If something has changed meanwhile, the next who asks counts again."""
    library = await read_library(albums, album.owner)
    known = await _known(albums, library, album)
    census = await take_census(albums, album.owner, album.album_id)
    is_kept = not library.has(album.album_id) or library.album(album.album_id).days
    # An index may lag behind its table.
    if not is_kept and census.medias == known.get("Count", 0):
        with suppress(TransactionCancelled):
            await _keep(albums, library, album, known, census.days)
    return dict(census.days)


async def _keep(albums: Albums, library: Library, album: AlbumRow, known: Item, days: Counter[str]) -> None:
    name = new_id(albums.clock)
    place = _place(album, name)
    months = [month_key(place, month) | counts for month, counts in days_by_month(days).items()]
    await albums.tables.write_many(ALBUM.table, put=months)
    changes = attr("Changes") == known["Changes"] if "Changes" in known else attr("Changes").absent()
    try:
        await albums.tables.transact(
            [
                library.changed(),
                ALBUM.update(
                    [assign("Days", name)], when=attr("PK").exists(), owner=album.owner, album_id=album.album_id
                ),
                Check(COUNT.table, _owners_count(library, album), changes),
            ]
        )
    except TransactionCancelled:
        await delete_partition(albums.tables, ALBUM.table, place)
        raise


async def _known(albums: Albums, library: Library, album: AlbumRow) -> Item:
    return await albums.tables.get(COUNT.table, _owners_count(library, album)) or {}


def _owners_count(library: Library, album: AlbumRow) -> dict[str, str]:
    (row,) = library.count_rows(album.album_id, ())
    return count_key(row)
