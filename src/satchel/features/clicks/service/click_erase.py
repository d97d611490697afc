"""Erase clicks, by their age or with a person, and know which periods are still complete.

The sums stay as they were counted. Days that miss clicks are noted before any are deleted, since counting such a day
again would give less.
"""

from dataclasses import dataclass
from datetime import date

import msgspec

from satchel.features.clicks.model import Period, PeriodGone, check_id
from satchel.features.clicks.records import (
    CLICK,
    COMPLETE_SINCE,
    COUNT,
    DAY_DIGEST,
    DAY_STAT,
    ERASED_FROM,
    IDEMPOTENCY,
    LAST,
    MARKER,
    CompleteSinceRow,
    ErasedFromRow,
)
from satchel.features.clicks.service.click_list import DAY_SECONDS, day_starts, read_clicks
from satchel.features.clicks.service.context import ClickLog, Clicks
from satchel.features.clicks.service.counts import counter_scope, link_scope, owner_scope, thing_scope
from satchel.features.clicks.service.page_counters import delete_counter, list_counters
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.departure import Leaver, Tally
from satchel.stores.patterns.partition_delete import delete_records
from satchel.stores.ports.table import MAX_PAGE_ITEMS, Range
from satchel.tables import COUNTS

# Few enough that other writes need not wait long.
_AT_ONCE = 500
_MOST_LINKS = 100_000


async def erase_person(clicks: Clicks, user_id: str) -> int:
    """Delete the clicks, markers and idempotency keys of a person; how many clicks these were.

    If it is interrupted, repeating it does the rest. If the person clicks again, they count as somebody new.
    """
    check_id(user_id)
    erased = 0
    while page := (await clicks.tables.query(CLICK.table, user_id, limit=_AT_ONCE)).items:
        days = {item["createDateTime"][:10] for item in page}
        notes = [ERASED_FROM.item(ErasedFromRow(day=day)) for day in days]
        await clicks.tables.write_many(COUNTS, put=notes)
        await clicks.tables.write_many(CLICK.table, delete=[CLICK.table.key_of(item) for item in page])
        erased += len(page)
    for shape in (MARKER, IDEMPOTENCY):
        partition = shape.keys["PK"].render({"user_id": user_id})
        while page := (await clicks.tables.query(COUNTS, partition, limit=_AT_ONCE)).items:
            await clicks.recorder.delete_markers([COUNTS.key_of(item) for item in page])
    return erased


@dataclass(frozen=True, slots=True)
class ClickHoldings:
    """What people have clicked on, their counters, and the figures of their links, things and counters."""

    clicks: Clicks

    async def count(self, leaver: Leaver) -> Tally:
        """Nobody misses them."""
        del leaver
        return Tally()

    async def delete(self, leaver: Leaver) -> None:
        await erase_person(self.clicks, leaver.user_id)
        titles = await self.clicks.targets.titles(leaver.user_id, _MOST_LINKS)
        scopes = {owner_scope(leaver.user_id)}
        for each in titles:
            scopes |= {link_scope(each.link_id), thing_scope(leaver.user_id, each.thing)}
        counters = [each.counter.counter_id for each in await list_counters(self.clicks, leaver.user_id)]
        for counter_id in counters:
            # First, so that nothing more is counted.
            await delete_counter(self.clicks, leaver.user_id, counter_id)
            scopes.add(counter_scope(counter_id))
        for scope in sorted(scopes):
            for shape in (COUNT, LAST, DAY_DIGEST):
                await delete_records(self.clicks.tables, shape, scope=scope)


async def erase_old_clicks(clicks: ClickLog) -> int:
    """Delete clicks that are older than clicks are kept; how many. Housekeeping calls this.

    Most clicks expire by themselves. Those that were stored while clicks were kept for longer do not. How far back
    clicks reach is noted first, so that a longer time set later does not make the days look complete.
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
        async for page in read_clicks(clicks, day_starts(day), min(until, day_starts(day) + DAY_SECONDS)):
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


async def complete_since(clicks: ClickLog) -> float:
    """From when on no click was deleted by its age; 0 if none ever was."""
    row = await COMPLETE_SINCE.get(clicks.tables)
    noted = 0.0 if row is None else from_iso(row.since)
    return noted if clicks.kept_for is None else max(noted, clicks.clock() - clicks.kept_for.total_seconds())


async def days_erased_from(clicks: ClickLog, first: date, last: date) -> set[date]:
    """The UTC days between these, both included, that miss clicks of an erased person."""
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


async def check_complete(clicks: ClickLog, period: Period) -> None:
    """Raise `PeriodGone` unless all clicks of the period are there."""
    if day_starts(period.first) < await complete_since(clicks):
        raise PeriodGone("The oldest clicks of this period are not kept any more, so it stays as it was counted.")
    if await days_erased_from(clicks, period.first, period.last):
        raise erased_from_period()


def erased_from_period() -> PeriodGone:
    return PeriodGone("Clicks of somebody were erased from this period, so it stays as it was counted.")
