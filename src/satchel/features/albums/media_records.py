"""What is stored of photos and videos: the media, its files, and the rows by which it is found.

Originals are stored at `photo/<owner>/<year>/<sha256>.<object id>`, and never move.
"""

from typing import Literal

import msgspec

from satchel.features.albums.model import ActId, AlbumId, ChoiceId, LocalTime, MediaId, MediaType, OwnerId
from satchel.features.albums.records import OWNER
from satchel.kernel.names import FileName
from satchel.media.pictures import Pictured
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import CATALOG

OBJECTS_PREFIX = "photo/"
NEVER = "never"
LOCATION_INDEX = "ReverseLocationIndex"
BIN_SORT = "#MEDIA_BIN"
CHOICE_SORT = "#PHOTO_CHOICE"
# Where in AlbumIndex the choices of an owner are: no album has this id.
CHOICES = "{owner}#CHOICES"
# How the date of a media was found, the most trustworthy first.
TimeSource = Literal["exif", "gps", "video", "takeout", "xmp", "name", "file", "owner", "none"]
# How the offset from UTC was found.
ZoneSource = Literal["offset", "gps", "utc", "takeout", "owner", "none"]
# What a stored file is of the media that it belongs to.
PartRole = Literal["main", "raw", "live", "sidecar"]


class MediaDetails(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """What the camera wrote. Numbers with a fraction are text, as written by `repr`: tables have no floats."""

    width: int = 0
    height: int = 0
    orientation: str = ""
    make: str = ""
    model: str = ""
    lens: str = ""
    serial: str = ""
    exposure: str = ""
    aperture: str = ""
    iso: int = 0
    focal_length: str = ""
    latitude: str = msgspec.field(name="GPSLatitude", default="")
    longitude: str = msgspec.field(name="GPSLongitude", default="")
    altitude: str = msgspec.field(name="GPSAltitude", default="")
    duration_ms: int = msgspec.field(name="Duration", default=0)
    video_encoding: str = ""
    title: str = ""
    description: str = ""
    keywords: list[str] = []


class MediaPart(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """A stored file that belongs to a media besides its main one: the video of a live picture, the RAW of a JPEG."""

    role: PartRole
    media_id: MediaId
    name: FileName
    key: str
    size_bytes: int
    sha256: str
    content_type: str = ""


class MediaRow(Record, frozen=True, kw_only=True):
    """A photo or video. `AlbumId` is the one album that it is in, or a tray: `undated` or `bin`.

    `DateTime` is the local wall time with milliseconds, corrected by the owner if they did. An undated media has none.
    `CameraDateTime` is the time before a correction. With `Pinned` it stays in that album whatever its date is.
    """

    owner: OwnerId = attribute("MediaOwner")
    media_id: MediaId = attribute("Id")
    album_id: AlbumId = attribute("AlbumId")
    type: MediaType = attribute("Type")
    local_time: LocalTime = attribute("DateTime", default="")
    utc_time: str = attribute("UtcDateTime", default="")
    time_source: TimeSource = attribute("TimeSource", default="none")
    zone_source: ZoneSource = attribute("ZoneSource", default="none")
    guessed: bool = attribute("Guessed", default=False)
    camera_time: LocalTime = attribute("CameraDateTime", default="")
    # The correction of a camera's clock that it has, and the version of the library at its last correction.
    clock_act: ActId = attribute("ClockAct", default="")
    clock_version: int = attribute("ClockVersion", default=0)
    name: FileName = attribute("Filename")
    content_type: str = attribute("ContentType")
    size_bytes: int = attribute("SignatureSize")
    sha256: str = attribute("SignatureHash")
    key: str = attribute("ObjectKey")
    details: MediaDetails = attribute("Details", default_factory=MediaDetails)
    parts: list[MediaPart] = attribute("Parts", default=[])
    pinned: AlbumId = attribute("Pinned", default="")
    favourite: bool = attribute("Favourite", default=False)
    added_at: str = attribute("AddedAt")
    # A contributor's or a guest's, if it was not the owner who added it.
    added_by: str = attribute("AddedBy", default="")
    deleted_at: str = attribute("DeletedAt", default="")
    # What a list shows before any picture has arrived: width over height in thousandths, and a thumbhash.
    ratio: int = attribute("Ratio", default=0)
    thumbhash: bytes = attribute("Thumbhash", default=b"")
    dhash: str = attribute("PerceptualHash", default="")
    # The group of those that look alike which it is in.
    twins: MediaId = attribute("Twins", default="")
    picture: str = attribute("PictureVersion", default="")
    # The version of what found that there can be no picture; NEVER if it is no file of which pictures are made.
    no_picture: str = attribute("NoPicture", default="")
    # The key of its `PairRow`.
    pair: str = attribute("Pair", default="")


class LocationRow(Record, frozen=True, kw_only=True):
    """Where the bytes of a media, or of a part of one, are stored. By prefix through ReverseLocationIndex."""

    owner: OwnerId = attribute("MediaOwner")
    media_id: MediaId = attribute("MediaId")
    prefix: str = attribute("LocationKeyPrefix")
    location_id: str = attribute("LocationId")
    key: str = attribute("LocationKey")
    size_bytes: int = attribute("SizeBytes")
    stored_at: str = attribute("StoredAt")
    # When the stored bytes were read again and had the hash of the id.
    verified_at: str = attribute("VerifiedAt", default="")
    # The media that a part belongs to.
    part_of: MediaId = attribute("PartOf", default="")


class RedactionRow(Record, frozen=True, kw_only=True):
    """What others get of a stored file: which bytes are blanked, and the hash of the rest. No hash: they get nothing.

    `rules` is the version of the rules by which it was found.
    """

    owner: OwnerId = attribute("MediaOwner")
    media_id: MediaId = attribute("MediaId")
    sha256: str = attribute("RedactedHash", default="")
    patches: bytes = attribute("Patches", default=b"")
    rules: int = attribute("Rules")


class TimelineRow(Record, frozen=True, kw_only=True):
    """What a grid of everything needs of a media, in the order of time. It does not say in which album it is."""

    owner: OwnerId = attribute("MediaOwner")
    year: str = attribute("Year")
    local_time: LocalTime = attribute("DateTime")
    media_id: MediaId = attribute("Id")
    type: MediaType = attribute("Type")
    ratio: int = attribute("Ratio", default=0)
    thumbhash: bytes = attribute("Thumbhash", default=b"")
    duration_ms: int = attribute("Duration", default=0)
    picture: str = attribute("PictureVersion", default="")
    no_picture: str = attribute("NoPicture", default="")
    favourite: bool = attribute("Favourite", default=False)
    guessed: bool = attribute("Guessed", default=False)


class BinRow(Record, frozen=True, kw_only=True):
    """A media in the bin, and when it is deleted for good."""

    owner: OwnerId = attribute("MediaOwner")
    media_id: MediaId = attribute("MediaId")
    due: str = attribute("AbsoluteExpiryTime")


class PairRow(Record, frozen=True, kw_only=True):
    """The media that a file of this key may belong to: the other half of a live photo, a RAW beside its JPEG.

    It has what decides whether two files belong together.
    """

    owner: OwnerId = attribute("MediaOwner")
    pair: str = attribute("Pair")
    media_id: MediaId = attribute("MediaId")
    kind: Literal["image", "video", "raw", "other"] = attribute("Kind")
    local_time: LocalTime = attribute("DateTime", default="")
    utc_time: str = attribute("UtcDateTime", default="")
    duration_ms: int = attribute("Duration", default=0)


class LookRow(Record, frozen=True, kw_only=True):
    """A part of the perceptual hash of a picture. Of two that differ in 3 bits or less, one of four parts is equal."""

    owner: OwnerId = attribute("MediaOwner")
    band: str = attribute("Band")
    media_id: MediaId = attribute("MediaId")
    dhash: str = attribute("PerceptualHash")
    ratio: int = attribute("Ratio")


class TwinRow(Record, frozen=True, kw_only=True):
    """A media that looks like the others of its group. The group is named by its first media."""

    owner: OwnerId = attribute("MediaOwner")
    group: MediaId = attribute("Group")
    media_id: MediaId = attribute("MediaId")


class ChoiceRow(Record, frozen=True, kw_only=True):
    """Photos of an owner that one link leads to, and when to look whether there is such a link."""

    owner: OwnerId = attribute("MediaOwner")
    choice_id: ChoiceId = attribute("ChoiceId")
    medias: list[MediaId] = attribute("Medias")
    due: str = attribute("AbsoluteExpiryTime")


_MEDIA = "{owner}#MEDIA#{media_id}"

MEDIA = Shape(
    MediaRow,
    CATALOG,
    {
        "PK": _MEDIA,
        "SK": "#METADATA",
        "AlbumIndexPK": "{owner}#{album_id}",
        "AlbumIndexSK": "MEDIA#{local_time}#{media_id}",
    },
    owner=OWNER,
    about="A photo or video; those of an album or of a tray by time, through AlbumIndex",
    needs=lambda media: {media.key: media.name} | {part.key: part.name for part in media.parts},
)
LOCATION = Shape(
    LocationRow,
    CATALOG,
    {"PK": _MEDIA, "SK": "LOCATION#"},
    owner=OWNER,
    about="Where the bytes of a media are stored",
)
REDACTION = Shape(
    RedactionRow,
    CATALOG,
    {"PK": _MEDIA, "SK": "REDACTION#"},
    owner=OWNER,
    about="What others than the owner get of the bytes of a media",
)
TIMELINE = Shape(
    TimelineRow,
    CATALOG,
    {"PK": "{owner}#TIMELINE#{year}", "SK": "MEDIA#{local_time}#{media_id}"},
    owner=OWNER,
    about="Everything of an owner by time, a year in a partition",
)
BINNED = Shape(
    BinRow,
    CATALOG,
    {"PK": "MEDIABIN#{owner}#{media_id}", "SK": BIN_SORT},
    owner=OWNER,
    about="A media in the bin; those due through RefreshTokenExpiration",
)
PAIR = Shape(
    PairRow,
    CATALOG,
    {"PK": "{owner}#PAIR#{pair}", "SK": "#PAIR"},
    owner=OWNER,
    about="The media whose other half a file may be",
)
LOOK = Shape(
    LookRow,
    CATALOG,
    {"PK": "{owner}#LOOK#{band}", "SK": "MEDIA#{media_id}"},
    owner=OWNER,
    about="Pictures that may look alike: those with an equal quarter of the perceptual hash",
)
TWIN = Shape(
    TwinRow,
    CATALOG,
    {"PK": "{owner}#TWINS", "SK": "TWIN#{group}#{media_id}"},
    owner=OWNER,
    about="Groups of medias that look alike",
)
CHOICE = Shape(
    ChoiceRow,
    CATALOG,
    {
        "PK": "PHOTOCHOICE#{owner}#{choice_id}",
        "SK": CHOICE_SORT,
        "AlbumIndexPK": CHOICES,
        "AlbumIndexSK": "CHOICE#{choice_id}",
    },
    owner=OWNER,
    about="Several photos that one link leads to; those due through RefreshTokenExpiration",
)


def pictured(media: MediaRow) -> Pictured:
    """The main file of a media as a source of a picture."""
    return Pictured(media.key, media.name, media.content_type)


MEDIA_SHAPES = (MEDIA, LOCATION, REDACTION, TIMELINE, BINNED, PAIR, LOOK, TWIN, CHOICE)
