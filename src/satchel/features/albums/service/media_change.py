"""Changes what its owner may change of a media: whether it is a favourite, and its date."""

from collections import Counter

from satchel.features.albums.count_records import count_days, owner_days
from satchel.features.albums.media_records import MEDIA, TIMELINE, MediaRow
from satchel.features.albums.model import AlbumId, LocalTime, OwnerId
from satchel.features.albums.service.album_notify import tell_photos
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import place_of
from satchel.features.albums.service.media_home import library_covering
from satchel.features.albums.service.media_moves import move_of
from satchel.features.albums.service.media_pin import find_item, find_media
from satchel.features.albums.service.media_rows import (
    days_of,
    enter_timeline,
    leave_timeline,
    same_picture,
    timeline_place,
)
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Action, assign, attr, remove
from satchel.stores.ports.table import Update, Write


async def set_favourite(albums: Albums, owner: OwnerId, media_id: str, *, favourite: bool) -> MediaRow:
    await _set_favourite(albums, owner, media_id, favourite=favourite)
    media = await find_media(albums, owner, media_id)
    await tell_photos(albums, owner, [media.album_id])
    return media


@optimistic_update()
async def _set_favourite(albums: Albums, owner: OwnerId, media_id: str, *, favourite: bool) -> None:
    media = MEDIA.read(await find_item(albums, owner, media_id))
    action = assign("Favourite", value=True) if favourite else remove("Favourite")
    writes: list[Write] = [
        MEDIA.update([action], when=attr("AlbumId") == media.album_id, owner=owner, media_id=media_id)
    ]
    if media.local_time:
        writes.append(TIMELINE.update([action], when=attr("PK").exists(), **timeline_place(media)))
    await albums.tables.transact(writes)


async def set_date(albums: Albums, owner: OwnerId, media_id: str, local_time: LocalTime) -> MediaRow:
    """Correct the wall time of a media. It goes to the album of that date, unless it is pinned."""
    source = await _set_date(albums, owner, media_id, local_time)
    media = await find_media(albums, owner, media_id)
    await tell_photos(albums, owner, [source, media.album_id])
    return media


@optimistic_update()
async def _set_date(albums: Albums, owner: OwnerId, media_id: str, local_time: LocalTime) -> AlbumId:
    """The album that it was in."""
    item = await find_item(albums, owner, media_id)
    media = MEDIA.read(item)
    email = (await read_library(albums, owner)).row.email
    library = await library_covering(albums, owner, email, [] if media.pinned else [local_time])
    target = library.home(local_time, media.pinned)
    assert target is not None
    changed = MEDIA.read({**item, "DateTime": local_time, "AlbumId": target})
    days = days_of([changed])
    days.subtract(days_of([media]))
    places = Counter([place_of(changed)])
    places.subtract([place_of(media)])
    moved = move_of(owner, item, target, when=same_picture(media))
    actions: list[Action] = [
        *moved.actions,
        assign("DateTime", local_time),
        assign("AlbumIndexSK", MEDIA.item(changed)["AlbumIndexSK"]),
        assign("TimeSource", "owner"),
        remove("Guessed"),
        remove("UtcDateTime"),
        remove("ZoneSource"),
        # No correction of a camera's clock changes what the owner has said.
        assign("ClockVersion", library.row.version),
        remove("ClockAct"),
    ]
    if media.local_time and media.time_source != "owner":
        actions.append(assign("CameraDateTime", media.local_time))
    timeline: list[Write] = []
    if media.local_time != local_time:
        timeline = [*leave_timeline(media), *enter_timeline(changed)]
    await albums.tables.transact(
        [
            library.unchanged(),
            Update(moved.table, moved.key, actions, moved.when),
            *timeline,
            *count_days(owner_days(owner), days),
            *library.counted(places),
        ]
    )
    return media.album_id
