"""The bin of photos: delete, restore, and delete for good after 30 days, always a photo with all of its files."""

from collections.abc import Sequence
from datetime import timedelta

from satchel.features.albums.count_records import count_days, owner_days
from satchel.features.albums.media_records import BIN_SORT, BINNED, LOCATION, MEDIA, PAIR, REDACTION, BinRow, MediaRow
from satchel.features.albums.model import BIN, AlbumId, MediaId, MediaUnknown, OwnerId, is_media_id
from satchel.features.albums.records import ALBUM_INDEX, DUE_INDEX
from satchel.features.albums.service.album_notify import tell_photos
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import place_of
from satchel.features.albums.service.look_alikes import forget_look
from satchel.features.albums.service.media_home import library_covering
from satchel.features.albums.service.media_moves import move_of, partition
from satchel.features.albums.service.media_pin import find_item
from satchel.features.albums.service.media_rows import (
    days_of,
    enter_timeline,
    leave_timeline,
    same_picture,
)
from satchel.features.albums.service.photo_quota import size_of, transact_counted
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.clock import iso
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Action, assign, attr, remove
from satchel.stores.ports.table import Item, Page, Range, StartsWith, Update, Write

KEPT_FOR = timedelta(days=30)
_PAGE = 100


async def delete_media(albums: Albums, owner: OwnerId, media_id: str) -> None:
    """Move a media into the bin. It leaves its album and the timeline."""
    await tell_photos(albums, owner, [BIN, await _delete(albums, owner, media_id)])


@optimistic_update()
async def _delete(albums: Albums, owner: OwnerId, media_id: str) -> AlbumId:
    """The album that it was in."""
    item = await find_item(albums, owner, media_id)
    media, library = MEDIA.read(item), await read_library(albums, owner)
    due = iso(albums.clock() + KEPT_FOR.total_seconds())
    await albums.tables.transact(
        [
            library.unchanged(),
            _moved(owner, item, BIN, assign("DeletedAt", albums.now())),
            BINNED.put(BinRow(owner=owner, media_id=media.media_id, due=due)),
            *leave_timeline(media),
            *count_days(owner_days(owner), {day: -count for day, count in days_of([media]).items()}),
            *library.counted({place_of(media): -1, (BIN, ""): 1}),
        ]
    )
    return media.album_id


async def restore(albums: Albums, owner: OwnerId, media_id: str) -> MediaRow:
    """Put a media back to where it belongs now. `MediaUnknown` if it is not in the bin."""
    if not is_media_id(media_id) or not await take_out(albums, owner, MediaId(media_id)):
        raise MediaUnknown("This photo is not in your bin.")
    media = MEDIA.read(await find_item(albums, owner, media_id))
    await tell_photos(albums, owner, [BIN, media.album_id])
    return media


@optimistic_update()
async def take_out(albums: Albums, owner: OwnerId, media_id: MediaId) -> bool:
    """Take a media out of the bin. False if it is not in it."""
    item = await albums.tables.get(MEDIA.table, MEDIA.key(owner=owner, media_id=media_id))
    if item is None or item["AlbumId"] != BIN:
        return False
    media = MEDIA.read(item)
    email = (await read_library(albums, owner)).row.email
    library = await library_covering(albums, owner, email, [media.local_time])
    target = library.home(media.local_time, media.pinned)
    assert target is not None
    await albums.tables.transact(
        [
            library.unchanged(),
            _moved(owner, item, target, remove("DeletedAt")),
            BINNED.delete(owner=owner, media_id=media_id),
            *enter_timeline(media),
            *count_days(owner_days(owner), days_of([media])),
            *library.counted({(BIN, ""): -1, (target, media.local_time[:10]): 1}),
        ]
    )
    return True


async def empty_bin(photos: Photos, owner: OwnerId, media_ids: Sequence[str] = ()) -> int:
    """Delete for good these medias in the bin, or all of them. How many those were."""
    deleted = await _empty(photos, owner, media_ids)
    if deleted:
        await tell_photos(photos.albums, owner, [BIN])
    return deleted


async def _empty(photos: Photos, owner: OwnerId, media_ids: Sequence[str]) -> int:
    if media_ids:
        return sum([await _purge(photos, owner, MediaId(each)) for each in set(media_ids) if is_media_id(each)])
    deleted = 0
    while items := (await list_tray(photos.albums, owner, BIN, _PAGE, None)).items:
        purged = sum([await _purge(photos, owner, MediaId(item["Id"])) for item in items])
        deleted += purged
        # An index may lag behind, and show what is gone.
        if not purged:
            break
    return deleted


async def list_tray(albums: Albums, owner: OwnerId, tray: AlbumId, limit: int, cursor: str | None) -> Page:
    """What is in the bin or undated."""
    return await albums.tables.query(
        MEDIA.table, partition(owner, tray), StartsWith("MEDIA#"), index=ALBUM_INDEX, limit=limit, cursor=cursor
    )


async def sweep_bins(photos: Photos) -> int:
    """Delete for good what has been in a bin for 30 days. How many medias those were."""
    page = await photos.albums.tables.query(
        BINNED.table, BIN_SORT, Range(high=photos.albums.now()), index=DUE_INDEX, limit=_PAGE
    )
    keys = [BINNED.table.key_of(item) for item in page.items]
    found = [BINNED.read(item) for item in await photos.albums.tables.get_many(BINNED.table, keys) if item is not None]
    return sum([await _purge(photos, row.owner, row.media_id) for row in found if row.due <= photos.albums.now()])


async def _purge(photos: Photos, owner: OwnerId, media_id: MediaId) -> bool:
    """The rows go first: what a crash leaves of the bytes is found by `photo_garbage`."""
    media = await _forget(photos.albums, owner, media_id)
    if media is None:
        return False
    keys = [media.key, *(part.key for part in media.parts)]
    await photos.pictures.delete(keys)
    await photos.objects.delete(*keys)
    return True


@optimistic_update()
async def _forget(albums: Albums, owner: OwnerId, media_id: MediaId) -> MediaRow | None:
    media = await MEDIA.get(albums.tables, owner=owner, media_id=media_id)
    if media is None or media.album_id != BIN:
        # What was restored at the same moment is not due any more.
        await albums.tables.delete(BINNED.table, BINNED.key(owner=owner, media_id=media_id))
        return None
    library = await read_library(albums, owner)
    writes: list[Write] = [
        library.unchanged(),
        MEDIA.delete(when=attr("DeletedAt") == media.deleted_at, owner=owner, media_id=media_id),
        BINNED.delete(owner=owner, media_id=media_id),
        *(LOCATION.delete(owner=owner, media_id=each) for each in (media_id, *(part.media_id for part in media.parts))),
        *forget_look(media),
        *library.counted({(BIN, ""): -1}),
    ]
    # What others get can be found again, if the media stays after all.
    for each in (media_id, *(part.media_id for part in media.parts)):
        await albums.tables.delete(REDACTION.table, REDACTION.key(owner=owner, media_id=each))
    pair = await PAIR.get(albums.tables, owner=owner, pair=media.pair) if media.pair else None
    if pair is not None and pair.media_id == media_id:
        writes.append(PAIR.delete(when=attr("MediaId") == media_id, owner=owner, pair=media.pair))
    await transact_counted(albums, owner, writes, files=-1 - len(media.parts), size_bytes=-size_of(media))
    return media


def _moved(owner: OwnerId, item: Item, target: AlbumId, mark: Action) -> Update:
    moved = move_of(owner, item, target, when=same_picture(MEDIA.read(item)))
    return Update(moved.table, moved.key, [*moved.actions, mark], moved.when)
