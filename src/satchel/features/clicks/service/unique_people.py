"""Different people: telling visitors without an account apart, and counting the people of local days.

A visitor is a hash of network and browser under a random secret. There is no cookie, and no address is stored. The
secret changes every month and is then deleted. So the same browser in the same network is one visitor within a month,
nobody can find out afterwards who that was, and nobody is followed from one month into the next.

People of local days cannot be added up from counts: somebody who comes before and after midnight UTC is one person.
They are counted from the clicks themselves, newest day first, up to a budget. The result is kept, and holds as long as
the day has no more clicks. Where the figure of a UTC day answers the question, no click is read.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from satchel.features.clicks.model import VISITOR
from satchel.features.clicks.records import LOCAL_PEOPLE, SITE, VISITORS_SECRET, LocalPeopleRow, VisitorsSecretRow
from satchel.features.clicks.service.click_erase import complete_since, days_erased_from
from satchel.features.clicks.service.click_list import day_starts, read_clicks
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Sum, marker_expiry, scopes_of
from satchel.features.clicks.service.local_days import (
    ONE_DAY,
    LocalDay,
    LocalSum,
    LocalSums,
    local_day_of,
    local_days,
    read_local_sums,
)
from satchel.kernel.clock import Clock, iso
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed, Tables

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

# How many clicks are read for one answer, which takes about a second; a tenth of that for what is asked for constantly.
MOST_CLICKS_READ = 50_000
FEW_CLICKS_READ = 5_000
_HASH_BYTES = 16
_SECRET_BYTES = 32


class Visitors:
    """Gives visitors their ids by the secret of the current month, which all servers on the same tables share."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._month = ""
        self._secret = b""

    async def visitor_of(self, address: str, agent: str) -> str:
        """`visitor:` and 22 characters. Neither address nor agent is kept."""
        month = iso(self._clock())[:7]
        if month != self._month:
            secret = await self._secret_of(month)
            self._month, self._secret = month, secret
        # Each has a fixed length, so that no other address and agent give the same bytes.
        seen = b"".join(hashlib.sha256(part.encode(errors="replace")).digest() for part in (_network(address), agent))
        digest = hmac.digest(self._secret, seen, hashlib.sha256)[:_HASH_BYTES]
        return VISITOR + base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")

    async def _secret_of(self, month: str) -> bytes:
        expires_at = marker_expiry(f"MONTH:{month}")
        assert expires_at is not None
        row = VisitorsSecretRow(month=month, secret=secrets.token_bytes(_SECRET_BYTES), expires_at=expires_at)
        try:
            await self._tables.put(VISITORS_SECRET.table, VISITORS_SECRET.item(row), when=attr("PK").absent())
        except ConditionFailed:
            # Another server made it, or this one before a restart.
            stored = await VISITORS_SECRET.get(self._tables, month=month)
            row = row if stored is None else stored
        return row.secret


def _network(address: str) -> str:
    """An IPv4 address itself. Of an IPv6 address the first half, since devices change the rest every few hours."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfDays:
    """One number for each day, None where it is not known; `pending` if asking again will find more of them.

    `known_since` is the first day whose people can still be counted, None if that holds for all.
    """

    numbers: list[int | None]
    pending: bool = False
    known_since: date | None = None


class _BudgetSpent(Exception):
    """The clicks that may be read for one answer have been read."""


@dataclass(slots=True)
class _PeopleCount:
    """Counts the people of some days for one answer, within a budget of clicks."""

    clicks: Clicks
    scope: str
    zone: "ZoneInfo"
    budget: int
    left: int

    async def count(self, day: LocalDay, total: int) -> int:
        """Count the people of a day that has `total` clicks, and keep the result for the next time."""
        had, people, found = self.left, set[str](), 0
        async with aclosing(read_clicks(self.clicks, day.starts, day.ends)) as pages:
            async for page in pages:
                self.left -= len(page)
                if self.left < 0:
                    if had == self.budget:
                        await self.keep(day, total, people=None, read_in_vain=self.budget)
                    raise _BudgetSpent
                own = [click for click in page if self.scope in scopes_of(click)]
                people.update(click.user_id for click in own)
                found += sum(click.count for click in own)
        # Where a worker counts clicks after they are stored, the two can differ for a moment.
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
    zone: "ZoneInfo",
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
    work = _PeopleCount(clicks, scope, zone, budget, budget)
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
            # A day that had too many clicks to count only ever gets more.
            continue
        elif day.starts >= since and erased.isdisjoint(day.utc_days):
            try:
                numbers[place] = await work.count(day, total)
            except _BudgetSpent:
                pending = True
                break
    return PeopleOfDays(numbers=numbers, pending=pending, known_since=_first_known(since, zone))


async def people_of_scopes(clicks: Clicks, scopes: Iterable[str], days: Sequence[LocalDay]) -> dict[str, int]:
    """How many people each scope had in consecutive days, taken together; the clicks are read once for all scopes.

    Empty if there are too many clicks to read, or if some of them are gone.
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
    """The number of people, if there was at most one click, or if these are exactly the clicks of one UTC day."""
    if of_day.clicks <= 1:
        return of_day.clicks
    if len(of_day.parts) > 1:
        return None
    (utc,) = of_day.parts
    return utc_days[utc].people if utc_days[utc].clicks == of_day.clicks else None


def _first_known(since: float, zone: "ZoneInfo") -> date | None:
    if since <= 0:
        return None
    day = local_day_of(since, zone)
    (same,) = local_days(day, day, zone)
    return day if same.starts >= since else local_day_of(same.ends, zone)
