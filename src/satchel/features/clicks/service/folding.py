"""The one way in which clicks add up, whoever does it: the server beside each click, a worker behind a stream, or a
rebuild from the clicks themselves. Sums and sets do not mind in which order clicks come.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

from satchel.features.clicks.model import EARLIEST, LATEST
from satchel.features.clicks.records import ALL, SITE, TOTAL_CLICKS, ClickRow

# Clicks may come late, and what counts them may be held up: only after that nobody is counted in a period any more.
MARKED_FOR = timedelta(days=4)
# As long as the same click could be accepted once more.
REMEMBERED_FOR = LATEST + 2 * EARLIEST

# What every local day can be put together from, since no zone is off by less.
QUARTER = "QUARTER:"
OWNER_SCOPE = "OWNER:"

# A scope and a period.
Place: TypeAlias = tuple[str, str]


def scopes_of(click: ClickRow) -> list[str]:
    """Whose figures a click belongs to."""
    scopes = [SITE]
    if click.target is not None:
        scopes.append(link_scope(click.target))
    if click.owner is not None:
        scopes.append(owner_scope(click.owner))
        if click.thing is not None:
            scopes.append(thing_scope(click.owner, click.thing))
    return scopes


def owner_scope(owner: str) -> str:
    return f"{OWNER_SCOPE}{owner}"


def link_scope(link_id: str) -> str:
    return f"LINK:{link_id}"


def thing_scope(owner: str, thing: str) -> str:
    """With its owner in it, so that nobody else can ask for its figures."""
    return f"THING:{owner}:{thing}"


def periods_of(created: str) -> tuple[str, str, str]:
    """The day, the month and the whole of time that a click of this time belongs to."""
    return f"DAY:{created[:10]}", f"MONTH:{created[:7]}", ALL


@dataclass(slots=True)
class _Day:
    """What one scope's day comes to."""

    total: int = 0
    quarters: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    seen: set[str] = field(default_factory=set[str])
    last: str = ""


@dataclass(slots=True)
class Tally:
    """What clicks come to, by scope and period.

    `growth` is what counts grow by, without people: who was there is in `seen`, and how many of them are new to a
    period only its markers know. `last` is each scope's latest time.
    """

    growth: dict[Place, dict[str, int]] = field(default_factory=dict[Place, dict[str, int]])
    seen: dict[Place, set[str]] = field(default_factory=dict[Place, set[str]])
    last: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, clicks: Iterable[ClickRow]) -> None:
        # Months and all time follow from the days, so that each click is looked at once.
        days: dict[Place, _Day] = {}
        for click in clicks:
            created, count, kind = click.created, click.count, click.kind
            quarter = quarter_period(created[:16])
            for scope in scopes_of(click):
                place = scope, created[:10]
                day = days.get(place)
                if day is None:
                    day = days[place] = _Day()
                day.total += count
                of_quarter = day.quarters.setdefault(quarter, {})
                of_quarter[kind] = of_quarter.get(kind, 0) + count
                day.kinds[kind] = day.kinds.get(kind, 0) + count
                day.seen.add(click.user_id)
                day.last = max(day.last, created)
        for (scope, date), day in days.items():
            self._add_day(scope, date, day)

    def _add_day(self, scope: str, date: str, day: _Day) -> None:
        for period in periods_of(date):
            self._grow((scope, period), day.total, day.kinds)
            self.seen.setdefault((scope, period), set()).update(day.seen)
        for quarter, kinds in day.quarters.items():
            self._grow((scope, quarter), sum(kinds.values()), kinds)
        self.last[scope] = max(self.last.get(scope, ""), day.last)

    def _grow(self, place: Place, total: int, kinds: dict[str, int]) -> None:
        growth = self.growth.setdefault(place, {TOTAL_CLICKS: 0})
        growth[TOTAL_CLICKS] += total
        for name, count in kinds.items():
            growth[name] = growth.get(name, 0) + count


def tally(clicks: Iterable[ClickRow]) -> Tally:
    counted = Tally()
    counted.add(clicks)
    return counted


@lru_cache(maxsize=1024)
def quarter_period(time: str) -> str:
    """The quarter of an hour that a time, "2025-10-02T10:37", belongs to; people are not told apart in it."""
    return f"{QUARTER}{time[:14]}{int(time[14:16]) // 15 * 15:02}"


@lru_cache(maxsize=1024)
def marker_expiry(period: str) -> int | None:
    """Until when it has to be known who was counted in a period, in seconds since 1970; None for good."""
    kind, _, name = period.partition(":")
    if kind == ALL:
        return None
    year, month, *day = map(int, name.split("-"))
    if day:
        end = datetime(year, month, day[0], tzinfo=UTC) + timedelta(days=1)
    else:
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return int((end + MARKED_FOR).timestamp())
