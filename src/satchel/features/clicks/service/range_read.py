"""Read what a range of days comes to: clicks beside those of the range before, people, where they came from, and how.

People of several days cannot be added up. Where the clicks of the whole server in the range are few enough to read at
once, people are counted, exactly. Else each day is read once, over several answers if it has to be, and a sketch of its
people is kept. Sketches can be joined, and say how far off they may be.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import msgspec

from satchel.features.clicks.records import DAY_DIGEST, SITE, ClickRow, DayDigestRow
from satchel.features.clicks.service.click_erase import complete_since, days_erased_from
from satchel.features.clicks.service.click_list import read_clicks
from satchel.features.clicks.service.context import ClickLog
from satchel.features.clicks.service.counts import Figures, figures, scopes_of
from satchel.features.clicks.service.local_days import (
    ONE_DAY,
    LocalDay,
    local_day_of,
    local_days,
    read_local_sums,
)
from satchel.features.clicks.service.people_sketch import PeopleSketch, joined_estimate
from satchel.features.clicks.service.stats_read import days_between, sum_of_days
from satchel.features.clicks.service.unique_people import MOST_CLICKS_READ
from satchel.kernel.clock import from_iso, iso

# A day is read in such pieces, so that a long one can be gone on with.
_PIECE_SECONDS = 15 * 60
# It can be made again from the clicks.
_KEPT_FOR = timedelta(days=90)
MOST_HOSTS = 50
_BEGINNING = date(1970, 1, 2)
_DEVICES = ("phone", "tablet", "computer")


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """How many different people, and between which bounds that is nearly always right; the same three if counted."""

    number: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFigures:
    """A range, and the one of the same length before it. `people` is None while unknown, or if clicks are gone.

    `hosts` are those from which somebody came, the most frequent first; `others` came from further ones. `devices` has
    all visits of which the device is known.
    """

    first: date
    last: date
    figures: Figures
    before: Figures
    people: People | None
    pending: bool
    known_since: date | None
    hosts: Sequence[tuple[str, int]]
    others: int
    devices: Mapping[str, int]


@dataclass(slots=True)
class _Gathered:
    """What was read of clicks, one by one."""

    hosts: Counter[str] = field(default_factory=Counter[str])
    others: int = 0
    devices: Counter[str] = field(default_factory=Counter[str])
    clicks: int = 0

    def add(self, rows: Iterable[ClickRow]) -> None:
        for row in rows:
            self.clicks += row.count
            if row.device is not None:
                self.devices[row.device] += row.count
            if row.referrer is not None:
                self.hosts[row.referrer] += row.count

    def join(self, digest: DayDigestRow) -> None:
        self.hosts.update(digest.hosts)
        self.devices.update(digest.devices)
        self.others += digest.others

    def listed(self) -> tuple[list[tuple[str, int]], int]:
        found = self.hosts.most_common()
        return found[:MOST_HOSTS], self.others + sum(number for _, number in found[MOST_HOSTS:])


async def read_range(
    clicks: ClickLog, scope: str, first: date, last: date, zone: ZoneInfo, *, budget: int = MOST_CLICKS_READ
) -> RangeFigures:
    days = days_between(first, last, zone)
    own = await sum_of_days(clicks, scope, days)
    before = await _sum_before(clicks, scope, first, last, zone)
    work = _Range(clicks, scope, zone, days, budget)
    people, pending = await work.read()
    since = await complete_since(clicks)
    erased = await days_erased_from(clicks, days[0].utc_days[0], days[-1].utc_days[-1])
    hosts, others = work.gathered.listed()
    is_known = not erased and days[0].starts >= since
    return RangeFigures(
        first=first,
        last=last,
        figures=own,
        before=before,
        people=people if is_known else None,
        # Clicks that are gone do not come back: asking again would find out nothing.
        pending=pending and is_known,
        known_since=local_day_of(since, zone) + ONE_DAY if since > 0 else None,
        hosts=hosts,
        others=others,
        devices={name: work.gathered.devices[name] for name in _DEVICES},
    )


async def _sum_before(clicks: ClickLog, scope: str, first: date, last: date, zone: ZoneInfo) -> Figures:
    begin = first - (last - first + ONE_DAY)
    if begin <= _BEGINNING:
        return figures(0, None, {})
    return await sum_of_days(clicks, scope, local_days(begin, first - ONE_DAY, zone))


class _Range:
    """Reads the clicks of a range within a budget, all at once or day by day."""

    def __init__(self, clicks: ClickLog, scope: str, zone: ZoneInfo, days: Sequence[LocalDay], budget: int) -> None:
        self._clicks = clicks
        self._scope = scope
        self._zone = zone
        self._days = days
        self._left = budget
        self.gathered = _Gathered()

    async def read(self) -> tuple[People | None, bool]:
        """The people, and whether asking again will find more out."""
        whole = LocalDay(self._days[0].day, self._days[0].first, self._days[-1].end)
        of_site = (await read_local_sums(self._clicks.tables, SITE, [whole])).days[0].clicks
        if of_site <= self._left and (people := await self._count(whole)) is not None:
            return people, False
        return await self._sketch()

    async def _count(self, whole: LocalDay) -> People | None:
        """None if there are more clicks than may be read: those that count for nobody else are in no sum."""
        seen: set[str] = set()
        gathered, left = _Gathered(), self._left
        async with aclosing(read_clicks(self._clicks, whole.starts, whole.ends)) as pages:
            async for page in pages:
                left -= len(page)
                if left < 0:
                    return None
                own = self._own(page)
                seen.update(row.user_id for row in own)
                gathered.add(own)
        self.gathered = gathered
        return People(number=len(seen), low=len(seen), high=len(seen))

    async def _sketch(self) -> tuple[People | None, bool]:
        sums = await read_local_sums(self._clicks.tables, self._scope, self._days)
        sketches, pending = list[bytes](), False
        kept = await self._kept()
        for day, total in zip(self._days, sums.days, strict=True):
            digest = kept.get(day.day)
            if not total.clicks or (self._left <= 0 and digest is None):
                pending = pending or bool(total.clicks)
                continue
            digest = await self._digest(day, total.clicks, digest)
            pending = pending or bool(digest.reached)
            self.gathered.join(digest)
            sketches.append(digest.people)
        if pending:
            return None, True
        number, low, high = joined_estimate(sketches)
        return People(number=number, low=low, high=high), False

    async def _digest(self, day: LocalDay, total: int, kept: DayDigestRow | None) -> DayDigestRow:
        """The digest of a day, as far as the budget goes. What is kept holds as long as the day has no other clicks."""
        if kept is not None and not kept.reached and kept.clicks == total:
            return kept
        begun = kept if kept is not None and kept.reached else None
        sketch, gathered = PeopleSketch(begun.people if begun else b""), _Gathered()
        if begun is not None:
            gathered.join(begun)
            gathered.clicks = begun.clicks
        reached = from_iso(begun.reached) if begun else day.starts
        while reached < day.ends and self._left > 0:
            upto = min(day.ends, reached + _PIECE_SECONDS)
            async with aclosing(read_clicks(self._clicks, reached, upto)) as pages:
                async for page in pages:
                    self._left -= len(page)
                    own = self._own(page)
                    gathered.add(own)
                    for row in own:
                        sketch.add(row.user_id)
            reached = upto
        is_whole = reached >= day.ends
        digest = self._row(day, gathered, sketch, "" if is_whole else iso(reached))
        if is_whole and gathered.clicks < total:
            # Clicks that came late, before what was read already, are missing: it begins anew next time.
            await self._clicks.tables.delete(DAY_DIGEST.table, self._key(day))
            return msgspec.structs.replace(digest, reached=iso(day.starts))
        await self._clicks.tables.put(DAY_DIGEST.table, DAY_DIGEST.item(digest))
        return digest

    def _row(self, day: LocalDay, gathered: _Gathered, sketch: PeopleSketch, reached: str) -> DayDigestRow:
        hosts, others = gathered.listed()
        return DayDigestRow(
            scope=self._scope,
            zone=self._zone.key,
            day=day.day.isoformat(),
            clicks=gathered.clicks,
            reached=reached,
            people=sketch.stored(),
            hosts=dict(hosts),
            others=others,
            devices=dict(gathered.devices),
            expires_at=int(self._clicks.clock() + _KEPT_FOR.total_seconds()),
        )

    async def _kept(self) -> dict[date, DayDigestRow]:
        items = await self._clicks.tables.get_many(DAY_DIGEST.table, [self._key(day) for day in self._days])
        rows = [DAY_DIGEST.read(item) for item in items if item is not None]
        return {date.fromisoformat(row.day): row for row in rows}

    def _key(self, day: LocalDay) -> dict[str, str]:
        return DAY_DIGEST.key(scope=self._scope, zone=self._zone.key, day=day.day.isoformat())

    def _own(self, page: Sequence[ClickRow]) -> list[ClickRow]:
        return [row for row in page if self._scope in scopes_of(row)]
