"""What is stored of albums and medias: the seed's keys and indexes, with an opaque album id where it has the folder.

Shares, links and medias follow the album id. A folder is a name: a row of its own makes it unique, and leads to the
album after a rename (decision 15).

Each owner has one `LibraryRow`. Its version changes in every transaction that changes an `AlbumRow`, be it dates or
people. Whoever puts a media into an album checks the version in the same transaction, and changes the counts of
everybody who sees that album. So no media gets into an album that has changed, and no count is forgotten.

Originals are stored at `photo/<owner>/<year>/<sha256>.<object id>`, and never move.
"""

from typing import Literal

import msgspec

from satchel.features.albums.model import (
    ActId,
    ActKind,
    AlbumId,
    Availability,
    Email,
    Folder,
    LocalTime,
    MediaId,
    MediaType,
    OwnerId,
    Role,
)
from satchel.kernel.names import FileName
from satchel.media.pictures import Pictured
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG

OWNER = "albums"
OBJECTS_PREFIX = "photo/"
NEVER = "never"
ALBUM_INDEX = "AlbumIndex"
LOCATION_INDEX = "ReverseLocationIndex"
# Unfinished acts and medias that leave the bin are found through this index, as are expired sessions.
DUE_INDEX = "RefreshTokenExpiration"
ACT_SORT = "#ALBUM_ACT"
BIN_SORT = "#MEDIA_BIN"

# How the date of a media was found, the most trustworthy first.
TimeSource = Literal["exif", "gps", "video", "takeout", "xmp", "name", "file", "owner", "none"]
# How the offset from UTC was found.
ZoneSource = Literal["offset", "gps", "utc", "takeout", "owner", "none"]
# What a stored file is of the media that it belongs to.
PartRole = Literal["main", "raw", "live", "sidecar"]


class LibraryRow(Record, frozen=True, kw_only=True):
    """An owner's albums as a whole. `version` changes with every album. The owner's counts are at their address."""

    owner: OwnerId = attribute("AlbumOwner")
    email: Email = attribute("Email")
    version: int = attribute("Version", default=0)
    albums: int = attribute("Albums", default=0)


class PhotoUsageRow(Record, frozen=True, kw_only=True):
    """How much the photos of an owner take: every stored file once, those in the bin, too. Pictures do not count.

    A library from before has no row, or one that began late. It is not `complete` until all files were counted.
    """

    owner: OwnerId = attribute("AlbumOwner")
    files: int = attribute("Files", default=0)
    used_bytes: int = attribute("UsedBytes", default=0)
    # It changes with every file that comes or goes.
    changes: int = attribute("Changes", default=0)
    complete: bool = attribute("Complete", default=False)


class AlbumRow(Record, frozen=True, kw_only=True):
    """An album, and with whom it is shared. The end is excluded.

    While it is `leaving`, its medias move away, it is not on the timeline, and nobody sees it.
    """

    owner: OwnerId = attribute("AlbumOwner")
    album_id: AlbumId = attribute("AlbumId")
    name: str = attribute("AlbumName")
    folder: Folder = attribute("AlbumFolderName")
    start: LocalTime = attribute("AlbumStart")
    end: LocalTime = attribute("AlbumEnd")
    created_at: str = attribute("CreatedAt")
    cover: MediaId = attribute("Cover", default="")
    people: dict[Email, Role] = attribute("People", default={})
    # Whether others get originals as they are, and see where they were taken.
    with_location: bool = attribute("WithLocation", default=False)
    leaving: bool = attribute("Leaving", default=False)
    # Which `AlbumDayRow`s count its days. None do until somebody whom it is shared with asks for them.
    days: str = attribute("Days", default="")


class AlbumOwnerRow(Record, frozen=True, kw_only=True):
    """Whose an album is, for those who know its id only."""

    album_id: AlbumId = attribute("AlbumId")
    owner: OwnerId = attribute("AlbumOwner")


class FolderRow(Record, frozen=True, kw_only=True):
    """The album that has a folder, or had it: then `redirect`, and another album may take the folder."""

    owner: OwnerId = attribute("AlbumOwner")
    folder: Folder = attribute("AlbumFolderName")
    album_id: AlbumId = attribute("AlbumId")
    redirect: bool = attribute("Redirect", default=False)


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


class DayRow(Record, frozen=True, kw_only=True):
    """How many medias an owner has of one day. The bin does not count."""

    owner: OwnerId = attribute("MediaOwner")
    day: str = attribute("Day")
    count: int = attribute("Count", default=0)


class AlbumDayRow(Record, frozen=True, kw_only=True):
    """How many medias of one day an album has. Only the rows that its `AlbumRow` names count (decision 32)."""

    owner: OwnerId = attribute("AlbumOwner")
    album_id: AlbumId = attribute("AlbumId")
    days: str = attribute("Days")
    day: str = attribute("Day")
    count: int = attribute("Count", default=0)


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


class CountRow(Record, frozen=True, kw_only=True):
    """How many medias an album has, for one person who may see it.

    The owner's row also changes `Changes` whenever a media comes, goes, or gets another date.
    """

    email: Email = attribute("UserId")
    availability: Availability = attribute("AvailabilityType")
    owner: OwnerId = attribute("AlbumOwner")
    album_id: AlbumId = attribute("AlbumId")
    count: int = attribute("Count", default=0)
    changes: int = attribute("Changes", default=0)


class AlbumState(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """An album as it was before an act or is after it."""

    name: str
    folder: Folder
    start: LocalTime
    end: LocalTime
    cover: MediaId = MediaId("")
    created_at: str = ""
    with_location: bool = False


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A time of an album from which medias move away."""

    album_id: AlbumId
    start: LocalTime
    end: LocalTime


class ActShare(msgspec.Struct, frozen=True, array_like=True):
    """Somebody that a deleted album was shared with."""

    email: Email
    role: Role


class ClockFix(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """By how much the clock of a camera was wrong, and in which time its medias were.

    `version` is that of the library: a media that was corrected at this version, or later, is left alone.
    """

    make: str
    model: str
    serial: str = ""
    shift_seconds: int
    first: LocalTime
    last: LocalTime
    version: int

    @property
    def camera(self) -> str:
        return camera_name(self.make, self.model)


class ActRow(Record, frozen=True, kw_only=True):
    """Journal entry of a change of the timeline: what changed, and the times that may hold medias of another album now.

    It is written in the transaction that changes the album. Until `DoneAt` is set, its medias may still move.
    """

    owner: OwnerId = attribute("AlbumOwner")
    act_id: ActId = attribute("ActId")
    kind: ActKind = attribute("Kind")
    album_id: AlbumId = attribute("AlbumId")
    at: str = attribute("At")
    before: AlbumState | None = attribute("Before", default=None)
    after: AlbumState | None = attribute("After", default=None)
    sources: list[Source] = attribute("Sources", default=[])
    shares: list[ActShare] = attribute("Shares", default=[])
    # Medias that were pinned to an album that was deleted.
    pins: list[MediaId] = attribute("Pins", default=[])
    moved: int = attribute("Moved", default=0)
    done_at: str = attribute("DoneAt", default="")
    clock: ClockFix | None = attribute("Clock", default=None)
    undoes: ActId = attribute("Undoes", default="")
    undone_by: ActId = attribute("UndoneBy", default="")


class ActDueRow(Record, frozen=True, kw_only=True):
    """When an act is looked at again: to finish it after a crash, to check it once more, and to forget it."""

    owner: OwnerId = attribute("AlbumOwner")
    act_id: ActId = attribute("ActId")
    due: str = attribute("AbsoluteExpiryTime")


_LIBRARY = "{owner}#ALBUM"
_MEDIA = "{owner}#MEDIA#{media_id}"

LIBRARY = Shape(
    LibraryRow,
    CATALOG,
    {"PK": _LIBRARY, "SK": "#LIBRARY"},
    owner=OWNER,
    about="An owner's albums as a whole; its version changes with every album",
)
PHOTO_USAGE = Shape(
    PhotoUsageRow,
    CATALOG,
    {"PK": _LIBRARY, "SK": "#USAGE"},
    owner=OWNER,
    about="How many files and bytes the photos of an owner are",
)
ALBUM = Shape(
    AlbumRow,
    CATALOG,
    {
        "PK": _LIBRARY,
        "SK": "ALBUM#{album_id}",
        "AlbumIndexPK": "{owner}#{album_id}",
        "AlbumIndexSK": "#METADATA",
    },
    owner=OWNER,
    about="An album: name, folder, dates, people",
)
ALBUM_OWNER = Shape(
    AlbumOwnerRow,
    CATALOG,
    {"PK": "ALBUM#{album_id}", "SK": "#OWNER"},
    owner=OWNER,
    about="Whose an album is",
)
FOLDER = Shape(
    FolderRow,
    CATALOG,
    {"PK": _LIBRARY, "SK": "FOLDER#{folder}"},
    owner=OWNER,
    about="The album that has a folder, or had it before it was renamed; makes folders unique",
)
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
DAY = Shape(
    DayRow,
    CATALOG,
    {"PK": "{owner}#DAYS", "SK": "DAY#{day}"},
    owner=OWNER,
    about="How many medias an owner has of a day",
)
ALBUM_DAY = Shape(
    AlbumDayRow,
    CATALOG,
    {"PK": "{owner}#ALBUMDAYS#{album_id}#{days}", "SK": "DAY#{day}"},
    owner=OWNER,
    about="How many medias a shared album has of a day",
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
COUNT = Shape(
    CountRow,
    CATALOG,
    {"PK": "USER#{email}#ALBUMS_VIEW", "SK": "{availability}#{owner}#{album_id}#COUNT"},
    owner=OWNER,
    about="How many medias an album has, for each person who may see it",
)
ACT = Shape(
    ActRow,
    CATALOG,
    {"PK": _LIBRARY, "SK": "ACT#{act_id}"},
    owner=OWNER,
    about="Journal of changes of the timeline; ids sort by time",
)
ACT_DUE = Shape(
    ActDueRow,
    CATALOG,
    {"PK": "ALBUMACT#{owner}#{act_id}", "SK": ACT_SORT},
    owner=OWNER,
    about="When an act is looked at again, through RefreshTokenExpiration",
)
SHAPES = (
    *(LIBRARY, PHOTO_USAGE, ALBUM, ALBUM_OWNER, FOLDER, MEDIA, LOCATION, REDACTION, TIMELINE, DAY),
    *(ALBUM_DAY, BINNED, PAIR, LOOK, TWIN, COUNT, ACT, ACT_DUE),
)
# A client may repeat its request when the server has started anew.
CREATED = EphemeralKey(
    "album-created:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → album id",
    durable=True,
)
PHOTO_SWEEP = EphemeralKey(
    "sweep:photos", "value", owner=OWNER, about="Cursor of the garbage collection: the object that it looked at last"
)
SEEN = EphemeralKey(
    "photo-seen:{thing}:{person_id}", "value", owner=OWNER, about="That a view was counted, for half a day"
)
WARMED = EphemeralKey(
    "album-warmed:{owner}:{album_id}",
    "value",
    owner=OWNER,
    about="That the missing pictures of an album were queued, for ten minutes",
)
EPHEMERAL_KEYS = (CREATED, PHOTO_SWEEP, SEEN, WARMED)


def camera_name(make: str, model: str) -> str:
    """Most models begin with their make."""
    return model if make and model.casefold().startswith(make.casefold()) else f"{make} {model}".strip()


def pictured(media: MediaRow) -> Pictured:
    """The main file of a media as a source of a picture."""
    return Pictured(media.key, media.name, media.content_type)
