"""Count a day or a month again from its clicks, should a figure be in doubt; what comes out is assigned, not added.

Days are assigned from the clicks. Months and all time are then the sums of their days and months, which are kept for
good; so clicks that have expired since stay counted. People are those of the recount, and whoever had no marker yet.
"""

from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from satchel.features.clicks.model import PeriodGone
from satchel.features.clicks.records import (
    ALL,
    COUNT,
    ERASED_FROM,
    ONE_SLOT,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    marker_item,
    stat_item,
)
from satchel.features.clicks.service.context import ClickLog, Clicks
from satchel.features.clicks.service.counts import Sum, read_sum
from satchel.features.clicks.service.folding import QUARTER, Place, Tally, marker_expiry
from satchel.features.clicks.service.local_days import check_day
from satchel.features.clicks.service.raw_clicks import complete_since, day_starts, days_erased_from, read_clicks
from satchel.features.clicks.service.storing import note_last
from satchel.kernel.errors import Conflict
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Range
from satchel.tables import CLICKS, COUNTS

ATTEMPTS = 5
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """A UTC day or month: its name among the counts (`DAY:…`, `MONTH:…`), its first and its last day."""

    name: str
    first: date
    last: date

    @classmethod
    def of_day(cls, day: date) -> "Period":
        check_day(day, "day")
        return cls(f"DAY:{day}", day, day)

    @classmethod
    def of_month(cls, year: int, month: int) -> "Period":
        # There is no year 0; the year 1 is refused as well.
        first = check_day(date(max(1, year), month, 1), "month")
        last = check_day(first.replace(day=monthrange(year, month)[1]), "month")
        return cls(f"MONTH:{year:04}-{month:02}", first, last)

    @property
    def month(self) -> "Period":
        return Period.of_month(self.first.year, self.first.month)

    @property
    def days(self) -> tuple[str, str]:
        """The names of its first and its last day."""
        return f"DAY:{self.first}", f"DAY:{self.last}"

    @property
    def quarters(self) -> tuple[str, str]:
        """The names of its first and its last quarter of an hour."""
        return f"{QUARTER}{self.first}T00:00", f"{QUARTER}{self.last}T23:45"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What the whole site's figures were, and what they are now."""

    before: Sum
    after: Sum


async def rebuild(clicks: Clicks, period: Period) -> Rebuilt:
    """Raises `PeriodGone` if not all clicks of the period are kept, `Conflict` if they keep coming too fast."""
    assert clicks.bulk is not None, "where workers fold, `rebuild_streamed` counts again"
    for _ in range(ATTEMPTS):
        before = await read_sum(clicks.tables, SITE, period.name)
        counted = await recount(clicks, period)
        # Every click adds to its period, so nothing was added while the sum has stayed the same.
        assign = partial(_assign_if_unchanged, period=period, counted=counted, before=before, now=clicks.clock())
        if await clicks.bulk.in_one_step(assign):
            return Rebuilt(before, await read_sum(clicks.tables, SITE, period.name))
    raise Conflict("Clicks come in faster than they can be counted again. Try again once this period is over.")


async def recount(clicks: ClickLog, period: Period) -> Tally:
    """What the clicks of a period come to, whatever was counted before."""
    await check_kept(clicks, period)
    counted = Tally()
    async for page in read_clicks(clicks, day_starts(period.first), day_starts(period.last + _ONE_DAY)):
        counted.add(page)
    await check_kept(clicks, period)
    return counted


async def check_kept(clicks: ClickLog, period: Period) -> None:
    """Raise `PeriodGone` unless the clicks of the period are all there."""
    if day_starts(period.first) < await complete_since(clicks):
        raise PeriodGone("The oldest clicks of this period are not kept any more, so it stays as it was counted.")
    if await days_erased_from(clicks, period.first, period.last):
        raise _erased()


def _erased() -> PeriodGone:
    return PeriodGone("Clicks of somebody were erased from this period, so it stays as it was counted.")


def _assign_if_unchanged(step: Step, *, period: Period, counted: Tally, before: Sum, now: float) -> bool:
    if _sums(step, SITE, period.name, period.name).get(period.name, Sum()) != before:
        return False
    erased = Range(period.first.isoformat(), period.last.isoformat())
    if step.query(COUNTS, ERASED_FROM.keys["PK"].render({}), erased, limit=1).items:
        raise _erased()
    new_people = _mark(step, counted, now)
    for scope, short in _short_by_scope(counted).items():
        _assign_short(step, scope, period, short)
        _assign_longer(step, scope, period, counted, new_people)
    note_last(step, counted.last)
    return True


def _mark(step: Step, counted: Tally, now: float) -> dict[Place, int]:
    """Mark everybody who was seen, where that still matters; how many had not been marked."""
    new: dict[Place, int] = {}
    for (scope, period), people in counted.seen.items():
        expires_at = marker_expiry(period)
        if expires_at is None or expires_at > now:
            markers = [marker_item(user_id, period, scope, expires_at) for user_id in people]
            new[scope, period] = sum(step.insert_new(COUNTS, markers))
    return new


def _short_by_scope(counted: Tally) -> dict[str, dict[str, Sum]]:
    """Days and quarters of an hour; the whole site is always there, even if nothing is left of it."""
    found: dict[str, dict[str, Sum]] = {SITE: {}}
    for (scope, period), growth in counted.growth.items():
        if period.startswith(("DAY:", QUARTER)):
            named = {name: number for name, number in growth.items() if name != TOTAL_CLICKS}
            one = Sum(growth[TOTAL_CLICKS], len(counted.seen.get((scope, period), ())), named)
            found.setdefault(scope, {})[period] = one
    return found


def _assign_short(step: Step, scope: str, period: Period, recounted: Mapping[str, Sum]) -> None:
    """Days and quarters of the period as they were recounted; of one that had clicks and has none, a zero is left."""
    stored = {*_sums(step, scope, *period.days), *_sums(step, scope, *period.quarters)}
    for each in stored | set(recounted):
        _put(step, scope, each, recounted.get(each, Sum()))


def _assign_longer(step: Step, scope: str, period: Period, counted: Tally, new_people: dict[Place, int]) -> None:
    """The month as the sum of its days, all time as the sum of its months."""
    month = period.month
    days = _sums(step, scope, *month.days)
    of_month = added_up(days.values())
    if period == month:
        of_month.people = len(counted.seen.get((scope, month.name), ()))
    else:
        known = _sums(step, scope, month.name, month.name).get(month.name, Sum())
        of_month.people = known.people + new_people.get((scope, month.name), 0)
    _put(step, scope, month.name, of_month)
    months = _sums(step, scope, "MONTH:", "MONTH:~")
    of_all = added_up(months.values())
    known = _sums(step, scope, ALL, ALL).get(ALL, Sum())
    of_all.people = known.people + new_people.get((scope, ALL), 0)
    _put(step, scope, ALL, of_all)


def added_up(sums: Iterable[Sum]) -> Sum:
    """Clicks in all and by kind; people cannot be added up."""
    added = Sum()
    for one in sums:
        added.clicks += one.clicks
        for kind, number in one.named.items():
            added.named[kind] = added.named.get(kind, 0) + number
    return added


def _sums(step: Step, scope: str, first: str, last: str) -> dict[str, Sum]:
    """As `read_sums`, within a step."""
    partition, between = COUNT.keys["PK"].render({"scope": scope}), Range(f"{first}#", f"{last}#~")
    sums: dict[str, Sum] = {}
    cursor = None
    while True:
        page = step.query(COUNTS, partition, between, cursor=cursor)
        for row in page.items:
            sums.setdefault(row["SK"].rpartition("#")[0], Sum()).add(row)
        if (cursor := page.cursor) is None:
            return sums


def _put(step: Step, scope: str, period: str, one: Sum) -> None:
    key = COUNT.key(scope=scope, period=period, slot=ONE_SLOT)
    if not one.clicks and step.get(COUNTS, key) is None:
        return
    if period.startswith(QUARTER):
        step.put(COUNTS, {**key, TOTAL_CLICKS: one.clicks, **one.named})
        return
    step.put(COUNTS, {**key, TOTAL_CLICKS: one.clicks, UNIQUE_USERS: one.people, **one.named})
    if scope == SITE:
        step.put(CLICKS, stat_item(period, one.clicks, one.people))
