"""Notes what was made of a photo in the rows that lists read, so that a page of a thousand costs no further reads.

The picture itself is entered in the same transaction.
"""

import base64

from satchel.features.albums.media_records import MEDIA, NEVER, TIMELINE, MediaRow
from satchel.features.albums.model import BIN, media_id_of
from satchel.features.albums.service.look_alikes import enter_look
from satchel.features.albums.service.media_rows import timeline_place
from satchel.features.albums.service.photo_keys import place_of
from satchel.media.records import VERSION, PictureRow
from satchel.stores.ports.expressions import Action, assign, attr, remove
from satchel.stores.ports.table import Item, Tables, Update, Write

_MAX_RATIO = 1_000_000


def version_of(picture: str, no_picture: str) -> str | None:
    """What lists say: the version of a picture, also of one that is not made yet; None if there can be none."""
    if picture:
        return picture
    return None if no_picture in (VERSION, NEVER) else VERSION


def version_in(item: Item) -> str | None:
    """The same of a stored media or timeline row."""
    return version_of(item.get("PictureVersion", ""), item.get("NoPicture", ""))


def placeholder_in(item: Item) -> str | None:
    """The thumbhash of a stored row, in base64."""
    thumbhash = item.get("Thumbhash")
    return None if thumbhash is None else base64.b64encode(thumbhash).decode()


async def note_picture(tables: Tables, row: PictureRow, size_bytes: int) -> list[Write]:
    """Of a source that has so many bytes. A photo that is gone, or a part of another one by now, has no such row."""
    place = place_of(row.source)
    if place is None:
        return []
    item = await tables.get(MEDIA.table, MEDIA.key(owner=place.owner, media_id=media_id_of(place.sha256, size_bytes)))
    media = None if item is None else MEDIA.read(item)
    if item is None or media is None or media.key != row.source:
        return []
    noted = _noted(media, row)
    # As long as it is in its place, its row in the timeline is, too.
    in_place = (attr("AlbumIndexPK") == item["AlbumIndexPK"]) & (attr("AlbumIndexSK") == item["AlbumIndexSK"])
    seen, others = await enter_look(tables, media, row)
    writes: list[Write] = [Update(MEDIA.table, MEDIA.table.key_of(item), [*noted, *seen], in_place), *others]
    if media.local_time and media.album_id != BIN:
        writes.append(TIMELINE.update(noted, when=attr("PK").exists(), **timeline_place(media)))
    return writes


def _noted(media: MediaRow, row: PictureRow) -> list[Action]:
    if row.state != "ready":
        return [assign("NoPicture", row.version)]
    actions: list[Action] = [
        assign("PictureVersion", row.version),
        assign("Thumbhash", row.thumbhash),
        remove("NoPicture"),
    ]
    if not media.ratio and row.height:
        actions.append(assign("Ratio", max(1, min(round(1000 * row.width / row.height), _MAX_RATIO))))
    return actions
