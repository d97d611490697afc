"""List clicks and the site's statistics as they are stored, and read the clicks between two moments page by page."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import msgspec

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
from satchel.features.clicks.service.context import ClickLog, Clicks
from satchel.kernel.clock import iso
from satchel.stores.ports.table import MAX_PAGE_ITEMS, Item, Range, StartsWith
from satchel.stores.schema import RecordPage

DAY_SECONDS = timedelta(days=1).total_seconds()
_END = milliseconds_of("9999-12-31T23:59:59.999Z")


async def clicks_of(
    clicks: Clicks, user_id: str, first: str | None, last: str | None, *, limit: int, cursor: str | None
) -> RecordPage[ClickRow]:
    """Somebody's clicks between two times, both included; the newest first."""
    check_id(user_id)
    low, high = _bound(first, "from"), _bound(last, "to")
    between = None if low is None and high is None else Range(low, high)
    page = await clicks.tables.query(CLICK.table, user_id, between, descending=True, limit=limit, cursor=cursor)
    return RecordPage(readable(page.items), page.cursor)


def _bound(time: str | None, field: str) -> str | None:
    """A time in the form that clicks are sorted by, kept between 1970 and the last year that there is."""
    return None if time is None else stamp(min(max(0, milliseconds_of(time, field)), _END))


async def clicks_on(clicks: Clicks, day: date, *, limit: int, cursor: str | None) -> RecordPage[ClickRow]:
    """Everybody's clicks of a UTC day, the newest first, without the statistics of the day that lie among them."""
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
    found = await DAY_STAT.get(clicks.tables, may_lag=True, day=day.isoformat())
    total, people = (found.total_clicks, found.unique_users) if found else (0, 0)
    return stat_item(f"DAY:{day}", total, people)


async def month_stat(clicks: Clicks, month: str) -> Item:
    found = await MONTH_STAT.get(clicks.tables, may_lag=True, month=month)
    total, people = (found.total_clicks, found.unique_users) if found else (0, 0)
    return stat_item(f"MONTH:{month}", total, people)


async def total_stat(clicks: Clicks) -> Item:
    found = await TOTAL_STAT.get(clicks.tables, may_lag=True)
    return stat_item(ALL, found.total_clicks if found else 0, 0)


async def read_clicks(clicks: ClickLog, starts: float, ends: float) -> AsyncGenerator[list[ClickRow]]:
    """Everybody's clicks from `starts` up to, but without, `ends`, page by page."""
    while starts < ends:
        day_ends = (starts // DAY_SECONDS + 1) * DAY_SECONDS
        between = Range(_sort_of(starts), _sort_of(min(ends, day_ends)))
        partition = f"DATE#{iso(starts)[:10]}"
        cursor = None
        while True:
            page = await clicks.tables.query(
                CLICK.table, partition, between, index=DATE_INDEX, limit=MAX_PAGE_ITEMS, cursor=cursor
            )
            yield readable(page.items)
            if (cursor := page.cursor) is None:
                break
        starts = day_ends


def day_starts(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def readable(items: Iterable[Item]) -> list[ClickRow]:
    """The items that are clicks. Another program may have written others; no fold counts those."""
    try:
        return [CLICK.read(item) for item in items]
    except msgspec.ValidationError:
        rows: list[ClickRow] = []
        for item in items:
            with suppress(msgspec.ValidationError):
                rows.append(CLICK.read(item))
        return rows


def _sort_of(moment: float) -> str:
    """Sorts before every click of this moment, since theirs go on with the user."""
    return f"{CLICK_PREFIX}{iso(moment)}"
