"""Different people of local days, which no counts add up to: who comes before and after a UTC midnight is one person.

They are counted from the clicks themselves, the newest days first, up to a budget; what was counted is kept and holds
for as long as the day has no more clicks. Where the figure of a UTC day says it too, nothing is read at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from satchel.features.clicks.records import LOCAL_PEOPLE, SITE, LocalPeopleRow
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Sum
from satchel.features.clicks.service.folding import scopes_of
from satchel.features.clicks.service.local_days import ONE_DAY, LocalDay, local_day_of, local_days
from satchel.features.clicks.service.local_sums import LocalSum, LocalSums, read_local_sums
from satchel.features.clicks.service.raw_clicks import complete_since, day_starts, days_erased_from, read_clicks

# So many clicks are read for one answer, which takes about a second; for one that is asked for all the time, a tenth.
MOST_CLICKS_READ = 50_000
FEW_CLICKS_READ = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfDays:
    """One number for each day, None where it is not known; `pending` if asking again will tell more of them.

    `known_since` is the first day of which it can still be found out, None if that holds for all.
    """

    numbers: list[int | None]
    pending: bool = False
    known_since: date | None = None


class _BudgetSpent(Exception):
    """As many clicks as may be read for one answer have been read."""


@dataclass(slots=True)
class _Counting:
    """The work for one answer."""

    clicks: Clicks
    scope: str
    zone: ZoneInfo
    budget: int
    left: int

    async def count(self, day: LocalDay, total: int) -> int:
        """The people of a day that has so many clicks, and a note of it for the next time."""
        had, people, found = self.left, set[str](), 0
        async with aclosing(read_clicks(self.clicks, day.starts, day.ends)) as pages:
            async for page in pages:
                self.left -= len(page)
                if self.left < 0:
                    if had == self.budget:
                        await self.keep(day, total, people=None, read_in_vain=self.budget)
                    raise _BudgetSpent
                own = [click for click in page if self.scope == SITE or self.scope in scopes_of(click)]
                people.update(click.user_id for click in own)
                found += sum(click.count for click in own)
        # Where clicks are counted a little later than they are stored, the two can differ for a moment.
        if found == total:
            await self.keep(day, total, people=len(people))
        return len(people)

    async def keep(self, day: LocalDay, total: int, *, people: int | None, read_in_vain: int = 0) -> None:
        row = LocalPeopleRow(
            scope=self.scope,
            zone=self.zone.key,
            day=day.day.isoformat(),
            clicks=total,
            people=people,
            read_in_vain=read_in_vain,
        )
        await self.clicks.tables.put(LOCAL_PEOPLE.table, LOCAL_PEOPLE.item(row))

    async def kept(self, days: Sequence[LocalDay]) -> dict[date, LocalPeopleRow]:
        keys = [LOCAL_PEOPLE.key(scope=self.scope, zone=self.zone.key, day=day.day.isoformat()) for day in days]
        items = await self.clicks.tables.get_many(LOCAL_PEOPLE.table, keys)
        rows = [LOCAL_PEOPLE.read(item) for item in items if item is not None]
        return {date.fromisoformat(row.day): row for row in rows}


async def count_people(
    clicks: Clicks,
    scope: str,
    zone: ZoneInfo,
    days: Sequence[LocalDay],
    sums: LocalSums,
    *,
    budget: int = MOST_CLICKS_READ,
) -> PeopleOfDays:
    """How many different people there were on each of these days."""
    numbers = [_said_by_utc(each, sums.utc_days) for each in sums.days]
    unsaid = [place for place, number in enumerate(numbers) if number is None]
    if not unsaid:
        return PeopleOfDays(numbers=numbers)
    work = _Counting(clicks, scope, zone, budget, budget)
    kept = await work.kept([days[place] for place in unsaid])
    since = await complete_since(clicks)
    erased = await days_erased_from(clicks, days[unsaid[0]].utc_days[0], days[unsaid[-1]].utc_days[-1])
    pending = False
    for place in reversed(unsaid):
        day, total = days[place], sums.days[place].clicks
        row = kept.get(day.day)
        if row is not None and row.people is not None and row.clicks == total:
            numbers[place] = row.people
        elif row is not None and row.read_in_vain >= budget:
            # What was too much to be counted only ever becomes more.
            continue
        elif day.starts >= since and erased.isdisjoint(day.utc_days):
            try:
                numbers[place] = await work.count(day, total)
            except _BudgetSpent:
                pending = True
                break
    return PeopleOfDays(numbers=numbers, pending=pending, known_since=_first_known(since, zone))


async def people_of_scopes(clicks: Clicks, scopes: Iterable[str], days: Sequence[LocalDay]) -> dict[str, int]:
    """How many people each of these had in days that follow each other, taken together; all from one reading.

    None of them, if there were too many clicks to read, or some are not kept any more.
    """
    whole = LocalDay(days[0].day, days[0].first, days[-1].end)
    sums = await read_local_sums(clicks.tables, SITE, [whole])
    erased = await days_erased_from(clicks, whole.utc_days[0], whole.utc_days[-1])
    if sums.days[0].clicks > FEW_CLICKS_READ or erased or whole.starts < await complete_since(clicks):
        return {}
    people = {scope: set[str]() for scope in scopes}
    for utc in sorted(sums.days[0].parts):
        starts = max(whole.starts, day_starts(utc))
        async with aclosing(read_clicks(clicks, starts, min(whole.ends, day_starts(utc + ONE_DAY)))) as pages:
            async for page in pages:
                for click in page:
                    for scope in people.keys() & scopes_of(click):
                        people[scope].add(click.user_id)
    return {scope: len(found) for scope, found in people.items()}


def _said_by_utc(of_day: LocalSum, utc_days: Mapping[date, Sum]) -> int | None:
    """The number, if there was at most one click, or if these are just the clicks of one UTC day."""
    if of_day.clicks <= 1:
        return of_day.clicks
    if len(of_day.parts) > 1:
        return None
    (utc,) = of_day.parts
    return utc_days[utc].people if utc_days[utc].clicks == of_day.clicks else None


def _first_known(since: float, zone: ZoneInfo) -> date | None:
    if since <= 0:
        return None
    day = local_day_of(since, zone)
    (same,) = local_days(day, day, zone)
    return day if same.starts >= since else local_day_of(same.ends, zone)
