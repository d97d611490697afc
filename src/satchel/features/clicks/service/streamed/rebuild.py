"""Count a day or a month again while clicks keep coming through the stream, each of them exactly once.

A rebuild holds the stream alone: everything up to its position is folded, and nothing after it. The fold of the stored
clicks is assigned, less those clicks that the stream still has ahead. These are folded later as usual. Only sums have
to be reduced like this: people who are counted here are marked as well, so they are not counted again.

Days of which the stream has lost changes are counted again in the same way.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from satchel.features.clicks.model import EARLIEST, LATEST, QUARTER, Period, PeriodGone
from satchel.features.clicks.records import (
    ALL,
    COUNT,
    ONE_SLOT,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    ClickRow,
    marker_item,
)
from satchel.features.clicks.service.click_erase import check_complete
from satchel.features.clicks.service.click_list import day_starts, read_clicks
from satchel.features.clicks.service.context import ClickLog, Rebuilt
from satchel.features.clicks.service.counts import (
    Place,
    Sum,
    Tally,
    added_up,
    is_marked_first,
    marker_expiry,
    read_sum,
    read_sums,
)
from satchel.features.clicks.service.streamed.stream_fold import (
    CONSUMER,
    Fold,
    check_positions,
    clicks_in,
    growth_of,
    is_valid,
    note_last,
)
from satchel.features.clicks.stream_records import DOUBTFUL, UNPUBLISHED, DoubtfulRow, UnpublishedRow
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict, Unavailable
from satchel.kernel.ids import new_id
from satchel.stores.consumer import LEASE, Consumer
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import (
    MAX_PAGE_ITEMS,
    MAX_TRANSACTION_ITEMS,
    Change,
    Check,
    ConditionFailed,
    Delete,
    Item,
    Key,
    PositionLost,
    Put,
    StartsWith,
    TransactionCancelled,
    Write,
)
from satchel.tables import CLICKS, COUNTS

# How far an index and the stream may lag behind the table.
SETTLING = timedelta(seconds=3)
# A stream has no changes that are older.
STREAM_KEEPS = timedelta(hours=24)
_NEARLY_ALL = 100

_log = logging.getLogger("satchel.clicks")


@dataclass(frozen=True, slots=True)
class _Rebuild:
    """One rebuild. Each of its writes is made under the checks `held`: that the stream is still held alone."""

    clicks: ClickLog
    period: Period
    held: Sequence[Check]
    most_writes: int

    async def assign(self, counted: Tally) -> None:
        scopes = {SITE, *(scope for scope, _ in counted.growth)}
        people = counted.people()
        for scope in scopes:
            await self._mark(scope, people)
            await self._assign_period(scope, counted, people)
            await self._assign_longer(scope)
        await note_last(self.clicks.tables, counted.last)
        await self._write([self._note(self.period.days[0])])

    async def _mark(self, scope: str, seen: Mapping[Place, AbstractSet[str]]) -> None:
        """Mark everybody who was seen. Add new people to the periods that are not recounted."""
        for (of_scope, period), people in seen.items():
            expires_at = marker_expiry(period)
            if of_scope != scope or (expires_at is not None and expires_at <= self.clicks.clock()):
                continue
            markers = [marker_item(user_id, period, scope, expires_at) for user_id in sorted(people)]
            found = await self._find([COUNTS.key_of(marker) for marker in markers])
            first = await self._find([marker_item(user_id, ALL, scope, None) for user_id in sorted(people)])
            unmarked = [
                marker
                for marker, known, of_all in zip(markers, found, first, strict=True)
                if known is None and not is_marked_first(of_all, period)
            ]
            if self._is_recounted(period):
                await self.clicks.tables.write_many(COUNTS, put=unmarked)
            else:
                await self._mark_and_add(scope, period, unmarked)

    async def _find(self, keys: Sequence[Key]) -> Sequence[Item | None]:
        return await self.clicks.tables.get_many(COUNTS, keys)

    async def _mark_and_add(self, scope: str, period: str, unmarked: Sequence[Item]) -> None:
        room = self.most_writes - len(self.held) - 1
        for start in range(0, len(unmarked), room):
            markers = [Put(COUNTS, item, attr("PK").absent()) for item in unmarked[start : start + room]]
            more = [add(UNIQUE_USERS, len(markers))]
            await self._write([*markers, COUNT.update(more, scope=scope, period=period, slot=ONE_SLOT)])

    def _is_recounted(self, period: str) -> bool:
        return period == self.period.name or period.startswith(("DAY:", QUARTER))

    async def _assign_period(self, scope: str, counted: Tally, people: Mapping[Place, AbstractSet[str]]) -> None:
        """Assign each day of the period as recounted; delete the counts of days without clicks."""
        stored = await read_sums(self.clicks.tables, scope, *self.period.days)
        stored |= await read_sums(self.clicks.tables, scope, *self.period.quarters)
        recounted = {
            period: _sum_of(growth, len(people.get((scope, period), ())))
            for (of_scope, period), growth in counted.growth.items()
            if of_scope == scope and self._is_recounted(period)
        }
        for period, one in (dict.fromkeys(stored) | recounted).items():
            await self._assign(scope, period, one)

    async def _assign_longer(self, scope: str) -> None:
        """Assign the month as the sum of its days, and all time as the sum of its months; people as they are known."""
        tables, month = self.clicks.tables, self.period.month
        of_month = added_up((await read_sums(tables, scope, *month.days)).values())
        of_month.people = (await read_sum(tables, scope, month.name)).people
        await self._assign(scope, month.name, of_month)
        of_all = added_up((await read_sums(tables, scope, "MONTH:", "MONTH:~")).values())
        of_all.people = (await read_sum(tables, scope)).people
        await self._assign(scope, ALL, of_all)

    async def _assign(self, scope: str, period: str, one: Sum | None) -> None:
        """Put the whole count into one slot, and delete the others."""
        partition = COUNT.keys["PK"].render({"scope": scope})
        rows = (await self.clicks.tables.query(COUNTS, partition, StartsWith(f"{period}#"))).items
        mine = COUNT.key(scope=scope, period=period, slot=ONE_SLOT)
        writes: list[Write] = []
        if one is not None:
            writes = [Put(COUNTS, {**mine, TOTAL_CLICKS: one.clicks, UNIQUE_USERS: one.people, **one.named})]
        keys = [COUNTS.key_of(row) for row in rows]
        writes += [Delete(COUNTS, key) for key in keys if one is None or key != mine]
        if scope == SITE and period.startswith("DAY:"):
            writes.append(self._note(period))
        await self._write(writes)

    def _note(self, day: str) -> Put:
        """The note that a day has to be published, with its month and the total."""
        stamp = new_id(self.clicks.clock)
        return UNPUBLISHED.put(UnpublishedRow(day=day.removeprefix("DAY:"), slot=ONE_SLOT, stamp=stamp))

    async def _write(self, writes: Sequence[Write]) -> None:
        try:
            await self.clicks.tables.transact([*writes, *self.held])
        except TransactionCancelled as refusal:
            raise Conflict("Somebody took the stream of clicks over. Count the period again.") from refusal


async def rebuild(
    clicks: ClickLog, period: Period, *, most_writes: int = MAX_TRANSACTION_ITEMS, settling: timedelta = SETTLING
) -> Rebuilt:
    """As `Recorder.rebuild`. If it is interrupted, repeating it makes all figures right."""
    await check_positions(clicks.tables, clicks.clock)
    alone = Consumer(
        tables=clicks.tables,
        table=CLICKS,
        name=CONSUMER,
        worker=f"rebuild/{new_id(clicks.clock)}",
        clock=clicks.clock,
        alone=True,
    )
    async with _held(alone):
        await _catch_up(alone, Fold(clicks.tables, clicks.clock, most_writes=most_writes))
        before = await read_sum(clicks.tables, SITE, period.name)
        await asyncio.sleep(settling.total_seconds())
        counted, seen = await _recount(clicks, period)
        await asyncio.sleep(settling.total_seconds())
        held = await alone.hold()
        _subtract(counted, *clicks_in(_already_seen(await alone.following(), seen)))
        await _Rebuild(clicks, period, held, most_writes).assign(counted)
        return Rebuilt(before, await read_sum(clicks.tables, SITE, period.name))


async def _catch_up(alone: Consumer, fold: Fold) -> None:
    try:
        while await alone.consume(fold) > _NEARLY_ALL:
            pass
    except PositionLost as error:
        raise Unavailable(
            "The stream has lost clicks. Let `satchel worker` run: it counts the days concerned again."
        ) from error


async def doubt_lost_days(clicks: ClickLog, consumer: Consumer) -> None:
    """Note the days whose clicks the stream has lost, then continue with what it still has."""
    lost = await consumer.lost()
    if not lost:
        return
    now = clicks.clock()
    first = _day_of(min(row["movedAt"] for row in lost) - LATEST.total_seconds())
    last = _day_of(now + EARLIEST.total_seconds())
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    _log.error("clicks were lost from the stream; days are counted again", extra={"first": first, "last": last})
    await clicks.tables.write_many(COUNTS, put=[DOUBTFUL.item(DoubtfulRow(day=day.isoformat())) for day in days])
    await consumer.forget_lost()


async def count_doubtful_days(clicks: ClickLog, *, most_writes: int, settling: timedelta = SETTLING) -> int:
    """Rebuild the days that were noted; how many."""
    page = await clicks.tables.query(COUNTS, DOUBTFUL.keys["PK"].render({}), limit=MAX_PAGE_ITEMS)
    for item in page.items:
        row = DOUBTFUL.read(item)
        try:
            period = _to_recount(clicks, date.fromisoformat(row.day))
            await rebuild(clicks, period, most_writes=most_writes, settling=settling)
        except PeriodGone as error:
            _log.error("a day stays as it was counted: %s", error.detail, extra={"day": row.day})
        unchanged = attr("stamp") == row.stamp if row.stamp else attr("stamp").absent()
        with suppress(ConditionFailed):
            await clicks.tables.delete(COUNTS, DOUBTFUL.key(day=row.day), when=unchanged)
    return len(page.items)


def _to_recount(clicks: ClickLog, day: date) -> Period:
    """The day or, if nobody knows any more who was counted in its month, the whole month."""
    month = Period.of_day(day).month
    expires_at = marker_expiry(month.name)
    return month if expires_at is not None and expires_at <= clicks.clock() else Period.of_day(day)


async def _recount(clicks: ClickLog, period: Period) -> tuple[Tally, dict[int, int]]:
    """The fold of all clicks of a period, and hashes of those that the stream may still have ahead."""
    await check_complete(clicks, period)
    recent = iso(clicks.clock() - LATEST.total_seconds() - STREAM_KEEPS.total_seconds())
    counted = Tally()
    seen: dict[int, int] = {}
    async for page in read_clicks(clicks, day_starts(period.first), day_starts(period.last + timedelta(days=1))):
        rows = [row for row in page if is_valid(row)]
        counted.add(rows)
        seen |= {hash((row.user_id, row.created)): hash(row) for row in rows if row.created > recent}
    await check_complete(clicks, period)
    return counted, seen


def _already_seen(ahead: Iterable[Change], seen: Mapping[int, int]) -> list[Change]:
    """The changes ahead whose outcome was already read."""
    by_click: dict[int, list[Change]] = {}
    for change in ahead:
        by_click.setdefault(hash((change.key["userId"], change.key["createDateTime"])), []).append(change)
    found: list[Change] = []
    for click, changes in by_click.items():
        led = [number for number, change in enumerate(changes, 1) if _hash_of(change) == seen.get(click)]
        found += changes[: led[-1]] if led else []
    return found


def _hash_of(change: Change) -> int:
    new, _ = clicks_in([change])
    return hash(new[0]) if new else 0


@asynccontextmanager
async def _held(alone: Consumer) -> AsyncGenerator[None]:
    """Hold the stream until the block ends."""

    async def keep() -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 4)
            await alone.hold()

    await alone.hold()
    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await alone.release()


def _subtract(counted: Tally, new: Sequence[ClickRow], old: Sequence[ClickRow]) -> None:
    """Take away what will be folded later."""
    for place, ahead in growth_of(new, old).items():
        if (growth := counted.growth.get(place)) is not None:
            for name, number in ahead.items():
                growth[name] = growth.get(name, 0) - number


def _sum_of(growth: Mapping[str, int], people: int) -> Sum:
    named = {name: number for name, number in growth.items() if name != TOTAL_CLICKS}
    return Sum(growth[TOTAL_CLICKS], people, named)


def _day_of(moment: float) -> date:
    return datetime.fromtimestamp(moment, UTC).date()
