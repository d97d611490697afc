"""The rows of a media, and the writes that enter them and take them away."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from satchel.features.albums.media_records import LOCATION, TIMELINE, LocationRow, MediaRow, TimelineRow
from satchel.features.albums.model import MediaId, OwnerId
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import Condition, attr
from satchel.stores.ports.table import Write


def timeline_row(media: MediaRow) -> TimelineRow:
    return TimelineRow(
        owner=media.owner,
        year=media.local_time[:4],
        local_time=media.local_time,
        media_id=media.media_id,
        type=media.type,
        ratio=media.ratio,
        thumbhash=media.thumbhash,
        duration_ms=media.details.duration_ms,
        picture=media.picture,
        no_picture=media.no_picture,
        favourite=media.favourite,
        guessed=media.guessed,
    )


def timeline_place(media: MediaRow) -> dict[str, Any]:
    return {
        "owner": media.owner,
        "year": media.local_time[:4],
        "local_time": media.local_time,
        "media_id": media.media_id,
    }


def enter_timeline(media: MediaRow) -> list[Write]:
    """An undated media is not on the timeline."""
    return [TIMELINE.put(timeline_row(media))] if media.local_time else []


def leave_timeline(media: MediaRow) -> list[Write]:
    if not media.local_time:
        return []
    return [TIMELINE.delete(**timeline_place(media))]


def same_picture(media: MediaRow) -> Condition:
    """That no picture was noted since the media was read: what is entered into the timeline would not have it."""
    return attr("PictureVersion") == media.picture if media.picture else attr("PictureVersion").absent()


def days_of(medias: Iterable[MediaRow]) -> Counter[str]:
    return Counter(media.local_time[:10] for media in medias if media.local_time)


def locate(media_id: MediaId, owner: OwnerId, key: str, size_bytes: int, at: str, part_of: str = "") -> Write:
    """Where the bytes are. Nobody may have stored the same bytes before."""
    prefix, _, location_id = key.rpartition("/")
    row = LocationRow(
        owner=owner,
        media_id=media_id,
        prefix=prefix,
        location_id=location_id,
        key=key,
        size_bytes=size_bytes,
        stored_at=at,
        part_of=MediaId(part_of),
    )
    return LOCATION.put(row, when=NEW)
