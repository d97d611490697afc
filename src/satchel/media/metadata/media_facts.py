"""The value that reading a photo or video results in, and where each part of its time came from."""

from datetime import datetime
from typing import Literal

import msgspec

Kind = Literal["image", "video", "raw", "other"]

# Where the date came from, the most trusted first.
TimeSource = Literal[
    "xmp-sidecar",  # somebody's program wrote it for this photo, often as a correction
    "exif-original",
    "xmp",
    "iptc",  # the day that newsrooms, scanners and older programs write, often with a time
    "quicktime",  # Apple's creation date and its like: wall time with an offset
    "exif-digitized",
    "video-utc",  # the movie header, which is in UTC
    "video-local",  # AVI: wall time without an offset
    "takeout",
    "name",
    "exif-changed",  # the last edit; used where nothing says when the photo was taken
    "modified",  # the file system
]
# Where the offset from UTC came from.
OffsetSource = Literal[
    "own",  # stands beside the date itself
    "gps-zone",  # the zone of the position
    "gps-time",  # the difference to the satellites' UTC
    "exif-offset",  # the offset of another date in the same file
    "name",  # the difference between the wall time in the name and the UTC in the file
    "owner-zone",
]


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where it was taken, in degrees and metres."""

    latitude: float
    longitude: float
    altitude: float | None = None


class Exposure(msgspec.Struct, frozen=True, omit_defaults=True):
    """How it was taken: seconds, aperture, sensitivity, millimetres."""

    seconds: float | None = None
    aperture: float | None = None
    iso: int | None = None
    focal_mm: float | None = None
    focal_35mm: int | None = None


class CaptureTime(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When it was taken: what a clock on the wall showed there, and the instant if it is known.

    `guessed` says that the date is not known to be that of the photo: it is of the last edit, or of the file.
    `ambiguous` says that the wall time occurred twice or never in its zone, since clocks were changed.
    """

    local: datetime
    source: TimeSource
    offset_minutes: int | None = None
    offset_source: OffsetSource | None = None
    utc: datetime | None = None
    is_day_only: bool = False
    guessed: bool = False
    ambiguous: bool = False


class MediaFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that is known about one file.

    Width and height are of the stored pixels; `orientation` is EXIF's number from 1 to 8, 5 and more swap them.
    `pair_key` is equal for the halves of a live photo, and for a RAW beside its JPEG; see `media_pairs`.
    """

    name: str
    kind: Kind
    format: str
    width: int | None = None
    height: int | None = None
    orientation: int = 1
    duration_ms: int | None = None
    codec: str | None = None
    make: str | None = None
    model: str | None = None
    lens: str | None = None
    exposure: Exposure | None = None
    position: Position | None = None
    position_source: Literal["xmp-sidecar", "exif", "xmp", "quicktime", "takeout"] | None = None
    time: CaptureTime | None = None
    content_id: str | None = None
    pair_key: str = ""
    has_motion: bool = False
    description: str | None = None
    rating: int | None = None
    is_favourite: bool = False

    @property
    def shown_size(self) -> tuple[int, int] | None:
        """Width and height once turned upright."""
        if not self.width or not self.height:
            return None
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)
