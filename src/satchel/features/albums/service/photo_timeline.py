"""The timeline of everything: how many photos each day has, and the photos of a time in bounded pages, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.albums.count_records import owner_days
from satchel.features.albums.media_records import TIMELINE
from satchel.features.albums.model import LocalTime, OwnerId
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.day_counts import month_range, read_days
from satchel.kernel.errors import CursorInvalid
from satchel.stores.ports.table import Item, Range

MAX_PAGE = 1000
# Before and after every time of a year.
_FIRST, _LAST = "MEDIA#", "MEDIA$"


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ended: in this year, at this cursor of the table."""

    year: int
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Photos, the newest first, and where to go on."""

    items: Sequence[Item]
    cursor: str | None


async def list_days(albums: Albums, owner: OwnerId) -> dict[str, int]:
    """All days that have photos, the newest first, and how many."""
    return await read_days(albums, owner_days(owner))


async def list_photos(
    albums: Albums, owner: OwnerId, start: LocalTime, end: LocalTime, limit: int, cursor: str | None
) -> TimelinePage:
    """A page of the photos from `start` to before `end`; empty ones leave a side open."""
    first, last = await years_of(albums, owner, start, end)
    position = _Position(last) if cursor is None else _position(cursor)
    items: list[Item] = []
    year, within = min(position.year, last), position.cursor or None
    while year >= first and len(items) < limit:
        page = await albums.tables.query(
            TIMELINE.table,
            TIMELINE.keys["PK"].render({"owner": owner, "year": f"{year:04}"}),
            Range(low=_FIRST + start, high=_FIRST + end if end else _LAST),
            descending=True,
            limit=limit - len(items),
            cursor=within,
        )
        items += page.items
        within = page.cursor
        if within is None:
            year -= 1
    more = year >= first
    return TimelinePage(items, msgspec.json.encode(_Position(year, within or "")).decode() if more else None)


async def years_of(albums: Albums, owner: OwnerId, start: LocalTime, end: LocalTime) -> tuple[int, int]:
    """The first and the last year that can have photos."""
    months = await month_range(albums, owner_days(owner))
    if months is None:
        return 1, 0
    first, last = (int(month[:4]) for month in months)
    return max(first, int(start[:4] or 0)), min(last, int(end[:4] or 9999))


def _position(cursor: str) -> _Position:
    try:
        return msgspec.json.decode(cursor, type=_Position)
    except msgspec.DecodeError as error:
        raise CursorInvalid(
            "This cursor is not from this list. Read the list from the beginning.", field="cursor"
        ) from error
