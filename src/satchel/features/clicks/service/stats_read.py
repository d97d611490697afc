"""Read statistics: the total, today, each day of a zone, each month, the most opened links, and all of it as a file."""

import asyncio
import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal

from satchel.features.clicks.model import KINDS, check_day
from satchel.features.clicks.records import SITE
from satchel.features.clicks.service.click_list import read_clicks
from satchel.features.clicks.service.context import ClickLog, Clicks
from satchel.features.clicks.service.counts import (
    Figures,
    Sum,
    counter_scope,
    figures,
    link_scope,
    owner_scope,
    read_last,
    read_sum,
    read_sums,
    read_totals,
    scopes_of,
    thing_scope,
)
from satchel.features.clicks.service.local_days import (
    ONE_DAY,
    QUARTER_SECONDS,
    LocalDay,
    local_day_of,
    local_days,
    read_local_sums,
    same_time_on,
)
from satchel.features.clicks.service.page_counters import find_own_counter
from satchel.features.clicks.service.unique_people import FEW_CLICKS_READ, count_people, people_of_scopes
from satchel.kernel.clock import iso
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.unfit import TimeUnfit

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

MOST_DAYS = 400
MOST_MONTHS = 400
MAX_THING_CHARACTERS = 200
# Yesterday's clicks in the current quarter of an hour are read one by one, unless there are more than this.
MOST_CLICKS_COMPARED = 2_000
# The ranking looks at this many links of an owner, the newest. Between two days it reads the figures of those that were
# clicked last, and it shows the first few.
MOST_LINKS = 1000
MOST_READ = 200
MOST_SHOWN = 50
# A file is made once and kept, so it asks again while people are still being counted; but not for ever.
EXPORT_ATTEMPTS = 10
_CONCURRENT_READS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresOf:
    """What a day or a month (`2025-10-02`, `2025-10`) comes to."""

    period: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Consecutive days. `people_pending` if asking again will find the number of people on more days.

    `people_known_since` is the first day whose people can still be counted, None if that holds for all.
    """

    days: list[FiguresOf]
    people_pending: bool
    people_known_since: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The total, and the figures of now beside those of before.

    `so_far_until` is the moment of yesterday up to which `yesterday_so_far` counts.
    """

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
    """The scope that is asked for, if this person may read it. A scope of somebody else is not found."""
    kind, _, name = written.partition(":")
    if written == "mine":
        return owner_scope(user_id)
    if written == "site":
        if not is_admin:
            raise Forbidden("Only an administrator of this server can see the figures of all of it.")
        return SITE
    if kind == "link" and name and await clicks.targets.thing_of(user_id, name) is not None:
        return link_scope(name)
    if kind == "counter" and name:
        return counter_scope((await find_own_counter(clicks, user_id, name)).counter_id)
    if kind == "thing" and 0 < len(name) <= MAX_THING_CHARACTERS and await _is_known(clicks, user_id, name):
        return thing_scope(user_id, name)
    raise NotFound(
        "You have no such thing. Ask for `mine`, or `link:<id>`, `counter:<id>` or `thing:<kind>:<id>` of yours."
    )


async def _is_known(clicks: Clicks, user_id: str, thing: str) -> bool:
    """Whether it is theirs. What was counted once keeps its figures, even if the thing is gone."""
    scope = thing_scope(user_id, thing)
    return scope in await read_last(clicks.tables, [scope]) or await clicks.targets.has_thing(user_id, thing)


def days_between(first: date, last: date, zone: "ZoneInfo") -> list[LocalDay]:
    check_day(first, "from")
    check_day(last, "to")
    if not 0 <= (last - first).days < MOST_DAYS:
        raise TimeUnfit(f"Ask for 1 to {MOST_DAYS} days, from the first to the last.", field="from")
    return local_days(first, last, zone)


async def read_days(clicks: Clicks, scope: str, first: date, last: date, zone: "ZoneInfo") -> Days:
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


async def sum_of_days(clicks: ClickLog, scope: str, days: Sequence[LocalDay]) -> Figures:
    """The sum of consecutive days, without people."""
    whole = LocalDay(days[0].day, days[0].first, days[-1].end)
    (one,) = (await read_local_sums(clicks.tables, scope, [whole])).days
    return figures(one.clicks, None, one.by_kind)


async def read_months(clicks: Clicks, scope: str, first: str, last: str) -> list[FiguresOf]:
    """UTC months (`2025-10`) from first to last, both included. Who came several times in a month is one person."""
    months = _months(first, last)
    sums = await read_sums(clicks.tables, scope, f"MONTH:{first}", f"MONTH:{last}", may_lag=True)
    return [_month(month, sums.get(f"MONTH:{month}", Sum())) for month in months]


async def read_summary(clicks: Clicks, scope: str, zone: "ZoneInfo") -> Summary:
    now = clicks.clock()
    today = local_day_of(now, zone)
    month, previous = _month_of(today), _month_of(today.replace(day=1) - ONE_DAY)
    days = local_days(today - ONE_DAY, today, zone)
    total, sums, months, last = await asyncio.gather(
        read_sum(clicks.tables, scope, may_lag=True),
        read_local_sums(clicks.tables, scope, days),
        read_months(clicks, scope, previous, month),
        read_last(clicks.tables, [scope], may_lag=True),
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
    """The figures of a day up to a moment in it, and that moment.

    If the quarter of an hour has too many clicks to read one by one, the moment is the beginning of that quarter.
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
    """The month that is `number` months earlier."""
    return _month_name(max(0, _number_of(month) - number))


def _months(first: str, last: str) -> list[str]:
    begin, end = (_number_of(month) for month in (first, last))
    if not 0 <= end - begin < MOST_MONTHS:
        raise TimeUnfit(f"Ask for 1 to {MOST_MONTHS} months, from the first to the last.", field="from")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A link or a thing; its figures can be asked for by `scope`."""

    scope: str
    name: str
    figures: Figures
    last_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The most opened first, without those that have no clicks."""

    links: list[Ranked]
    things: list[Ranked]


async def read_top(clicks: Clicks, owner_id: str, between: tuple[date, date] | None, zone: "ZoneInfo") -> Ranking:
    """Rank what somebody shares, of all time or between two days, both included.

    Between two days the number of people is known only if there are few enough clicks to read.
    """
    titles = await clicks.targets.titles(owner_id, MOST_LINKS)
    links = {link_scope(each.link_id): (f"link:{each.link_id}", each.name) for each in titles}
    things = {thing_scope(owner_id, each.thing): (f"thing:{each.thing}", each.thing_name) for each in titles}
    last = await read_last(clicks.tables, [*links, *things], may_lag=True)
    if between is None:
        counted = await _of_all_time(clicks, list(last))
    else:
        counted = await _of_days(clicks, last, *between, zone)
    return Ranking(links=_ranked(links, counted, last), things=_ranked(things, counted, last))


async def _of_all_time(clicks: Clicks, scopes: Sequence[str]) -> dict[str, Figures]:
    sums = await read_totals(clicks.tables, scopes, clicks.recorder.slots)
    return {scope: figures(one.clicks, one.people, one.named) for scope, one in sums.items()}


async def _of_days(
    clicks: Clicks, last: Mapping[str, str], first_day: date, last_day: date, zone: "ZoneInfo"
) -> dict[str, Figures]:
    """The figures of the days. Only scopes that were last clicked on the first day or later are read."""
    days = days_between(first_day, last_day, zone)
    since = iso(days[0].starts)
    recent = sorted((scope for scope, at in last.items() if at >= since), key=last.__getitem__, reverse=True)
    counted: dict[str, Figures] = {}
    for start in range(0, min(len(recent), MOST_READ), _CONCURRENT_READS):
        some = recent[start : start + _CONCURRENT_READS]
        sums = await asyncio.gather(*(sum_of_days(clicks, scope, days) for scope in some))
        counted |= {scope: each for scope, each in zip(some, sums, strict=True) if each.clicks}
    people = await people_of_scopes(clicks, counted, days) if counted else {}
    return {scope: replace(each, people=people.get(scope)) for scope, each in counted.items()}


def _ranked(
    named: Mapping[str, tuple[str, str]], counted: Mapping[str, Figures], last: Mapping[str, str]
) -> list[Ranked]:
    found = [
        Ranked(scope=scope, name=name, figures=counted[key], last_at=last.get(key, ""))
        for key, (scope, name) in named.items()
        if key in counted
    ]
    found.sort(key=lambda each: (each.figures.kinds["open"], each.figures.clicks, each.last_at), reverse=True)
    return found[:MOST_SHOWN]


async def read_all_days(clicks: Clicks, scope: str, first: date, last: date, zone: "ZoneInfo") -> Days:
    """The days for a file, with as many of their people as can be counted."""
    days = await read_days(clicks, scope, first, last, zone)
    for _ in range(EXPORT_ATTEMPTS - 1):
        if not days.people_pending:
            break
        days = await read_days(clicks, scope, first, last, zone)
    return days


def as_csv(by: Literal["day", "month"], periods: Sequence[FiguresOf]) -> str:
    """The figures as a table for spreadsheets; what is not known is an empty cell.

    Its cells are days, months and numbers. Nobody wrote any of them, so none can be run as a formula.
    """
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow((by, "clicks", "people", *KINDS))
    for each in periods:
        kinds = each.figures.kinds
        table.writerow((each.period, each.figures.clicks, each.figures.people, *(kinds[kind] for kind in KINDS)))
    return written.getvalue()
