"""How much the photos of an owner take, counted in the transactions that store and delete files, and its limit."""

import asyncio

from satchel.features.albums.count_records import PHOTO_USAGE, PhotoUsageRow
from satchel.features.albums.media_records import LOCATION, LOCATION_INDEX, OBJECTS_PREFIX, MediaRow
from satchel.features.albums.model import OwnerId, PhotoQuotaReached
from satchel.features.albums.records import LIBRARY
from satchel.features.albums.service.context import Albums
from satchel.kernel.clock import iso
from satchel.media.metadata.date_text import FIRST_YEAR
from satchel.stores.patterns.optimistic_update import StaleRead, optimistic_update
from satchel.stores.ports.expressions import Condition, add, attr
from satchel.stores.ports.table import Put, TransactionCancelled, Write

_PAGE = 1000


async def read_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    """How much is used. A library that was never counted as a whole is counted now, once."""
    usage = await stored_usage(albums, owner)
    if usage.complete or await LIBRARY.get(albums.tables, owner=owner) is None:
        return usage
    return await _complete(albums, owner)


async def stored_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    return await PHOTO_USAGE.get(albums.tables, owner=owner) or PhotoUsageRow(owner=owner)


def right_usage(usage: PhotoUsageRow, files: int, size_bytes: int) -> Put:
    """What corrects a sum, if nothing came or went since it was read."""
    unchanged = attr("Changes") == usage.changes if usage.changes else attr("Changes").absent()
    right = PhotoUsageRow(
        owner=usage.owner, files=files, used_bytes=size_bytes, changes=usage.changes + 1, complete=True
    )
    return PHOTO_USAGE.put(right, when=unchanged)


async def _complete(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    """Count all files, and keep the sum. Whoever asks meanwhile waits for it."""
    async with albums.censuses.setdefault(owner, asyncio.Lock()):
        return await _counted(albums, owner)


@optimistic_update()
async def _counted(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    """One pass over all files. It is right, because no file comes or goes before the sum is complete.

    Files are found by where they are stored, which never changes. Medias could change their albums meanwhile.
    """
    usage = await stored_usage(albums, owner)
    if usage.complete:
        return usage
    files = size_bytes = 0
    years = range(FIRST_YEAR - 1, int(iso(albums.clock())[:4]) + 2)
    for year in ("undated", *years):
        cursor: str | None = None
        while True:
            page = await LOCATION.list_by(
                albums.tables, LOCATION_INDEX, f"{OBJECTS_PREFIX}{owner}/{year}", limit=_PAGE, cursor=cursor
            )
            files += len(page.records)
            size_bytes += sum(row.size_bytes for row in page.records)
            if (cursor := page.cursor) is None:
                break
    right = right_usage(usage, files, size_bytes)
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


async def transact_counted(albums: Albums, owner: OwnerId, writes: list[Write], *, files: int, size_bytes: int) -> None:
    """Commit together with the count of the files that come or, with negative numbers, go.

    `PhotoQuotaReached` if they do not fit. `StaleRead` if the library had to be counted first.
    """
    count = PHOTO_USAGE.update(
        [add("Files", files), add("UsedBytes", size_bytes), add("Changes", 1)],
        when=_fitting(albums.quota_bytes, size_bytes),
        owner=owner,
    )
    try:
        await albums.tables.transact([count, *writes])
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0] != "condition":
            raise
        usage = await stored_usage(albums, owner)
        if not usage.complete:
            await _complete(albums, owner)
            raise StaleRead from cancelled
        if albums.quota_bytes is not None and 0 < size_bytes > albums.quota_bytes - usage.used_bytes:
            raise quota_reached(albums) from cancelled
        raise


def size_of(media: MediaRow) -> int:
    return media.size_bytes + sum(part.size_bytes for part in media.parts)


def quota_reached(albums: Albums) -> PhotoQuotaReached:
    return PhotoQuotaReached(
        "This library of photos is full. Its owner can delete photos and empty the bin, or ask an administrator for"
        " more room.",
        quota_bytes=albums.quota_bytes,
    )


def _fitting(quota_bytes: int | None, added: int) -> Condition:
    """No sum changes before it is complete: what goes could leave less than nothing."""
    complete = attr("Complete") == True  # noqa: E712
    if quota_bytes is None or added <= 0:
        return complete
    room = attr("UsedBytes") <= quota_bytes - added
    return complete & (room | attr("UsedBytes").absent() if added <= quota_bytes else room)
