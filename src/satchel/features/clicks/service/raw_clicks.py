"""The clicks themselves, for what no count can tell: who was there between two moments, and whether all are kept."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import msgspec

from satchel.features.clicks.records import (
    CLICK,
    CLICK_PREFIX,
    COMPLETE_SINCE,
    DATE_INDEX,
    DAY_STAT,
    ERASED_FROM,
    ClickRow,
    CompleteSinceRow,
)
from satchel.features.clicks.service.context import ClickLog
from satchel.kernel.clock import from_iso, iso
from satchel.stores.ports.table import MAX_PAGE_ITEMS, Item, Range

_DAY_SECONDS = timedelta(days=1).total_seconds()


async def read_clicks(clicks: ClickLog, starts: float, ends: float) -> AsyncGenerator[list[ClickRow]]:
    """Page by page, those from `starts` up to, but without, `ends`."""
    while starts < ends:
        day_ends = (starts // _DAY_SECONDS + 1) * _DAY_SECONDS
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


async def complete_since(clicks: ClickLog) -> float:
    """From when on every click is kept that was not erased; 0 if none has ever gone by its age."""
    row = await COMPLETE_SINCE.get(clicks.tables)
    noted = 0.0 if row is None else from_iso(row.since)
    return noted if clicks.kept_for is None else max(noted, clicks.clock() - clicks.kept_for.total_seconds())


async def let_old_go(clicks: ClickLog) -> int:
    """Take away clicks that are kept no longer and do not expire, since more time was set when they came; a chore.

    How far back clicks reach is noted before: a longer time set later brings none of them back.
    """
    if clicks.kept_for is None:
        return 0
    until = clicks.clock() - clicks.kept_for.total_seconds()
    noted = await COMPLETE_SINCE.get(clicks.tables) or CompleteSinceRow(since="")
    if noted.since > iso(until):
        return 0
    now_since = msgspec.structs.replace(noted, since=iso(until))
    await clicks.tables.put(COMPLETE_SINCE.table, COMPLETE_SINCE.item(now_since))
    gone = 0
    for day in await _days_with_clicks(clicks, noted.cleared[:10], iso(until)[:10]):
        async for page in read_clicks(clicks, day_starts(day), min(until, day_starts(day) + _DAY_SECONDS)):
            keys = [CLICK.key(user_id=row.user_id, created=row.created) for row in page]
            await clicks.tables.write_many(CLICK.table, delete=keys)
            gone += len(page)
    cleared = msgspec.structs.replace(now_since, cleared=iso(until))
    await clicks.tables.put(COMPLETE_SINCE.table, COMPLETE_SINCE.item(cleared))
    return gone


async def _days_with_clicks(clicks: ClickLog, first: str, last: str) -> list[date]:
    """The UTC days between these, both included, on which anybody has clicked."""
    partition = DAY_STAT.keys["userId"].render({})
    found: list[date] = []
    cursor = None
    while True:
        page = await clicks.tables.query(DAY_STAT.table, partition, Range(first or None, last), cursor=cursor)
        found += [date.fromisoformat(item["createDateTime"]) for item in page.items]
        if (cursor := page.cursor) is None:
            return found


async def days_erased_from(clicks: ClickLog, first: date, last: date) -> set[date]:
    """The UTC days between these, both included, from which clicks of somebody were erased."""
    found: set[date] = set()
    cursor = None
    while True:
        page = await clicks.tables.query(
            ERASED_FROM.table,
            ERASED_FROM.keys["PK"].render({}),
            Range(first.isoformat(), last.isoformat()),
            limit=MAX_PAGE_ITEMS,
            cursor=cursor,
        )
        found |= {date.fromisoformat(item["SK"]) for item in page.items}
        if (cursor := page.cursor) is None:
            return found


def day_starts(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def readable(items: Iterable[Item]) -> list[ClickRow]:
    """The clicks among them, without those that no server of ours has written, nor any fold has counted."""
    try:
        return [CLICK.read(item) for item in items]
    except msgspec.ValidationError:
        rows: list[ClickRow] = []
        for item in items:
            with suppress(msgspec.ValidationError):
                rows.append(CLICK.read(item))
        return rows


def _sort_of(moment: float) -> str:
    """Before every click of this moment, since theirs go on with the user."""
    return f"{CLICK_PREFIX}{iso(moment)}"
