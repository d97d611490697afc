"""What is counted of photos: files of an owner, medias of a day, and medias of an album for each who sees it.

Days are counted in a row per month. Each is an attribute, `D01` to `D31`, so that a transaction adds to it without
reading the row (decision 103).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from satchel.features.albums.model import AlbumId, Availability, Email, OwnerId
from satchel.features.albums.records import IN_LIBRARY, OWNER
from satchel.stores.ports.expressions import Condition, add, attr
from satchel.stores.ports.table import Item, Update
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


class MonthRow(Record, frozen=True, kw_only=True):
    """How many medias an owner has of each day of a month, `D01` to `D31`. The bin does not count."""

    owner: OwnerId = attribute("MediaOwner")
    month: str = attribute("Month")


class AlbumMonthRow(Record, frozen=True, kw_only=True):
    """The same of an album. Only the rows that its `AlbumRow` names count (decision 32)."""

    owner: OwnerId = attribute("AlbumOwner")
    album_id: AlbumId = attribute("AlbumId")
    days: str = attribute("Days")
    month: str = attribute("Month")


class DayRow(Record, frozen=True, kw_only=True):
    """How many medias an owner had of one day, before days were counted by month. Whoever reads it adds it there."""

    owner: OwnerId = attribute("MediaOwner")
    day: str = attribute("Day")
    count: int = attribute("Count", default=0)


class AlbumDayRow(Record, frozen=True, kw_only=True):
    """The same of an album."""

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
_DAYS = "{owner}#DAYS"
_ALBUM_DAYS = "{owner}#ALBUMDAYS#{album_id}#{days}"
_BY_MONTH, _BY_DAY = "MONTH#{month}", "DAY#{day}"
MONTH = Shape(
    MonthRow,
    CATALOG,
    {"PK": _DAYS, "SK": _BY_MONTH},
    owner=OWNER,
    about="How many medias an owner has of each day of a month",
    repeats_key_fields=False,
)
ALBUM_MONTH = Shape(
    AlbumMonthRow,
    CATALOG,
    {"PK": _ALBUM_DAYS, "SK": _BY_MONTH},
    owner=OWNER,
    about="How many medias a shared album has of each day of a month",
    repeats_key_fields=False,
)
DAY = Shape(
    DayRow,
    CATALOG,
    {"PK": _DAYS, "SK": _BY_DAY},
    owner=OWNER,
    about="How many medias an owner had of a day, from before there were months",
)
ALBUM_DAY = Shape(
    AlbumDayRow,
    CATALOG,
    {"PK": _ALBUM_DAYS, "SK": _BY_DAY},
    owner=OWNER,
    about="How many medias a shared album had of a day, from before there were months",
)
COUNT = Shape(
    CountRow,
    CATALOG,
    {"PK": "USER#{email}#ALBUMS_VIEW", "SK": "{availability}#{owner}#{album_id}#COUNT"},
    owner=OWNER,
    about="How many medias an album has, for each person who may see it",
)
COUNT_SHAPES = (PHOTO_USAGE, MONTH, ALBUM_MONTH, DAY, ALBUM_DAY, COUNT)

_LAST_DAYS_FIRST = tuple(f"D{day:02}" for day in range(31, 0, -1))


def owner_days(owner: OwnerId) -> str:
    """The partition that has the days of an owner."""
    return MONTH.keys["PK"].render({"owner": owner})


def album_days(owner: OwnerId, album_id: AlbumId, days: str) -> str:
    """The partition that has the days of an album under this name."""
    return ALBUM_MONTH.keys["PK"].render({"owner": owner, "album_id": album_id, "days": days})


def count_days(partition: str, changes: Mapping[str, int]) -> list[Update]:
    """What counts these days, with one write per month: an item can be in a transaction once."""
    return [
        Update(MONTH.table, month_key(partition, month), [add(name, amount) for name, amount in days.items()])
        for month, days in days_by_month(changes).items()
    ]


def days_by_month(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """What belongs into the rows of the months. Zeros are left out."""
    months: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for day, count in counts.items():
        if count:
            months[month_of(day)][day_name(day)] = count
    return months


def month_of(day: str) -> str:
    return day[:7]


def day_name(day: str) -> str:
    """The attribute that counts a day, in the row of its month."""
    return f"D{day[8:]}"


def month_key(partition: str, month: str) -> dict[str, str]:
    return {"PK": partition, "SK": f"MONTH#{month}"}


def still(number: str, count: int) -> Condition:
    """That a number is what was read. No number counts nothing."""
    return attr(number) == count if count else attr(number).absent() | (attr(number) == 0)


def days_in(item: Item) -> Iterator[tuple[str, int]]:
    """The days of a month's row that have medias, the last first."""
    month = item["SK"].removeprefix("MONTH#")
    for name in _LAST_DAYS_FIRST:
        if count := item.get(name):
            yield f"{month}-{name[1:]}", count
