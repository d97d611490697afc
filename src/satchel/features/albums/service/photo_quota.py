"""How much the photos of an owner take, counted in the transactions that store and delete files, and its limit."""

from contextlib import suppress

from satchel.features.albums.count_records import COUNT, PHOTO_USAGE, PhotoUsageRow
from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import TRAYS, OwnerId, PhotoQuotaReached
from satchel.features.albums.records import LIBRARY
from satchel.features.albums.service.album_census import take_census
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import count_key
from satchel.stores.ports.expressions import Condition, add, assign, attr
from satchel.stores.ports.table import ConditionFailed, Put, TransactionCancelled, Write


async def read_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    """How much is used. A library that was never counted as a whole is counted now, once."""
    usage = await stored_usage(albums, owner)
    if usage.complete:
        return usage
    library = await LIBRARY.get(albums.tables, owner=owner)
    return usage if library is None else await _counted(albums, usage)


async def stored_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    return await PHOTO_USAGE.get(albums.tables, owner=owner) or PhotoUsageRow(owner=owner)


def right_usage(usage: PhotoUsageRow, files: int, size_bytes: int) -> Put:
    """What corrects a sum, if nothing came or went since it was read."""
    unchanged = attr("Changes") == usage.changes if usage.changes else attr("Changes").absent()
    right = PhotoUsageRow(
        owner=usage.owner, files=files, used_bytes=size_bytes, changes=usage.changes + 1, complete=True
    )
    return PHOTO_USAGE.put(right, when=unchanged)


async def _counted(albums: Albums, usage: PhotoUsageRow) -> PhotoUsageRow:
    """Count all files, and keep the sum. If that may be wrong, the next who asks counts again."""
    library = await read_library(albums, usage.owner)
    places = (*library.albums, *TRAYS)
    census = await take_census(albums, usage.owner, *places)
    rows = [row for album_id in places for row in library.count_rows(album_id, ())]
    counts = await albums.tables.get_many(COUNT.table, [count_key(row) for row in rows])
    right = right_usage(usage, census.files, census.size_bytes)
    # An index may lag behind its table, and a media may move while all are counted.
    if census.medias == sum(item.get("Count", 0) for item in counts if item is not None):
        with suppress(ConditionFailed):
            await albums.tables.put(right.table, right.item, when=right.when)
    return PHOTO_USAGE.read({**right.item})


async def room_left(albums: Albums, owner: OwnerId) -> int | None:
    """How many bytes still fit; None if there is no limit."""
    if albums.quota_bytes is None:
        return None
    return albums.quota_bytes - (await read_usage(albums, owner)).used_bytes


async def check_room(albums: Albums, owner: OwnerId, size_bytes: int) -> None:
    """Refuse what exceeds the quota. Whether two uploads fit together is decided when they are stored."""
    room = await room_left(albums, owner)
    if room is not None and size_bytes > room:
        raise quota_reached(albums)


def count_usage(albums: Albums, owner: OwnerId, *, files: int, size_bytes: int) -> Write:
    """What counts files that come or, with negative numbers, go. More than the quota cancels the transaction."""
    return PHOTO_USAGE.update(
        [assign("AlbumOwner", owner), add("Files", files), add("UsedBytes", size_bytes), add("Changes", 1)],
        when=_fitting(albums.quota_bytes, size_bytes),
        owner=owner,
    )


def size_of(media: MediaRow) -> int:
    return media.size_bytes + sum(part.size_bytes for part in media.parts)


def is_full(albums: Albums, cancelled: TransactionCancelled, place: int) -> bool:
    """Whether a transaction was cancelled by its count of usage, which has this place in it."""
    return albums.quota_bytes is not None and cancelled.reasons[place] == "condition"


def quota_reached(albums: Albums) -> PhotoQuotaReached:
    return PhotoQuotaReached(
        "This library of photos is full. Its owner can delete photos and empty the bin, or ask an administrator for"
        " more room.",
        quota_bytes=albums.quota_bytes,
    )


def _fitting(quota_bytes: int | None, added: int) -> Condition | None:
    if quota_bytes is None or added <= 0:
        return None
    room = attr("UsedBytes") <= quota_bytes - added
    return room | attr("UsedBytes").absent() if added <= quota_bytes else room
