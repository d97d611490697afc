"""Turns what was read from a file into what is stored of a media."""

import hashlib
from datetime import UTC, datetime

from satchel.features.albums.media_records import MediaDetails, PartRole, TimeSource, ZoneSource
from satchel.features.albums.model import LocalTime, MediaType
from satchel.media.metadata.media_facts import CaptureTime, Kind, MediaFacts

_TYPES: dict[Kind, MediaType] = {"image": "IMAGE", "raw": "IMAGE", "video": "VIDEO", "other": "OTHER"}
_ROLES: dict[Kind, PartRole] = {"raw": "raw", "video": "live"}
_TIME_SOURCES: dict[str, TimeSource] = {
    "xmp-sidecar": "xmp",
    "exif-original": "exif",
    "xmp": "xmp",
    # XMP's predecessor: the same field by another name.
    "iptc": "xmp",
    "quicktime": "video",
    "exif-digitized": "exif",
    "video-utc": "video",
    "video-local": "video",
    "takeout": "takeout",
    "name": "name",
    "exif-changed": "exif",
    "modified": "file",
}
_ZONE_SOURCES: dict[str | None, ZoneSource] = {
    "own": "offset",
    "gps-zone": "gps",
    "gps-time": "gps",
    "exif-offset": "offset",
    "name": "utc",
    "owner-zone": "owner",
}
# The seed's names of the corner that is up and left. Mirrored ones have the name of their turn.
_CORNERS = {3: "LOWER_RIGHT", 4: "LOWER_RIGHT", 5: "UPPER_RIGHT", 6: "UPPER_RIGHT", 7: "LOWER_LEFT", 8: "LOWER_LEFT"}


def type_of(facts: MediaFacts) -> MediaType:
    return _TYPES[facts.kind]


def role_of(facts: MediaFacts) -> PartRole:
    return _ROLES.get(facts.kind, "main")


def local_time_of(time: CaptureTime | None) -> LocalTime:
    """Wall time with milliseconds; empty if there is none."""
    return LocalTime("" if time is None else time.local.isoformat(timespec="milliseconds"))


def utc_time_of(time: CaptureTime | None) -> str:
    return "" if time is None or time.utc is None else _utc(time.utc)


def time_source_of(time: CaptureTime | None) -> TimeSource:
    return "none" if time is None else _TIME_SOURCES[time.source]


def zone_source_of(time: CaptureTime | None) -> ZoneSource:
    return "none" if time is None else _ZONE_SOURCES.get(time.offset_source, "none")


def ratio_of(facts: MediaFacts) -> int:
    """Width over height of the upright picture, in thousandths."""
    size = facts.shown_size
    return 0 if size is None else max(1, min(round(1000 * size[0] / size[1]), 1_000_000))


def details_of(facts: MediaFacts) -> MediaDetails:
    exposure, position = facts.exposure, facts.position
    return MediaDetails(
        width=facts.width or 0,
        height=facts.height or 0,
        orientation=_CORNERS.get(facts.orientation, "UPPER_LEFT"),
        make=_short(facts.make),
        model=_short(facts.model),
        lens=_short(facts.lens),
        exposure=_number(exposure.seconds if exposure else None),
        aperture=_number(exposure.aperture if exposure else None),
        iso=(exposure.iso if exposure else None) or 0,
        focal_length=_number(exposure.focal_mm if exposure else None),
        latitude=_number(position.latitude if position else None),
        longitude=_number(position.longitude if position else None),
        altitude=_number(position.altitude if position else None),
        duration_ms=facts.duration_ms or 0,
        video_encoding=_short(facts.codec),
        description=(facts.description or "")[:1000],
    )


def pair_of(facts: MediaFacts) -> str:
    """The key of what may belong together, of a length that does not depend on names."""
    return hashlib.sha256(facts.pair_key.encode(errors="replace")).hexdigest()


def parsed_utc(written: str) -> datetime | None:
    return datetime.fromisoformat(written) if written else None


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _short(text: str | None) -> str:
    return (text or "")[:200]
