"""Read clicks and statistics as they are stored: the six questions for which the seed has keys."""

from datetime import date

from satchel.features.clicks.model import check_id, milliseconds_of, stamp
from satchel.features.clicks.records import (
    ALL,
    CLICK,
    CLICK_PREFIX,
    DATE_INDEX,
    DAY_STAT,
    MONTH_STAT,
    TOTAL_STAT,
    ClickRow,
    stat_item,
)
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.raw_clicks import readable
from satchel.stores.ports.table import Item, Range, StartsWith
from satchel.stores.schema import RecordPage

_END = milliseconds_of("9999-12-31T23:59:59.999Z")


async def clicks_of(
    clicks: Clicks, user_id: str, first: str | None, last: str | None, *, limit: int, cursor: str | None
) -> RecordPage[ClickRow]:
    """Somebody's clicks, the newest first; between two times, both included."""
    check_id(user_id)
    low, high = _bound(first, "from"), _bound(last, "to")
    between = None if low is None and high is None else Range(low, high)
    page = await clicks.tables.query(CLICK.table, user_id, between, descending=True, limit=limit, cursor=cursor)
    return RecordPage(readable(page.items), page.cursor)


def _bound(time: str | None, field: str) -> str | None:
    """A time as clicks are sorted by: none is before 1970, and at the end of time a zone could lead out of it."""
    return None if time is None else stamp(min(max(0, milliseconds_of(time, field)), _END))


async def clicks_on(clicks: Clicks, day: date, *, limit: int, cursor: str | None) -> RecordPage[ClickRow]:
    """Everybody's clicks of a UTC day, the newest first; the statistics of the day, which lie among them, left out."""
    page = await clicks.tables.query(
        CLICK.table,
        f"DATE#{day}",
        StartsWith(CLICK_PREFIX),
        index=DATE_INDEX,
        descending=True,
        limit=limit,
        cursor=cursor,
    )
    return RecordPage(readable(page.items), page.cursor)


async def day_stat(clicks: Clicks, day: date) -> Item:
    found = await DAY_STAT.get(clicks.tables, day=day.isoformat())
    total, people = (found.total_clicks, found.unique_users) if found else (0, 0)
    return stat_item(f"DAY:{day}", total, people)


async def month_stat(clicks: Clicks, month: str) -> Item:
    found = await MONTH_STAT.get(clicks.tables, month=month)
    total, people = (found.total_clicks, found.unique_users) if found else (0, 0)
    return stat_item(f"MONTH:{month}", total, people)


async def total_stat(clicks: Clicks) -> Item:
    found = await TOTAL_STAT.get(clicks.tables)
    return stat_item(ALL, found.total_clicks if found else 0, 0)
