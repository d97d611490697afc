"""Count a day or a month again from its clicks, should a figure be in doubt. The result is assigned, not added.

Days are assigned from the clicks. Months and all time are then the sums of their days and months, which are kept for
good. So clicks that have expired since stay counted. People are those of the recount; in longer periods, people who had
no marker yet are added.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

from satchel.features.clicks.model import QUARTER, Period
from satchel.features.clicks.records import (
    ALL,
    COUNT,
    ERASED_FROM,
    LAST,
    ONE_SLOT,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    stat_item,
)
from satchel.features.clicks.service.click_erase import check_complete, erased_from_period
from satchel.features.clicks.service.click_list import day_starts, read_clicks
from satchel.features.clicks.service.context import ClickLog, Rebuilt
from satchel.features.clicks.service.counts import Place, Sum, Tally, added_up, read_sum
from satchel.features.clicks.service.embedded.people_mark import mark_people
from satchel.kernel.errors import Conflict
from satchel.stores.ports.bulk import BulkWrites, Step
from satchel.stores.ports.table import Range
from satchel.tables import CLICKS, COUNTS

ATTEMPTS = 5
_ONE_DAY = timedelta(days=1)


async def rebuild(clicks: ClickLog, bulk: BulkWrites, period: Period, forget: Callable[[Step], None]) -> Rebuilt:
    """As `Recorder.rebuild`. It tries again if clicks of the period came in meanwhile.

    `forget` is called in the step that assigns counts: it writes what is not written, and the writer reads all again.
    """
    for _ in range(ATTEMPTS):
        before = await read_sum(clicks.tables, SITE, period.name)
        counted = await _recount(clicks, period)
        # Every click adds to its period, so nothing was added while the sum has stayed the same.
        assign = partial(
            _assign_if_unchanged, period=period, counted=counted, before=before, now=clicks.clock(), forget=forget
        )
        if await bulk.in_one_step(assign):
            return Rebuilt(before, await read_sum(clicks.tables, SITE, period.name))
    raise Conflict("Clicks come in faster than they can be counted again. Try again once this period is over.")


async def _recount(clicks: ClickLog, period: Period) -> Tally:
    """The fold of all clicks of a period, whatever was counted before."""
    await check_complete(clicks, period)
    counted = Tally()
    async for page in read_clicks(clicks, day_starts(period.first), day_starts(period.last + _ONE_DAY)):
        counted.add(page)
    await check_complete(clicks, period)
    return counted


def _assign_if_unchanged(
    step: Step, *, period: Period, counted: Tally, before: Sum, now: float, forget: Callable[[Step], None]
) -> bool:
    forget(step)
    if _sums(step, SITE, period.name, period.name).get(period.name, Sum()) != before:
        return False
    erased = Range(period.first.isoformat(), period.last.isoformat())
    if step.query(COUNTS, ERASED_FROM.keys["PK"].render({}), erased, limit=1).items:
        raise erased_from_period()
    new_people = mark_people(step, counted.seen, now)
    people = {place: len(seen) for place, seen in counted.people().items()}
    for scope, short in _short_by_scope(counted, people).items():
        _assign_short(step, scope, period, short)
        _assign_longer(step, scope, period, people, new_people)
    _note_last(step, counted.last)
    return True


def _short_by_scope(counted: Tally, people: Mapping[Place, int]) -> dict[str, dict[str, Sum]]:
    """The days and quarters of an hour of each scope. The whole site is always there, even without clicks."""
    found: dict[str, dict[str, Sum]] = {SITE: {}}
    for (scope, period), growth in counted.growth.items():
        if period.startswith(("DAY:", QUARTER)):
            named = {name: number for name, number in growth.items() if name != TOTAL_CLICKS}
            one = Sum(growth[TOTAL_CLICKS], people.get((scope, period), 0), named)
            found.setdefault(scope, {})[period] = one
    return found


def _assign_short(step: Step, scope: str, period: Period, recounted: Mapping[str, Sum]) -> None:
    """Assign the days and quarters of the period as recounted; 0 to those that had clicks and have none now."""
    stored = {*_sums(step, scope, *period.days), *_sums(step, scope, *period.quarters)}
    for each in stored | set(recounted):
        _put(step, scope, each, recounted.get(each, Sum()))


def _assign_longer(
    step: Step, scope: str, period: Period, people: Mapping[Place, int], new_people: Mapping[Place, int]
) -> None:
    """Assign the month as the sum of its days, and all time as the sum of its months."""
    month = period.month
    days = _sums(step, scope, *month.days)
    of_month = added_up(days.values())
    if period == month:
        of_month.people = people.get((scope, month.name), 0)
    else:
        known = _sums(step, scope, month.name, month.name).get(month.name, Sum())
        of_month.people = known.people + new_people.get((scope, month.name), 0)
    _put(step, scope, month.name, of_month)
    months = _sums(step, scope, "MONTH:", "MONTH:~")
    of_all = added_up(months.values())
    known = _sums(step, scope, ALL, ALL).get(ALL, Sum())
    of_all.people = known.people + new_people.get((scope, ALL), 0)
    _put(step, scope, ALL, of_all)


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


def _note_last(step: Step, latest: Mapping[str, str]) -> None:
    """Note when scopes were last clicked, unless a later time is known."""
    for scope, at in latest.items():
        key = LAST.key(scope=scope)
        known = step.get(COUNTS, key)
        if known is None or known["lastAt"] < at:
            step.put(COUNTS, {**key, "lastAt": at})
