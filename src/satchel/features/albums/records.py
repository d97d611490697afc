"""What is stored of albums, and of changes of the timeline: the seed's keys, with an opaque album id for the folder.

Shares, links and medias follow the album id. A folder is a name: a row of its own makes it unique, and leads to the
album after a rename (decision 15).

Each owner has one `LibraryRow`. Its version changes in every transaction that changes an `AlbumRow`, be it dates or
people. Whoever puts a media into an album checks the version in the same transaction, and changes the counts of
everybody who sees that album (`count_records.py`). So no media gets into an album that has changed, and no count is
forgotten.
"""

import msgspec

from satchel.features.albums.model import ActId, ActKind, AlbumId, Email, Folder, LocalTime, MediaId, OwnerId, Role
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG

OWNER = "albums"
ALBUM_INDEX = "AlbumIndex"
# Unfinished acts and medias that leave the bin are found through this index, as are expired sessions.
DUE_INDEX = "RefreshTokenExpiration"
ACT_SORT = "#ALBUM_ACT"


class LibraryRow(Record, frozen=True, kw_only=True):
    """An owner's albums as a whole. `version` changes with every album. The owner's counts are at their address."""

    owner: OwnerId = attribute("AlbumOwner")
    email: Email = attribute("Email")
    version: int = attribute("Version", default=0)
    albums: int = attribute("Albums", default=0)


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
    # Which `AlbumMonthRow`s count its days. None do until somebody whom it is shared with asks for them.
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


IN_LIBRARY = "{owner}#ALBUM"

LIBRARY = Shape(
    LibraryRow,
    CATALOG,
    {"PK": IN_LIBRARY, "SK": "#LIBRARY"},
    owner=OWNER,
    about="An owner's albums as a whole; its version changes with every album",
)
ALBUM = Shape(
    AlbumRow,
    CATALOG,
    {
        "PK": IN_LIBRARY,
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
    {"PK": IN_LIBRARY, "SK": "FOLDER#{folder}"},
    owner=OWNER,
    about="The album that has a folder, or had it before it was renamed; makes folders unique",
)
ACT = Shape(
    ActRow,
    CATALOG,
    {"PK": IN_LIBRARY, "SK": "ACT#{act_id}"},
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
SHAPES = (LIBRARY, ALBUM, ALBUM_OWNER, FOLDER, ACT, ACT_DUE)

# A client may repeat its request when the server has started anew.
CREATED = EphemeralKey(
    "album-created:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → album id",
    durable=True,
)
CORRECTED = EphemeralKey(
    "clock-corrected:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → act that corrects a camera's clock",
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
EPHEMERAL_KEYS = (CREATED, CORRECTED, PHOTO_SWEEP, SEEN, WARMED)


def camera_name(make: str, model: str) -> str:
    """Most models begin with their make, such as the NIKON Z 6 of the NIKON CORPORATION."""
    brand = make.casefold().partition(" ")[0]
    return model if brand and model.casefold().startswith(brand) else f"{make} {model}".strip()
