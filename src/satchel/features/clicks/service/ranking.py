"""Which of the links and things that somebody has shared were opened most."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo

from satchel.features.clicks.records import ONE_SLOT, SLOTS
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Figures, figures, read_last, read_totals
from satchel.features.clicks.service.folding import link_scope, thing_scope
from satchel.features.clicks.service.people import people_of_scopes
from satchel.features.clicks.service.stats_read import days_between, sum_of_days
from satchel.kernel.clock import iso

# Of so many links at most, the newest; of so many of them, those opened last, the days are read; so many are shown.
MOST_LINKS = 1000
MOST_READ = 200
MOST_SHOWN = 50
_ABREAST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A link or a thing; `scope` is what its figures can be asked for by."""

    scope: str
    name: str
    figures: Figures
    last_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The most opened first; without what nothing was counted of."""

    links: list[Ranked]
    things: list[Ranked]


async def rank(clicks: Clicks, owner_id: str, between: tuple[date, date] | None, zone: ZoneInfo) -> Ranking:
    """Of all time; or between two days, both included, and then with people as long as few enough clicks were made."""
    titles = await clicks.targets.titles(owner_id, MOST_LINKS)
    links = {link_scope(each.link_id): (f"link:{each.link_id}", each.name) for each in titles}
    things = {thing_scope(owner_id, each.thing): (f"thing:{each.thing}", each.thing_name) for each in titles}
    last = await read_last(clicks.tables, [*links, *things])
    if between is None:
        counted = await _of_all_time(clicks, list(last))
    else:
        counted = await _of_days(clicks, last, *between, zone)
    return Ranking(links=_ranked(links, counted, last), things=_ranked(things, counted, last))


async def _of_all_time(clicks: Clicks, scopes: Sequence[str]) -> dict[str, Figures]:
    slots = (ONE_SLOT,) if clicks.bulk is not None else SLOTS
    sums = await read_totals(clicks.tables, scopes, slots)
    return {scope: figures(one.clicks, one.people, one.named) for scope, one in sums.items()}


async def _of_days(
    clicks: Clicks, last: Mapping[str, str], first_day: date, last_day: date, zone: ZoneInfo
) -> dict[str, Figures]:
    """Only what was clicked since the first day can have been clicked in these."""
    days = days_between(first_day, last_day, zone)
    since = iso(days[0].starts)
    recent = sorted((scope for scope, at in last.items() if at >= since), key=last.__getitem__, reverse=True)
    counted: dict[str, Figures] = {}
    for start in range(0, min(len(recent), MOST_READ), _ABREAST):
        some = recent[start : start + _ABREAST]
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
