"""What clients see of photos."""

import base64
from collections.abc import Sequence
from typing import Literal

import msgspec

from satchel.features.albums.media_records import MediaDetails, MediaRow, PartRole, TimeSource, ZoneSource
from satchel.features.albums.model import MediaType
from satchel.features.albums.service.media_giver import Giver
from satchel.features.albums.service.media_verify import KnownState, VerifiedState
from satchel.features.albums.service.picture_note import placeholder_in, version_in, version_of
from satchel.stores.ports.table import Item


class PhotoDayView(msgspec.Struct, frozen=True):
    """How many photos there are of a day."""

    day: str
    count: int


class PhotoUsage(msgspec.Struct, frozen=True, kw_only=True):
    """How much your photos take, those in the bin included. `quota_bytes` is the limit, null if there is none."""

    files: int
    used_bytes: int
    quota_bytes: int | None


class PhotoDays(msgspec.Struct, frozen=True):
    """All days with photos, the newest first."""

    days: list[PhotoDayView]


class PhotoMapView(msgspec.Struct, frozen=True, kw_only=True):
    """Where the tiles of the map come from, with `{z}`, `{x}` and `{y}` in the address; null if there is no map.

    The attribution has to be shown with the map. An address at its end is meant as a link.
    """

    tiles: str | None
    attribution: str


class PhotoColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Photos in columns: the n-th entry of each list is of the n-th photo.

    `owners` are a part of the address of each photo. `times` are local and have milliseconds; an undated photo has an
    empty one. `ratios` are width over height in thousandths, 0 if unknown. `placeholders` are thumbhashes in base64.
    `versions` are those of the pictures, null where there is none. A picture that is not made yet has a version, but
    no placeholder. Only of the caller's own photos `favourites` and `pinned` can be true. The timeline does not say
    what is pinned.
    """

    owners: list[str]
    ids: list[str]
    times: list[str]
    types: list[MediaType]
    ratios: list[int]
    placeholders: list[str | None]
    durations_ms: list[int]
    versions: list[str | None]
    favourites: list[bool]
    guessed: list[bool]
    pinned: list[bool]
    cursor: str | None


class FoundPhotos(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a search: photos, their file names, and the cursor of the next page.

    A page may be empty though there is more: a request looks at a bounded number of photos, `looked_at`.
    """

    photos: PhotoColumns
    names: list[str]
    looked_at: int
    cursor: str | None


class PartView(msgspec.Struct, frozen=True, kw_only=True):
    """Another file of a photo: the video of a live photo, or its RAW."""

    id: str
    role: PartRole
    name: str
    size_bytes: int
    content_type: str


class PositionView(msgspec.Struct, frozen=True):
    """Where a photo was taken, in degrees and metres."""

    latitude: float
    longitude: float
    altitude: float | None


class GiverView(msgspec.Struct, frozen=True):
    """Who added a photo to an album of somebody else. A guest came by a link; the name that they gave may be empty."""

    kind: Literal["person", "guest", "deleted"]
    name: str


class PhotoView(msgspec.Struct, frozen=True, kw_only=True):
    """A photo or video. `local_time` is what a clock on the wall showed; null if nothing says when it was taken.

    `version` is that of its picture; null if there is none. `sha256` is that of the bytes that the caller gets. It is
    empty while others get them without their place, and nobody has asked for them yet. `added_by` is null if it was the
    owner. Whoever `may_delete` can move it into the bin.
    """

    owner: str
    id: str
    album_id: str
    type: MediaType
    name: str
    content_type: str
    size_bytes: int
    sha256: str
    local_time: str | None
    utc_time: str | None
    time_source: TimeSource
    zone_source: ZoneSource
    guessed: bool
    camera_time: str | None
    width: int | None
    height: int | None
    orientation: str
    duration_ms: int | None
    video_encoding: str | None
    make: str | None
    model: str | None
    lens: str | None
    exposure_seconds: float | None
    aperture: float | None
    iso: int | None
    focal_mm: float | None
    position: PositionView | None
    description: str | None
    pinned: bool
    favourite: bool
    added_at: str
    added_by: GiverView | None
    may_delete: bool
    deleted_at: str | None
    parts: list[PartView]
    version: str | None
    placeholder: str | None


class KnownView(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a file is stored. `id` is that of the photo which it belongs to."""

    state: KnownState
    id: str | None
    album_id: str | None
    verified_at: str | None


class KnownList(msgspec.Struct, frozen=True):
    """One answer per file, in their order."""

    files: list[KnownView]


class VerifiedView(msgspec.Struct, frozen=True, kw_only=True):
    """What reading the stored bytes again has shown. `later` means that there was no time: ask again."""

    state: VerifiedState
    id: str | None
    verified_at: str | None


class VerifiedList(msgspec.Struct, frozen=True):
    """One answer per file, in their order."""

    files: list[VerifiedView]


def photo_columns(items: Sequence[Item], viewer: str, cursor: str | None) -> PhotoColumns:
    """Straight from what is stored of medias or of the timeline: a page has a thousand."""
    return PhotoColumns(
        owners=[item["MediaOwner"] for item in items],
        ids=[item["Id"] for item in items],
        times=[item.get("DateTime", "") for item in items],
        types=[item["Type"] for item in items],
        ratios=[item.get("Ratio", 0) for item in items],
        placeholders=[placeholder_in(item) for item in items],
        durations_ms=[item.get("Duration") or item.get("Details", {}).get("Duration", 0) for item in items],
        versions=[version_in(item) for item in items],
        favourites=[item.get("Favourite", False) and item["MediaOwner"] == viewer for item in items],
        guessed=[item.get("Guessed", False) for item in items],
        pinned=["Pinned" in item and item["MediaOwner"] == viewer for item in items],
        cursor=cursor,
    )


def photo_view(
    media: MediaRow,
    viewer: str,
    giver: Giver | None,
    sha256: str | None = None,
    *,
    with_place: bool = True,
    may_take_back: bool = False,
) -> PhotoView:
    """What is the owner's own business, others do not see: favourites and, by default, where the photo was taken.

    `sha256` is that of what others get.
    """
    details, is_own = media.details, media.owner == viewer
    return PhotoView(
        owner=media.owner,
        id=media.media_id,
        album_id=media.album_id,
        type=media.type,
        name=media.name,
        content_type=media.content_type,
        size_bytes=media.size_bytes,
        sha256=media.sha256 if sha256 is None else sha256,
        local_time=media.local_time or None,
        utc_time=media.utc_time or None,
        time_source=media.time_source,
        zone_source=media.zone_source,
        guessed=media.guessed,
        camera_time=media.camera_time or None,
        width=details.width or None,
        height=details.height or None,
        orientation=details.orientation,
        duration_ms=details.duration_ms or None,
        video_encoding=details.video_encoding or None,
        make=details.make or None,
        model=details.model or None,
        lens=details.lens or None,
        exposure_seconds=_number(details.exposure),
        aperture=_number(details.aperture),
        iso=details.iso or None,
        focal_mm=_number(details.focal_length),
        position=_position(details) if with_place else None,
        description=details.description or None,
        pinned=bool(media.pinned),
        favourite=media.favourite and is_own,
        added_at=media.added_at,
        added_by=None if giver is None else GiverView(giver.kind, giver.name),
        may_delete=may_take_back or (is_own and not media.deleted_at),
        deleted_at=media.deleted_at or None,
        parts=[
            PartView(
                id=part.media_id,
                role=part.role,
                name=part.name,
                size_bytes=part.size_bytes,
                content_type=part.content_type,
            )
            for part in media.parts
        ],
        version=version_of(media.picture, media.no_picture),
        placeholder=base64.b64encode(media.thumbhash).decode() if media.thumbhash else None,
    )


def _position(details: MediaDetails) -> PositionView | None:
    latitude, longitude = _number(details.latitude), _number(details.longitude)
    if latitude is None or longitude is None:
        return None
    return PositionView(latitude, longitude, _number(details.altitude))


def _number(written: str) -> float | None:
    return float(written) if written else None
