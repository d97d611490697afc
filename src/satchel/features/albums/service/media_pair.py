"""Pairs: the two halves of a live photo, and a RAW beside its JPEG, are one media with several files.

The image leads, whichever file comes first. The others are its parts, and go wherever it goes.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import msgspec

from satchel.features.albums.count_records import count_days, owner_days
from satchel.features.albums.media_records import LOCATION, MEDIA, PAIR, MediaPart, MediaRow, PairRow, PartRole
from satchel.features.albums.model import MediaId, OwnerId
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import Library
from satchel.features.albums.service.library_state import place_of
from satchel.features.albums.service.media_describe import parsed_utc
from satchel.features.albums.service.media_rows import (
    days_of,
    enter_timeline,
    leave_timeline,
    locate,
)
from satchel.features.albums.service.photo_quota import transact_counted
from satchel.kernel.errors import Conflict
from satchel.media.metadata.media_facts import CaptureTime, Kind, MediaFacts
from satchel.media.metadata.media_pairs import belong_together
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import append, assign, attr
from satchel.stores.ports.table import Update

MAX_PARTS = 8
_ROLES: dict[Kind, PartRole] = {"raw": "raw", "video": "live"}


async def read_pairs(albums: Albums, owner: OwnerId, pairs: Sequence[str]) -> dict[str, PairRow]:
    items = await albums.tables.get_many(PAIR.table, [PAIR.key(owner=owner, pair=pair) for pair in pairs])
    return {row.pair: row for item in items if item is not None and (row := PAIR.read(item))}


def pair_row(media: MediaRow, facts: MediaFacts, pair: str) -> PairRow:
    return PairRow(
        owner=media.owner,
        pair=pair,
        media_id=media.media_id,
        kind=facts.kind,
        local_time=media.local_time,
        utc_time=media.utc_time,
        duration_ms=media.details.duration_ms,
    )


def belongs(pair: PairRow, facts: MediaFacts) -> bool:
    """Whether a file belongs to the media that its pair key names."""
    is_by_content = facts.content_id is not None
    known = MediaFacts(
        name="",
        kind=pair.kind,
        format="",
        duration_ms=pair.duration_ms or None,
        time=_time_of(pair),
        pair_key=facts.pair_key,
        content_id=facts.content_id if is_by_content else None,
    )
    return belong_together(known, facts)


def _time_of(pair: PairRow) -> CaptureTime | None:
    if not pair.local_time:
        return None
    local = datetime.fromisoformat(pair.local_time)
    return CaptureTime(local=local, source="exif-original", utc=parsed_utc(pair.utc_time))


def part_of(kind: Kind, media: MediaRow) -> MediaPart:
    """A file as a part of another media."""
    return MediaPart(
        role=_ROLES.get(kind, "sidecar"),
        media_id=media.media_id,
        name=media.name,
        key=media.key,
        size_bytes=media.size_bytes,
        sha256=media.sha256,
        content_type=media.content_type,
    )


async def attach(albums: Albums, shown: MediaRow, part: MediaPart) -> None:
    """Add a part to a media, in one transaction with where its bytes are."""
    if len(shown.parts) >= MAX_PARTS:
        raise Conflict(f"A photo has at most {MAX_PARTS} files beside it.")
    unchanged = (attr("AlbumId") == shown.album_id) & (
        attr("Parts").absent() if not shown.parts else attr("Parts") == msgspec.to_builtins(shown.parts)
    )
    await transact_counted(
        albums,
        shown.owner,
        [
            MEDIA.update(
                [append("Parts", [msgspec.to_builtins(part)])],
                when=unchanged,
                owner=shown.owner,
                media_id=shown.media_id,
            ),
            locate(part.media_id, shown.owner, part.key, part.size_bytes, albums.now(), shown.media_id),
        ],
        files=1,
        size_bytes=part.size_bytes,
    )


async def lead(
    albums: Albums, library: Library, earlier: MediaRow, pair: PairRow, leader: MediaRow, facts: MediaFacts
) -> None:
    """Let an image lead a media whose RAW or video came first. That becomes a part of it."""
    parts = [part_of(pair.kind, earlier), *earlier.parts]
    leader = msgspec.structs.replace(leader, parts=parts, favourite=leader.favourite or earlier.favourite)
    days, places = days_of([leader]), Counter([place_of(leader)])
    days.subtract(days_of([earlier]))
    places.subtract([place_of(earlier)])
    as_read = (attr("AlbumId") == earlier.album_id) & (attr("DateTime") == earlier.local_time)
    if not earlier.local_time:
        as_read = attr("AlbumId") == earlier.album_id
    await transact_counted(
        albums,
        leader.owner,
        [
            library.unchanged(),
            MEDIA.delete(when=as_read, owner=earlier.owner, media_id=earlier.media_id),
            *leave_timeline(earlier),
            MEDIA.put(leader, when=NEW),
            *enter_timeline(leader),
            locate(leader.media_id, leader.owner, leader.key, leader.size_bytes, leader.added_at),
            *(_belongs_to(leader, part.media_id) for part in parts),
            PAIR.put(pair_row(leader, facts, pair.pair), when=attr("MediaId") == earlier.media_id),
            *count_days(owner_days(leader.owner), days),
            *library.counted(places),
        ],
        files=1,
        size_bytes=leader.size_bytes,
    )


def _belongs_to(leader: MediaRow, media_id: MediaId) -> Update:
    return LOCATION.update(
        [assign("PartOf", leader.media_id)], when=attr("PK").exists(), owner=leader.owner, media_id=media_id
    )
