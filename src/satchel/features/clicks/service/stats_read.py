"""What people ask of statistics: how much there was in all, today, on each day of their zone, in each month."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from satchel.features.clicks.records import SITE
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Figures, Sum, figures, read_last, read_sum, read_sums
from satchel.features.clicks.service.folding import link_scope, owner_scope, scopes_of, thing_scope
from satchel.features.clicks.service.local_days import (
    ONE_DAY,
    QUARTER_SECONDS,
    LocalDay,
    check_day,
    local_day_of,
    local_days,
    same_time_on,
)
from satchel.features.clicks.service.local_sums import read_local_sums
from satchel.features.clicks.service.people import FEW_CLICKS_READ, count_people
from satchel.features.clicks.service.raw_clicks import read_clicks
from satchel.kernel.clock import iso
from satchel.kernel.errors import Forbidden, Invalid, NotFound

MOST_DAYS = 400
MOST_MONTHS = 400
MAX_THING_CHARACTERS = 200
# Of the quarter that runs now, yesterday's clicks are read one by one, unless there were more than this.
MOST_CLICKS_COMPARED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresOf:
    """What a day or a month (`2025-10-02`, `2025-10`) comes to."""

    period: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Days that follow each other. `people_pending` if asking again will tell of more days how many people there were.

    `people_known_since` is the first day of which that can still be found out, None if of all.
    """

    days: list[FiguresOf]
    people_pending: bool
    people_known_since: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Where things stand. `so_far_until` is the moment of yesterday up to which `yesterday_so_far` counts."""

    total: Figures
    today: Figures
    yesterday_so_far: Figures
    so_far_until: str
    yesterday: Figures
    month: FiguresOf
    previous_month: FiguresOf
    last_at: str
    today_is: date


async def find_scope(clicks: Clicks, user_id: str, written: str, *, is_admin: bool) -> str:
    """The scope that is asked for, if this person may read it; what is somebody else's looks like what is not there."""
    kind, _, name = written.partition(":")
    if written == "mine":
        return owner_scope(user_id)
    if written == "site":
        if not is_admin:
            raise Forbidden("Only an administrator of this server can see the figures of all of it.")
        return SITE
    if kind == "link" and name and await clicks.targets.thing_of(user_id, name) is not None:
        return link_scope(name)
    if kind == "thing" and 0 < len(name) <= MAX_THING_CHARACTERS and await _is_known(clicks, user_id, name):
        return thing_scope(user_id, name)
    raise NotFound("You share no such thing. Ask for `mine`, or `link:<id>` or `thing:<kind>:<id>` of what is yours.")


async def _is_known(clicks: Clicks, user_id: str, thing: str) -> bool:
    """What was counted once is known for good, whatever has become of the thing."""
    scope = thing_scope(user_id, thing)
    return scope in await read_last(clicks.tables, [scope]) or await clicks.targets.has_thing(user_id, thing)


def days_between(first: date, last: date, zone: ZoneInfo) -> list[LocalDay]:
    check_day(first, "from")
    check_day(last, "to")
    if not 0 <= (last - first).days < MOST_DAYS:
        raise Invalid(f"Ask for 1 to {MOST_DAYS} days, from the first to the last.", field="from")
    return local_days(first, last, zone)


async def read_days(clicks: Clicks, scope: str, first: date, last: date, zone: ZoneInfo) -> Days:
    """The days of a zone from first to last, both included."""
    days = days_between(first, last, zone)
    sums = await read_local_sums(clicks.tables, scope, days)
    people = await count_people(clicks, scope, zone, days, sums)
    return Days(
        days=[
            FiguresOf(period=day.day.isoformat(), figures=figures(each.clicks, number, each.by_kind))
            for day, each, number in zip(days, sums.days, people.numbers, strict=True)
        ],
        people_pending=people.pending,
        people_known_since=people.known_since,
    )


async def sum_of_days(clicks: Clicks, scope: str, days: Sequence[LocalDay]) -> Figures:
    """What days that follow each other come to in all; people are not told apart."""
    whole = LocalDay(days[0].day, days[0].first, days[-1].end)
    (one,) = (await read_local_sums(clicks.tables, scope, [whole])).days
    return figures(one.clicks, None, one.by_kind)


async def read_months(clicks: Clicks, scope: str, first: str, last: str) -> list[FiguresOf]:
    """UTC months (`2025-10`) from first to last, both included; people are told apart within each."""
    months = _months(first, last)
    sums = await read_sums(clicks.tables, scope, f"MONTH:{first}", f"MONTH:{last}")
    return [_month(month, sums.get(f"MONTH:{month}", Sum())) for month in months]


async def read_summary(clicks: Clicks, scope: str, zone: ZoneInfo) -> Summary:
    now = clicks.clock()
    today = local_day_of(now, zone)
    month, previous = _month_of(today), _month_of(today.replace(day=1) - ONE_DAY)
    days = local_days(today - ONE_DAY, today, zone)
    total, sums, months, last = await asyncio.gather(
        read_sum(clicks.tables, scope),
        read_local_sums(clicks.tables, scope, days),
        read_months(clicks, scope, previous, month),
        read_last(clicks.tables, [scope]),
    )
    people = await count_people(clicks, scope, zone, days, sums, budget=FEW_CLICKS_READ)
    yesterday, running = (
        figures(each.clicks, number, each.by_kind) for each, number in zip(sums.days, people.numbers, strict=True)
    )
    so_far, until = await _so_far(clicks, scope, days[0], same_time_on(days[0], now, zone))
    return Summary(
        total=figures(total.clicks, total.people, total.named),
        today=running,
        yesterday_so_far=so_far,
        so_far_until=iso(until),
        yesterday=yesterday,
        month=months[1],
        previous_month=months[0],
        last_at=last.get(scope, ""),
        today_is=today,
    )


async def _so_far(clicks: Clicks, scope: str, day: LocalDay, until: float) -> tuple[Figures, float]:
    """What a day had come to by a moment in it, and by which moment that is.

    If too much happened in the quarter of the moment to be read click by click, it is the beginning of that quarter.
    """
    quarter = int(until // QUARTER_SECONDS)
    begun = quarter * QUARTER_SECONDS
    pieces = [LocalDay(day.day, day.first, quarter), LocalDay(day.day, quarter, quarter + 1)]
    before, running = (await read_local_sums(clicks.tables, scope, pieces)).days
    whole = figures(before.clicks, None, before.by_kind)
    if not running.clicks or until == begun:
        return whole, until
    by_kind, seen = dict(before.by_kind), 0
    async with aclosing(read_clicks(clicks, begun, until)) as pages:
        async for page in pages:
            seen += len(page)
            if seen > MOST_CLICKS_COMPARED:
                return whole, begun
            for click in page:
                if scope in scopes_of(click):
                    by_kind[click.kind] = by_kind.get(click.kind, 0) + click.count
    return figures(sum(by_kind.values()), None, by_kind), until


def months_before(month: str, number: int) -> str:
    """So many months before a month."""
    return _month_name(max(0, _number_of(month) - number))


def _months(first: str, last: str) -> list[str]:
    begin, end = (_number_of(month) for month in (first, last))
    if not 0 <= end - begin < MOST_MONTHS:
        raise Invalid(f"Ask for 1 to {MOST_MONTHS} months, from the first to the last.", field="from")
    return [_month_name(number) for number in range(begin, end + 1)]


def _number_of(month: str) -> int:
    year, of_year = month.split("-")
    return int(year) * 12 + int(of_year) - 1


def _month_name(number: int) -> str:
    return f"{number // 12:04}-{number % 12 + 1:02}"


def _month_of(day: date) -> str:
    return day.isoformat()[:7]


def _month(month: str, one: Sum) -> FiguresOf:
    return FiguresOf(period=month, figures=figures(one.clicks, one.people, one.named))
