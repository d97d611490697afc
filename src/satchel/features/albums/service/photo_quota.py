"""How much the photos of an owner take, counted in the transactions that store and delete files, and its limit."""

from satchel.features.albums.model import OwnerId, PhotoQuotaReached
from satchel.features.albums.records import PHOTO_USAGE, MediaRow, PhotoUsageRow
from satchel.features.albums.service.context import Albums
from satchel.stores.ports.expressions import Condition, add, assign, attr
from satchel.stores.ports.table import TransactionCancelled, Write


async def read_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    return await stored_usage(albums, owner)


async def stored_usage(albums: Albums, owner: OwnerId) -> PhotoUsageRow:
    return await PHOTO_USAGE.get(albums.tables, owner=owner) or PhotoUsageRow(owner=owner)


def right_usage(usage: PhotoUsageRow, files: int, size_bytes: int) -> Write:
    """What corrects a sum, if it is still what was read."""
    unchanged = attr("UsedBytes") == usage.used_bytes
    if not usage.used_bytes:
        unchanged = attr("UsedBytes").absent() | unchanged
    return PHOTO_USAGE.put(PhotoUsageRow(owner=usage.owner, files=files, used_bytes=size_bytes), when=unchanged)


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
        [assign("AlbumOwner", owner), add("Files", files), add("UsedBytes", size_bytes)],
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
