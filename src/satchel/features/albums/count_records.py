"""What is counted of photos: files of an owner, medias of a day, and medias of an album for each who sees it."""

from satchel.features.albums.model import AlbumId, Availability, Email, OwnerId
from satchel.features.albums.records import IN_LIBRARY, OWNER
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import CATALOG


class PhotoUsageRow(Record, frozen=True, kw_only=True):
    """How much the photos of an owner take: every stored file once, those in the bin, too. Pictures do not count.

    A library from before has no row, or one that began late. Before its sum is `complete`, no file comes or goes.
    """

    owner: OwnerId = attribute("AlbumOwner")
    files: int = attribute("Files", default=0)
    used_bytes: int = attribute("UsedBytes", default=0)
    # It changes with every file that comes or goes.
    changes: int = attribute("Changes", default=0)
    complete: bool = attribute("Complete", default=False)


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


PHOTO_USAGE = Shape(
    PhotoUsageRow,
    CATALOG,
    {"PK": IN_LIBRARY, "SK": "#USAGE"},
    owner=OWNER,
    about="How many files and bytes the photos of an owner are",
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
COUNT = Shape(
    CountRow,
    CATALOG,
    {"PK": "USER#{email}#ALBUMS_VIEW", "SK": "{availability}#{owner}#{album_id}#COUNT"},
    owner=OWNER,
    about="How many medias an album has, for each person who may see it",
)
COUNT_SHAPES = (PHOTO_USAGE, DAY, ALBUM_DAY, COUNT)
